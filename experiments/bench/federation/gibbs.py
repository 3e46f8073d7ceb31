"""Drawn trees of several parties: a union that votes, beside merged counts of random trees and
beside one curator of all rows.
"""

from __future__ import annotations

import numpy as np

from experiments.bench.federation.forests import OURS, by_recipe, plan_for, secure_sum
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet import PrivetClassifier
from privet.federation import merge
from privet.learners.random_trees.batches import contribution

SETS = ("nursery", "adult")
PARTIES = (2, 4, 8)
EPSILON = 1.0


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for each number of parties, on one fold."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    everybody = problem.curator(train, 2 * EPSILON * len(PARTIES))
    for n in PARTIES:
        parts = divided(train, [1] * n, seed=1000 * repeat + 10 * fold + n)
        owners = [problem.owner(part, 3 * EPSILON) for part in parts]
        curators = [owner.curator() for owner in owners]
        plan = plan_for(problem.schema, len(train))
        drawn = [PrivetClassifier(EPSILON).fit_from(curator).model_ for curator in curators]
        random_trees = {
            "random trees, plain merge": [
                contribution(plan, curator, EPSILON) for curator in curators
            ],
            "random trees, secure sum": [secure_sum(plan, owners, EPSILON, n)],
        }
        ways = {
            "Gibbs trees, one party alone": drawn,
            "Gibbs trees, union": [merge(drawn, "disjoint")],
            "Gibbs trees, pooled": [PrivetClassifier(EPSILON).fit_from(everybody).model_],
        } | {way: [dict(by_recipe(models))[OURS.name]] for way, models in random_trees.items()}
        for way, models in ways.items():
            accuracy = float(np.mean([problem.accuracy(model, test) for model in models]))
            rows.append(
                {
                    "way": way,
                    "recipe": OURS.name,
                    "parties": n,
                    "epsilon": EPSILON,
                    "accuracy": accuracy,
                }
            )
    return rows
