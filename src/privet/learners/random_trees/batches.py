"""Count leaves batch by batch: count one, add it to what was released, merge any number of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from privet._validate import NameIn
from privet.accounting.cost import Cost, Number
from privet.accounting.statement import People, PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import NoiseWarning, ParameterError, QuestionError
from privet.learners.random_trees.drawing import Plan
from privet.model import Model
from privet.model.leaf_vectors import (
    Batch,
    Evidence,
    Weighting,
    explain_wear,
    trees_from,
    weigh_batches,
)

LEARNER = "random-trees"
#: How the people of several batches relate.
PEOPLE = NameIn(
    meanings={
        "disjoint": "nobody is in two batches: epsilon is the largest of theirs",
        "may-overlap": "epsilon is their sum",
    }
)


def count_leaves(
    curator: AnyCurator, forest: Sequence[Cells], epsilon: Number
) -> tuple[Batch, Cost]:
    """Return the noisy class counts of all leaves of a forest, and what they cost.

    The cost is for one row added or removed.

    Sensitivity: a row is in one leaf of each of the N trees, so N in L1; discrete Laplace noise of
    scale N/epsilon. Cost: pure epsilon.
    """
    answer = curator.count(Question.forest(forest), epsilon)
    return Batch(answer.tables, answer.deviation), answer.row_cost


def contribution(plan: Plan, curator: AnyCurator, epsilon: Number, name: str = "") -> Model:
    """Return a model of one batch: the rows of one table, counted in the leaves of a plan.

    Cost: pure ``epsilon``. Neighbours: one row added or removed.
    """
    check_same_domain(plan, curator.schema)
    check_label(name)
    what = f"leaf counts of {len(plan.forest)} trees"
    with Spending.reserve(curator, epsilon, f"contribution: {what}") as spending:
        amount = spending.take(Fraction(1))
        batch, cost = count_leaves(spending.curator, plan.forest, amount)
        spending.record_charge(what, cost)
        statement = spending.statement(name=name)
    return make_batch_model(plan, batch, statement, curator.schema)


def make_batch_model(
    plan: Plan, batch: Batch, statement: PrivacyStatement, schema: Schema | None = None
) -> Model:
    """Return the model of one batch of leaf counts.

    ``schema`` is the plan's domain with the facts of the batch's own table.
    """
    own = plan.schema if schema is None else schema
    return _build_model(own, plan, weigh_batches([batch], plan.shrink), statement)


def plan_of(model: Model) -> Plan:
    """Return the plan of a model: other rows must be counted in it, to be added to the model."""
    if model.evidence is None:
        raise ParameterError(
            f"this model ({model.learner}) keeps no leaf vectors, so that no counts can be added "
            "to it; random trees that were trained, contributed or merged do, and models of the "
            "default learner grow by further trees"
        )
    return Plan(
        model.schema,
        tuple(tree.cells for tree in model.trees),
        model.combine,
        model.evidence.shrink,
        model.settings,
    )


def add_batch(
    model: Model, curator: AnyCurator, epsilon: Number, people: People, name: str = ""
) -> Model:
    """Return a model with the rows of one more batch.

    Fresh counts with fresh noise are added to the released ones.

    Cost: pure ``epsilon`` for the new rows. A person loses the largest epsilon of the batches if
    nobody is in two of them (parallel composition), and their sum otherwise. It does not warn: see
    :func:`warn_if_worn`.
    """
    PEOPLE.check("people", people)
    check_label(name)
    model = getattr(model, "model_", model)
    plan = plan_of(model)
    assert model.evidence is not None
    # Whatever could refuse the result does so before anything is paid for.
    new = curator.foresee_statement(epsilon, "leaf counts", name or "of the new rows")
    PrivacyStatement.together([model.privacy, new], people)
    return _merge_models(
        [model, contribution(plan, curator, epsilon, name)], people, model.evidence.weighting
    )


def update(
    model: Model, curator: AnyCurator, epsilon: Number, people: People, name: str = ""
) -> Model:
    """Add a batch, as :func:`add_batch` does, and warn where noise has outgrown the counts."""
    return warn_if_worn(add_batch(model, curator, epsilon, people, name))


def warn_if_worn(model: Model) -> Model:
    """Warn where noise has outgrown the counts of a model
    (:func:`~privet.model.leaf_vectors.explain_wear`).
    """
    if model.evidence is not None and (why := explain_wear(model.evidence)):
        warnings.warn(why, NoiseWarning, stacklevel=3)
    return model


def merge_batches(
    models: Sequence[Model], people: People, weighting: Weighting = "by-noise"
) -> Model:
    """Return one model of all batches of several models of one structure.

    Post-processing: it pays nothing, and sees no row.

    The order does not matter. Its cost depends on the number of leaves and batches only. Refused
    are models of another structure, schema, combination or shrinkage, and batches that are given
    twice. Warns where noise has outgrown the counts.
    """
    return warn_if_worn(_merge_models(models, people, weighting))


def _merge_models(models: Sequence[Model], people: People, weighting: Weighting) -> Model:
    PEOPLE.check("people", people)
    plans = [plan_of(model) for model in models]
    if not plans:
        raise ParameterError("there must be at least one model to merge")
    for plan in plans[1:]:
        if plan.schema.fingerprint != plans[0].schema.fingerprint:
            raise QuestionError(
                "the models are about different schemas: attributes, values, target or classes "
                "differ"
            )
        if plan.fingerprint != plans[0].fingerprint:
            raise QuestionError(
                f"the models have different structures ({plans[0].fingerprint[:12]} and "
                f"{plan.fingerprint[:12]}): "
                "leaf counts can be added only if all were counted for one plan"
            )
        if (plan.combine, plan.shrink) != (plans[0].combine, plans[0].shrink):
            raise QuestionError(
                "the models differ in how trees combine or how much thin leaves borrow; they must "
                "agree"
            )
    statement = PrivacyStatement.together([model.privacy for model in models], people)
    batches = {
        leaf.id: batch
        for model in models
        for leaf, batch in zip(model.privacy.leaves, model.evidence.batches, strict=True)  # type: ignore[union-attr]
    }
    evidence = weigh_batches(
        [batches[leaf.id] for leaf in statement.leaves], plans[0].shrink, weighting
    )
    schema = (
        models[0].schema if len(models) == 1 else combine_facts([model.schema for model in models])
    )
    return _build_model(
        schema, min(plans, key=lambda plan: str(plan.settings)), evidence, statement
    )


def combine_facts(schemas: Sequence[Schema]) -> Schema:
    """Return one domain with the facts that hold for all tables.

    That is the most rows per person; how many rows there are is left open.
    """
    first = schemas[0]
    person = first.person if all(schema.person == first.person for schema in schemas) else None
    rows = max(schema.rows_per_person for schema in schemas)
    common = first.declare(n_rows=None, person=person, rows_per_person=rows)
    return replace(common, from_data=any(schema.from_data for schema in schemas))


def check_same_domain(plan: Plan, schema: Schema) -> None:
    """Raise unless a table of this schema can be counted in the leaves of a plan."""
    if schema.fingerprint != plan.schema.fingerprint:
        raise QuestionError(
            "the plan was drawn for another schema: attributes, values, target or classes differ"
        )


def check_label(name: str) -> None:
    """Raise unless a name fits into the file that will hold it.

    To find out after the charge would be too late.
    """
    if not isinstance(name, str) or len(name) > 200 or not name.isprintable():
        raise ParameterError(f"name must be text of at most 200 printable characters, got {name!r}")


def _build_model(
    schema: Schema, plan: Plan, evidence: Evidence, statement: PrivacyStatement
) -> Model:
    trees = trees_from([_restate_cells(schema, cells) for cells in plan.forest], evidence)
    return Model(
        LEARNER,
        schema,
        trees,
        plan.combine,  # type: ignore[arg-type]
        statement,
        plan.settings,
        evidence.deviation,
        evidence,
    )


def _restate_cells(schema: Schema, cells: Cells) -> Cells:
    """Return the same structure, with this table's facts about rows and people."""
    return cells if cells.schema == schema else replace(cells, schema=schema)
