"""Joining: from rows with all candidates to the true rows, as codes. What is kept of a row is one small integer per column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.errors import SealError
from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import Cell
from privet.outsource.client.table import CandidateRow, OutsourcedTable
from privet.outsource.sequence import true_value
from privet.schema.encode import encode
from privet.trees.exact.rows import Column


@dataclass(frozen=True, eq=False)
class TrueRows:
    """Joined rows: codes by attribute of the whole schema, classes, and which rows are for pruning."""

    codes: list[Column]
    classes: Column
    pruning: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.classes)

    def where(self, chosen: npt.NDArray[np.bool_]) -> tuple[list[Column], Column]:
        """Codes and classes of some rows."""
        return [column[chosen] for column in self.codes], self.classes[chosen]


def joined(table: OutsourcedTable, pages: Iterable[list[CandidateRow]]) -> TrueRows:
    """Open every row's sequence number and keep its true value. :class:`SealError` if one row is not what was sealed."""
    parts = []
    held = 0
    seen: set[int] = set()
    for page in pages:
        table.holds(held + sum(max(1, len(row.candidates)) for row in page))
        told = [(row, *true_value(table.sealer, row.eseq, row.cells, row.pruning, row.gid, row.candidates)) for row in page]
        parts.append(_encoded(table.anatomy, [(row, value) for row, _, value in told]))
        held += len(page)
        seen.update(seq for _, seq, _ in told)
        if len(seen) < held:
            raise SealError  # a row that is sent twice would count twice
    if not parts:
        parts = [_encoded(table.anatomy, [])]
    codes = [np.concatenate([part.codes[a] for part in parts]) for a in range(len(table.anatomy.schema.names))]
    return TrueRows(codes, np.concatenate([part.classes for part in parts]), np.concatenate([part.pruning for part in parts]))


def _encoded(anatomy: Anatomy, rows: list[tuple[CandidateRow, Cell]]) -> TrueRows:
    cells = np.array([row.cells for row, _ in rows], dtype=object).reshape(len(rows), len(anatomy.columns))
    frame = {name: cells[:, i] for i, name in enumerate(anatomy.columns)}
    frame[anatomy.sensitive] = np.array([value for _, value in rows], dtype=object)
    encoded = encode(anatomy.schema, frame)
    assert encoded.classes is not None
    return TrueRows(encoded.codes, encoded.classes, np.array([row.pruning for row, _ in rows], dtype=bool))
