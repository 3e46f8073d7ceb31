"""Keep scores of released trees while a snapshot is open, for sources whose rows come in the same
blocks then.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from privet._types import Ints, WeightedRows

if TYPE_CHECKING:
    from privet.tables.counting.kept_scores import KeptScores
    from privet.tables.counting.row_sums import RowSums


class SnapshotScores:
    """What released trees say about the rows of a snapshot; several may be open, one in another."""

    def __init__(self) -> None:
        self._open = 0
        self._kept: KeptScores | None = None
        self._lock = threading.Lock()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep scores inside this block."""
        with self._lock:
            self._open += 1
        try:
            yield
        finally:
            with self._lock:
                self._open -= 1
                if not self._open:
                    self._kept = None

    def sum_rows(self, sums: RowSums, rows: Iterable[WeightedRows]) -> Ints:
        """Return sums over all rows; within a snapshot, these are the same blocks each time."""
        # Numba takes a while to load, and most questions do without.
        from privet.tables.counting.kept_scores import KeptScores

        with self._lock:
            if self._open and self._kept is None:
                self._kept = KeptScores()
            kept = self._kept or KeptScores()
        return sums.sum(kept.score(sums.scoring, rows, sums.settled))
