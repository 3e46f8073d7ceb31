"""How far off the expectation is for a data set that it has not seen: each is left out in turn, and
compared with the others.
"""

from __future__ import annotations

import math
from statistics import fmean, median
from typing import NamedTuple

from privet.epsilon.expected import fit_curves, list_learners, load_measurements, share_at


class LeftOut(NamedTuple):
    """Of one learner: how far the middle is off, as a mean over data sets, and how many of the
    lines lie within the range.
    """

    learner: str
    off: float
    within: float
    lines: int


def family(data: str) -> str:
    """Data sets made by one recipe are left out together: ``monks1`` and ``monks2``."""
    return data.rstrip("0123456789")


def left_out(learner: str) -> LeftOut:
    """What the others say about each line."""
    lines = [
        line
        for line in load_measurements()
        if line.learner == learner and math.isfinite(line.epsilon)
    ]
    off: dict[str, list[float]] = {}
    within = []
    for line in lines:
        others = [
            curve
            for name, curve in fit_curves(learner).items()
            if family(name) != family(line.data)
        ]
        shares = [share_at(curve, math.log10(line.rows * line.epsilon)) for curve in others]
        off.setdefault(line.data, []).append(abs(median(shares) - line.share))
        within.append(min(shares) <= line.share <= max(shares))
    return LeftOut(learner, fmean(map(fmean, off.values())), fmean(within), len(lines))


def table() -> str:
    """For the page."""
    found = map(left_out, list_learners())
    lines = [
        f"| `{one.learner}` | {100 * one.off:.0f} points | {100 * one.within:.0f}% | {one.lines} |"
        for one in found
    ]
    return "\n".join(
        ["| learner | middle is off by | in the range | lines |", "|---|---|---|---|", *lines]
    )
