"""Learn with the default classifier: boosted Gibbs trees and additive terms, by a public rule."""

from __future__ import annotations

from typing import ClassVar

from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.boosting import calibrate_tree, draw_boosted, start_from_classes
from privet.learners.default_recipe import (
    Recipe,
    recipe_for,
    share_for_classes,
    warn_of_few_rows,
)
from privet.learners.terms import add_terms


class PrivetClassifier(PrivateClassifier):
    """The classifier to start with: it chooses depth, rounds, splits and additive terms from public
    quantities alone.

    Trees are drawn whole (:class:`~privet.GibbsBoostClassifier`). Around them the rule may spend
    parts of epsilon: on class shares to start from, where one of two classes is rare; on the leaves
    of each tree, and on one additive term per attribute (private Newton steps that refine
    probabilities); on noisy class counts for the labels of a single tree. What was chosen, and why,
    is in ``model_.settings`` and on the card. Sensitivity: range 1 for a draw; 1 for class counts;
    3/4 (two classes) or 1 in L1 for the derivatives of leaves and of a term. Neighbours: one row
    added or removed. Cost: pure ``epsilon``, of which a twentieth pays for the number of rows where
    it is not declared.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    delta
        Above 0, the fit is (epsilon, delta)-differentially private: draws compose in zCDP,
        at epsilon**2/8 each, and noise is Gaussian. A curator for it has a budget in rho.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.PrivetClassifier(epsilon=1).fit_from(curator)
    >>> print(model.privacy_)
    1-differentially private with one row added or removed
    >>> model.predict(car.X.head(2)).tolist()
    ['unacc', 'unacc']
    """

    _name: ClassVar[str] = "privet"

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        delta: Number = 0,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.delta = delta
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        n_rows = measure_rows(curator, spending)
        schema, unit, amount = curator.schema, spending.unit, spending.left
        warn_of_few_rows(schema, n_rows, amount, unit)
        share, start = share_for_classes(schema, n_rows, amount, unit), None
        if share:
            start, charge = start_from_classes(curator, n_rows, spending.take(share), unit)
            spending.charges.append(charge)
        recipe = recipe_for(schema, n_rows, amount, unit, rare=start is not None)
        trees = follow_recipe(curator, spending, recipe, start)
        return Growth(tuple(trees), "scores", {"class_share": float(share), **recipe.settings}, 0.0)


def follow_recipe(
    curator: AnyCurator, spending: Spending, recipe: Recipe, start: Tree | None
) -> list[Tree]:
    """Spend all that is left as the recipe says, and return the trees of scores, ``start`` first.

    Cost: what is left to spend. Neighbours: one row added or removed.
    """
    unit = spending.unit
    trees = [] if start is None else [start]
    refine = spending.take(recipe.additive)
    calibrate = spending.take(recipe.calibration)
    leaves = {unit: spending.share(recipe.leaves, recipe.rounds)} if recipe.leaves else None
    drawn, charges = draw_boosted(
        curator,
        recipe.space,
        recipe.rounds,
        spending.draws(recipe.rounds),
        recipe.strength,
        trees,
        leaves=leaves,
    )
    spending.charges += charges
    if recipe.calibration:
        drawn[0], charge = calibrate_tree(curator, drawn[0], calibrate, unit)
        spending.charges.append(charge)
    trees += drawn
    if recipe.additive:
        terms, charges = add_terms(curator, trees, refine, unit)
        spending.charges += charges
        trees += terms
    return trees
