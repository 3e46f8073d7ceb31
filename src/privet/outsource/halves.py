"""Halves: the identifier table and the sensitive table of an outsourced table, as they are written
and read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import CellText
from privet.typed import Ints


@dataclass(frozen=True, eq=False)
class Identifiers:
    """The identifier table: cells by column, in the order of ``Anatomy.columns``, and per row a
    mark, a group and a sealed number.
    """

    cells: list[list[CellText]]
    pruning: npt.NDArray[np.bool_]
    gid: Ints
    eseq: list[bytes]

    def __len__(self) -> int:
        return len(self.eseq)

    def row(self, position: int) -> list[CellText]:
        """The cells of one row."""
        return [column[position] for column in self.cells]

    def frame(self, anatomy: Anatomy) -> Any:
        """The cells as a data frame with the schema's names."""
        import pandas as pd

        return pd.DataFrame(
            {
                name: np.array(c, dtype=object)
                for name, c in zip(anatomy.columns, self.cells, strict=True)
            }
        )


@dataclass(frozen=True, eq=False)
class Values:
    """The sensitive table."""

    seq: Ints
    gid: Ints
    value: list[CellText]

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, eq=False)
class Halves:
    """Both tables, with what is public about them, and the owner's seal on that."""

    anatomy: Anatomy
    identifiers: Identifiers
    values: Values
    seal: bytes
