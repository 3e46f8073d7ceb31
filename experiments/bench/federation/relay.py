"""Parties that take turns on one model, beside each of them alone and beside pooled rows, all with
the default learner.
"""

from __future__ import annotations

from collections.abc import Sequence

from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet import PrivetClassifier
from privet._types import Ints

SETS = ("nursery", "mushroom", "adult")
EPSILONS = (0.1, 0.5, 2.0)
CASES = {
    **{f"{n} equal parties": (1,) * n for n in (2, 3, 8, 16)},
    "5 unequal parties": (16, 8, 4, 2, 1),
}
ALONE, RELAY, POOLED = "largest party alone", "relay", "pooled"


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for all divisions and epsilons, on one fold."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    for number, (case, sizes) in enumerate(CASES.items()):
        parts = divided(train, sizes, seed=1000 * repeat + 10 * fold + number)
        for epsilon in EPSILONS:
            learner = PrivetClassifier(epsilon, people="disjoint")

            def fit(parts: Sequence[Ints], learner: PrivetClassifier = learner) -> Row:
                curators = [problem.curator(part, learner.epsilon) for part in parts]
                asked = curators if len(curators) > 1 else curators[0]
                model = learner.fit_from(asked).model_
                return {
                    "accuracy": problem.accuracy(model, test),
                    "auroc": problem.auroc(model, test),
                }

            ways = {ALONE: [max(parts, key=len)], RELAY: parts, POOLED: [train]}
            for way, asked in ways.items():
                keys = {"case": case, "way": way, "parties": len(sizes), "epsilon": epsilon}
                rows.append({**keys, **fit(asked)})
    return rows
