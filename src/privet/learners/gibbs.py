"""Learn trees that are drawn whole: one of them, or several that are boosted.

Each boosted tree is drawn on the rows that earlier ones leave in doubt
(:mod:`~privet.learners.boosting`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

from privet._validate import IntegerIn, ParameterCheck
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.space import MAX_SPACE_DEPTH
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.boosting import calibrate_tree, draw_boosted
from privet.learners.default_recipe import prefers_pure, recipe_for
from privet.learners.resolution import resolve_evenly

#: Each round weighs the rows by all trees before.
MAX_ROUNDS = 1000

_DEPTH = IntegerIn(0, MAX_SPACE_DEPTH, also=("auto",))


class GibbsTreeClassifier(PrivateClassifier):
    """One decision tree, drawn whole: splits and labels together, with all of epsilon
    (docs/concepts/gibbs.md).

    A tree has probability proportional to prior x exp(epsilon x number of rows that it classifies
    correctly). Sensitivity: a row adds 0 or 1 to the score of every tree. Neighbours: one row added
    or removed. Cost: pure ``epsilon``, of which a twentieth pays for the number of rows where it is
    needed (``max_depth="auto"``) and not declared, and a twentieth, where there is enough evidence,
    for class probabilities by label.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    max_depth
        The most tests on a path, or ``"auto"``: by a public rule from n, epsilon and the
        domain.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.GibbsTreeClassifier(epsilon=1, max_depth=2).fit_from(curator)
    >>> print(model.privacy_)
    1-differentially private with one row added or removed
    >>> pv.export(model, "tree.txt")  # the tree, to read
    """

    _name: ClassVar[str] = "gibbs-tree"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {"max_depth": _DEPTH}

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        max_depth: int | Literal["auto"] = "auto",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.max_depth = max_depth
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        depth = None if self.max_depth == "auto" else int(self.max_depth)
        n_rows = measure_rows(curator, spending) if depth is None else 0.0
        resolution = resolve_evenly(curator.schema)
        recipe = recipe_for(
            resolution.coarse, n_rows, spending.left, rounds=1, depth=depth, draws_only=True
        )
        space = resolution.lift_space(recipe.space)
        calibrate = spending.take(recipe.calibration)
        (tree,), charges = draw_boosted(
            curator, space, 1, spending.take(Fraction(1)), recipe.strength
        )
        spending.charges += charges
        if recipe.calibration:
            tree, charge = calibrate_tree(curator, tree, calibrate)
            spending.charges.append(charge)
        return Growth(
            (tree,),
            "scores",
            {"max_depth": recipe.space.depth, "calibration_share": float(recipe.calibration)},
            0.0,
        )


class GibbsBoostClassifier(PrivateClassifier):
    """Several trees, each drawn whole on rows that weigh less where the trees before are right
    about them.

    A row weighs min(1, (1 - p) T/(T - 1)), where p is the probability that the summed scores of
    earlier, released trees give to its class. Sensitivity: a row adds between 0 and 1 to the score
    of every tree of a round. Neighbours: one row added or removed. Cost: pure ``epsilon``, shared
    evenly by the rounds, after a twentieth for the number of rows where it is needed and not
    declared.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    rounds
        How many trees, or ``"auto"``: by a public rule.
    max_depth
        The most tests on a path, or ``"auto"``.
    delta
        See :class:`~privet.PrivetClassifier`.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.GibbsBoostClassifier(epsilon=1, rounds=2, max_depth=2).fit_from(curator)
    >>> len(model.model_.trees)
    2
    """

    _name: ClassVar[str] = "gibbs-boost"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "rounds": IntegerIn(1, MAX_ROUNDS, also=("auto",)),
        "max_depth": _DEPTH,
    }

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        rounds: int | Literal["auto"] = "auto",
        max_depth: int | Literal["auto"] = "auto",
        delta: Number = 0,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.rounds = rounds
        self.max_depth = max_depth
        self.delta = delta
        self.random_state = random_state

    @property
    def _choices(self) -> dict[str, Any]:
        """What of the recipe is not left to the rule."""
        depth = None if self.max_depth == "auto" else int(self.max_depth)
        rounds = None if self.rounds == "auto" else int(self.rounds)
        return {"rounds": rounds, "depth": depth, "draws_only": True}

    def _prefers_pure(self, schema: Schema) -> bool:
        return prefers_pure(schema, self.epsilon, self.delta, **self._choices)

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        choices = self._choices
        given = choices["rounds"] is not None and choices["depth"] is not None
        n_rows = 0.0 if given else measure_rows(curator, spending)
        resolution = resolve_evenly(curator.schema)
        recipe = recipe_for(resolution.coarse, n_rows, spending.left, spending.unit, **choices)
        each = spending.draws(recipe.rounds)
        space = resolution.lift_space(recipe.space)
        trees, charges = draw_boosted(curator, space, recipe.rounds, each, recipe.strength)
        spending.charges += charges
        return Growth(tuple(trees), "scores", recipe.settings, 0.0)
