"""Means of lines, and numbers as they stand in a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.papers.claims import Sample, combine, mean_of, paired, slope_by_run
from experiments.papers.experiment import Row


def some(rows: Iterable[Row], **wanted: object) -> list[Row]:
    """The lines with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def mean(rows: Iterable[Row], **wanted: object) -> float:
    """Mean accuracy of the lines with these values; NaN where there are none."""
    found = [row["accuracy"] for row in some(rows, **wanted)]
    return float(np.mean(found)) if found else math.nan


def by_run(rows: Iterable[Row]) -> list[Row]:
    """One line per run, with the mean over its draws: what the boxes of 2012 are of."""
    grouped: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = tuple(
            value for name, value in row.items() if name not in ("draw", "accuracy", "unclassified")
        )
        grouped.setdefault(key, []).append(row)
    return [{**mine[0], "accuracy": mean(mine)} for mine in grouped.values()]


def runs(rows: Iterable[Row], /, measure: str = "accuracy", **wanted: Any) -> dict[object, float]:
    """The mean over the draws of each run (or fold) of the lines with these values."""
    grouped: dict[object, list[float]] = {}
    for row in some(rows, **wanted):
        grouped.setdefault(row.get("run", row.get("fold")), []).append(row[measure])
    return {run: float(np.mean(values)) for run, values in grouped.items()}


def over_runs(rows: Iterable[Row], /, measure: str = "accuracy", **wanted: Any) -> Sample:
    """The mean of the lines with these values, with its error over runs."""
    return mean_of(list(runs(rows, measure, **wanted).values()))


def loss(rows: Sequence[Row], before: float, after: float, **wanted: Any) -> Sample:
    """What each run loses from one epsilon to another, on average."""
    return paired(runs(rows, epsilon=before, **wanted), runs(rows, epsilon=after, **wanted))


def steps(rows: Sequence[Row], epsilons: Sequence[float], **wanted: Any) -> dict[str, Sample]:
    """The loss from each epsilon to the next smaller one."""
    return {
        f"to {after:g}": loss(rows, before, after, **wanted)
        for before, after in pairwise(sorted(epsilons, reverse=True))
    }


def per_tenfold(rows: Sequence[Row], epsilons: Sequence[float], **wanted: Any) -> Sample:
    """How much accuracy grows as epsilon grows tenfold, run by run."""
    finite = [one for one in epsilons if not math.isinf(one)]
    curves: dict[object, dict[float, float]] = {}
    for one in finite:
        for run, accuracy in runs(rows, epsilon=one, **wanted).items():
            curves.setdefault(run, {})[math.log10(one)] = accuracy
    return slope_by_run([curve for curve in curves.values() if len(curve) == len(finite)])


def ahead(ours: Mapping[object, float], theirs: Mapping[object, float]) -> Sample:
    """By how much the mean over the runs of ours is larger; their runs have nothing in common."""
    return combine([mean_of(list(ours.values())), mean_of(list(theirs.values()))], [1.0, -1.0])


def percent(share: float) -> str:
    """``46.1%``; a dash where there is nothing."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def points(difference: float) -> str:
    """``+1.3 points``."""
    return "-" if math.isnan(difference) else f"{100 * difference:+.1f} points"


def list_curve(curve: Mapping[float, float]) -> str:
    """``90.0% at ∞, 88.9% at 1``."""
    return ", ".join(
        f"{percent(value)} at {'∞' if math.isinf(one) else f'{one:g}'}"
        for one, value in curve.items()
    )


def falls(values: Sequence[float], slack: float = 0.01) -> bool:
    """Whether values never rise by more than the slack: differences of repeated runs that chance
    explains.
    """
    return all(after <= before + slack for before, after in pairwise(values))


def known(*values: float) -> bool:
    """Whether all of them are numbers."""
    return not any(map(math.isnan, values))
