"""Leaf counts of random trees, read by our recipe and by the papers' from the same noisy
numbers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from privet.accounting.cost import Number
from privet.accounting.statement import Charge, PrivacyStatement
from privet.curator import Owner
from privet.curator.spending import release_id
from privet.domain import Schema
from privet.domain.questions import Question
from privet.errors import NoiseWarning
from privet.learners.random_trees.batches import make_batch_model, merge_batches
from privet.learners.random_trees.drawing import Plan, draw_forest, height_for
from privet.mechanisms.randomness import SystemBits
from privet.model import Model
from privet.model.leaf_vectors import STRENGTH, Batch, Weighting
from privet.queries import Share

TREES = 10


@dataclass(frozen=True)
class Recipe:
    """How leaf counts become answers."""

    name: str
    combine: str
    shrink: float


#: One party with the default learner, which is what it would use without the others; and with
#: random trees, as in the rest of these experiments.
ALONE, ALONE_AT_RANDOM = "one party alone", "one party alone, random trees"
OURS, PAPERS = Recipe("ours", "probabilities", STRENGTH), Recipe("papers'", "counts", 0.0)
RECIPES = (OURS, PAPERS)


def plan_for(schema: Schema, n_rows: int, trees: int = TREES) -> Plan:
    """Structures as our learner draws them for a table of so many rows."""
    forest = draw_forest(schema, trees, height_for(schema, n_rows), SystemBits())
    return Plan(schema, tuple(forest), OURS.combine, OURS.shrink)


def by_recipe(
    models: Sequence[Model], weighting: Weighting = "by-noise"
) -> Iterator[tuple[str, Model]]:
    """The merged model of disjoint batches, by each recipe. All are read from the same noisy
    counts.
    """
    for recipe in RECIPES:
        read = [_read(model, recipe) for model in models]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)
            yield (
                recipe.name,
                read[0] if len(read) == 1 else merge_batches(read, "disjoint", weighting),
            )


def _read(model: Model, recipe: Recipe) -> Model:
    assert model.evidence is not None
    plan = Plan(
        model.schema, tuple(tree.cells for tree in model.trees), recipe.combine, recipe.shrink
    )
    return make_batch_model(plan, model.evidence.batches[0], model.privacy, model.schema)


def secure_sum(plan: Plan, owners: Sequence[Owner], epsilon: Number, honest: int) -> Model:
    """What all parties' shares add up to, when noise is enough as soon as ``honest`` of them add
    theirs.
    """
    shares = [
        owner.share(Question.forest(plan.forest), epsilon, parties=honest + 1, honest=honest)
        for owner in owners
    ]
    return summed(plan, shares, honest)


def summed(plan: Plan, shares: Sequence[Share], honest: int) -> Model:
    """The sum of shares, as a server would see it. Every share has 1/honest of the variance of a
    curator's noise.
    """
    tables = tuple(
        np.sum(tables, axis=0) for tables in zip(*(share.tables for share in shares), strict=True)
    )
    p = math.exp(-1 / float(shares[0].spread))
    variance = 2 * p / (1 - p) ** 2 * len(shares) / honest
    charge = Charge(f"leaf counts of {len(plan.forest)} trees", shares[0].row_cost)
    statement = PrivacyStatement.of(
        plan.schema, [charge], private=True, id=release_id(SystemBits())
    )
    return make_batch_model(plan, Batch(tables, math.sqrt(variance)), statement)
