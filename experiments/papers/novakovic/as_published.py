"""The trees of Novakovic's listings as printed: **NOT PRIVATE**. No learner; only for the runs that
repeat the thesis.

What the listings do that no epsilon covers:

- of each attribute the best value is found *exactly*, and only then is chance let in, between
  attributes;
- values, classes and kinds of attributes are read off the rows of the node, and a node with one
  class left is a leaf, exactly;
- a split with an empty side scores 0, so that one row can change a score by as much as there are
  rows;
- the class counts of a node are drawn twice, once for the stopping rule and once for its label, and
  paid for once;
- noise is in floating point.

And what they do that is not meant: Gini sums ``exp2(m / n)`` over the classes that a side has,
where a square is meant. Without the square larger is purer, so the sign fits; but a side of one
class has a sum of 2 and a score of n, and a side that is nearly of one class a sum of almost 3 and
a score of almost 2 n. **Pure sides look worse than any mixed side.**

Two things are not repeated, because the printed program fails there: weights exp(score epsilon / 2)
overflow where more than about 1400 / epsilon rows are right (the epsilon of one query; Mushroom
from a total of 3 on), so the largest score is subtracted first, which changes no probability; and a
node without rows has no class, so it says what its parent says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from experiments.papers.novakovic import protocol
from experiments.papers.textbook import index_by_weight, laplace_not_private
from privet._types import Floats, Ints
from privet.learners.baselines.c45 import information_gain
from privet.mechanisms.randomness import Bits

Criterion = Literal["max", "gini", "info_gain"]
#: Sensitivities of section 6.4.
_SENSITIVITY = {"max": 1.0, "gini": 2.0}


@dataclass(frozen=True)
class Node:
    """A leaf says ``label``; another node asks whether ``attribute`` has ``value`` (or at least it,
    for a number).
    """

    label: int
    attribute: int = -1
    value: int = -1
    number: bool = False
    yes: Node | None = None
    no: Node | None = None

    def predict(self, values: Sequence[Ints]) -> Ints:
        """The class that each row is given."""
        said = np.full(len(values[0]), self.label, dtype=np.int64)
        if self.yes is not None and self.no is not None:
            asked = values[self.attribute]
            yes = asked >= self.value if self.number else asked == self.value
            for side, rows in ((self.yes, yes), (self.no, ~yes)):
                said[rows] = side.predict([column[rows] for column in values])
        return said


def grow_not_private(
    values: Sequence[Ints], classes: Ints, criterion: Criterion, epsilon: float, bits: Bits
) -> Node:
    """Grow a tree as the listings do; with an infinite epsilon, the thesis' non-private tree.

    Args:
        values: per attribute, the rank of each row's value.
        classes: the class of each row.
        criterion: ``"max"``, ``"gini"``, or ``"info_gain"`` for the non-private tree.
        epsilon: what the thesis says that the tree costs: 2 (depth + 1) - 1 queries share it.
        bits: where chance comes from.
    """
    numbers = [len(np.unique(column)) > protocol.MOST_CATEGORIES for column in values]
    grower = _Grower(
        values, classes, numbers, criterion, epsilon / (2 * (protocol.MAX_DEPTH + 1) - 1), bits
    )
    return grower.node(np.arange(len(classes)), tuple(range(len(values))), 0, 0)


@dataclass(frozen=True)
class _Grower:
    values: Sequence[Ints]
    classes: Ints
    numbers: Sequence[bool]
    criterion: Criterion
    each: float
    bits: Bits

    def node(self, rows: Ints, attributes: tuple[int, ...], depth: int, above: int) -> Node:
        """The node of these rows, and all below it. ``above`` is what the parent says."""
        if not len(rows):
            return Node(above)
        counts = np.bincount(self.classes[rows])
        # the listing draws noise for classes that are there, and knows of no others
        present = np.flatnonzero(counts)
        size = self._noisy(counts[present]).sum()
        label = int(present[self._noisy(counts[present]).argmax()])
        if (
            depth == protocol.MAX_DEPTH
            or not attributes
            or size <= protocol.MIN_SAMPLE
            or len(present) == 1
        ):
            return Node(label)
        attribute, value = self._split(rows, attributes)
        number, asked = self.numbers[attribute], self.values[attribute][rows]
        yes = asked >= value if number else asked == value
        # a category is asked once
        left = attributes if number else tuple(a for a in attributes if a != attribute)
        sides = (self.node(side, left, depth + 1, label) for side in (rows[yes], rows[~yes]))
        return Node(label, attribute, value, number, *sides)

    def _noisy(self, counts: Ints) -> Floats:
        if np.isinf(self.each):
            return counts.astype(np.float64)
        return counts + laplace_not_private(self.bits, counts.shape, 1 / self.each)

    def _split(self, rows: Ints, attributes: Sequence[int]) -> tuple[int, int]:
        """An attribute by chance, with its best value by no chance at all."""
        best = [self._best_value(rows, attribute) for attribute in attributes]
        scores = np.array([score for _, score in best])
        if np.isinf(self.each):
            at = int(scores.argmax())
        else:
            at = index_by_weight(self.bits, scores * self.each / (2 * _SENSITIVITY[self.criterion]))
            # the listing looks the score up again, and finds the first that has it
            at = int(np.flatnonzero(scores == scores[at])[0])
        return attributes[at], best[at][0]

    def _best_value(self, rows: Ints, attribute: int) -> tuple[int, float]:
        n_values, n_classes = int(self.values[attribute].max()) + 1, int(self.classes.max()) + 1
        entry = self.values[attribute][rows] * n_classes + self.classes[rows]
        table = np.bincount(entry, minlength=n_values * n_classes).reshape(n_values, n_classes)
        there = np.flatnonzero(table.any(axis=1))
        table = table[there]
        yes = table[::-1].cumsum(axis=0)[::-1] if self.numbers[attribute] else table
        sides = np.stack([yes, table.sum(axis=0) - yes], axis=1)
        scores = np.where((sides.sum(axis=2) == 0).any(axis=1), 0.0, _SCORES[self.criterion](sides))
        return int(there[scores.argmax()]), float(scores.max())


def _max_operator(sides: Ints) -> Floats:
    return np.asarray(sides.max(axis=2).sum(axis=1), dtype=np.float64)


def _gini_with_powers_of_two(sides: Ints) -> Floats:
    sizes = np.maximum(sides.sum(axis=2), 1)
    powers = np.where(sides > 0, np.exp2(sides / sizes[:, :, None]), 0.0).sum(axis=2)
    return np.asarray((sizes * (powers - 1)).sum(axis=1))


_SCORES = {"max": _max_operator, "gini": _gini_with_powers_of_two, "info_gain": information_gain}
