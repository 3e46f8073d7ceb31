"""What Novakovic says beside what came out here. The thesis gives its numbers as pictures only, so
statements are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import (
    MORE,
    Range,
    Sample,
    around,
    deviations,
    difference,
    judge,
    judge_any,
    mean_of,
    note,
    paired,
)
from experiments.papers.experiment import NOT_PRIVATE, Comparison, Row
from experiments.papers.novakovic import protocol
from experiments.papers.novakovic.jobs import (
    BASELINE,
    FREQUENT,
    GIBBS,
    GINI,
    GINI_PUBLISHED,
    INFO_GAIN,
    MAX,
    MAX_PUBLISHED,
)

#: The max operator and Gini, as published and corrected.
PAIRS = {NOT_PRIVATE: (MAX_PUBLISHED, GINI_PUBLISHED), "corrected": (MAX, GINI)}
#: Of the thesis: the share of people who are alone with birth day, sex and postal code.
ALONE = 0.87
_POWERS = (
    "The listing's Gini is no Gini: a power of two stands where a square is meant, so that pure "
    "children look worse than mixed ones. "
    "Part of what the thesis puts down to sensitivity is that."
)


def compare(rows: Sequence[Row]) -> list[Comparison]:
    """One table."""
    frequent = next(row["accuracy"] for row in rows if row["method"] == FREQUENT)
    found = [note("most frequent class", "not in the thesis", f"{frequent:.3f}")]
    for order in protocol.ORDERS:
        mine = [row for row in rows if row.get("order") == order]
        if mine:
            found += _of_order(mine, order)
    return found


def advantages(rows: Sequence[Row]) -> dict[str, Any]:
    """As published and corrected: by how much the max operator is better than Gini, for each order,
    table and epsilon.
    """
    means = _means(rows, "order", "table", "epsilon", "method").unstack()
    return {how: means[best] - means[other] for how, (best, other) in PAIRS.items()}


def compare_all(rows: Sequence[Row]) -> list[Comparison]:
    """The thesis' main finding, over all tables."""
    found = []
    by_run = _means(rows, "order", "run", "table", "epsilon", "method").unstack()
    places = advantages(rows)
    for how, (best, other) in PAIRS.items():
        ahead = by_run[best] - by_run[other]
        for order, mine in places[how].groupby("order", sort=False):
            better = (ahead[order] > 0) + 0.5 * (ahead[order] == 0)
            told = f"in {(mine >= 0).sum()} of {len(mine)} places, by {mine.mean():+.3f} on average"
            found += [
                judge(
                    f"places in which the max operator is better than Gini, {how}, {order}",
                    "most cases",
                    mean_of(better.groupby("run").mean()),
                    Range(low=0.5),
                    unit="share",
                    more=told,
                    why=_POWERS if how == NOT_PRIVATE else "",
                ),
                judge(
                    f"max operator less Gini, {how}, {order}",
                    "better",
                    mean_of(ahead[order].groupby("run").mean()),
                    MORE,
                    why="" if how == NOT_PRIVATE else f"With everything corrected. {_POWERS}",
                ),
            ]
    means = _means(rows, "order", "method")
    for order in means.index.get_level_values(0).unique():
        told = ", ".join(f"{name} {value:.3f}" for name, value in means[order].items())
        found.append(note(f"mean over tables and epsilons, {order}", "not in the thesis", told))
    return found


def compare_gain(rows: Sequence[Row]) -> list[Comparison]:
    """Section 6.6."""
    by_fold = _means(rows, "run", "fold", "method").unstack().dropna()
    means = _means(rows, "method")
    return [
        judge(
            "max operator less information gain, mean over tables and epsilons",
            "information gain is not accurate enough",
            mean_of(by_fold[MAX] - by_fold[INFO_GAIN]),
            MORE,
            more=f"{means[MAX]:.3f} and {means[INFO_GAIN]:.3f}",
        )
    ]


def compare_folds(rows: Sequence[Row]) -> list[Comparison]:
    """Section 7.5: more folds, more stable results."""
    by_count = {
        count: [row["accuracy"] for row in rows if row["folds"] == count]
        for count in sorted({row["folds"] for row in rows})
    }
    few, many = min(by_count), max(by_count)
    listed = ", ".join(
        f"standard deviation {np.std(values, ddof=1):.4f} with {count}"
        for count, values in by_count.items()
    )
    return [
        judge(
            f"deviation between runs with {few} folds less that with {many}",
            "less with more folds",
            difference(deviations([by_count[few]]), deviations([by_count[many]])),
            Range(low=0.0),
            more=listed,
        )
    ]


def compare_dimensions(rows: Sequence[Row]) -> list[Comparison]:
    """Section 7.5: many attributes."""
    coins = [row for row in rows if "attributes" in row]
    counts = sorted({row["attributes"] for row in coins})
    private, exact = (
        {
            count: {
                row["run"]: row["accuracy"]
                for row in coins
                if row["attributes"] == count and math.isinf(row["epsilon"]) is no_noise
            }
            for count in counts
        }
        for no_noise in (False, True)
    )
    few, many = counts[0], counts[-1]
    lost = {run: private[few][run] - private[many][run] for run in private[few]}
    without = {run: exact[few][run] - exact[many][run] for run in exact[few]}
    listed = ", ".join(
        f"{np.mean(list(private[count].values())):.3f} with {count}" for count in counts
    )
    found = [
        judge(
            f"private tree: {few} attributes less {many}",
            "many attributes make it worse",
            mean_of(list(lost.values())),
            MORE,
            more=listed,
        ),
        judge(
            "the same, less what a tree without noise loses",
            "much more than without noise",
            paired(lost, without),
            MORE,
        ),
    ]
    tables = [row for row in rows if row.get("order") == protocol.ORDERS[1]]
    if any(row["table"] == "Mushroom" for row in tables):
        found.append(_mushroom(tables))
    return found


def _mushroom(rows: Sequence[Row]) -> Comparison:
    """The table with the most attributes beside the others: what privacy takes at least epsilon."""
    least = min(row["epsilon"] for row in rows if "epsilon" in row)
    table = pd.DataFrame(
        [row for row in rows if row["method"] == BASELINE or row.get("epsilon") == least]
    )
    means = table.groupby(["table", "run", "method"])["accuracy"].mean().unstack()
    lost = (means[BASELINE] - means[MAX]).unstack("run")
    others = lost.drop(index="Mushroom").mean()
    return judge(
        f"what Mushroom loses at epsilon {least:g}, less what other tables lose",
        "more, as it has the most attributes",
        mean_of((lost.loc["Mushroom"] - others).dropna()),
        MORE,
    )


def compare_linkage(rows: Sequence[Row]) -> list[Comparison]:
    """Section 2.1."""
    by_what: dict[str, list[float]] = {}
    for row in rows:
        by_what.setdefault(row["what"], []).append(row["value"])
    return [
        judge(
            "people who are alone with day of birth, sex and postal code",
            "87%",
            mean_of(by_what["alone in the census"]),
            around(ALONE, 0.02),
            unit="share",
        ),
        judge(
            "patients on the voter roll whose row is found by it",
            "easily found",
            mean_of(by_what["found by the roll"]),
            Range(low=0.5),
            unit="share",
        ),
        judge(
            "the same, with the decade of birth instead of the day",
            "k-anonymity prevents it",
            mean_of(by_what["found after generalising"]),
            Range(high=0.01),
            unit="share",
            more=f"k is {min(by_what['k after generalising']):.0f} at least",
        ),
    ]


def _of_order(rows: Sequence[Row], order: str) -> list[Comparison]:
    means = _means(rows, "method", "epsilon").unstack()
    by_run = _means(rows, "run", "method", "epsilon").unstack("method")
    by_fold = _means(rows, "run", "fold", "method", "epsilon").unstack("method")
    baseline = pd.DataFrame([row for row in rows if row["method"] == BASELINE])
    exact = baseline.groupby(["run", "fold"])["accuracy"].mean()
    found = []
    for how, (best, other) in PAIRS.items():
        ahead = by_run[best] - by_run[other]
        told = (
            f"at {int((means.loc[best] >= means.loc[other]).sum())} of {len(means.columns)} "
            "epsilons"
        )
        found.append(
            judge(
                f"max operator less Gini, {how}, {order}",
                "better in most cases",
                mean_of(ahead.groupby("run").mean()),
                MORE,
                more=told,
                why=_POWERS,
            )
        )
        curves = by_run[[best, other]].unstack("epsilon").stack("method", future_stack=True)
        falling = (curves.diff(axis=1).iloc[:, 1:] < 0).sum(axis=1).groupby("run").mean()
        found.append(
            judge(
                f"falls of a run's accuracy from one epsilon to the next, {how}, {order}",
                "not always increasing",
                mean_of(falling),
                Range(low=1.0),
                unit="number",
                more=f"of {len(means.columns) - 1}; chance alone would make half of them",
            )
        )
    private = {
        f"{name} at {epsilon:g}": mean_of(
            (by_fold[name].xs(epsilon, level="epsilon") - exact).dropna()
        )
        for name in (MAX_PUBLISHED, GINI_PUBLISHED, MAX, GINI)
        for epsilon in means.columns
    }
    found += [
        judge_any(
            f"private less non-private tree, {order}", "above it in some cases", private, MORE
        ),
        _spread(rows, order),
        note(f"{GIBBS}, {order}", "not in the thesis", _listed(means.loc[GIBBS])),
    ]
    return found


def _spread(rows: Sequence[Row], order: str) -> Comparison:
    """How much the mean of a cross-validation differs from run to run."""
    groups = {
        method: [
            values.tolist()
            for _, values in pd.DataFrame([row for row in rows if row["method"] == method])
            .assign(epsilon=lambda table: table.get("epsilon", 0.0))
            .groupby(["epsilon", "run"])["accuracy"]
            .mean()
            .groupby("epsilon")
        ]
        for method in (BASELINE, MAX_PUBLISHED, GINI_PUBLISHED)
    }
    exact = deviations(groups[BASELINE])
    private = deviations([*groups[MAX_PUBLISHED], *groups[GINI_PUBLISHED]])
    one_run = min(map(len, groups[MAX_PUBLISHED])) < 2
    return judge(
        f"deviation between runs, private ({NOT_PRIVATE}) less non-private, {order}",
        "high variance",
        Sample(math.nan, 0.0, 0) if one_run else difference(private, exact),
        Range(low=MATERIAL_SPREAD),
    )


#: A deviation between runs below this is not high.
MATERIAL_SPREAD = 0.005


def _means(rows: Sequence[Row], *by: str) -> Any:
    table = pd.DataFrame([row for row in rows if "epsilon" in row])
    return table.groupby(list(by), sort=False)["accuracy"].mean()


def _listed(values: Any) -> str:
    return ", ".join(f"{value:.3f} at {epsilon:g}" for epsilon, value in values.items())
