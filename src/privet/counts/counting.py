"""Count encoded rows: a question compiled once, then fed with blocks of codes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.base import Tables, check_totals, split_tables
from privet.counts.masks import Masks
from privet.question import Question

NO_WEIGHTS = np.empty(0, dtype=np.int64)
_MAX_THREAD_MEMORY = 1 << 28  # bytes for the private tables of all threads


class Counting:
    """The running counts of one question."""

    def __init__(self, question: Question) -> None:
        self._question = question
        schema = question.schema
        groups: dict[int, tuple[Cells, list[int]]] = {}
        for p, partition in enumerate(question.partitions):
            groups.setdefault(id(partition.cells), (partition.cells, []))[1].append(p)
        trees = [cells for cells, _ in groups.values()]
        order = [p for _, parts in groups.values() for p in parts]
        starts = np.concatenate([[0], np.cumsum([partition.entries for partition in question.partitions])])
        by = [question.partitions[p].by for p in order]
        self._order = order
        self._structure = (
            _starts([len(cells.attribute) for cells in trees]),
            np.concatenate([cells.attribute for cells in trees]),
            np.concatenate([cells.offset for cells in trees]),
            _starts([len(cells.branch) for cells in trees]),
            np.concatenate([cells.branch for cells in trees]),
            np.concatenate([cells.cell for cells in trees]),
            _starts([len(parts) for _, parts in groups.values()]),
            np.array([-1 if name is None else schema.index(name) for name in by], dtype=np.int64),
            np.array([1 if name is None else schema.attributes[name].size for name in by], dtype=np.int64),
            np.array([starts[p] for p in order], dtype=np.int64),
        )
        self._trees = trees
        self._masks: Masks | None = None
        self._out = np.zeros(question.entries, dtype=np.int64)
        self._uncovered = np.zeros(len(order), dtype=np.int64)
        self._rows = 0

    def add(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64] = NO_WEIGHTS) -> None:
        """Count these rows: ``codes`` has one line per attribute of the schema (unused ones may hold anything)."""
        from privet.counts.kernels import BLOCK, count_rows

        n_rows = len(classes)
        if self._masks is None:  # what comes first tells what comes: sources feed blocks of one size
            self._masks = Masks(self._trees, n_rows)
        masks = self._masks.arrays
        self._rows += int(weights.sum()) if len(weights) else n_rows
        n_classes = self._question.schema.n_classes
        work = n_rows * len(self._order)
        most = max(1, min(os.cpu_count() or 1, n_rows // BLOCK, work // (16 * BLOCK), _MAX_THREAD_MEMORY // (8 * len(self._out))))
        cuts = np.linspace(0, n_rows, most + 1).astype(int).tolist()
        if most == 1:
            count_rows(codes, classes, weights, 0, n_rows, n_classes, *self._structure, *masks, self._out, self._uncovered)
            return

        def part(i: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
            out, uncovered = np.zeros_like(self._out), np.zeros_like(self._uncovered)
            count_rows(codes, classes, weights, cuts[i], cuts[i + 1], n_classes, *self._structure, *masks, out, uncovered)
            return out, uncovered

        with ThreadPoolExecutor(most) as pool:
            for out, uncovered in pool.map(part, range(most)):
                self._out += out
                self._uncovered += uncovered

    def tables(self) -> Tables:
        """The counts so far."""
        tables = split_tables(self._question, self._out)
        uncovered = np.empty_like(self._uncovered)
        uncovered[self._order] = self._uncovered
        check_totals(tables, uncovered.tolist(), self._rows)
        return tables


def _starts(lengths: list[int]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
