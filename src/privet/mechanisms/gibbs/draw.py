"""Draw a whole labelled tree by the exponential mechanism, exactly.

Its probability is proportional to prior x exp(epsilon x correct weight). :class:`Gibbs` makes one
exact draw per node, with probabilities proportional to exp(unit whole + rest)
(:func:`exact_draw`). There, a uniform real U is revealed bit by bit. The outcome is where U times
the total weight falls among the running sums; it is decided from 64 bits and double arithmetic
unless that comes too close to a boundary, and then from ever more bits and decimals until it is
clear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, localcontext
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._parallel import for_each_part
from privet._steady import MOST
from privet.domain.cells import Cells, Split
from privet.domain.space import MAX_THREADS, child_masks
from privet.mechanisms.gibbs.kernels import (
    ContingencyTables,
    Law,
    fill_end_terms,
    fill_inner_terms,
    narrow_table,
    solve_inner_level,
    solve_last_level,
    sum_class_weights,
)
from privet.mechanisms.gibbs.plan import SpaceArrays, codes_of
from privet.mechanisms.randomness import Bits

#: Elementary steps below which starting threads takes longer than the work.
ONE_CORE = 200_000


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

    def __init__(
        self,
        plan: SpaceArrays,
        flat: npt.NDArray[np.int64],
        base: npt.NDArray[np.int64],
        unit: float,
    ) -> None:
        self._plan, self._tables = plan, ContingencyTables(flat, base)
        self.unit = unit
        self._law = Law(unit, plan.space.split, plan.space.keep)
        self._n_classes = plan.space.schema.n_classes
        self._solve()

    def _solve(self) -> None:
        plan, n_classes, arrays = self._plan, self._n_classes, self._plan.arrays
        counts = np.zeros((plan.n_states, n_classes), dtype=np.int64)
        #: For each number of tests left, from 1 on: integers and rests of all states.
        self._best = {
            left: np.zeros(plan.n_states, dtype=np.int64) for left in range(1, plan.depth)
        }
        self._rest = {left: np.zeros((plan.n_states, n_classes)) for left in range(1, plan.depth)}
        if plan.depth < 2:
            return
        sets, steps = range(plan.n_state_sets), plan.space.size.work
        run_on_all_cores(
            sets, lambda s: sum_class_weights(s, n_classes, self._tables, arrays, counts), steps
        )
        tests = plan.depth - 1
        run_on_all_cores(
            sets,
            lambda s: solve_last_level(
                s,
                tests,
                plan.most_last,
                self._tables,
                arrays,
                self._law,
                counts,
                self._best[1],
                self._rest[1],
            ),
            steps,
        )
        for left in range(2, plan.depth):
            reached = [s for s in sets if len(plan.sets[s]) <= plan.depth - left]
            below = (self._best[left - 1], self._rest[left - 1])
            here = (self._best[left], self._rest[left])

            def level(s: int, left: int = left, below: Any = below, here: Any = here) -> None:
                solve_inner_level(
                    s, plan.depth - left, plan.most_inner, arrays, self._law, counts, *below, *here
                )

            run_on_all_cores(reached, level, steps)

    # -- from the root down ------------------------------------------------------------------------

    def draw(self, bits: Bits) -> LabelledTree:
        """Draw one tree. Nodes that nobody is in are drawn like any other, from the prior."""
        plan, schema = self._plan, self._plan.space.schema
        attribute, offset, branch, labels = [-1], [0], list[int](), [0]
        stack = [(0, self.root())]
        while stack:
            number, node = stack.pop()
            labels[number], split = self._choose(bits, node)
            if split is None:
                continue
            a = schema.index(split.attribute)
            kept = child_masks(plan.masks[a][node.subset[a]], split)
            first = len(attribute)
            attribute[number], offset[number] = a, len(branch)
            # Values that are not possible here go with the first child.
            branch += [
                first + next((j for j, child in enumerate(kept) if child >> code & 1), 0)
                for code in range(schema.sizes[a])
            ]
            attribute += [-1] * len(kept)
            offset += [0] * len(kept)
            labels += [0] * len(kept)
            stack += enumerate(self.below(node, labels[number], split), start=first)
        leaves = np.array(attribute) < 0
        cell = np.where(leaves, np.cumsum(leaves) - 1, -1)
        cells = Cells(
            schema, np.array(attribute), np.array(offset), np.array(branch), cell, int(leaves.sum())
        )
        return LabelledTree(cells, np.array(labels))

    def root(self) -> Node:
        """Return the node where everything is possible."""
        return Node(np.zeros(len(self._plan.sizes), dtype=np.int64), self._plan.depth, -1)

    def below(self, node: Node, label: int, split: Split) -> list[Node]:
        """Return the children of a node with this label and split, in order.

        Those that the values still possible leave empty do not exist.
        """
        plan, a = self._plan, self._plan.space.schema.index(split.attribute)
        kept = child_masks(plan.masks[a][node.subset[a]], split)
        if node.left == 1:  # the last test: what is below needs its class weights only
            table = self._table(node.subset, a)
            return [
                Node(node.subset, 0, label, table[codes_of(child)].sum(axis=0)) for child in kept
            ]
        children = []
        for child in kept:
            subset = node.subset.copy()
            subset[a] = plan.subset_of[a][child]
            children.append(Node(subset, node.left - 1, label))
        return children

    def _choose(self, bits: Bits, node: Node) -> tuple[int, Split | None]:
        """Draw the label of a node, and how it is split, at once."""
        choices = self.choices(node)
        index = exact_draw(
            bits, choices.whole.reshape(-1), self._law.unit, choices.rest.reshape(-1)
        )
        term, label = divmod(index, self._n_classes)
        return label, choices.splits[term]

    def choices(self, node: Node) -> WeightedSplits:
        """Return everything that a node can be, with log-weights.

        It can stop (first) or be split in some way, with each label.
        """
        plan, arrays, n_classes = self._plan, self._plan.arrays, self._n_classes
        chance, keep = self._law.split, self._law.keep
        splits: list[Split | None] = [None]
        counts = node.counts
        weight, value = np.empty(0, dtype=np.int64), np.empty((0, n_classes))
        if counts is None:
            which = plan.number_of[tuple(np.flatnonzero(node.subset).tolist())]
            counts = narrow_table(which, -1, node.subset, self._tables, arrays)
        if node.left > 0:
            most = plan.most_inner if node.left > 1 else plan.most_last
            weight, ids = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
            value = np.empty((most, n_classes))
            if node.left > 1:
                below = (self._best[node.left - 1], self._rest[node.left - 1])
                n_terms = fill_inner_terms(which, node.subset, arrays, *below, weight, value, ids)
                splits += [plan.inner_splits[i] for i in ids[:n_terms]]
            else:
                n_terms = fill_end_terms(
                    which,
                    node.subset,
                    n_classes,
                    self._tables,
                    arrays,
                    self._law,
                    weight,
                    value,
                    ids,
                )
                splits += [plan.last_splits[i] for i in ids[:n_terms]]
            weight, value = weight[:n_terms], value[:n_terms]
        label_prior = np.full(n_classes, -math.log(n_classes))
        if node.above >= 0:
            label_prior = np.log(
                (1 - keep) / n_classes + keep * (np.arange(n_classes) == node.above)
            )
        stop = np.full((1, n_classes), math.log(1 - chance) if len(weight) else 0.0)
        whole = np.vstack([counts[None], np.broadcast_to(weight[:, None], value.shape)])
        return WeightedSplits(
            splits, whole, label_prior + np.vstack([stop, value + math.log(chance)])
        )

    def _table(self, subset: npt.NDArray[np.int64], a: int) -> npt.NDArray[np.int64]:
        """Return the value-by-class weights of an attribute in a state."""
        plan = self._plan
        which = plan.number_of[tuple(sorted({*np.flatnonzero(subset).tolist(), a}))]
        table = narrow_table(which, a, subset, self._tables, plan.arrays)
        return np.asarray(table.reshape(-1, self._n_classes))


@dataclass(frozen=True, eq=False)
class Node:
    """A node that is to be drawn: which values are possible, how many tests are left, and the label
    above (-1: none).
    """

    subset: npt.NDArray[np.int64]
    left: int
    above: int
    counts: npt.NDArray[np.int64] | None = None  #: class weights, where no test is left


@dataclass(frozen=True, eq=False)
class WeightedSplits:
    """Ways to split (None: stop), and for each way and label the log-weight: ``unit * whole +
    rest``, in exact real numbers.
    """

    splits: list[Split | None]
    whole: npt.NDArray[np.int64]
    rest: npt.NDArray[np.float64]


def run_on_all_cores(items: Sequence[int], work: Callable[[int], None], steps: int) -> None:
    """Do independent pieces of work whose kernels run without the interpreter lock.

    All together take so many elementary steps.
    """
    workers = MAX_THREADS if steps > ONE_CORE else 1
    for_each_part(len(items), lambda part: work(items[part]), workers=workers)


# -- one exact draw out of several outcomes --

#: 32 roundings: more than double arithmetic loses per outcome; see :func:`exact_draw`.
DOUBLE_ERROR = 2.0**-48
#: Sums and products of doubles and integers have fewer digits than this, so nothing is
#: rounded.
EXACT = Context(prec=2500, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])


def exact_draw(
    bits: Bits, whole: npt.NDArray[np.int64], unit: float, rest: npt.NDArray[np.float64]
) -> int:
    """Draw the index i with probability proportional to exp(unit whole[i] + rest[i]).

    Finite doubles are taken as exact real numbers.

    The product is not left to doubles, where its error would grow with ``whole``: an outcome's
    probability would be off by more in a larger table. It is rounded here only to see where U
    falls, with room for the error.
    """
    x = unit * (whole - whole.max()) + rest
    # Powers that are denormal would take longer. What this adds is far within the slack.
    sums = np.cumsum(np.exp(np.maximum(x - x.max(), -MOST)))
    uniform = int(bits.words(1)[0])
    at = uniform * 2.0**-64 * sums[-1]
    # An exponent y below the largest is off by 2**-53 (4 y + 5 max |rest|), so a weight by 2**-53
    # (10 + 5 max |rest|) at most; summing adds 2**-53 per outcome, the product and the unseen bits
    # 2**-51.
    slack = sums[-1] * (len(x) + float(np.abs(rest).max()) + 4) * DOUBLE_ERROR
    index = int(np.searchsorted(sums, at, side="right"))
    clear = (
        index < len(x)
        and at + slack < sums[index]
        and (index == 0 or at - slack >= sums[index - 1])
    )
    return index if clear else _draw_with_more_bits(bits, whole, unit, rest, uniform)


def _draw_with_more_bits(
    bits: Bits,
    whole: npt.NDArray[np.int64],
    unit: float,
    rest: npt.NDArray[np.float64],
    uniform: int,
) -> int:
    """Draw the same outcome from the same bits and more of them.

    Computes in decimals that are rounded correctly.
    """
    with localcontext(EXACT):
        x = [
            Decimal(float(unit)) * int(w) + Decimal(float(r))
            for w, r in zip(whole, rest, strict=True)
        ]
        top = max(x)
        behind = [value - top for value in x]
    n_bits = 64
    while True:
        with localcontext(Context(prec=40 + n_bits // 3, Emin=MIN_EMIN, Emax=MAX_EMAX)) as context:
            sums = list(accumulate(value.exp() for value in behind))
            # Every weight, sum and product is rounded correctly: all together are off by less than
            # this.
            error = sums[-1] * (len(sums) + 4) * Decimal(10) ** (4 - context.prec)
            low, high = (sums[-1] * at / (1 << n_bits) for at in (uniform, uniform + 1))
            index = sum(edge <= high + error for edge in sums[:-1])
            if index == 0 or sums[index - 1] <= low - error:
                return index
        uniform = (uniform << 64) | int(bits.words(1)[0])
        n_bits += 64
