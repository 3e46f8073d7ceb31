"""The identifier table as columns of codes, the class among them: everything that is known about a
person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema import Schema


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns of codes and the size of each domain. A code that is not in the domain is one more
    value: it is seen, too.
    """

    columns: tuple[npt.NDArray[Any], ...]
    sizes: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.columns[0])


def make_table(
    schema: Schema, codes: Sequence[npt.ArrayLike], classes: npt.ArrayLike
) -> CodedTable:
    """All columns that identify people, checked against the public schema."""
    if len(codes) != len(schema.attributes):
        raise ParameterError(
            f"attack: codes must have a column for each of {len(schema.attributes)} attributes, "
            f"got {len(codes)}"
        )
    columns: list[npt.NDArray[Any]] = []
    sizes: list[int] = []
    for name, size, given in zip(
        (*schema.names, schema.target),
        (*schema.sizes, schema.n_classes),
        (*codes, classes),
        strict=True,
    ):
        column = np.asarray(given)
        if column.ndim != 1 or (len(column) and column.dtype.kind not in "iu"):
            raise ParameterError(f"attack: column {name!r} must be one column of integers")
        if columns and len(column) != len(columns[0]):
            raise ParameterError(f"attack: column {name!r} must be as long as the others")
        if len(column) and not 0 <= column.min() <= column.max() <= size:
            raise ParameterError(f"attack: column {name!r} must hold codes from 0 to {size}")
        columns.append(column)
        sizes.append(size + int((column == size).any()))
    return CodedTable(tuple(columns), tuple(sizes))
