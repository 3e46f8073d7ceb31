"""Parties of different size and epsilon: whether batches that are mostly noise should weigh
less.
"""

from __future__ import annotations

from experiments.bench.federation.forests import RECIPES, by_recipe, plan_for
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet.learners.random_trees.batches import contribution

SETS = ("nursery", "mushroom", "adult")
SIZES, EPSILONS = (1, 2, 4, 8), (1.0, 0.5, 0.25, 0.1)
#: The best of the parties by themselves: with the default learner, and with random trees.
BEST, AT_RANDOM = "best party alone", "best party alone, random trees"
CASES = {
    "equal sizes, different epsilons": ((1, 1, 1, 1), EPSILONS),
    "different sizes, equal epsilons": (SIZES, (0.5, 0.5, 0.5, 0.5)),
    "the largest party is the noisiest": (SIZES, EPSILONS),
    "the smallest party is the noisiest": (SIZES, EPSILONS[::-1]),
}


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """Both weightings of the same batches, the best party alone, and all rows at the largest
    epsilon of all, on one fold.
    """
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    for number, (case, (sizes, epsilons)) in enumerate(CASES.items()):
        parts = divided(train, sizes, seed=1000 * repeat + 10 * fold + number)
        plan = plan_for(problem.schema, len(train))
        models = [
            contribution(plan, problem.curator(part, epsilon), epsilon)
            for part, epsilon in zip(parts, epsilons, strict=True)
        ]
        pooled = contribution(plan, problem.curator(train, max(epsilons)), max(epsilons))
        ways = {
            "by-noise": by_recipe(models),
            "equal": by_recipe(models, "equal"),
            "pooled": by_recipe([pooled]),
        }
        for way, found in ways.items():
            for recipe, model in found:
                rows.append(
                    {
                        "case": case,
                        "way": way,
                        "recipe": recipe,
                        "parties": len(parts),
                        "accuracy": problem.accuracy(model, test),
                    }
                )
        alone: dict[str, list[float]] = {}
        for one in models:
            for recipe, model in by_recipe([one]):
                alone.setdefault(recipe, []).append(problem.accuracy(model, test))
        rows += [
            {"case": case, "way": AT_RANDOM, "recipe": recipe, "parties": 4, "accuracy": max(of)}
            for recipe, of in alone.items()
        ]
        best = max(
            problem.accuracy(problem.fit_default(part, epsilon), test)
            for part, epsilon in zip(parts, epsilons, strict=True)
        )
        rows += [
            {"case": case, "way": BEST, "recipe": recipe.name, "parties": 4, "accuracy": best}
            for recipe in RECIPES
        ]
    return rows
