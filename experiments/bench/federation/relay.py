"""Parties that take turns on one model, beside each of them alone and beside pooled rows, all with
the default learner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.results import Row
from privet import PrivetClassifier
from privet._types import Ints

SETS = ("nursery", "mushroom", "adult", "bank")
EPSILONS = (0.1, 0.5, 2.0)
CASES = {
    **{f"{n} equal parties": (1,) * n for n in (2, 3, 8, 16)},
    "5 unequal parties": (16, 8, 4, 2, 1),
}
ALONE, RELAY, POOLED = "largest party alone", "relay", "pooled"
#: Where there is a larger party than any of at most half of the rows.
SECOND = "second largest alone"
#: What thin evidence adds up to over parties (docs/decisions/038): of P equal ones, all rows at
#: epsilon over the root of P.
ROOT = "pooled, evidence in quadrature"


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for all divisions and epsilons, on one fold."""
    train, test = problem.fold(repeat, fold)
    rows: list[Row] = []
    for number, (case, sizes) in enumerate(CASES.items()):
        parts = divided(train, sizes, seed=1000 * repeat + 10 * fold + number)
        for epsilon in EPSILONS:
            ways = {
                ALONE: ([max(parts, key=len)], epsilon),
                RELAY: (parts, epsilon),
                POOLED: ([train], epsilon),
            }
            if 2 * max(sizes) > sum(sizes):
                ways[SECOND] = ([sorted(parts, key=len)[-2]], epsilon)
            if problem.data.name == "nursery":  # the one that wants a deep tree
                evidence = math.hypot(*sizes) / sum(sizes)
                ways[ROOT] = ([train], epsilon * evidence)
            for way, (asked, amount) in ways.items():
                keys = {"case": case, "way": way, "parties": len(sizes), "epsilon": epsilon}
                rows.append({**keys, **_measure(problem, asked, amount, test)})
    return rows


def _measure(problem: Problem, parts: Sequence[Ints], epsilon: float, test: Ints) -> Row:
    curators = [problem.curator(part, epsilon) for part in parts]
    learner = PrivetClassifier(epsilon, people="disjoint")
    model = learner.fit_from(curators if len(curators) > 1 else curators[0]).model_
    return {"accuracy": problem.accuracy(model, test), "auroc": problem.auroc(model, test)}
