"""Route rows down trees: find the node that each row reaches in each tree.

This is the only walk of rows down trees: predictions, counts and scores all use it.

A walk goes from word to word. A word says which attribute is tested and where the next words are:
one for each code of the attribute, and one for the unknown code. The word of a node where a walk
ends leads to itself whatever the code is. So all rows take as many steps as the tree is deep, and
**the work depends on the trees and the number of rows, never on what the rows hold**: the time that
a walk takes tells nothing about them.

Few rows are walked in NumPy; many by compiled loops (:mod:`privet.domain.routing_loops`), which
take a while to load. Both use the same words, and the results are equal bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._parallel import for_each_range
from privet.domain.attributes import smallest_unsigned
from privet.domain.cells import Cells

#: Rows whose codes stay in the cache while every tree looks at them.
BLOCK = 8192
#: Walks (rows times trees) from which on compiled loops are worth loading. A long walk counts once
#: for every ten steps.
MANY = 1_000_000

# A word: the attribute, whether its code matters, and where the next words are.
ATTRIBUTE, MOVES = np.uint64(33), np.uint64(32)
PLACE, ONE = np.uint64((1 << 32) - 1), np.uint64(1)


@dataclass(frozen=True, eq=False)
class Routes:
    """Trees over one schema, laid out for walking.

    Args:
        sizes: the number of known codes of each attribute.
        used: the attributes that any tree tests.
        root: the first word of each tree.
        steps: how many steps a row takes in each tree.
        words: the words of all branches, then one for each node that says that a walk ends there,
            in the order of trees and nodes.
        first_end: where the words of the ends begin.
    """

    sizes: tuple[int, ...]
    used: tuple[int, ...]
    root: npt.NDArray[np.uint64]
    steps: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]
    first_end: np.uint64

    @classmethod
    def through(cls, trees: Sequence[Cells]) -> Routes:
        """Lay out some trees: at least one, all over one schema."""
        sizes = trees[0].schema.sizes
        first_node = np.cumsum([0, *(len(cells.attribute) for cells in trees)])
        first_branch = np.cumsum([0, *(len(cells.branch) for cells in trees)])
        attribute = np.concatenate([cells.attribute for cells in trees])
        offset = np.concatenate([cells.offset for cells in trees]) + np.repeat(
            first_branch[:-1], np.diff(first_node)
        )
        branch = np.concatenate([cells.branch for cells in trees]) + np.repeat(
            first_node[:-1], np.diff(first_branch)
        )
        inner = np.flatnonzero(attribute >= 0)
        widths = np.asarray(sizes, dtype=np.int64)[attribute[inner]] + 1
        start = np.cumsum(widths) - widths
        first_end = int(widths.sum())
        # the word of an end: attribute 0, whose code does not matter
        ends = (first_end + np.arange(len(attribute))).astype(np.uint64)
        words_of_nodes = ends.copy()
        words_of_nodes[inner] = (
            (attribute[inner].astype(np.uint64) << ATTRIBUTE)
            | (ONE << MOVES)
            | start.astype(np.uint64)
        )
        source = np.repeat(offset[inner] - start, widths) + np.arange(first_end)
        unknown = start + widths - 1
        source[unknown] = 0  # nothing of a tree: written over below
        branches = words_of_nodes[branch[source]]
        branches[unknown] = ends[inner]  # a row whose code is unknown stays
        return cls(
            sizes,
            tuple(np.unique(attribute[inner]).tolist()),
            words_of_nodes[first_node[:-1]],
            # a walk takes its first step before it looks whether there is one to take
            np.array([max(1, int(cells.depths.max())) for cells in trees], dtype=np.int64),
            np.concatenate([branches, ends]),
            np.uint64(first_end),
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the loops take: roots, steps, words, and where the words of the ends begin."""
        return self.root, self.steps, self.words, self.first_end

    def pack(self, columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return columns of codes as one matrix with a line per attribute, ready for walking.

        Every code that is not known becomes the one after the last known code. Attributes that no
        tree tests may hold anything.
        """
        lines = np.empty((len(self.sizes), len(columns[0])), smallest_unsigned(max(self.sizes)))
        for a in self.used:
            # as an unsigned number, a negative code is a large one, and as unknown as others
            column = columns[a].view(f"u{columns[a].dtype.itemsize}")
            unknown = min(self.sizes[a], int(np.iinfo(column.dtype).max))
            np.minimum(column, column.dtype.type(unknown), out=lines[a], casting="same_kind")
        return lines

    def find_nodes(
        self, codes: npt.NDArray[Any], *, compiled: bool | None = None
    ) -> npt.NDArray[np.int64]:
        """Return the node of the first tree that each row ends in.

        Args:
            codes: a line per attribute: packed, or rows whose codes are all known.
            compiled: whether to use compiled loops; by default, where there are steps enough to
                make up for loading them.
        """
        nodes = np.empty(codes.shape[1], dtype=np.int64)
        if not self._worth_compiling(codes, compiled):
            for low in range(0, len(nodes), BLOCK):
                nodes[low : low + BLOCK] = self._walk(codes[:, low : low + BLOCK], 0)
            return nodes
        from privet.domain.routing_loops import find_nodes

        for_each_range(
            len(nodes),
            lambda low, high: find_nodes(codes, low, high, *self.arrays, nodes),
            workers=len(nodes) >> 17,
        )
        return nodes

    def add_values(
        self,
        codes: npt.NDArray[Any],
        values: npt.NDArray[np.float64],
        total: npt.NDArray[np.float64],
        *,
        compiled: bool | None = None,
    ) -> None:
        """Add the values of the nodes that each row ends in to its line of ``total``, tree by tree.

        Args:
            codes: a line per attribute: packed, or rows whose codes are all known.
            values: a line for every node, in the order of trees and nodes.
            total: a line for every row.
            compiled: as for :meth:`find_nodes`.
        """
        if not self._worth_compiling(codes, compiled):
            for low in range(0, len(total), BLOCK):
                block = codes[:, low : low + BLOCK]
                for tree in range(len(self.root)):
                    total[low : low + BLOCK] += values[self._walk(block, tree)]
            return
        from privet.domain.routing_loops import add_values

        for_each_range(
            len(total),
            lambda low, high: add_values(codes, low, high, *self.arrays, values, total),
            workers=len(self.root) * len(total) >> 17,
        )

    def _worth_compiling(self, codes: npt.NDArray[Any], compiled: bool | None) -> bool:
        if compiled is not None:
            return compiled
        n_rows, steps = codes.shape[1], int(self.steps.sum())
        return bool(n_rows * max(len(self.steps), steps // 10) >= MANY)

    def _walk(self, codes: npt.NDArray[Any], tree: int) -> npt.NDArray[np.int64]:
        """Return the node, counted over all trees, that each row ends in, in plain NumPy."""
        rows = np.arange(codes.shape[1])
        words = self.words.view(np.int64)  # NumPy's own type of index; no word has the sign bit
        word = np.full(len(rows), int(self.root[tree]), dtype=np.int64)
        for _ in range(int(self.steps[tree])):
            code = codes[word >> int(ATTRIBUTE), rows]
            word = words[(word & int(PLACE)) + code * (word >> int(MOVES) & 1)]
        return (word & int(PLACE)) - int(self.first_end)


def find_cells(cells: Cells, columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
    """Return the cell of each row; -1 for none, and where a code that is tested is unknown."""
    routes = Routes.through([cells])
    return np.asarray(cells.cell[routes.find_nodes(routes.pack(columns))])
