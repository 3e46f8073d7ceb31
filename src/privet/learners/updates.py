"""Add people to a model of the default learner: a relay over time.

A released model weighs the new rows, as it weighs those of the next party in a relay
(:mod:`privet.learners.relay`). The new batch draws the trees that are due to its evidence, and
refines the additive terms. Nobody who was there before pays again. What was released before stays,
but for its weight where the new rows contradict it (:mod:`privet.learners.drift`).

Cost: the epsilon of the update, for the new rows. A person loses the largest epsilon of the batches
if nobody is in two of them (parallel composition), and otherwise their sum (sequential
composition). The new rows are covered by their own epsilon whatever the model holds: its trees only
weigh them, by 0 to 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet._validate import check_real
from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import People, PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.errors import DriftWarning, FewRowsWarning, ParameterError, QuestionError
from privet.learners.base import check_curator, measure_rows
from privet.learners.boosting import starts_rare
from privet.learners.default_recipe import Recipe, has_small_domain, measure_evidence, recipe_for
from privet.learners.drift import measure_trust, share_for_trust
from privet.learners.random_trees.batches import PEOPLE, check_label, combine_facts, plan_of
from privet.learners.random_trees.batches import update as update_counts
from privet.learners.relay import LEARNER, Party, draw_turn, make_model, pool_parties
from privet.learners.resolution import Resolution, resolve
from privet.learners.terms import PRIOR, Terms
from privet.model import Model
from privet.model.structure import LARGEST_SCORE
from privet.queries.draw_tree import copy_trees

#: A model of more trees is not updated: build it anew.
MAX_TREES = 1000
#: Of the trees that a batch would draw in a relay, how many it draws in an update: those before it
#: were drawn for fewer rows, of which there are more trees than the recipe for all rows has.
FEWER = 0.5
#: How much a label of a deep tree counts, up to so many trees, and where there are more.
DEEP_STRENGTH = {5: 1.2}
DEEP_STRENGTH_OF_MANY = 0.7
#: What a statement says where nothing was spent on drift.
NOT_MEASURED = "Whether the new rows contradict the old model was not measured: they are too few."
#: More rows are not believed of a model file.
MOST_ROWS = 1e12


@dataclass(frozen=True)
class Step:
    """What a batch does: the recipe that its trees follow, how many it draws, which part of all
    evidence it has, and the attributes whose terms it refines.
    """

    recipe: Recipe
    trees: int
    share: float
    attributes: tuple[str, ...]

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card."""
        return {**self.recipe.settings, "rounds": self.trees, "evidence_share": self.share}


def update_boosted(
    model: Model,
    curator: AnyCurator,
    epsilon: Number,
    people: People,
    name: str = "",
    *,
    delta: Number = 0,
    effort: float = 1.0,
    rows_before: float | None = None,
) -> Model:
    """Return a model with further trees, and refined terms, from one more batch of people.

    Sensitivity: range 1 for a draw; 1 for the confusion matrix of the old model; 3/4 (two classes)
    or 1 in L1 for derivatives. Neighbours: one row added or removed. Cost: pure ``epsilon`` (or
    rho, with ``delta``) for the new rows, of which a twentieth pays for their number where it is
    not declared. Whatever could refuse the result does so before anything is charged.

    Parameters
    ----------
    model
        A model of :class:`~privet.PrivetClassifier`, such as one from a file.
    curator
        Who answers for the new rows.
    epsilon, delta
        What the update may cost the new rows. ``delta`` is used where the model and the curator's
        budget count rho, and not looked at otherwise.
    people
        Whether nobody is in two batches (``"disjoint"``), or somebody may be (``"may-overlap"``).
    name
        What the batch is called in the privacy statement.
    effort
        As for :class:`~privet.PrivetClassifier`.
    rows_before
        About how many rows the model was made of, where its file does not say so; by default as
        many in each batch as are new.

    Examples
    --------
    >>> import privet as pv
    >>> from privet.learners.updates import update_boosted
    >>> car = pv.datasets.load("car")
    >>> old, new = (
    ...     pv.Curator(rows, car.schema.declare(n_rows=864), pv.Budget(1))
    ...     for rows in (car.table[::2], car.table[1::2])
    ... )
    >>> first = pv.PrivetClassifier(epsilon=1).fit_from(old).model_
    >>> second = update_boosted(first, new, "1/2", "disjoint")
    >>> len(second.trees) > len(first.trees), second.privacy.epsilon, new.left
    (True, 1.0, Fraction(1, 2))
    """
    model = getattr(model, "model_", model)
    curator = check_curator(curator)
    unit = check_update(model, curator, epsilon, people, name, delta=delta, rows=rows_before)
    what = f"update of {LEARNER}"
    with Spending.reserve(curator, epsilon, what, delta=delta if unit == "rho" else 0) as spending:
        trees, settings = _grow(model, spending, effort, rows_before)
        notes = [f"Chosen from public quantities: {settings['why']}."]
        notes += [explain_trust(settings["trust"])] if settings["trust_share"] else [NOT_MEASURED]
        statement = spending.statement(notes, name=name)
    rows = {**read_rows(model), statement.id: settings.pop("rows")}
    return replace(
        make_model(
            combine_facts([model.schema, curator.schema]),
            trees,
            PrivacyStatement.together([model.privacy, statement], people),
            {**model.settings, **settings, "batches": len(model.privacy.leaves) + 1, "rows": rows},
        ),
        costs=model.costs,
        population=model.population,
    )


def update(
    model: Model,
    curator: AnyCurator,
    epsilon: Number,
    people: People,
    name: str = "",
    *,
    rows_before: float | None = None,
) -> Model:
    """Add a batch of people to a model: of random trees by their counts, of the default learner by
    further trees.

    Cost: pure ``epsilon`` for the new rows. Neighbours: one row added or removed. A person loses
    the largest epsilon of the batches if nobody is in two of them, and their sum otherwise. Warns
    where noise has outgrown the counts. ``rows_before`` is for the default learner, see
    :func:`update_boosted`.
    """
    model = getattr(model, "model_", model)
    if can_update(model):
        return update_boosted(model, curator, epsilon, people, name, rows_before=rows_before)
    return update_counts(model, curator, epsilon, people, name)


def check_kind(model: Model) -> None:
    """Raise unless models of this kind can be updated."""
    if not can_update(model):
        plan_of(model)


def check_schema(model: Model, schema: Schema) -> None:
    """Raise unless a table of this schema can be added to a model."""
    if model.schema.fingerprint != schema.fingerprint:
        raise QuestionError(
            "the model was made for another schema: attributes, values, target or classes differ"
        )


def can_update(model: Model) -> bool:
    """Return whether a model is one of the default learner, whose trees add up scores."""
    return model.learner == LEARNER and model.combine == "scores" and model.evidence is None


def check_update(
    model: Model,
    curator: AnyCurator,
    epsilon: Number,
    people: People,
    name: str = "",
    *,
    delta: Number = 0,
    rows: float | None = None,
) -> Unit:
    """Raise unless a model can be updated through a curator; return the unit. Charges nothing."""
    PEOPLE.check("people", people)
    check_label(name)
    if not can_update(model):
        raise ParameterError(
            f"this model ({model.learner}) is none of the default learner, whose trees add up "
            "scores: no trees can be added to it"
        )
    if model.privacy.vertical:
        raise ParameterError("models of tables with different attributes cannot be updated")
    check_schema(model, curator.schema)
    if is_infinite(epsilon):
        raise ParameterError("an update needs a finite epsilon: without noise, pool the rows")
    amount = parse_exact("epsilon", epsilon)
    small = parse_exact("delta", delta, zero=True)
    if rows is not None:
        check_real("rows_before", rows, least=1, most=MOST_ROWS)
    if len(model.trees) >= MAX_TREES:
        raise ParameterError(
            f"a model of {len(model.trees)} trees is not updated, {MAX_TREES} are the most; build "
            "it anew"
        )
    unit = find_unit(model)
    if unit != ("rho" if small and curator.unit == "rho" else "epsilon"):
        raise ParameterError(
            f"the batches of the model are counted in {unit}, and this one would not be; they must "
            "be in the same unit"
        )
    copy_trees(curator.schema, model.trees)
    read_rows(model)
    foreseen = curator.foresee_statement(amount, "update", name or "of the new rows")
    PrivacyStatement.together([model.privacy, foreseen], people)
    return unit


def read_rows(model: Model) -> dict[str, float]:
    """Return how many rows each release of a model has, as far as its file says so.

    What it says is public: declared, or paid for and noisy. Damaged numbers are refused.
    """
    said = model.settings.get("rows", {})
    known = {leaf.id for leaf in model.privacy.leaves}
    if not isinstance(said, Mapping) or not all(
        type(rows) in (int, float) and 1 <= rows <= MOST_ROWS for rows in said.values()
    ):
        raise ParameterError(f"the numbers of rows in this model are none: {str(said)[:100]}")
    return {id_: float(rows) for id_, rows in said.items() if id_ in known}


def list_batches(model: Model, unit: Unit, new: float, rows: float | None = None) -> list[Party]:
    """Return the batches of a model: about how many rows each has, and what each row paid.

    Where the file says nothing about one, it is taken to have its part of ``rows``, or as many as
    are ``new``.
    """
    leaves, known = model.privacy.leaves, read_rows(model)
    if not known and len(leaves) == 1 and model.schema.n_rows:
        known = {leaves[0].id: float(model.schema.n_rows)}
    unknown = len(leaves) - len(known)
    each = new if rows is None else max(1.0, (rows - sum(known.values())) / max(unknown, 1))
    return [
        Party(leaf.name, known.get(leaf.id, each), leaf.charged.amount(unit) or Fraction(0))
        for leaf in leaves
    ]


def plan_step(
    schema: Schema,
    before: Sequence[Party],
    new: Party,
    trees: Sequence[Tree],
    unit: Unit,
    effort: float = 1.0,
) -> Step:
    """Return what a batch does after others, by public quantities alone.

    The recipe is that for the rows of all batches together. A batch draws a part of its trees, half
    of what its share of all evidence is worth, and at least one; where even one is more than its
    share, trees are as shallow as if there were that many. All terms are refined, with a prior that
    shrinks as what is known grows; in a wide table, those that the model has.
    """
    rows, amount = pool_parties([*before, new], unit)
    evidence = measure_evidence(rows, amount, unit)
    share = measure_evidence(new.rows, new.amount, unit) / evidence
    rare = starts_rare(trees)
    recipe = recipe_for(schema, rows, amount, unit, rare=rare, effort=effort)
    least = min(math.ceil(1 / share), MAX_TREES)
    if least > recipe.rounds:
        recipe = recipe_for(schema, rows, amount, unit, rare=rare, effort=effort, rounds=least)
    if not rare and has_small_domain(schema, rows, evidence):
        number = 1 + sum(tree.kind not in ("constant", "term") for tree in trees)
        strength = next(
            (one for most, one in DEEP_STRENGTH.items() if number <= most), DEEP_STRENGTH_OF_MANY
        )
        recipe = replace(recipe, strength=strength)
    drawn = max(1, round((FEWER if before else 1) * recipe.rounds * share))
    names = schema.names if recipe.additive else ()
    if recipe.screening:
        named = {_find_attribute(tree) for tree in trees if tree.kind == "term"}
        names = tuple(name for name in schema.names if name in named)
    recipe = replace(recipe, cycles=1, screening=Fraction(0), calibration=Fraction(0))
    return Step(recipe, drawn, share, tuple(names))


def take_step(
    spending: Spending, step: Step, trees: Sequence[Tree], resolution: Resolution
) -> list[Tree]:
    """Spend all that is left on the trees and terms of a batch, and return all trees.

    Cost: what is left to spend. Neighbours: one row added or removed.
    """
    assert spending.left is not None
    curator, unit = spending.curator, spending.unit
    recipe = replace(step.recipe, space=resolution.lift_space(step.recipe.space))
    refine = spending.take(recipe.additive) if step.attributes else Fraction(0)
    each, spending.left = spending.left / step.trees, Fraction(0)
    grown = list(trees)
    for _ in range(step.trees):
        tree, charges = draw_turn(curator, recipe, grown, each, unit)
        spending.charges += charges
        grown.append(tree)
    if not step.attributes:
        return grown
    terms = Terms(resolution, step.attributes, prior=PRIOR * step.share)
    spending.charges += terms.visit(curator, grown, refine, unit)
    return add_terms(grown, terms.trees)


def add_terms(trees: Sequence[Tree], terms: Sequence[Tree]) -> list[Tree]:
    """Return trees and terms: a term is added to that of the same attribute. Free.

    Scores stay in the range that a model file may have, whatever the trees hold: otherwise the rows
    would have paid for a model that nobody can save.
    """
    added = list(trees)
    for term in terms:
        place = next(
            (
                number
                for number, tree in enumerate(added)
                if tree.kind == "term" and _have_same_structure(tree, term)
            ),
            None,
        )
        if place is None:
            added.append(term)
        else:
            counts = np.clip(added[place].counts + term.counts, -LARGEST_SCORE, LARGEST_SCORE)
            added[place] = replace(added[place], counts=counts)
    return added


def _grow(
    model: Model, spending: Spending, effort: float, rows_before: float | None
) -> tuple[list[Tree], dict[str, Any]]:
    curator, unit = spending.curator, spending.unit
    rows = measure_rows(curator, spending)
    trees = [
        replace(tree, cells=replace(tree.cells, schema=curator.schema)) for tree in model.trees
    ]
    before = list_batches(model, unit, rows, rows_before)
    assert spending.left is not None
    share = share_for_trust(curator.schema, rows, spending.left, unit)
    trust = 1.0
    if share:
        old = replace(model, schema=curator.schema, trees=tuple(trees))
        trust, charges = measure_trust(curator, old, rows, spending.take(share), unit)
        spending.charges += charges
        if trust < 1:
            warnings.warn(explain_trust(trust), DriftWarning, stacklevel=5)
        trees = [replace(tree, counts=trust * tree.counts) for tree in trees if trust]
        # What does not hold any more is no evidence.
        before = [replace(batch, rows=trust * batch.rows) for batch in before if trust]
    else:
        _warn_of_drift(rows, spending.left, unit)
    resolution = resolve(curator, spending, rows)
    new = Party("", rows, spending.left)
    step = plan_step(resolution.coarse, before, new, trees, unit, effort)
    settings = {**step.settings, "trust_share": float(share), "trust": trust, "rows": rows}
    return take_step(spending, step, trees, resolution), settings


def explain_trust(trust: float) -> str:
    """Return what was measured about the old model, in words. Free: the factor was paid for."""
    if trust == 1:
        return "The new rows do not contradict the old model: its scores count as before"
    counted = f"count {trust:.1%} of what they did" if trust else "are left out"
    return (
        f"The new rows contradict the old model, whose scores {counted}. Check that columns and "
        "classes mean what they meant before"
    )


def _warn_of_drift(rows: float, amount: Fraction, unit: Unit) -> None:
    warnings.warn(
        f"{rows:.4g} new rows at {unit} {float(amount):.3g} are too few to tell whether they "
        "contradict the old model: if the world has changed, the updated model will not notice. "
        "Collect more rows before you update, or build a new model if you know of a change",
        FewRowsWarning,
        stacklevel=6,
    )


def find_unit(model: Model) -> Unit:
    """Return what the batches of a model are counted in; raise where one has no noise."""
    units = set()
    for leaf in model.privacy.leaves:
        cost = leaf.charged
        unit: Unit = "rho" if cost.epsilon is None else "epsilon"
        if not cost.amount(unit):
            raise ParameterError(
                "a batch of this model was learnt without noise: no update has as much evidence; "
                "pool the rows"
            )
        units.add(unit)
    return "rho" if "rho" in units else "epsilon"


def _find_attribute(tree: Tree) -> str:
    number = int(tree.cells.attribute[0])
    return tree.schema.names[number] if number >= 0 else ""


def _have_same_structure(one: Tree, other: Tree) -> bool:
    return all(
        np.array_equal(getattr(one.cells, part), getattr(other.cells, part))
        for part in ("attribute", "offset", "branch", "cell")
    )
