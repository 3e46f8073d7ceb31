"""Parties that hold different rows of one kind of table: alone, merged, in a secure sum with joint
noise, pooled.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.bench.federation.forests import (
    ALONE,
    ALONE_AT_RANDOM,
    RECIPES,
    by_recipe,
    plan_for,
    secure_sum,
)
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet.learners.random_trees.batches import contribution

SETS = ("nursery", "mushroom", "adult")
PARTIES = (2, 4, 8, 16)
EPSILONS = (1.0, 0.25)


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for each number of parties and each epsilon, on one fold."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    everybody = problem.curator(train, len(PARTIES) * sum(EPSILONS))
    for n in PARTIES:
        parts = divided(train, [1] * n, seed=1000 * repeat + 10 * fold + n)
        owners = [problem.owner(part, 4 * sum(EPSILONS)) for part in parts]
        curators = [owner.curator() for owner in owners]
        for epsilon in EPSILONS:
            small, plan = (
                plan_for(problem.schema, len(parts[0])),
                plan_for(problem.schema, len(train)),
            )
            ways = {
                "plain merge": [contribution(plan, curator, epsilon) for curator in curators],
                "secure sum": [secure_sum(plan, owners, epsilon, n)],
                "secure sum, half may fail": [secure_sum(plan, owners, epsilon, math.ceil(n / 2))],
                "pooled": [contribution(plan, everybody, epsilon)],
            }
            said = {"parties": n, "epsilon": epsilon}
            for way, models in ways.items():
                for recipe, model in by_recipe(models):
                    rows.append(
                        said
                        | {"way": way, "recipe": recipe, "accuracy": problem.accuracy(model, test)}
                    )
            alone: dict[str, list[float]] = {}
            for curator in curators:
                for recipe, model in by_recipe([contribution(small, curator, epsilon)]):
                    alone.setdefault(recipe, []).append(problem.accuracy(model, test))
            rows += [
                said | {"way": ALONE_AT_RANDOM, "recipe": recipe, "accuracy": float(np.mean(of))}
                for recipe, of in alone.items()
            ]
            model = problem.fit_default(parts[0], epsilon)  # parties are alike: one of them will do
            accuracy = problem.accuracy(model, test)
            rows += [
                said | {"way": ALONE, "recipe": recipe.name, "accuracy": accuracy}
                for recipe in RECIPES
            ]
    return rows
