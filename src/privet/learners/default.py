"""Learn with the default classifier: boosted Gibbs trees and additive terms, by a public rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

from privet._types import Floats
from privet._validate import MappingOf, ParameterCheck, RealIn
from privet.accounting.cost import Number
from privet.accounting.statement import People, PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import Spending, spread_draws
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.base import Growth, measure_rows
from privet.learners.batchwise import BatchClassifier
from privet.learners.boosting import (
    calibrate_tree,
    draw_boosted,
    lean_on_classes,
    lean_on_even,
    measure_classes,
    start_from_classes,
)
from privet.learners.default_recipe import (
    Recipe,
    may_start_from_classes,
    measure_evidence,
    prefers_pure,
    recipe_for,
    share_for_classes,
    share_for_population,
    warn_of_few_rows,
)
from privet.learners.people import measure_population
from privet.learners.random_trees.batches import PEOPLE
from privet.learners.relay import fit_by_turns
from privet.learners.resolution import Resolution, resolve, resolve_evenly
from privet.learners.screening import CHOSEN, choose_attributes
from privet.learners.smooth import is_narrow
from privet.learners.terms import Terms
from privet.learners.updates import find_unit, update_boosted
from privet.model import Model
from privet.model.costs import (
    Costs,
    Weights,
    balance_classes,
    read_costs,
    read_weights,
    weigh_mistakes,
)


class PrivetClassifier(BatchClassifier):
    """The classifier to start with: it chooses depth, rounds, splits and additive terms from public
    quantities alone.

    Trees are drawn whole (:class:`~privet.GibbsBoostClassifier`). Around them the rule may spend
    parts of epsilon: on class shares to start from, where one of two classes is rare; on how the
    values of each attribute are spread, where there are rows enough; on the leaves
    of each tree, and on one additive term per attribute (private Newton steps that refine
    probabilities), in wide tables only for attributes that are chosen privately; on noisy class
    counts for the labels of a single tree. What was chosen, and why, is in ``model_.settings`` and
    on the card. Sensitivity: range 1 for a draw; 1 for class counts; 3/4 (two classes) or 1 in L1
    for the derivatives of leaves and of a term. Neighbours: one row added or removed. Cost: pure
    ``epsilon``, of which a twentieth pays for the number of rows where it is not declared.

    More people can be added later (:meth:`partial_fit`): the released trees weigh the new rows,
    which draw further trees and refine the terms. Each batch costs its own ``epsilon``; what a
    person loses is the largest of them if nobody is in two batches, and their sum otherwise
    (``people``).

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    class_weight
        How much each class counts when the model decides: ``{label: weight}`` (1 where left
        out), or ``"balanced"``, all classes the same, which always pays for noisy class shares.
        Probabilities stay those of the population; a weight stands for the cost of a mistake.
    costs
        What mistakes cost: ``{(true class, predicted class): cost}``, or a matrix with true
        classes in rows. The model then says the class with the smallest expected cost.
    delta
        Above 0, the fit is (epsilon, delta)-differentially private: draws compose in zCDP,
        at epsilon**2/8 each, noise is Gaussian, and terms are visited several times between the
        draws. ``fit`` does not use it where pure epsilon is expected to be better, nor does
        ``fit_from`` where the curator's budget counts epsilon; a note in ``privacy_`` says so.
    effort
        How much work the draws may take, as a multiple of the default, from 0.01 to 100. The
        default grows with the table: about a CPU second for a few thousand rows, nine for 100 000
        rows of 14 attributes. Less effort means coarser splits, then shallower trees.
    people
        Whether the tables of several curators, or batches, are known to hold different people:
        ``"disjoint"``, which is the owners' assertion, or ``"may-overlap"``.

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
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "class_weight": MappingOf("class weights", also=("balanced",), none=True),
        "costs": MappingOf("costs of class pairs", matrix=True, none=True),
        "effort": RealIn(least=0.01, most=100),
        "people": PEOPLE,
    }
    _later: ClassVar[frozenset[str]] = frozenset({"class_weight", "costs", "effort", "people"})
    _public_settings: ClassVar[tuple[str, ...]] = ("effort",)

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        class_weight: Weights | Literal["balanced"] | None = None,
        costs: Costs | None = None,
        delta: Number = 0,
        effort: float = 1.0,
        people: People = "may-overlap",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.class_weight = class_weight
        self.costs = costs
        self.delta = delta
        self.effort = effort
        self.people = people
        self.random_state = random_state

    def fit_from(
        self,
        curator: AnyCurator | Sequence[AnyCurator],
        epsilons: Sequence[Number] | None = None,
    ) -> Self:
        """Train through a curator, or through several that take turns (a relay).

        Of several, each charges ``epsilon``, or its own of ``epsilons``, to its own ledger.
        ``people`` says whether somebody may be in two of their tables. Rows stay where they are: a
        curator sees the trees that the others have released, and nothing else.

        Parameters
        ----------
        curator
            Who answers the learner's queries: :class:`~privet.Curator`, or what
            :func:`~privet.connect` returns; or a list of them, over tables with the same schema.
        epsilons
            What each of several curators charges, where that is not ``epsilon`` for all.

        Returns
        -------
        self
            The trained classifier.

        Raises
        ------
        BudgetExceeded
            If a curator has less left than it is to charge; nothing is charged then.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> north, south = (
        ...     pv.Curator(rows, car.schema.declare(n_rows=864), pv.Budget(2))
        ...     for rows in (car.table[::2], car.table[1::2])
        ... )
        >>> model = pv.PrivetClassifier(epsilon=1, people="disjoint").fit_from([north, south])
        >>> model.privacy_.epsilon, model.privacy_.people
        (1.0, 'disjoint')
        >>> north.left, south.left
        (Fraction(1, 1), Fraction(1, 1))
        """
        if not isinstance(curator, Sequence):
            if epsilons is not None:
                raise ParameterError("epsilons are for several curators; epsilon is for one")
            return super().fit_from(curator)
        self.check_parameters()
        self._refuse_seed()
        if self.class_weight == "balanced":
            raise ParameterError(
                "class_weight='balanced' needs the class shares of all tables, which no curator of "
                "several knows; give a weight for each class, or costs"
            )
        curators = list(curator)
        for one in curators:
            self._check_against(one.schema)
        each = [self.epsilon] * len(curators) if epsilons is None else list(epsilons)
        model = fit_by_turns(curators, each, self.delta, self.people)
        self._adopt(replace(model, costs=self._find_costs(model.schema)))
        return self

    def _add(self, curator: AnyCurator) -> None:
        if self.class_weight == "balanced" and self.model_.costs is None:
            raise ParameterError(
                "class_weight='balanced' needs the class shares of the first batch, which were not "
                "paid for; give a weight for each class, or costs"
            )
        self._check_against(curator.schema)
        model = update_boosted(
            self.model_, curator, self.epsilon, self.people, delta=self.delta, effort=self.effort
        )
        costs = self._find_costs(model.schema)
        self._adopt(model if costs is None else replace(model, costs=costs))

    def _delta_of_batch(self) -> Number:
        return self.delta if find_unit(self.model_) == "rho" else 0

    def _model(self, curator: AnyCurator, growth: Growth, statement: PrivacyStatement) -> Model:
        model = super()._model(curator, growth, statement)
        if "rows" not in growth.settings:
            return model
        # Public: declared, or paid for. Updates plan with it.
        rows = {statement.id: growth.settings["rows"]}
        return replace(model, settings={**model.settings, "rows": rows})

    def _prefers_pure(self, schema: Schema) -> bool:
        return prefers_pure(schema, self.epsilon, self.delta, alone=True)

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        n_rows = measure_rows(curator, spending)
        unit, amount = spending.unit, spending.left
        resolution = resolve(curator, spending, n_rows)
        schema = resolution.coarse
        warn_of_few_rows(schema, n_rows, amount, unit)
        balanced = self.class_weight == "balanced"
        alone = curator.rules > 1  # a fit that 0.1 began goes on without later recipes
        narrow = alone and is_narrow(schema)
        for_classes = share_for_classes(schema, n_rows, amount, unit, always=balanced or narrow)
        for_population = share_for_population(schema, n_rows, amount, unit)
        shares, start, people, costs = None, None, None, self._find_costs(schema)
        if for_classes:
            shares, noise, charge = measure_classes(
                curator, n_rows, spending.take(for_classes), unit, spending.notice_counts
            )
            spending.charges.append(charge)
            if narrow:
                start = start_from_classes(curator.schema, lean_on_even(shares, noise), 0, common=0)
            elif may_start_from_classes(schema, n_rows, measure_evidence(n_rows, amount, unit)):
                start = start_from_classes(curator.schema, shares, noise)
            if balanced:
                costs = weigh_mistakes(balance_classes(shares))
        if for_population:
            people, charges = measure_population(
                curator,
                n_rows,
                spending.take(for_population),
                unit,
                resolution,
                spending.notice_counts,
            )
            spending.charges += charges
        recipe = recipe_for(
            schema,
            n_rows,
            amount,
            unit,
            rare=start is not None,
            effort=self.effort,
            alone=alone,
        )
        trees = follow_recipe(curator, spending, recipe, start, shares, resolution)
        settings = {
            "class_share": float(for_classes),
            "population_share": float(for_population),
            **({} if self.class_weight is None else {"class_weight": str(self.class_weight)}),
            **recipe.settings,
            **resolution.settings,
            "rows": n_rows,
        }
        return Growth(tuple(trees), "scores", settings, 0.0, costs=costs, population=people)

    def _check_against(self, schema: Schema) -> None:
        self._find_costs(schema)

    def _find_costs(self, schema: Schema) -> Floats | None:
        """Return what mistakes cost by the parameters alone; balanced weights are to be paid."""
        if self.costs is not None and self.class_weight is not None:
            raise ParameterError(
                "PrivetClassifier: give class_weight or costs, not both: a weight w stands for a "
                "cost of w for every mistake about that class"
            )
        if self.costs is not None:
            return read_costs(schema, self.costs)
        if isinstance(self.class_weight, Mapping):
            return weigh_mistakes(read_weights(schema, self.class_weight))
        return None


def follow_recipe(
    curator: AnyCurator,
    spending: Spending,
    recipe: Recipe,
    start: Tree | None,
    shares: Floats | None = None,
    resolution: Resolution | None = None,
) -> list[Tree]:
    """Spend all that is left as the recipe says, and return the trees of scores, ``start`` first.

    ``shares`` are noisy class shares that were paid for, if any.

    Cost: what is left to spend. Neighbours: one row added or removed.
    """
    unit = spending.unit
    resolution = resolution or resolve_evenly(curator.schema)
    trees = [] if start is None else [start]
    space = resolution.lift_space(recipe.space)
    refine = spending.share(recipe.additive, recipe.cycles) if recipe.additive else Fraction(0)
    screen = spending.take(recipe.screening)
    calibrate = spending.take(recipe.calibration)
    leaves = {unit: spending.share(recipe.leaves, recipe.rounds)} if recipe.leaves else None
    each = spending.draws(recipe.rounds) if recipe.rounds else 0
    names: list[str] | None = None
    if recipe.screening:
        names, charges = choose_attributes(
            curator, CHOSEN, spread_draws(screen, unit, CHOSEN), resolution
        )
        spending.charges += charges
    terms = Terms(resolution, names, pairs=recipe.pairs)
    for cycle in range(recipe.cycles):
        drawn, charges = draw_boosted(
            curator,
            space,
            recipe.rounds,
            each,
            recipe.strength,
            (*trees, *terms.trees),
            leaves=leaves,
            numbers=range(cycle + 1, recipe.rounds + 1, recipe.cycles),
        )
        spending.charges += charges
        if recipe.calibration and cycle == 0:
            drawn[0], charge = calibrate_tree(curator, drawn[0], calibrate, unit)
            spending.charges.append(charge)
        if shares is not None and start is None and recipe.only_labels:
            drawn[0] = lean_on_classes(drawn[0], shares)
        trees += drawn
        if recipe.additive:
            spending.charges += terms.visit(curator, trees, refine, unit)
            for rows, deviation in terms.count_rows() if cycle == 0 else ():
                spending.notice_rows(rows, deviation, at_least=True)
    return [*trees, *terms.trees]
