"""Learn a forest of greedy trees."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet._types import Splits
from privet._validate import IntegerIn, NameIn, ParameterCheck
from privet.accounting.cost import Cost, Number
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.greedy import (
    GREEDY,
    LATER,
    MIN_ROWS,
    Grown,
    Schedule,
    choose_depth,
    grow_greedy,
    refuse_min_rows,
    split_epsilon,
)
from privet.learners.random_trees.drawing import COMBINES
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.selection import Selection
from privet.model import Combine
from privet.model.leaf_vectors import STRENGTH


class ForestClassifier(PrivateClassifier):
    """Greedy trees that share the budget, or that share the people.

    With ``divide="budget"`` every tree sees all people and gets epsilon / n_trees (sequential
    composition). With ``divide="people"`` every person is in one tree, drawn independently at
    random (all rows of a person together), and every tree gets the whole epsilon (parallel
    composition over disjoint people). Sensitivity and neighbours: as for the greedy tree. Cost:
    pure ``epsilon`` either way.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    n_trees
        How many trees.
    divide
        ``"budget"`` or ``"people"``.
    criterion, max_depth, splits, schedule, min_rows, shrink, mechanism, attribute_once
        As for
        :class:`~privet.learners.greedy.GreedyTreeClassifier`.
    combine
        How trees add up: ``"probabilities"``, ``"counts"`` or ``"vote"``.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.ForestClassifier(epsilon=1, n_trees=3, divide="people").fit_from(curator)
    >>> len(model.model_.trees)
    3
    >>> print(model.privacy_)
    1-differentially private with one row added or removed
    """

    _name: ClassVar[str] = "forest"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "n_trees": IntegerIn(1),
        "divide": NameIn("budget", "people"),
        "combine": NameIn(*COMBINES),
        **GREEDY,
    }
    _public_settings: ClassVar[tuple[str, ...]] = (
        "n_trees",
        "divide",
        "criterion",
        "splits",
        "schedule",
        "min_rows",
        "shrink",
        "combine",
        "mechanism",
        "attribute_once",
    )
    _later: ClassVar[frozenset[str]] = LATER

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        n_trees: int = 5,
        divide: Literal["budget", "people"] = "people",
        criterion: Literal["max", "gini", "info_gain"] = "gini",
        max_depth: int | Literal["auto"] = "auto",
        splits: Splits = "binary",
        schedule: Schedule = "even",
        min_rows: float = MIN_ROWS,
        shrink: float = STRENGTH,
        combine: Combine = "probabilities",
        mechanism: Selection = "permute-and-flip",
        attribute_once: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.n_trees = n_trees
        self.divide = divide
        self.criterion = criterion
        self.max_depth = max_depth
        self.splits = splits
        self.schedule = schedule
        self.min_rows = min_rows
        self.shrink = shrink
        self.combine = combine
        self.mechanism = mechanism
        self.attribute_once = attribute_once
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        refuse_min_rows(type(self).__name__, self.schedule, self.min_rows)

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        criterion_named(self.criterion, curator.schema.n_rows)  # before anything is paid for
        n_rows = measure_rows(curator, spending) if self.max_depth == "auto" else 0.0
        # Either way a tree has a fraction of n epsilon to work with.
        depth = choose_depth(
            self.max_depth, curator.schema, n_rows / self.n_trees, spending.to_share
        )
        grown = (
            self._grow_by_people(curator, spending, depth)
            if self.divide == "people"
            else self._grow_by_budget(curator, spending, depth)
        )
        if self.divide == "people":  # each row is in one of the trees
            whole = np.concatenate([tree.leaf_counts.reshape(-1) for tree in grown])
            spending.notice_counts([whole], grown[0].deviation)
        else:
            spending.notice_counts([tree.leaf_counts for tree in grown], grown[0].deviation)
        trees = tuple(tree.shrunk(self.shrink) for tree in grown)
        return Growth(trees, self.combine, {"max_depth": depth}, grown[0].deviation)

    def _grow_by_budget(self, curator: AnyCurator, spending: Spending, depth: int) -> list[Grown]:
        each = None if spending.left is None else spending.left / self.n_trees
        grown = [self._tree(curator, each, depth) for _ in range(self.n_trees)]
        for number, tree in enumerate(grown, start=1):
            for charge in tree.charges:
                spending.record_charge(f"tree {number}: {charge.what}", charge.cost)
        return grown

    def _grow_by_people(self, curator: AnyCurator, spending: Spending, depth: int) -> list[Grown]:
        if spending.left is None:
            raise ParameterError(
                "divide='people' needs a finite epsilon; without noise, let the trees see "
                "everyone: divide='budget'"
            )
        epsilon = spending.take(Fraction(1))
        parts = curator.split_people(self.n_trees, epsilon)
        spending.record_charge(f"{self.n_trees} trees, each of its own people", Cost.pure(epsilon))
        return [self._tree(part, Fraction(epsilon), depth) for part in parts]

    def _tree(self, curator: AnyCurator, epsilon: Fraction | None, depth: int) -> Grown:
        plan = split_epsilon(self.schedule, epsilon, depth)
        return grow_greedy(
            curator,
            self.criterion,
            plan,
            splits=self.splits,
            min_rows=self.min_rows,
            mechanism=self.mechanism,
            attribute_once=self.attribute_once,
        )
