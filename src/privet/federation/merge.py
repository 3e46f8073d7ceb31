"""One model from several of the same domain: counts are added where the structure is one, and
otherwise all trees vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from privet.cells import Cells
from privet.errors import ParameterError, QuestionError
from privet.leaves import Weighting
from privet.model import Model
from privet.privacy import People, PrivacyStatement
from privet.tree import Tree
from privet.trees.batches import PEOPLE, combine_facts, merge_batches


def merge(models: Sequence[Model], people: People, weighting: Weighting = "by-noise") -> Model:
    """One model from models of the same domain and different rows. Post-processing: it sees no row,
    and pays nothing.

    Models that keep leaf vectors of one plan are added up, batch by batch
    (:func:`~privet.trees.batches.merged`). Models without, such as drawn trees, vote together:
    their class shares or counts are added tree by tree, their scores averaged with one voice per
    model. The order does not matter, and neither does the number of rows.

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
    """All trees of several models as one, under the structures given, which are theirs in another
    schema.

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
    )


def _count_voices(statement: PrivacyStatement, *, vertical: bool) -> int:
    """How many were put together in this way before: what is put together step by step weighs as if
    it were at once.
    """
    if statement.parts and (statement.people == "same") == vertical:
        return sum(_count_voices(part, vertical=vertical) for part in statement.parts)
    return 1


def check_model(model: Model) -> Model:
    """A released model, also where a classifier that holds one is given."""
    released = getattr(model, "model_", model)
    if type(released) is not Model:
        raise ParameterError(
            f"only released models can be put together, got {type(model).__name__}"
        )
    return released
