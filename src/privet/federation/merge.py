"""Make one model from several: of the same domain, or of different attributes of the same people.

:func:`merge` takes models of different rows. Counts are added where the models share their
structures; otherwise all trees vote.

:func:`join` takes models of different attributes of the same people (vertical partitions). Each
party trains on its own attributes and the shared class; the union of their trees answers
(Jagannathan, Pillaipakkamnatt and Wright 2012, section 5.3). Their claim that the union keeps
epsilon is wrong: every ensemble sees the same people and the same labels, so one person changes all
of them, and what a person loses is the **sum** (sequential composition).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privet._types import Floats
from privet.accounting.statement import People, PrivacyStatement
from privet.domain import Attribute, Schema
from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.errors import ParameterError, QuestionError
from privet.learners.random_trees.batches import PEOPLE, combine_facts, merge_batches
from privet.model import Model
from privet.model.leaf_vectors import Weighting


def merge(models: Sequence[Model], people: People, weighting: Weighting = "by-noise") -> Model:
    """Merge models of the same domain and different rows into one.

    This is post-processing: it sees no row, and pays nothing.

    Models that keep leaf vectors of one plan are added up, batch by batch
    (:func:`~privet.learners.random_trees.batches.merge_batches`). Models without, such as drawn
    trees, vote together: their class shares or counts are added tree by tree, their scores averaged
    with one voice per model. The order does not matter, and neither does the number of rows.

    Cost, for one person: the largest epsilon of the models if ``people`` is ``"disjoint"``
    (parallel composition), their sum if it is ``"may-overlap"`` (sequential composition).
    """
    PEOPLE.check("people", people)
    models = [check_model(model) for model in models]
    if not models:
        raise ParameterError("there must be at least one model to merge")
    keeping = [model.evidence is not None for model in models]
    if all(keeping):
        return merge_batches(models, people, weighting)
    if any(keeping):
        raise QuestionError(
            "some of these models keep leaf vectors, which are added, and others do not, which "
            "vote; merge one kind only"
        )
    return _merge_as_union(models, people)


def _merge_as_union(models: Sequence[Model], people: People) -> Model:
    first = models[0]
    if any(model.schema.fingerprint != first.schema.fingerprint for model in models):
        raise QuestionError(
            "the models are about different schemas: attributes, values, target or classes differ"
        )
    statement = PrivacyStatement.together([model.privacy for model in models], people)
    if len(models) == 1:
        return first
    ordered = sorted(models, key=lambda model: min(leaf.id for leaf in model.privacy.leaves))
    schema = combine_facts([model.schema for model in ordered])
    return unite_models(
        ordered,
        [[replace(tree.cells, schema=schema) for tree in model.trees] for model in ordered],
        statement,
        vertical=False,
    )


def unite_models(
    models: Sequence[Model],
    forests: Sequence[Sequence[Cells]],
    statement: PrivacyStatement,
    *,
    vertical: bool,
) -> Model:
    """Unite all trees of several models as one model.

    The structures given are those of the models in another schema.

    Scores are log-odds: they are averaged over the models (a logarithmic opinion pool), and not
    taken for independent evidence.
    """
    combines = {model.combine for model in models}
    if len(combines) > 1:
        raise QuestionError(
            f"the models combine their trees in different ways ({', '.join(sorted(combines))}), "
            "which cannot be added up; train them with the same learner"
        )
    voices = [_count_voices(model.privacy, vertical=vertical) for model in models]
    shares = (
        [one / sum(voices) for one in voices] if combines == {"scores"} else [1.0] * len(models)
    )
    trees = tuple(
        Tree(cells, tree.counts * share, tree.kind)
        for model, forest, share in zip(models, forests, shares, strict=True)
        for cells, tree in zip(forest, model.trees, strict=True)
    )
    learners = sorted({model.learner for model in models})
    settings = {"voices": sum(voices), "learners": learners}
    name = learners[0] if len(learners) == 1 else "ensemble"
    schema = trees[0].schema
    return Model(
        name,
        schema,
        trees,
        models[0].combine,
        statement,
        settings,
        max(model.noise for model in models),
        costs=_find_common_costs(models),
    )


def _find_common_costs(models: Sequence[Model]) -> Floats | None:
    """Return the costs that all models decide by; raise where they differ."""
    first = models[0].costs
    if any(not np.array_equal(model.costs, first) for model in models):  # type: ignore[arg-type]
        raise QuestionError(
            "the models decide by different costs; give all of them the same with with_costs"
        )
    return first


def _count_voices(statement: PrivacyStatement, *, vertical: bool) -> int:
    """How many were put together in this way before: what is put together step by step weighs as if
    it were at once.
    """
    if statement.parts and (statement.people == "same") == vertical:
        return sum(_count_voices(part, vertical=vertical) for part in statement.parts)
    return 1


def check_model(model: Model) -> Model:
    """Return a released model, also where a classifier that holds one is given."""
    released = getattr(model, "model_", model)
    if type(released) is not Model:
        raise ParameterError(
            f"only released models can be put together, got {type(model).__name__}"
        )
    return released


# Vertical partitions: different attributes of the same people, whose epsilons add up.


def join(models: Sequence[Model]) -> Model:
    """Join models of different attributes and the same classes into a union ensemble.

    This is post-processing: it sees no row, and pays nothing.

    It classifies rows with all attributes. Where some are missing, a tree answers from the last
    node that it could reach, and trees that cannot answer their first test leave the answer to the
    others. Cost, for one person: the sum of the models' epsilons.
    """
    models = [check_model(model) for model in models]
    if len(models) < 2:
        raise ParameterError(f"join needs at least two models, got {len(models)}")
    statement = PrivacyStatement.together([model.privacy for model in models], "same")
    schema = _union_attributes([model.schema for model in models])
    return unite_models(
        models,
        [[_move_cells(tree.cells, schema) for tree in model.trees] for model in models],
        statement,
        vertical=True,
    )


def _union_attributes(schemas: Sequence[Schema]) -> Schema:
    """The attributes of all tables, in the order given."""
    first = schemas[0]
    attributes: dict[str, Attribute] = {}
    for schema in schemas:
        if (schema.target, schema.classes) != (first.target, first.classes):
            raise QuestionError(
                f"the models predict different things: {first.target!r} "
                f"({_format_classes(first)}) and "
                f"{schema.target!r} ({_format_classes(schema)}); "
                "target and classes must be the same, in the same order"
            )
        for name, attribute in schema.attributes.items():
            if attributes.setdefault(name, attribute) != attribute:
                raise QuestionError(
                    f"attribute {name!r} has different values in two of the models; rename one, or "
                    "agree on its values"
                )
    joined = replace(
        first,
        attributes=attributes,
        n_rows=None,
        person=None,
        rows_per_person=max(s.rows_per_person for s in schemas),
    )
    return replace(joined, from_data=any(schema.from_data for schema in schemas))


def _format_classes(schema: Schema) -> str:
    return ", ".join(schema.label.labels[:5]) + (", ..." if schema.n_classes > 5 else "")


def _move_cells(cells: Cells, schema: Schema) -> Cells:
    """The same structure over a schema with more attributes."""
    place = np.array([*(schema.index(name) for name in cells.schema.names), -1])
    return replace(cells, schema=schema, attribute=place[cells.attribute])
