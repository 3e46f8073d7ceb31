"""Private-RDT, many times at once: exact leaf counts are made once, and noise is drawn again and
again.

The law of what comes out is that of :class:`privet.RandomTreesClassifier` with ``combine="counts",
shrink=0``, which counts anew for every fit. Noise is drawn only for leaves that a test row reaches:
no other leaf takes part in an answer to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from experiments.papers.rdt.tables import Table
from privet._types import Floats, Ints
from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.learners.random_trees.drawing import draw_forest
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.randomness import Bits


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The structures of random trees over a public table, and which leaf of each its rows reach.

    Args:
        table: the rows.
        leaves: per tree, the leaf of every row.
        n_leaves: per tree.
    """

    table: Table
    leaves: tuple[Ints, ...]
    n_leaves: tuple[int, ...]

    @classmethod
    def drawn(cls, table: Table, n_trees: int, height: int, bits: Bits) -> Ensemble:
        """Fresh structures."""
        return cls.of(table, draw_forest(table.schema, n_trees, height, bits))

    @classmethod
    def of(cls, table: Table, forest: Sequence[Cells]) -> Ensemble:
        """Of these structures."""
        reached = [np.asarray(cells.cell[_reach(cells, table)], dtype=np.int64) for cells in forest]
        return cls(table, tuple(reached), tuple(cells.n_cells for cells in forest))

    @property
    def entries(self) -> int:
        """How many counts a release of it has."""
        return sum(self.n_leaves) * self.table.schema.n_classes

    def counts(self, rows: Ints) -> list[Ints]:
        """The exact class counts of the leaves of each tree: a public table's."""
        n_classes, classes = self.table.schema.n_classes, self.table.classes
        return [
            np.bincount(
                leaf[rows] * n_classes + classes[rows], minlength=n_leaves * n_classes
            ).reshape(n_leaves, n_classes)
            for leaf, n_leaves in zip(self.leaves, self.n_leaves, strict=True)
        ]

    def sums(
        self,
        train: Ints,
        test: Ints,
        scale: Fraction | None,
        draws: int,
        bits: Bits,
        batches: int = 1,
    ) -> Floats:
        """For each draw and test row, the noisy class counts of its leaves, summed over the trees.

        Args:
            train, test: rows.
            scale: of the noise of every count; None for none.
            draws: how many.
            bits: where noise comes from.
            batches: how many disjoint parts of the rows are counted apart, each with noise of its
                own, and added up. Which rows are in which part makes no difference to the sum.
        """
        n_classes = self.table.schema.n_classes
        total = np.zeros((draws, len(test), n_classes))
        for leaf, exact in zip(self.leaves, self.counts(train), strict=True):
            reached, place = np.unique(leaf[test], return_inverse=True)
            counts = np.broadcast_to(exact[reached], (draws, len(reached), n_classes)).astype(
                np.float64
            )
            if scale is not None:
                for _ in range(batches):
                    counts += discrete_laplace(bits, counts.size, scale).reshape(counts.shape)
            total += counts[:, place]
        return total


def right(sums: Floats, classes: Ints) -> Ints:
    """How many test rows each draw classifies correctly: the class of the largest sum is the
    answer.
    """
    return np.asarray((sums.argmax(axis=2) == classes).sum(axis=1), dtype=np.int64)


def accuracies(
    ensembles: Sequence[Ensemble],
    epsilon: float,
    folds: int,
    draws: int,
    bits: Bits,
    *,
    batches: int = 1,
    trees: int | None = None,
) -> Floats:
    """The cross-validated accuracy of each draw, where the leaves of all ensembles answer together.

    Every count has discrete Laplace noise of scale trees / epsilon, ``trees`` being those among
    which epsilon is shared: by default those of one ensemble. An infinite epsilon is no noise, and
    one draw is as good as many.
    """
    first = ensembles[0]
    exact = epsilon == float("inf")
    scale = None if exact else Fraction(trees or len(first.leaves)) / Fraction(str(epsilon))
    done = 1 if exact else draws
    correct, tested = np.zeros(done, dtype=np.int64), 0
    for train, test in first.table.folds(folds):
        sums = sum(one.sums(train, test, scale, done, bits, batches) for one in ensembles)
        correct += right(np.asarray(sums), first.table.classes[test])
        tested += len(test)
    return np.asarray(correct / tested)


def _reach(cells: Cells, table: Table) -> Ints:
    return Tree(cells, np.zeros((len(cells.attribute), table.schema.n_classes))).reach(table.codes)
