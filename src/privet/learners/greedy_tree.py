"""A greedy tree with privately chosen splits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal, get_args

from privet.budget import Number
from privet.checks import IntegerIn, NameIn, ParameterCheck, RealIn
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.mechanisms.criteria import CRITERIA, criterion_named
from privet.model.shrink import STRENGTH
from privet.schema import Schema
from privet.trees.greedy import grow_greedy
from privet.trees.schedule import Schedule, split_epsilon
from privet.typed import Splits

LARGEST_DEPTH = 12

#: What the parameters of a greedy tree, and of a forest of them, may be.
GREEDY: Mapping[str, ParameterCheck] = {
    "criterion": NameIn(*CRITERIA),
    "max_depth": IntegerIn(0, LARGEST_DEPTH, also=("auto",)),
    "splits": NameIn(*get_args(Splits)),
    "schedule": NameIn(*get_args(Schedule)),
    "min_rows": RealIn(least=0),
    "shrink": RealIn(least=0),
}


def choose_depth(
    asked: int | Literal["auto"], schema: Schema, n_rows: float, epsilon: Fraction | None
) -> int:
    """The depth that was asked for, or by a public rule: one level more for each doubling of n
    epsilon beyond 60 T, from 2 to 6.
    """
    if asked == "auto":
        strength = n_rows * (1e9 if epsilon is None else float(epsilon))
        return max(2, min(6, math.floor(math.log2(max(strength, 1) / (60 * schema.n_classes)))))
    return int(asked)


class GreedyTreeClassifier(PrivateClassifier):
    """A decision tree whose splits are chosen by private selection (Friedman and Schuster 2010;
    Novakovic, chapter 6).

    Every level chooses among all attribute-value candidates at once, by permute-and-flip on the
    criterion's exact scores. Sensitivity: the criterion's range (max operator 1, Gini 2,
    information gain log2(n) + 1/ln 2 with n declared), and 1 for class counts. Neighbours: one row
    added or removed. Cost: pure ``epsilon``: a level costs its share once, because its cells are
    disjoint.

    Args:
        epsilon, schema, random_state: see :class:`~privet.learners.base.PrivateClassifier`.
        criterion: ``"max"``, ``"gini"`` or ``"info_gain"`` (needs ``n_rows`` in the schema).
        max_depth: how many levels of splits, or ``"auto"``: by a public rule from n, epsilon and
            the number of classes. Randomised records tell by themselves where to stop: up to 6.
        splits: ``"binary"`` (one value against the rest, thresholds) or ``"multiway"`` (one child
            per value of a categorical attribute).
        schedule: how epsilon is spread: ``"even"``, ``"deep"`` or ``"thesis"`` (class counts at
            every level, for the stopping rules).
        min_rows: with ``"thesis"``: a node whose noisy size is at most this is not split.
        shrink: how much thin leaves borrow from their ancestors, in standard deviations of their
            noise.
    """

    _name: ClassVar[str] = "greedy-tree"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = GREEDY
    _public_settings: ClassVar[tuple[str, ...]] = (
        "criterion",
        "splits",
        "schedule",
        "min_rows",
        "shrink",
    )

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        criterion: Literal["max", "gini", "info_gain"] = "gini",
        max_depth: int | Literal["auto"] = "auto",
        splits: Splits = "binary",
        schedule: Schedule = "even",
        min_rows: float = 5,
        shrink: float = STRENGTH,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.criterion = criterion
        self.max_depth = max_depth
        self.splits = splits
        self.schedule = schedule
        self.min_rows = min_rows
        self.shrink = shrink
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        criterion_named(self.criterion, curator.schema.n_rows)  # before anything is paid for
        n_rows = measure_rows(curator, spending) if self.max_depth == "auto" else 0.0
        depth = choose_depth(self.max_depth, curator.schema, n_rows, spending.to_share)
        plan = split_epsilon(self.schedule, spending.left, depth)
        grown = grow_greedy(
            curator, self.criterion, plan, splits=self.splits, min_rows=self.min_rows
        )
        spending.charges += grown.charges
        return Growth((grown.shrunk(self.shrink),), "counts", {"max_depth": depth}, grown.deviation)
