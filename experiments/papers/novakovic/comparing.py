"""What Novakovic says beside what came out here. The thesis gives its numbers as pictures only, so
statements are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from experiments.papers.experiment import NOT_PRIVATE, Comparison, Row
from experiments.papers.novakovic import protocol
from experiments.papers.novakovic.jobs import (
    BASELINE,
    FREQUENT,
    GIBBS,
    GINI,
    GINI_PUBLISHED,
    MAX,
    MAX_PUBLISHED,
)

#: The max operator and Gini, as published and corrected.
PAIRS = {NOT_PRIVATE: (MAX_PUBLISHED, GINI_PUBLISHED), "corrected": (MAX, GINI)}
_POWERS = (
    "The listing's Gini is no Gini: a power of two stands where a square is meant, so that pure "
    "children look worse than mixed ones. "
    "Part of what the thesis puts down to sensitivity is that."
)


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """One table."""
    frequent = next(row["accuracy"] for row in rows if row["method"] == FREQUENT)
    found = [Comparison("most frequent class", "not in the thesis", f"{frequent:.3f}", None)]
    for order in protocol.ORDERS:
        mine = [row for row in rows if row.get("order") == order]
        if mine:
            found += _of_order(mine, order)
    return found


def advantages(rows: Sequence[Row]) -> dict[str, Any]:
    """As published and corrected: by how much the max operator is better than Gini, for each order,
    table and epsilon.
    """
    table = pd.DataFrame([row for row in rows if "epsilon" in row])
    means = (
        table.groupby(["order", "table", "epsilon", "method"], sort=False)["accuracy"]
        .mean()
        .unstack()
    )
    return {how: means[best] - means[other] for how, (best, other) in PAIRS.items()}


def compare_all(rows: Sequence[Row]) -> list[Comparison]:
    """The thesis' main finding, over all tables."""
    found = []
    for how, by in advantages(rows).items():
        for order, mine in by.groupby("order", sort=False):
            told = f"in {(mine >= 0).sum()} of {len(mine)} places, by {mine.mean():+.3f} on average"
            why = _POWERS if how == NOT_PRIVATE and order == protocol.ORDERS[-1] else ""
            what = f"max operator at least as good as Gini, {how}, {order}"
            found.append(
                Comparison(what, "in most cases", told, bool((mine >= 0).mean() > 0.5), why)
            )
    means = (
        pd.DataFrame([row for row in rows if "epsilon" in row])
        .groupby(["order", "method"], sort=False)["accuracy"]
        .mean()
    )
    for order in means.index.get_level_values(0).unique():
        told = ", ".join(f"{name} {value:.3f}" for name, value in means[order].items())
        found.append(
            Comparison(f"mean over tables and epsilons, {order}", "not in the thesis", told, None)
        )
    return found


def _of_order(rows: Sequence[Row], order: str) -> list[Comparison]:
    means = (
        pd.DataFrame([row for row in rows if "epsilon" in row])
        .groupby(["method", "epsilon"])["accuracy"]
        .mean()
        .unstack()
    )
    baseline = float(
        pd.DataFrame([row for row in rows if row["method"] == BASELINE])["accuracy"].mean()
    )
    found = []
    for how, (best, other) in PAIRS.items():
        better = int((means.loc[best] >= means.loc[other]).sum())
        told = (
            f"at {better} of {len(means.columns)} epsilons, by "
            f"{(means.loc[best] - means.loc[other]).mean():+.3f} on average"
        )
        why = _POWERS if how == NOT_PRIVATE and order == protocol.ORDERS[-1] else ""
        agrees = better > len(means.columns) / 2
        found.append(
            Comparison(
                f"max operator at least as good as Gini, {how}, {order}",
                "in most cases",
                told,
                agrees,
                why,
            )
        )
        falls = int((means.loc[[best, other]].diff(axis=1).iloc[:, 1:] < 0).sum().sum())
        told = f"falls {falls} times from one epsilon to the next"
        found.append(
            Comparison(
                f"accuracy over epsilon, {how}, {order}", "not always increasing", told, falls > 0
            )
        )
    above = [
        name
        for name in (MAX_PUBLISHED, GINI_PUBLISHED, MAX, GINI)
        if means.loc[name].max() > baseline
    ]
    told = f"non-private {baseline:.3f}; above it somewhere: {', '.join(above) or 'none'}"
    found.append(Comparison(f"private above non-private, {order}", "in some cases", told, None))
    spread = _spread(rows)
    found.append(Comparison(f"deviation between runs of 5 folds, {order}", "high", spread, None))
    found.append(
        Comparison(f"{GIBBS}, {order}", "not in the thesis", _listed(means.loc[GIBBS]), None)
    )
    return found


def _spread(rows: Sequence[Row]) -> str:
    """How much the mean of a cross-validation differs from run to run, on average over epsilons."""
    table = pd.DataFrame([row for row in rows if "epsilon" in row and row["method"] != GIBBS])
    per_run = table.groupby(["method", "epsilon", "run"])["accuracy"].mean()
    if per_run.index.get_level_values("run").nunique() < 2:
        return "one run only"
    spread = per_run.groupby(["method", "epsilon"]).std().groupby("method").mean()
    return ", ".join(f"{name} {spread[name]:.3f}" for name in (MAX_PUBLISHED, MAX))


def _listed(values: Any) -> str:
    return ", ".join(f"{value:.3f} at {epsilon:g}" for epsilon, value in values.items())
