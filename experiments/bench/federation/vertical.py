"""Two parties with different attributes of the same people, and the union of their trees (after
RDT-2012, figure 5).
"""

from __future__ import annotations

import math

import numpy as np

from experiments.bench.federation.forests import ALONE, ALONE_AT_RANDOM, TREES, by_recipe, plan_for
from experiments.bench.federation.problem import Problem
from experiments.bench.federation.results import Row
from privet.accounting.cost import Number
from privet.federation import join
from privet.learners.random_trees.batches import contribution
from privet.model import Model

SETS = ("votes",)
EPSILONS = (0.01, 0.1, 0.25, 0.5, 0.75, 1.0, 2.0, 3.0, 4.0, 5.0, math.inf)


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """One division of the attributes at all epsilons, on one fold.

    Each party has half of the trees of the one table. So with epsilon/2 for each party every count
    has as much noise as there.
    """
    train, test = problem.fold(repeat, fold)
    shuffled = np.random.default_rng(100 + repeat).permutation(problem.schema.names).tolist()
    halves = [shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]]

    def counted(attributes: list[str] | None, epsilon: Number, trees: int) -> dict[str, Model]:
        curator = problem.curator(train, epsilon, attributes)
        return dict(
            by_recipe([contribution(plan_for(curator.schema, len(train), trees), curator, epsilon)])
        )

    rows: list[Row] = []
    for epsilon in EPSILONS:
        full = [counted(half, epsilon, TREES // 2) for half in halves]
        shared = [counted(half, epsilon / 2, TREES // 2) for half in halves]
        whole = counted(None, epsilon, TREES)
        alone = [problem.fit_default(train, epsilon, half) for half in halves]
        for recipe in whole:
            ways = {
                "joined, each party at epsilon/2": [join([one[recipe] for one in shared])],
                "joined, each party at epsilon": [join([one[recipe] for one in full])],
                ALONE: alone,
                ALONE_AT_RANDOM: [one[recipe] for one in full],
                "one table of all attributes": [whole[recipe]],
            }
            for way, models in ways.items():
                accuracy = float(np.mean([problem.accuracy(model, test) for model in models]))
                rows.append(
                    {
                        "way": way,
                        "recipe": recipe,
                        "parties": 2,
                        "epsilon": epsilon,
                        "accuracy": accuracy,
                    }
                )
    return rows
