"""Sum integers over rows that released trees score, where the rows are.

A draw needs contingency tables of weighted rows, and derivatives are sums over the rows of cells.
Both are integers that add up: a source may sum parts of its rows wherever they lie, and add the
sums. A description of such sums is public, and can be sent to where the rows are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from privet._types import Codes, Floats, Ints
from privet.domain.cells import Cells
from privet.domain.coarsening import Coarsening
from privet.domain.routing import Routes
from privet.tables.base import CountSource
from privet.tables.counting.marginals import Marginals
from privet.tables.counting.scoring import Clip, Scoring

#: Encoded rows, how many each stands for (empty: one), and what the trees say about each: a line
#: of scores for each class.
ScoredRows = tuple[Codes, Codes, Ints, Floats]


class RowSums(Protocol):
    """Integers that add up over rows, given what some trees say about each. Holds no data."""

    @property
    def scoring(self) -> Scoring:
        """The trees."""

    @property
    def settled(self) -> int:
        """With how many of the trees the next question is likely to begin: what to keep."""

    def sum(self, rows: Iterable[ScoredRows]) -> Ints:
        """Return the sums over these rows, as many for any rows."""


@runtime_checkable
class Summing(Protocol):
    """A source that sums its rows in a way of its own."""

    def sum_rows(self, sums: RowSums) -> Ints:
        """Return the sums over all rows."""


def sum_rows(source: CountSource, sums: RowSums) -> Ints:
    """Return the sums over all rows of a source, in its own way where it has one."""
    if isinstance(source, Summing):
        return source.sum_rows(sums)
    scoring = sums.scoring
    return sums.sum((*rows, scoring.scores(rows[0])) for rows in source.rows())


@dataclass(frozen=True, eq=False)
class WeightedTables:
    """Contingency tables of rows that weigh as much as the trees leave in doubt, one after the
    other: those of sets of attributes, by the merged codes of ``atoms``.
    """

    scoring: Scoring
    atoms: Coarsening
    sets: Sequence[tuple[int, ...]]

    @property
    def settled(self) -> int:
        """All: the tree that is drawn follows after them."""
        return len(self.scoring)

    def sum(self, rows: Iterable[ScoredRows]) -> Ints:
        """Return the tables of these rows."""
        schema = self.atoms.coarse
        tables = Marginals(self.sets, schema.sizes, schema.n_classes)
        for codes, classes, times, scores in rows:
            weights = self.scoring.weigh(scores, classes)
            merged = self.atoms.merge_codes(codes)
            tables.add(merged, classes, weights * times if len(times) else weights)
        return tables.flat


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Sums of the derivatives of the rows of each cell by their scores, see
    :meth:`~privet.tables.counting.scoring.Scoring.add_derivatives`.

    The last cell is for rows of none. ``shape`` is that of the cells' table.
    """

    scoring: Scoring
    cells: Cells
    shape: tuple[int, ...]
    clip: Clip

    @property
    def settled(self) -> int:
        """All but the last, whose leaves may be what is asked about: then they change."""
        return max(len(self.scoring) - 1, 0)

    @cached_property
    def _routes(self) -> Routes:
        return Routes.through([self.cells])

    def sum(self, rows: Iterable[ScoredRows]) -> Ints:
        """Return the sums over these rows."""
        n_cells, *numbers = self.shape
        table = np.full((n_cells + 1, *numbers), 0, dtype=np.int64)
        for codes, classes, times, scores in rows:
            cell = self.cells.cell[self._routes.find_nodes(codes, compiled=True)]
            self.scoring.differentiate(scores, classes, times, cell, table, self.clip)
        return table.reshape(-1)
