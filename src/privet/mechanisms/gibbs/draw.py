"""Draw a whole labelled tree with probability proportional to prior x exp(epsilon x correct weight)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells, Split
from privet.mechanisms.categorical import exact_draw
from privet.mechanisms.gibbs.kernels import Law, Tables, end_terms, inner_level, inner_terms, last_level, most_terms, narrowed, totals
from privet.mechanisms.gibbs.plan import Plan
from privet.mechanisms.randomness import Bits
from privet.space import children


@dataclass(frozen=True, eq=False)
class LabelledTree:
    """A drawn tree: its structure, and the class (by number) of every node."""

    cells: Cells
    labels: npt.NDArray[np.int64]


class Gibbs:
    """The dynamic program of one table, ready to be drawn from.

    Args:
        plan: the space, laid out.
        flat, base: the contingency tables of ``plan.sets``, in units of weight.
        unit: epsilon per unit of weight.
    """

    def __init__(self, plan: Plan, flat: npt.NDArray[np.int64], base: npt.NDArray[np.int64], unit: float) -> None:
        self._plan, self._tables = plan, Tables(flat, base)
        self._law = Law(unit, plan.space.split, plan.space.keep)
        self._n_classes = plan.space.schema.n_classes
        self._solve()

    def _solve(self) -> None:
        plan, n_classes, arrays = self._plan, self._n_classes, self._plan.arrays
        counts = np.zeros((plan.n_states, n_classes), dtype=np.int64)
        #: For each number of tests left, from 1 on: whole numbers and rests of all states. Nobody there: 0.
        self._best = {left: np.zeros(plan.n_states, dtype=np.int64) for left in range(1, plan.depth)}
        self._rest = {left: np.zeros((plan.n_states, n_classes)) for left in range(1, plan.depth)}
        if plan.depth < 2:
            return
        sets = range(plan.n_state_sets)
        on_all_cores(sets, lambda s: totals(s, n_classes, self._tables, arrays, counts))
        tests = plan.depth - 1
        on_all_cores(sets, lambda s: last_level(s, tests, self._tables, arrays, self._law, counts, self._best[1], self._rest[1]))
        for left in range(2, plan.depth):
            reached = [s for s in sets if len(plan.sets[s]) <= plan.depth - left]
            below = (self._best[left - 1], self._rest[left - 1])
            here = (self._best[left], self._rest[left])

            def level(s: int, left: int = left, below: Any = below, here: Any = here) -> None:
                inner_level(s, plan.depth - left, arrays, self._law, counts, *below, *here)

            on_all_cores(reached, level)

    # -- from the root down --------------------------------------------------------------------------------------------

    def draw(self, bits: Bits) -> LabelledTree:
        """One tree. Nodes that nobody is in are drawn like any other, from the prior."""
        plan, schema = self._plan, self._plan.space.schema
        attribute, offset, branch, labels = [-1], [0], list[int](), [0]
        stack = [_Node(0, np.zeros(len(schema.sizes), dtype=np.int64), plan.depth, -1)]
        while stack:
            node = stack.pop()
            label, split = self._choose(bits, node)
            labels[node.number] = label
            if split is None:
                continue
            a = schema.index(split.attribute)
            kept = children(plan.masks[a][node.subset[a]], split)
            first = len(attribute)
            attribute[node.number], offset[node.number] = a, len(branch)
            # Values that are not possible here go with the first child.
            branch += [first + next((j for j, child in enumerate(kept) if child >> code & 1), 0) for code in range(schema.sizes[a])]
            attribute += [-1] * len(kept)
            offset += [0] * len(kept)
            labels += [0] * len(kept)
            table = None if node.left > 1 else self._table(node.subset, a)
            for j, child in enumerate(kept):
                if table is not None:  # the last test: what is below needs its class weights only
                    codes = [code for code in range(schema.sizes[a]) if child >> code & 1]
                    stack.append(_Node(first + j, node.subset, 0, label, table[codes].sum(axis=0)))
                else:
                    below = node.subset.copy()
                    below[a] = plan.subset_of[a][child]
                    stack.append(_Node(first + j, below, node.left - 1, label))
        leaves = np.array(attribute) < 0
        cell = np.where(leaves, np.cumsum(leaves) - 1, -1)
        cells = Cells(schema, np.array(attribute), np.array(offset), np.array(branch), cell, int(leaves.sum()))
        return LabelledTree(cells, np.array(labels))

    def _choose(self, bits: Bits, node: _Node) -> tuple[int, Split | None]:
        """The label of a node, and how it is split, in one draw."""
        choices = self.choices(node)
        index = exact_draw(bits, choices.x.reshape(-1))
        term, label = divmod(index, self._n_classes)
        return label, choices.splits[term]

    def choices(self, node: _Node) -> _Choices:
        """Everything that a node can be, with log-weights: to stop (first) or to be split in some way, with each label."""
        plan, arrays, n_classes = self._plan, self._plan.arrays, self._n_classes
        unit, chance, keep = self._law
        splits: list[Split | None] = [None]
        counts = node.counts
        weight, value = np.empty(0, dtype=np.int64), np.empty((0, n_classes))
        if counts is None:
            which = plan.number_of[tuple(np.flatnonzero(node.subset).tolist())]
            counts = narrowed(which, -1, node.subset, n_classes, self._tables, arrays)
        if node.left > 0:
            most = most_terms(arrays.inner_start if node.left > 1 else arrays.last_start, arrays)
            weight, ids = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
            value = np.empty((most, n_classes))
            if node.left > 1:
                below = (self._best[node.left - 1], self._rest[node.left - 1])
                found = inner_terms(which, node.subset, arrays, *below, weight, value, ids)
                splits += [plan.inner_splits[i] for i in ids[:found]]
            else:
                found = end_terms(which, node.subset, n_classes, self._tables, arrays, self._law, weight, value, ids)
                splits += [plan.last_splits[i] for i in ids[:found]]
            weight, value = weight[:found], value[:found]
        top = max(int(counts.max()), int(weight.max(initial=0)))
        label_prior = np.full(n_classes, -math.log(n_classes))
        if node.above >= 0:
            label_prior = np.log((1 - keep) / n_classes + keep * (np.arange(n_classes) == node.above))
        stop = unit * (counts - top) + (math.log(1 - chance) if len(weight) else 0.0)
        split = unit * (weight - top)[:, None] + value + math.log(chance)
        return _Choices(splits, label_prior + np.vstack([stop[None], split]), top)

    def _table(self, subset: npt.NDArray[np.int64], a: int) -> npt.NDArray[np.int64]:
        """The value-by-class weights of an attribute in a state."""
        plan = self._plan
        which = plan.number_of[tuple(sorted({*np.flatnonzero(subset).tolist(), a}))]
        table = narrowed(which, a, subset, self._n_classes, self._tables, plan.arrays)
        return np.asarray(table.reshape(-1, self._n_classes))


@dataclass(frozen=True, eq=False)
class _Node:
    """A node that is to be drawn: which values are possible, how many tests are left, and the label above (-1: none)."""

    number: int
    subset: npt.NDArray[np.int64]
    left: int
    above: int
    counts: npt.NDArray[np.int64] | None = None  #: class weights, where no test is left


@dataclass(frozen=True, eq=False)
class _Choices:
    """Ways to split (None: stop), and for each way and label the log-weight, from which ``unit * top`` is left out."""

    splits: list[Split | None]
    x: npt.NDArray[np.float64]
    top: int


def on_all_cores(items: Iterable[int], work: Callable[[int], None]) -> None:
    """Do independent pieces of work whose kernels run without the interpreter lock."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(work, items))
