"""Means of lines, and numbers as they stand in a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

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


def percent(share: float) -> str:
    """``46.1%``; a dash where there is nothing."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def points(difference: float) -> str:
    """``+1.3 points``."""
    return "-" if math.isnan(difference) else f"{100 * difference:+.1f} points"


def near(ours: float, told: float, within: float = 0.02) -> bool:
    """Whether a share is that of the paper, give or take."""
    return abs(ours - told) <= within


def falls(values: Sequence[float], slack: float = 0.01) -> bool:
    """Whether values never rise by more than the slack: differences of repeated runs that chance
    explains.
    """
    return all(after <= before + slack for before, after in pairwise(values))


def known(*values: float) -> bool:
    """Whether all of them are numbers."""
    return not any(map(math.isnan, values))
