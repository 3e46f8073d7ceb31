"""Count encoded rows: compile a question once, then feed it blocks of codes.

Trees without further splits are counted leaf by leaf where that is possible
(:mod:`privet.tables.counting.leaf_bits`). All others are counted row by row: each row walks down to
its cell (:mod:`privet.domain.routing`), and adds itself to the histograms of that cell.

The values of several attributes in the same cells (a level of a tree) are counted together where
their joint codes are few: one step for two or three attributes, and each attribute's own histogram
is a sum of the joint one. Histograms are laid out by cell, then by the group's attributes (the last
one first), then by class. Rows of no cell have a place behind the last cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._parallel import count_cores, for_each_part
from privet._types import Tables
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.domain.routing import BLOCK, Routes
from privet.tables.base import check_totals
from privet.tables.counting.leaf_bits import (
    STRIP,
    JointCodes,
    LeafBits,
    choose_fitting_trees,
    starts,
)

NO_WEIGHTS = np.empty(0, dtype=np.int64)
#: With fewer rows or trees, making tables to look leaves up would take longer than walking.
FEWEST_ROWS, FEWEST_TREES = 30_000, 3
#: With more classes, a block has too few rows of each to add them up together.
MOST_CLASSES = 64
_MAX_THREAD_MEMORY = 1 << 28  # bytes for the private tables of all threads

# by partition: its table, and the rows in none of its cells
_Answer = dict[int, tuple[npt.NDArray[np.int64], int]]


class Counting:
    """The running counts of one question."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._by_weights: dict[bool, list[_Leaves | _Rows]] = {}
        self._rows = 0

    def add(
        self,
        codes: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        weights: npt.NDArray[np.int64] = NO_WEIGHTS,
    ) -> None:
        """Count these rows: ``codes`` has one line per attribute of the schema (unused ones may
        hold anything).
        """
        weighted = len(weights) > 0
        self._rows += int(weights.sum()) if weighted else len(classes)
        # what comes first tells what comes: sources feed blocks of one size
        if weighted not in self._by_weights:
            self._by_weights[weighted] = _plan_counting(self._question, len(classes), weighted)
        for way in self._by_weights[weighted]:
            way.add(codes, classes, weights)

    def tables(self) -> Tables:
        """Return the counts so far."""
        counted: _Answer = {}
        for ways in self._by_weights.values():
            for way in ways:
                for p, (table, outside) in way.answer().items():
                    counted[p] = (
                        (counted[p][0] + table, counted[p][1] + outside)
                        if p in counted
                        else (table, outside)
                    )
        shapes = [partition.shape for partition in self._question.partitions]
        tables = [
            counted[p][0] if p in counted else np.zeros(shape, dtype=np.int64)
            for p, shape in enumerate(shapes)
        ]
        uncovered = [counted[p][1] if p in counted else 0 for p in range(len(shapes))]
        check_totals(tables, uncovered, self._rows)
        return tables


def _plan_counting(question: Question, n_rows: int, weighted: bool) -> list[_Leaves | _Rows]:
    """Decide how to count the trees of a question.

    Leaves by their bits where that is possible, the others row by row.
    """
    asked: dict[int, tuple[Cells, list[int]]] = {}
    for p, partition in enumerate(question.partitions):
        asked.setdefault(id(partition.cells), (partition.cells, []))[1].append(p)
    trees = list(asked.values())
    plain: list[int] = []
    if n_rows >= FEWEST_ROWS and not weighted and question.schema.n_classes <= MOST_CLASSES:
        unsplit = [
            t
            for t, (_, parts) in enumerate(trees)
            if all(question.partitions[p].by is None for p in parts)
        ]
        plain = [unsplit[i] for i in choose_fitting_trees([trees[t][0] for t in unsplit])]
        plain = plain if len(plain) >= FEWEST_TREES else []
    others = [t for t in range(len(trees)) if t not in set(plain)]
    ways: list[_Leaves | _Rows] = []
    if plain:
        ways.append(_Leaves([trees[t] for t in plain], question.schema.n_classes))
    if others:
        ways.append(_Rows(question, [trees[t] for t in others], n_rows))
    return ways


class _Leaves:
    """Trees whose leaves are counted by their bits."""

    def __init__(self, trees: list[tuple[Cells, list[int]]], n_classes: int) -> None:
        self._bits = LeafBits([cells for cells, _ in trees])
        self._parts = [parts for _, parts in trees]
        # Written to, so that the first row in some part of it does not find new memory there.
        self._counts = np.full((n_classes, self._bits.n_strips * STRIP), 0, dtype=np.int64)

    def add(
        self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], _: npt.NDArray[np.int64]
    ) -> None:
        from privet.tables.counting.kernels import count_leaves

        def count(low: int, high: int, counts: npt.NDArray[np.int64]) -> None:
            count_leaves(codes, classes, low, high, *self._bits.arrays, counts)

        _count_in_threads(count, len(classes), 4 * self._bits.n_strips, self._counts)

    def answer(self) -> _Answer:
        answers_of_parts = zip(self._parts, self._bits.tables(self._counts), strict=True)
        return {p: answer for parts, answer in answers_of_parts for p in parts}


class _Rows:
    """Trees whose rows are counted one by one."""

    def __init__(
        self, question: Question, trees: list[tuple[Cells, list[int]]], n_rows: int
    ) -> None:
        self._parts = [parts for _, parts in trees]
        by = [
            [
                -1 if (name := question.partitions[p].by) is None else question.schema.index(name)
                for p in parts
            ]
            for parts in self._parts
        ]
        split = [(cells, attributes) for (cells, _), attributes in zip(trees, by, strict=True)]
        self._histograms = Histograms(split, question.schema.n_classes, n_rows)
        self._counts = np.full(self._histograms.n_counts, 0, dtype=np.int64)

    def add(
        self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64]
    ) -> None:
        from privet.tables.counting.kernels import count_rows

        def count(low: int, high: int, counts: npt.NDArray[np.int64]) -> None:
            count_rows(codes, classes, weights, low, high, *self._histograms.arrays, counts)

        _count_in_threads(count, len(classes), self._histograms.n_steps, self._counts)

    def answer(self) -> _Answer:
        answers_of_parts = zip(self._parts, self._histograms.tables(self._counts), strict=True)
        return {
            p: answer
            for parts, answers in answers_of_parts
            for p, answer in zip(parts, answers, strict=True)
        }


def _count_in_threads(
    count: Callable[[int, int, npt.NDArray[np.int64]], None],
    n_rows: int,
    steps: int,
    counts: npt.NDArray[np.int64],
) -> None:
    """Add the rows to the counts, in threads with counts of their own where so many steps for each
    row are worth it.
    """
    work = n_rows * steps // (64 * BLOCK)
    most = max(
        1,
        min(count_cores(), n_rows // BLOCK, work, _MAX_THREAD_MEMORY // max(1, counts.nbytes)),
    )
    if most == 1:
        count(0, n_rows, counts)
        return
    piece = min(16 * BLOCK, -(-n_rows // most))
    own = [np.full_like(counts, 0) for _ in range(most)]
    free: SimpleQueue[npt.NDArray[np.int64]] = SimpleQueue()
    for mine in own:
        free.put(mine)

    def add_part(part: int) -> None:
        mine = free.get()  # never waits: there are as many as threads
        try:
            count(part * piece, min((part + 1) * piece, n_rows), mine)
        finally:
            free.put(mine)

    for_each_part(-(-n_rows // piece), add_part, workers=most)
    for mine in own:
        counts += mine


# -- histograms of rows that are counted one by one --

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
        """Return by how much an attribute counts.

        Classes and the attributes before it come first.
        """
        return math.prod(self._sizes[a] for a in group[:place]) * self._n_classes

    def tables(
        self, counts: npt.NDArray[np.int64]
    ) -> list[list[tuple[npt.NDArray[np.int64], int]]]:
        """Return, per tree and way to split its cells, the counts, and how many rows are in no
        cell.
        """
        joint = [
            counts[low:high].reshape(shape)
            for low, high, shape in zip(self._starts, self._starts[1:], self._shapes, strict=False)
        ]
        tables, h = [], 0
        for (cells, by), groups in zip(self._trees, self._groups, strict=True):
            sums = [_marginal(joint[h : h + len(groups)], groups, a) for a in by]
            tables.append([(table[: len(cells)], int(table[len(cells) :].sum())) for table in sums])
            h += len(groups)
        return tables


def _marginal(
    joint: list[npt.NDArray[np.int64]], groups: list[list[int]], a: int
) -> npt.NDArray[np.int64]:
    """Return the counts by one attribute (-1: by none) from the histogram that has it."""
    g = next((g for g, group in enumerate(groups) if a in group), 0)
    axes = tuple(1 + axis for axis, other in enumerate(reversed(groups[g])) if other != a)
    return np.asarray(joint[g].sum(axis=axes)) if axes else joint[g]


def _count_places(cells: Cells) -> int:
    """Return the cells, and a place for rows of no cell where there can be any."""
    return len(cells) + int((cells.cell[cells.attribute < 0] < 0).any())


def _places_of_nodes(trees: Sequence[Cells]) -> npt.NDArray[np.uint32]:
    """Return the cell of each node of all trees; the last place where it has none."""
    # No counted row ends in an inner node. They have a place all the same, so that nothing is ever
    # written beyond a histogram.
    places = [np.where(cells.cell < 0, _count_places(cells) - 1, cells.cell) for cells in trees]
    return np.concatenate(places).astype(np.uint32)
