"""Keep what released trees say about rows from one question to the next.

A fit asks about the same rows again and again, each time with a tree or two more. What all trees
say, summed tree by tree, is kept for each row, up to the tree with which the next question is
likely to differ: then one tree or two are walked instead of all of them. The sums are the same bit
by bit, since trees are added in the same order.

What is kept, and for how many rows, depends on the questions and the number of rows, never on what
the rows hold.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

import numpy as np

from privet._types import Codes, Floats, WeightedRows
from privet.tables.counting.row_sums import ScoredRows
from privet.tables.counting.scoring import Scoring

#: Bytes of scores that are kept: those of 16 million rows of two classes. Trees are walked anew for
#: rows beyond that.
MOST_BYTES = 1 << 28


class KeptScores:
    """The scores of the blocks of a table whose rows stay the same."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._bytes = 0
        # A thread that comes while another one reads walks all trees.
        self._in_use = threading.Lock()

    def score(
        self, scoring: Scoring, rows: Iterable[WeightedRows], settled: int
    ) -> Iterator[ScoredRows]:
        """Return the same blocks as last time, with what the trees say about them.

        What the first ``settled`` trees say is kept. Scores are good until the next question.
        """
        mine = self._in_use.acquire(blocking=False)
        try:
            for number, (codes, classes, times) in enumerate(rows):
                block = self._find(number, codes.shape[1], scoring) if mine else None
                scores = (
                    scoring.scores(codes) if block is None else block.score(scoring, codes, settled)
                )
                yield codes, classes, times, scores
        finally:
            if mine:
                self._in_use.release()

    def _find(self, number: int, n_rows: int, scoring: Scoring) -> _Block | None:
        if number == len(self._blocks) and len(scoring) > 0:
            block = _Block((scoring.n_classes, n_rows))
            if self._bytes + block.total.nbytes <= MOST_BYTES:
                self._blocks.append(block)
                self._bytes += block.total.nbytes
        return self._blocks[number] if number < len(self._blocks) else None


_BROKEN = (b"",)  # the key of no tree


class _Block:
    """What some trees say about the rows of a block, a line for each class."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.total = np.full(shape, 0.0)
        self._keys: tuple[bytes, ...] = ()

    def score(self, scoring: Scoring, codes: Codes, settled: int) -> Floats:
        """Return what these trees say; what the first of them say is kept."""
        keys = scoring.keys[:settled]
        known = len(self._keys)
        if self._keys != keys[:known]:
            self.total[:] = 0.0
            known = 0
        self._keys = _BROKEN  # should this be interrupted
        scoring.add_scores(codes, self.total, known, settled)
        self._keys = keys
        if settled == len(scoring):
            return self.total
        scores = self.total.copy()
        scoring.add_scores(codes, scores, settled, len(scoring))
        return scores
