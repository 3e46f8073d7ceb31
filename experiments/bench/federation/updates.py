"""Rows that come in batches: update the counts, build anew, or never look again (after RDT-2012,
figure 4).
"""

from __future__ import annotations

from experiments.bench.federation.forests import by_recipe, plan_for
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet.learners.random_trees.batches import contribution
from privet.model.leaf_vectors import explain_wear

SETS = ("nursery", "mushroom")
PARTS = (2, 4, 6, 8, 10)
EPSILON = 0.5


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for each number of parts, on one fold. Nobody is in two parts."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    for m in PARTS:
        parts = divided(train, [1] * m, seed=1000 * repeat + 10 * fold + m)
        plan, roomy = plan_for(problem.schema, len(parts[0])), plan_for(problem.schema, len(train))
        everybody = problem.curator(train, 3 * EPSILON)
        of_parts = [problem.curator(part, 2 * EPSILON) for part in parts]
        batches = [contribution(plan, curator, EPSILON) for curator in of_parts]
        ways = {
            "updated": batches,
            "updated, trees for all rows": [
                contribution(roomy, curator, EPSILON) for curator in of_parts
            ],
            "one build at epsilon": [contribution(roomy, everybody, EPSILON)],
            "rebuilt at epsilon/2": [contribution(roomy, everybody, EPSILON / 2)],
            "rebuilt at epsilon/m": [contribution(roomy, everybody, EPSILON / m)],
            "first part only": batches[:1],
        }
        for way, models in ways.items():
            for weighting in ("by-noise", "equal") if len(models) > 1 else ("by-noise",):
                for recipe, model in by_recipe(models, weighting):
                    assert model.evidence is not None
                    said = {
                        "recipe": recipe,
                        "way": way if weighting == "by-noise" else f"{way}, equal weights",
                        "parties": m,
                    }
                    found = {
                        "accuracy": problem.accuracy(model, test),
                        "warns": int(bool(explain_wear(model.evidence))),
                    }
                    rows.append(said | {"epsilon": EPSILON} | found)
    return rows
