"""Grow a tree level by level, and prune it: what every exact learner shares.

A learner says how a level is split, and no more. Training rows are encoded and checked once
(:class:`EncodedRows`), so that counting can index without looking. A :class:`Level` holds the open
nodes of one depth and the rows in them, counted all at once. Every leaf of a grown tree is a cell
of its own, numbered in the order of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Codes, Ints
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.errors import ParameterError


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Encoded rows: one column of codes per attribute, in schema order, and the class of each
    row.
    """

    schema: Schema
    codes: Sequence[Codes]
    classes: Codes

    @classmethod
    def checked(
        cls, schema: Schema, codes: Sequence[Codes], classes: Codes, *, unknown: bool = False
    ) -> EncodedRows:
        """Return the rows, or raise :class:`ParameterError`.

        ``unknown`` allows the code one past the end of a domain.
        """
        if len(codes) != len(schema.sizes):
            raise ParameterError(
                f"codes must have one column per attribute, {len(schema.sizes)}; got {len(codes)}"
            )
        n_rows = len(classes)
        for name, column, size in zip(schema.names, codes, schema.sizes, strict=True):
            _check_column(f"codes of {name!r}", column, n_rows, size - 1 + unknown)
        _check_column("classes", classes, n_rows, schema.n_classes - 1)
        # Signed, because NumPy adds int64 and uint64 to a float.
        return cls(schema, [column.astype(np.int32) for column in codes], classes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.classes)


def _check_column(what: str, column: Codes, n_rows: int, highest: int) -> None:
    if column.shape != (n_rows,) or column.dtype.kind not in "iu":
        raise ParameterError(f"{what} must be one integer per row")
    if n_rows and (column.min() < 0 or column.max() > highest):
        raise ParameterError(f"{what} must be 0 to {highest}; leave out rows with other codes")


#: How many counts one attribute's table may have; a level with more is looked at in pieces.
MAX_TABLE = 1 << 20


@dataclass(frozen=True, eq=False)
class Level:
    """Nodes of one depth that may still be split.

    Parameters
    ----------
    data
        The training rows.
    nodes
        The numbers of the nodes in the tree.
    counts
        Exact class counts, one line per node.
    used
        Which attributes (columns) are tested above each node (line).
    rows
        The rows in these nodes, grouped by node.
    place
        For each of these rows, the line of its node.
    """

    data: EncodedRows
    nodes: Ints
    counts: Ints
    used: npt.NDArray[np.bool_]
    rows: Ints
    place: Ints

    @classmethod
    def root(cls, data: EncodedRows) -> Level:
        """Return a level of one node that holds every row."""
        counts = np.bincount(data.classes, minlength=data.schema.n_classes)[None, :]
        used = np.zeros((1, len(data.schema.sizes)), dtype=bool)
        n_rows = len(data)
        return cls(
            data, np.zeros(1, np.int64), counts, used, np.arange(n_rows), np.zeros(n_rows, np.int64)
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def where(self, keep: npt.NDArray[np.bool_]) -> Level:
        """Return the level with only these nodes."""
        inside = keep[self.place]
        line = np.cumsum(keep) - 1
        return replace(
            self,
            nodes=self.nodes[keep],
            counts=self.counts[keep],
            used=self.used[keep],
            rows=self.rows[inside],
            place=line[self.place[inside]],
        )

    def pieces(self) -> Iterator[Level]:
        """Return the level, a few nodes at a time where its tables would be too large."""
        step = max(1, MAX_TABLE // (max(self.data.schema.sizes) * self.data.schema.n_classes))
        for low in range(0, len(self), step):
            nodes = slice(low, low + step)
            rows = slice(*np.searchsorted(self.place, [low, low + step]).tolist())
            yield replace(
                self,
                nodes=self.nodes[nodes],
                counts=self.counts[nodes],
                used=self.used[nodes],
                rows=self.rows[rows],
                place=self.place[rows] - low,
            )

    def table(self, attribute: int) -> Ints:
        """Return class counts by node and value of an attribute: shape (nodes, values, classes)."""
        shape = (len(self), self.data.schema.sizes[attribute], self.data.schema.n_classes)
        entry = (self.place * shape[1] + self.data.codes[attribute][self.rows]) * shape[
            2
        ] + self.data.classes[self.rows]
        return np.bincount(entry, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)

    def values(self, attribute: npt.NDArray[Any]) -> Ints:
        """Return the code of each row in the attribute that ``attribute`` names for its node."""
        tested = attribute[self.place]
        values = np.empty(len(self.rows), dtype=np.int64)
        for a in np.unique(tested).tolist():
            here = tested == a
            values[here] = self.data.codes[a][self.rows[here]]
        return values


def number_leaves(
    schema: Schema, attribute: Ints, offset: Ints, branch: Ints, is_cell: npt.NDArray[np.bool_]
) -> Cells:
    """Return the structure, with cells 0, 1, 2, ... at the nodes where ``is_cell`` holds."""
    cell = np.where(is_cell, np.cumsum(is_cell) - 1, -1)
    return Cells(
        schema,
        attribute.astype(np.int32),
        offset,
        branch.astype(np.int32),
        cell.astype(np.int32),
        int(is_cell.sum()),
    )


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
    max_nodes: int | None = None,
    empty_cells: bool = True,
) -> Tree:
    """Split breadth first until nothing more is split.

    A leaf that no row reaches has the counts of its parent, so that a prediction there falls back
    on what is known one test earlier. With ``empty_cells`` such a leaf is a cell like any other;
    without, it belongs to no cell. Where a level would make more than ``max_nodes`` nodes in all,
    its first nodes are split, as far as there is room.
    """
    growth = _Growth(data)
    level = Level.root(data)
    depth = 0
    while len(level := level.where(may_split(level.counts))) and (
        max_depth is None or depth < max_depth
    ):
        choices = [choice for piece in level.pieces() for choice in choose(piece)]
        if max_nodes is not None:
            choices = _fit_choices(choices, max_nodes - growth.n_nodes)
        level = growth.split(
            level.where(np.array([choice is not None for choice in choices])),
            [c for c in choices if c],
        )
        depth += 1
    return growth.tree(empty_cells)


def make_mixed_rule(least: int) -> MaySplit:
    """Return a rule that splits nodes of at least this many rows, of more than one class."""
    return lambda counts: (counts.sum(axis=1) >= least) & ((counts > 0).sum(axis=1) > 1)


def _fit_choices(choices: Sequence[SplitChoice | None], room: int) -> list[SplitChoice | None]:
    """The first splits that make no more nodes than there is room for."""
    kept: list[SplitChoice | None] = []
    for choice in choices:
        room -= 0 if choice is None else int(choice[1].max()) + 1
        kept.append(choice if room >= 0 else None)
    return kept


class _Growth:
    """The nodes so far, in flat lists; children come after their parents."""

    def __init__(self, data: EncodedRows) -> None:
        self._data = data
        self._attribute, self._offset = [-1], [0]
        self._branch: list[Ints] = []
        self._n_branches = 0
        self._counts: list[Ints] = [Level.root(data).counts]
        self._reached: list[npt.NDArray[np.bool_]] = [np.ones(1, dtype=bool)]

    @property
    def n_nodes(self) -> int:
        """How many nodes there are so far."""
        return len(self._attribute)

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
        """Return the tree, with its leaves as cells in the order of their nodes."""
        attribute = np.array(self._attribute)
        is_cell = (attribute < 0) & (empty_cells | np.concatenate(self._reached))
        branch = np.concatenate([np.zeros(0, dtype=np.int64), *self._branch])
        cells = number_leaves(self._data.schema, attribute, np.array(self._offset), branch, is_cell)
        return Tree(cells, np.concatenate(self._counts).astype(np.float64))


# -- reduced-error pruning: subtrees that do not help on held-out rows become leaves --


def prune_reduced_error(tree: Tree, codes: Sequence[Codes], classes: Codes) -> Tree:
    """Prune a tree with rows that it was not grown from (Quinlan 1987, *Simplifying Decision
    Trees*).

    Bottom up, a subtree becomes a leaf if the leaf makes no more errors on these rows; so a subtree
    that none of them reaches becomes one. What remains is the smallest subtree of least error.
    Nodes keep the class counts that they have, and each predicts its first most frequent class.

    Parameters
    ----------
    tree
        The tree.
    codes
        The columns of the pruning rows. A row with an unknown code counts at the node where
        it gets stuck.
    classes
        The class of each of these rows.
    """
    rows = EncodedRows.checked(tree.schema, codes, classes, unknown=True)
    return _cut(tree, _find_nodes_to_cut(tree, rows))


def cut_below(tree: Tree, depth: int) -> Tree:
    """Return the tree with at most so many tests on a path."""
    cut = (tree.depths == depth) & (tree.cells.attribute >= 0)
    return _cut(tree, cut) if cut.any() else tree


def _find_nodes_to_cut(tree: Tree, rows: EncodedRows) -> npt.NDArray[np.bool_]:
    """Return which inner nodes become leaves."""
    n_classes = tree.schema.n_classes
    at = tree.reach(rows.codes) * n_classes + rows.classes
    stopped = np.bincount(at, minlength=tree.n_nodes * n_classes).reshape(tree.n_nodes, n_classes)
    majority = tree.counts.argmax(axis=1)
    # Before its children are added, a node answers only for the rows that stop there.
    below, errors = stopped.copy(), stopped.sum(axis=1) - stopped[np.arange(tree.n_nodes), majority]
    cut = np.zeros(tree.n_nodes, dtype=bool)
    parents = tree.cells.parents
    for node in range(tree.n_nodes - 1, -1, -1):
        as_leaf = below[node].sum() - below[node, majority[node]]
        if tree.cells.attribute[node] >= 0 and as_leaf <= errors[node]:
            cut[node], errors[node] = True, as_leaf
        if node:
            below[parents[node]] += below[node]
            errors[parents[node]] += errors[node]
    return cut


def _cut(tree: Tree, cut: npt.NDArray[np.bool_]) -> Tree:
    """Return the tree with these nodes as leaves, and without what was below them."""
    old, parents, sizes = tree.cells, tree.cells.parents, tree.schema.sizes
    kept = np.ones(tree.n_nodes, dtype=bool)
    for node in range(1, tree.n_nodes):  # parents come first
        kept[node] = kept[parents[node]] and not cut[parents[node]]
    number = np.cumsum(kept) - 1
    attribute = np.where(cut, -1, old.attribute)[kept]
    widths = np.array([sizes[a] if a >= 0 else 0 for a in attribute.tolist()])
    starts = old.offset[kept]
    pieces = [
        number[old.branch[at : at + width]]
        for at, width in zip(starts.tolist(), widths.tolist(), strict=True)
    ]
    is_cell = (attribute < 0) & ((old.cell >= 0) | cut)[kept]
    cells = number_leaves(
        tree.schema, attribute, np.cumsum(widths) - widths, np.concatenate(pieces), is_cell
    )
    return Tree(cells, tree.counts[kept])
