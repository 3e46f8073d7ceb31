"""Growing a tree level by level: what every exact learner shares. A learner says how a level is
split, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from privet.tree import Tree
from privet.trees.exact.level import Level
from privet.trees.exact.numbering import number_leaves
from privet.trees.exact.rows import EncodedRows
from privet.typed import Ints

#: An attribute, and the child (0, 1, 2, ...) that each of its codes goes to.
SplitChoice = tuple[int, Ints]
#: How each node of a level is split; None leaves it a leaf.
ChooseSplit = Callable[[Level], Sequence[SplitChoice | None]]
#: From the class counts of nodes (lines) to which of them may be split at all.
MaySplit = Callable[[Ints], npt.NDArray[np.bool_]]


def grow(
    data: EncodedRows,
    choose: ChooseSplit,
    may_split: MaySplit,
    *,
    max_depth: int | None = None,
    empty_cells: bool = True,
) -> Tree:
    """Split breadth first until nothing more is split.

    A leaf that no row reaches has the counts of its parent, so that a prediction there falls back
    on what is known one test earlier. With ``empty_cells`` such a leaf is a cell like any other;
    without, it belongs to no cell.
    """
    growth = _Growth(data)
    level = Level.root(data)
    depth = 0
    while len(level := level.where(may_split(level.counts))) and (
        max_depth is None or depth < max_depth
    ):
        choices = [choice for piece in level.pieces() for choice in choose(piece)]
        level = growth.split(
            level.where(np.array([choice is not None for choice in choices])),
            [c for c in choices if c],
        )
        depth += 1
    return growth.tree(empty_cells)


def make_mixed_rule(least: int) -> MaySplit:
    """Nodes of at least this many rows, of more than one class."""
    return lambda counts: (counts.sum(axis=1) >= least) & ((counts > 0).sum(axis=1) > 1)


class _Growth:
    """The nodes so far, in flat lists; children come after their parents."""

    def __init__(self, data: EncodedRows) -> None:
        self._data = data
        self._attribute, self._offset = [-1], [0]
        self._branch: list[Ints] = []
        self._n_branches = 0
        self._counts: list[Ints] = [Level.root(data).counts]
        self._reached: list[npt.NDArray[np.bool_]] = [np.ones(1, dtype=bool)]

    def split(self, level: Level, splits: Sequence[SplitChoice]) -> Level:
        """Split every node of a level, and give the level of its children that rows reach."""
        if not splits:
            return level
        attribute = np.array([a for a, _ in splits])
        widths = np.array([int(branch.max()) + 1 for _, branch in splits])
        sizes = np.array([len(branch) for _, branch in splits])
        first, offset = np.cumsum(widths) - widths, np.cumsum(sizes) - sizes
        branch = np.concatenate(
            [child + start for (_, child), start in zip(splits, first, strict=True)]
        )
        start = len(self._attribute)
        for node, a, at in zip(
            level.nodes.tolist(),
            attribute.tolist(),
            (self._n_branches + offset).tolist(),
            strict=True,
        ):
            self._attribute[node], self._offset[node] = a, at
        self._branch.append(start + branch)
        self._n_branches += len(branch)

        child = branch[offset[level.place] + level.values(attribute)]
        n_classes, n_children = self._data.schema.n_classes, int(widths.sum())
        entry = child * n_classes + self._data.classes[level.rows]
        counts = np.bincount(entry, minlength=n_children * n_classes).reshape(n_children, n_classes)
        parent = np.repeat(np.arange(len(level)), widths)
        reached = counts.sum(axis=1) > 0
        self._attribute += [-1] * n_children
        self._offset += [0] * n_children
        self._counts.append(np.where(reached[:, None], counts, level.counts[parent]))
        self._reached.append(reached)

        used = level.used[parent]
        used[np.arange(n_children), attribute[parent]] = True
        grouped = np.argsort(child, kind="stable")
        below = Level(
            level.data,
            start + np.arange(n_children),
            counts,
            used,
            level.rows[grouped],
            child[grouped],
        )
        return below.where(reached)

    def tree(self, empty_cells: bool) -> Tree:
        """The tree, with its leaves as cells in the order of their nodes."""
        attribute = np.array(self._attribute)
        is_cell = (attribute < 0) & (empty_cells | np.concatenate(self._reached))
        branch = np.concatenate([np.zeros(0, dtype=np.int64), *self._branch])
        cells = number_leaves(self._data.schema, attribute, np.array(self._offset), branch, is_cell)
        return Tree(cells, np.concatenate(self._counts).astype(np.float64))
