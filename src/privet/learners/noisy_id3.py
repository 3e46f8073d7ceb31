"""Learn ID3 trees from noisy counts, the only access to the data.

Blum et al. 2005; RDT-2009 section III, RDT-2012 section 4. For each node and each attribute not yet
used on its path, the value-by-class counts are asked. Nodes of one level are disjoint; attributes
are not. So level i of a table with k attributes costs k - i rounds, a full tree k(k+1)/2 rounds,
and each round gets an equal share. Node sizes and class counts are derived from these tables and
cost nothing more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from privet._validate import IntegerIn, ParameterCheck
from privet.accounting.cost import Number
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.curator.spending import Notice, Spending, ignore_counts
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.tree import Tree
from privet.learners.base import Growth, PrivateClassifier
from privet.learners.resolution import refuse_grids

MAX_CELLS = 1 << 16  # a level of more cells is not grown any further, whatever the data


class NoisyID3Classifier(PrivateClassifier):
    """ID3 in which every access to the data is a noisy count (RDT-2009 section III, RDT-2012
    section 4).

    It is the papers' counter-example: accuracy is poor, because a tree over k attributes needs
    k(k+1)/2 rounds of counts. Sensitivity: a row is in one entry of each round's table. Neighbours:
    one row added or removed. Cost: at most pure ``epsilon``; every round gets epsilon / rounds, and
    levels that are not reached are not charged.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    max_depth
        How many levels, by default as many as there are attributes.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.NoisyID3Classifier(epsilon=1, max_depth=1).fit_from(curator)
    >>> model.privacy_.private
    True
    """

    _name: ClassVar[str] = "noisy-id3"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {"max_depth": IntegerIn(1, none=True)}

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        max_depth: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.max_depth = max_depth
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        refuse_grids(curator.schema, type(self).__name__)
        tree, deviation, charges = grow_noisy_id3(
            curator, spending.left, max_depth=self.max_depth, notice=spending.notice_counts
        )
        spending.charges += charges
        settings = {"max_depth": int(tree.depths.max())}
        return Growth((tree,), "counts", settings, deviation)


def count_rounds(n_attributes: int, depth: int) -> int:
    """Return how many rounds a tree of this depth takes: k + (k-1) + ... over its levels."""
    return sum(n_attributes - level for level in range(depth))


def grow_noisy_id3(
    curator: AnyCurator,
    epsilon: Fraction | None,
    *,
    max_depth: int | None = None,
    notice: Notice = ignore_counts,
) -> tuple[Tree, float, tuple[Charge, ...]]:
    """Grow one tree; return it, the deviation of each count's noise, and what was paid.

    Epsilon None: exact counts of a public table.

    A node is not split where its noisy size is below sqrt(2) T V / epsilon_round (T classes, V
    values on average): the counts below it would be smaller than their noise (Friedman and Schuster
    2010, section 4). Cost: epsilon / rounds for each round of each level that was asked; levels
    that were not needed are not charged.
    """
    schema = curator.schema
    k = len(schema.names)
    depth = k if max_depth is None else min(max_depth, k)
    each = None if epsilon is None else epsilon / count_rounds(k, depth)
    smallest = 0.0 if each is None else math.sqrt(2) / float(each)
    cells = Cells.everything(schema)
    unused = [tuple(range(k))]
    open_cells = [0]
    charges: list[Charge] = []
    counts_by_cell: npt.NDArray[np.float64] = np.zeros((1, schema.n_classes))
    deviation = 0.0
    for level in range(depth):
        left = k - level
        # Partition j asks each open cell about its j-th unused attribute: a row is in one entry of
        # each.
        asked = [_split_by_unused(cells, unused, open_cells, j) for j in range(left)]
        question = Question(tuple(Partition(partition) for partition in asked))
        answer = curator.count(question, math.inf if each is None else each * left)
        charges.append(Charge(f"value-by-class counts of level {level}", answer.row_cost))
        deviation = answer.deviation
        if level == 0:
            notice(answer.tables, deviation)
        values = _tables_of(cells, unused, open_cells, answer.tables)
        chosen: dict[int, Split] = {}
        for cell in open_cells:
            of_cell = values[cell]
            # Every table of a node counts the same rows: their mean is the best guess.
            counts_by_cell[cell] = np.mean([table.sum(axis=0) for table in of_cell], axis=0)
            size = counts_by_cell[cell].sum()
            mean_values = float(np.mean([schema.sizes[a] for a in unused[cell]]))
            pure = (counts_by_cell[cell] > 0).sum() <= 1
            if pure or size / (mean_values * schema.n_classes) < smallest:
                continue
            gains = [_negative_entropy(table) for table in of_cell]
            chosen[cell] = Split.multiway(schema, schema.names[unused[cell][int(np.argmax(gains))]])
        if (
            not chosen
            or len(cells) + sum(split.n_children for split in chosen.values()) > MAX_CELLS
        ):
            break
        cells, unused, open_cells, counts_by_cell = _next_level(
            cells, unused, chosen, counts_by_cell, values
        )
    return Tree.from_leaves(cells, counts_by_cell), deviation, tuple(charges)


def _split_by_unused(
    cells: Cells, unused: list[tuple[int, ...]], open_cells: list[int], j: int
) -> Cells:
    """Return each open cell split by its j-th unused attribute; closed cells stay whole."""
    names = cells.schema.names
    return cells.refine(
        {cell: Split.multiway(cells.schema, names[unused[cell][j]]) for cell in open_cells}
    )


def _tables_of(
    cells: Cells,
    unused: list[tuple[int, ...]],
    open_cells: list[int],
    tables: tuple[npt.NDArray[np.int64], ...],
) -> dict[int, list[npt.NDArray[np.float64]]]:
    """Return by open cell the noisy value-by-class table of each of its unused attributes."""
    sizes, is_open = cells.schema.sizes, set(open_cells)
    out: dict[int, list[npt.NDArray[np.float64]]] = {cell: [] for cell in open_cells}
    for j, table in enumerate(tables):
        start = 0
        for cell in range(len(cells)):
            width = sizes[unused[cell][j]] if cell in is_open else 1
            if cell in is_open:
                out[cell].append(table[start : start + width].astype(np.float64))
            start += width
    return out


def _negative_entropy(table: npt.NDArray[np.float64]) -> float:
    """Return minus the conditional entropy of the class times the rows: ID3's gain up to a
    constant.

    Computed on non-negative noisy counts.
    """
    counts = np.maximum(table, 0.0)
    sizes = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float((counts * logs).sum())


def _next_level(
    cells: Cells,
    unused: list[tuple[int, ...]],
    chosen: dict[int, Split],
    counts: npt.NDArray[np.float64],
    values: dict[int, list[npt.NDArray[np.float64]]],
) -> tuple[Cells, list[tuple[int, ...]], list[int], npt.NDArray[np.float64]]:
    """Return the next level, with children in the place of their parents.

    Their class counts are rows of the parent's table.
    """
    schema = cells.schema
    next_unused: list[tuple[int, ...]] = []
    next_open: list[int] = []
    next_counts: list[npt.NDArray[np.float64]] = []
    for cell in range(len(cells)):
        if cell not in chosen:
            next_unused.append(unused[cell])
            next_counts.append(counts[cell])
            continue
        a = schema.index(chosen[cell].attribute)
        table = values[cell][unused[cell].index(a)]
        for line in table:
            if len(unused[cell]) > 1:
                next_open.append(len(next_counts))
            next_unused.append(tuple(other for other in unused[cell] if other != a))
            next_counts.append(line)
    return cells.refine(chosen), next_unused, next_open, np.array(next_counts)
