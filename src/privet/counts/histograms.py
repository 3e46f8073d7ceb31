"""Rows counted one by one: each finds its cell, and adds itself to the histograms of that cell.

The values of several attributes in the same cells (a level of a tree) are counted together where their joint codes are few: one step
for two or three attributes, and each attribute's own histogram is a sum of the joint one. Histograms are laid out by cell, then
by the group's attributes (the last one first), then by class. Rows of no cell have a place behind the last cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.joint import JointCodes, starts
from privet.counts.masks import Masks

#: Entries of a histogram of several attributes: it should stay in the nearest cache.
MOST_ENTRIES = 1 << 12


class Histograms:
    """Some trees, each with the attributes that split its cells further (-1: not split)."""

    def __init__(self, trees: Sequence[tuple[Cells, Sequence[int]]], n_classes: int, look_up: bool) -> None:
        cells = [tree for tree, _ in trees]
        self._by = [by for _, by in trees]
        self._sizes = sizes = cells[0].schema.sizes
        self._n_classes = n_classes
        slots = [len(tree) + int((tree.cell[tree.attribute < 0] < 0).any()) for tree in cells]
        self._n_cells = [len(tree) for tree in cells]
        # Cells that are not split have a histogram of classes alone, unless a sum of another one will do.
        groups = [
            JointCodes(sorted({a for a in by if a >= 0}), sizes, MOST_ENTRIES // (n * n_classes)).groups or [[]]
            for by, n in zip(self._by, slots, strict=True)
        ]
        self._shapes = [
            [(n, *(sizes[a] for a in reversed(group)), n_classes) for group in mine] for mine, n in zip(groups, slots, strict=True)
        ]
        self._groups = groups
        lengths = [int(np.prod(shape, dtype=np.int64)) for mine in self._shapes for shape in mine]
        flat = [group for mine in groups for group in mine]
        self._starts = starts(lengths)
        self.masks = Masks(cells, look_up)
        self.n_counts, self.n_histograms = int(self._starts[-1]), len(flat)
        self.arrays: tuple[npt.NDArray[Any], ...] = (
            starts([len(tree.attribute) for tree in cells]),
            np.concatenate([tree.attribute for tree in cells]),
            np.concatenate([tree.offset for tree in cells]),
            starts([len(tree.branch) for tree in cells]),
            np.concatenate([tree.branch for tree in cells]),
            np.concatenate([np.where(tree.cell < 0, len(tree), tree.cell) for tree in cells]).astype(np.uint32),
            starts([len(mine) for mine in groups]),
            starts([len(group) for group in flat]),
            np.array([a for group in flat for a in group], dtype=np.int64),
            np.array([self._step(group, place) for group in flat for place in range(len(group))], dtype=np.uint32),
            np.array([self._step(group, len(group)) for group in flat], dtype=np.uint64),
            self._starts,
            *self.masks.arrays,
        )

    def _step(self, group: list[int], place: int) -> int:
        """By how much an attribute counts: classes and the attributes before it come first."""
        return int(np.prod([self._sizes[a] for a in group[:place]], dtype=np.int64)) * self._n_classes

    def tables(self, counts: npt.NDArray[np.int64]) -> list[list[tuple[npt.NDArray[np.int64], int]]]:
        """For each tree and each way to split its cells: the counts, and the rows in no cell."""
        h, found = 0, []
        for by, groups, shapes, n_cells in zip(self._by, self._groups, self._shapes, self._n_cells, strict=True):
            joint = [counts[self._starts[h + i] : self._starts[h + i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
            h += len(shapes)
            found.append([_split(_marginal(joint, groups, a), n_cells) for a in by])
        return found


def _marginal(joint: list[npt.NDArray[np.int64]], groups: list[list[int]], a: int) -> npt.NDArray[np.int64]:
    """The counts by one attribute (-1: by none) from the histogram that has it."""
    g = next((g for g, group in enumerate(groups) if a in group), 0)
    axes = tuple(1 + axis for axis, other in enumerate(reversed(groups[g])) if other != a)
    return np.asarray(joint[g].sum(axis=axes)) if axes else joint[g]


def _split(table: npt.NDArray[np.int64], n_cells: int) -> tuple[npt.NDArray[np.int64], int]:
    return table[:n_cells], int(table[n_cells:].sum())
