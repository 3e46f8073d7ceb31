"""Joining: from rows with all candidates to the true rows, as codes. What is kept of a row is one
small integer per column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from privet.errors import Conflict, SealError
from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import CellText
from privet.outsource.client.again import retry_step
from privet.outsource.client.table import CandidateRow, OutsourcedTable, TablePage
from privet.outsource.sequence import open_true_entry
from privet.schema.encode import encode
from privet.typed import Codes


@dataclass(frozen=True, eq=False)
class TrueRows:
    """Joined rows: codes by attribute of the whole schema, classes, and which rows are for pruning.

    ``version`` is that of the table they are of; ``seqs`` are their sequence numbers.
    """

    version: int
    codes: list[Codes]
    classes: Codes
    pruning: npt.NDArray[np.bool_]
    seqs: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.classes)

    def where(self, chosen: npt.NDArray[np.bool_]) -> tuple[list[Codes], Codes]:
        """Codes and classes of some rows."""
        return [column[chosen] for column in self.codes], self.classes[chosen]


def join_rows(table: OutsourcedTable, pages: Callable[[], Iterable[TablePage]]) -> TrueRows:
    """Open every row's sequence number and keep its true value. :class:`SealError` if one row is
    not what was sealed.

    Begins again where the table changes while it is read.
    """
    return retry_step(lambda: _join_pages(table, pages()))


def _join_pages(table: OutsourcedTable, pages: Iterable[TablePage]) -> TrueRows:
    parts: list[TrueRows] = []
    held = 0
    seen: set[int] = set()
    for page in pages:
        if parts and page.version != parts[0].version:
            raise Conflict("the table has changed")
        table.holds(held + sum(max(1, len(row.candidates)) for row in page.rows))
        told = [(row, *open_true_entry(table.sealer, row.eseq, row.place)) for row in page.rows]
        parts.append(_encode_true_rows(table.anatomy, page.version, told))
        held += len(told)
        seen.update(seq for _, seq, _ in told)
        if len(seen) < held:
            raise SealError  # a row that is sent twice would count twice
    codes = [
        np.concatenate([part.codes[a] for part in parts])
        for a in range(len(table.anatomy.schema.names))
    ]
    seqs, classes, pruning = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("seqs", "classes", "pruning")
    )
    return TrueRows(parts[0].version, codes, classes, pruning, seqs)


def _encode_true_rows(
    anatomy: Anatomy, version: int, rows: list[tuple[CandidateRow, int, CellText]]
) -> TrueRows:
    cells = np.array([row.cells for row, _, _ in rows], dtype=object).reshape(
        len(rows), len(anatomy.columns)
    )
    frame = {name: cells[:, i] for i, name in enumerate(anatomy.columns)}
    frame[anatomy.sensitive] = np.array([value for _, _, value in rows], dtype=object)
    encoded = encode(anatomy.schema, frame)
    assert encoded.classes is not None
    seqs = np.array([seq for _, seq, _ in rows], dtype=np.int64)
    marks = np.array([row.pruning for row, _, _ in rows], dtype=bool)
    return TrueRows(version, encoded.codes, encoded.classes, marks, seqs)
