"""Count how often the ranges of ``privet epsilon`` hold: on tables that they were not made from,
and, for each table that they were made from, as made from the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from experiments.bench.expected.tables import family_of
from privet.epsilon.expected import (
    Measure,
    MeasuredAccuracy,
    Place,
    fit_ranges,
    list_learners,
    make_ranges,
    read_range,
    select_lines,
    share_in,
)

WORDS: dict[Measure, str] = {
    "gap": "points lost to noise",
    "kept": "share kept of what can be learnt",
    "way": "accuracy, given the majority",
}
#: Bands of evidence: 300 rows and epsilon 1 are at 0.4, 2000 rows and epsilon 1 at 1.1.
BANDS = {"little": (-math.inf, 0.4), "some": (0.4, 1.1), "much": (1.1, math.inf)}


class Held(NamedTuple):
    """How often ranges held, and how wide they were on average; each table counts once."""

    tables: int
    lines: int
    held: float
    width: float


def check_held_out(learner: str, measure: Measure, lines: Iterable[MeasuredAccuracy]) -> Held:
    """Check the ranges that ship on lines of tables that they were not made from."""
    places = fit_ranges(learner, measure)
    return _count(lines, measure, lambda line: places)


def check_left_out(learner: str, measure: Measure, lines: Sequence[MeasuredAccuracy]) -> Held:
    """Check ranges on each of the tables that they are made from, leaving out its family."""
    families = {family_of(line.data) for line in lines}
    places = {
        family: make_ranges(
            [
                (line.data, line.evidence, share_in(line, measure))
                for line in lines
                if family_of(line.data) != family
            ]
        )
        for family in families
    }
    return _count(lines, measure, lambda line: places[family_of(line.data)])


def _count(
    lines: Iterable[MeasuredAccuracy],
    measure: Measure,
    places_for: Callable[[MeasuredAccuracy], Sequence[Place]],
) -> Held:
    held: dict[str, list[bool]] = {}
    widths: dict[str, list[float]] = {}
    for line in lines:
        low, _, high = read_range(places_for(line), line.evidence)
        share = share_in(line, measure)
        held.setdefault(line.data, []).append(low - 1e-9 <= share <= high + 1e-9)
        widths.setdefault(line.data, []).append(high - low)
    return Held(
        len(held),
        sum(map(len, held.values())),
        fmean(map(fmean, held.values())),
        fmean(map(fmean, widths.values())),
    )


def table() -> str:
    """Write the table of the page."""
    rows = [
        "| learner | predicted | evidence | tables | fits | held | mean width |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for learner in list_learners():
        for measure, words in WORDS.items():
            lines = select_lines(learner, measure)
            made = [line for line in lines if line.use == "range"]
            checked = [line for line in lines if line.use == "check"]
            found = {"all, held out": check_held_out(learner, measure, checked)}
            for band, (low, high) in BANDS.items():
                here = [line for line in checked if low <= line.evidence < high]
                found[f"{band}, held out"] = check_held_out(learner, measure, here)
            found["all, left out in turn"] = check_left_out(learner, measure, made)
            rows += [
                f"| `{learner}` | {words} | {band} | {one.tables} | {one.lines} | "
                f"{100 * one.held:.0f}% | {100 * one.width:.0f} points |"
                for band, one in found.items()
            ]
    return "\n".join(rows)
