"""Models of the default learner that grow with batches: update, build anew, or never look again;
and what happens where what was learnt does not hold any more.
"""

from __future__ import annotations

from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet import PrivetClassifier
from privet.learners.updates import update_boosted

SETS = ("nursery", "mushroom", "adult")
EPSILONS = (0.5, 1.0)
PARTS = (2, 5, 10)
FIRST, UPDATED = "first batch only", "updated"
REBUILT, REBUILT_AT_HALF = "rebuilt at epsilon", "rebuilt at epsilon/2"


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for each number of batches and epsilon, on one fold. Nobody is in two batches."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    for epsilon in EPSILONS:
        rebuilt = {
            way: PrivetClassifier(amount).fit_from(problem.curator(train, amount)).model_
            for way, amount in ((REBUILT, epsilon), (REBUILT_AT_HALF, epsilon / 2))
        }
        for m in PARTS:
            first, *later = divided(train, [1] * m, seed=1000 * repeat + 10 * fold + m)
            alone = PrivetClassifier(epsilon).fit_from(problem.curator(first, epsilon)).model_
            model = alone
            for part in later:
                curator = problem.curator(part, epsilon)
                model = update_boosted(model, curator, epsilon, "disjoint")
            for way, found in {FIRST: alone, UPDATED: model, **rebuilt}.items():
                measured = {
                    "accuracy": problem.accuracy(found, test),
                    "auroc": problem.auroc(found, test),
                }
                rows.append({"way": way, "parties": m, "epsilon": epsilon, **measured})
    return rows
