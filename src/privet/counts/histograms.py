"""Rows counted one by one: each walks down to its cell (:mod:`privet.routing`), and adds
itself to the histograms of that cell.

The values of several attributes in the same cells (a level of a tree) are counted together where
their joint codes are few: one step for two or three attributes, and each attribute's own histogram
is a sum of the joint one. Histograms are laid out by cell, then by the group's attributes (the last
one first), then by class. Rows of no cell have a place behind the last cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.joint import JointCodes, starts
from privet.routing import Routes

#: Entries of a histogram of several attributes: it should stay in the cache, and to sum it up
#: should take less time than it saves.
MOST_ENTRIES, ROWS_PER_ENTRY = 1 << 14, 16


class Histograms:
    """Some trees, each with the attributes that split its cells further (-1: not split)."""

    def __init__(
        self, trees: Sequence[tuple[Cells, Sequence[int]]], n_classes: int, n_rows: int
    ) -> None:
        self._trees = trees
        self._sizes = sizes = trees[0][0].schema.sizes
        self._n_classes = n_classes
        self._groups: list[list[list[int]]] = []  # by tree and histogram: its attributes
        self._shapes: list[tuple[int, ...]] = []
        most = min(MOST_ENTRIES, n_rows // ROWS_PER_ENTRY)
        for cells, by in trees:
            n_places = _count_places(cells)
            joint = JointCodes({a for a in by if a >= 0}, sizes, most // (n_places * n_classes))
            # classes alone are counted where no other histogram has their sums
            self._groups.append(joint.groups or [[]])
            self._shapes += [
                (n_places, *(sizes[a] for a in reversed(group)), n_classes)
                for group in self._groups[-1]
            ]
        flat = [group for groups in self._groups for group in groups]
        self._starts = starts([math.prod(shape) for shape in self._shapes])
        self.n_counts = int(self._starts[-1])
        self.n_steps = sum(int(cells.depths.max()) + 1 for cells, _ in trees) + len(flat)
        self.arrays: tuple[Any, ...] = (
            *Routes.through([cells for cells, _ in trees]).arrays,
            _places_of_nodes([cells for cells, _ in trees]),
            starts([len(groups) for groups in self._groups]),
            starts([len(group) for group in flat]),
            np.array([a for group in flat for a in group], dtype=np.int64),
            np.array(
                [self._step(group, place) for group in flat for place in range(len(group))],
                dtype=np.uint32,
            ),
            np.array([self._step(group, len(group)) for group in flat], dtype=np.uint64),
            self._starts,
        )

    def _step(self, group: list[int], place: int) -> int:
        """By how much an attribute counts: classes and the attributes before it come first."""
        return math.prod(self._sizes[a] for a in group[:place]) * self._n_classes

    def tables(
        self, counts: npt.NDArray[np.int64]
    ) -> list[list[tuple[npt.NDArray[np.int64], int]]]:
        """For each tree and each way to split its cells: the counts, and the rows in no cell."""
        joint = [
            counts[low:high].reshape(shape)
            for low, high, shape in zip(self._starts, self._starts[1:], self._shapes, strict=False)
        ]
        found, h = [], 0
        for (cells, by), groups in zip(self._trees, self._groups, strict=True):
            sums = [_marginal(joint[h : h + len(groups)], groups, a) for a in by]
            found.append([(table[: len(cells)], int(table[len(cells) :].sum())) for table in sums])
            h += len(groups)
        return found


def _marginal(
    joint: list[npt.NDArray[np.int64]], groups: list[list[int]], a: int
) -> npt.NDArray[np.int64]:
    """The counts by one attribute (-1: by none) from the histogram that has it."""
    g = next((g for g, group in enumerate(groups) if a in group), 0)
    axes = tuple(1 + axis for axis, other in enumerate(reversed(groups[g])) if other != a)
    return np.asarray(joint[g].sum(axis=axes)) if axes else joint[g]


def _count_places(cells: Cells) -> int:
    """The cells, and a place for rows of no cell where there can be any."""
    return len(cells) + int((cells.cell[cells.attribute < 0] < 0).any())


def _places_of_nodes(trees: Sequence[Cells]) -> npt.NDArray[np.uint32]:
    """The cell of each node of all trees; the last place where it has none."""
    # No counted row ends in an inner node. They have a place all the same, so that nothing is ever
    # written beyond a histogram.
    found = [np.where(cells.cell < 0, _count_places(cells) - 1, cells.cell) for cells in trees]
    return np.concatenate(found).astype(np.uint32)
