"""Estimate how accurate our learners are at an epsilon, going by public tables.

``measured.csv`` holds the accuracy of three learners on held-out rows of public and generated
tables, by number of rows and epsilon (``python -m experiments.bench.expected`` makes it). Two
thirds of the tables make the ranges; the others only check them (docs/results/expected.md).

Tables differ in how much can be learnt from them. So three things are predicted:

- ``gap``: accuracy - best, what noise adds to the accuracy of the best of the learners without
  noise on as many rows. It is below 0: noise takes something away.
- ``kept``: (accuracy - majority) / (best - majority), with the accuracy of always answering the
  most frequent class. Tables where best is less than five points above it have little to keep, and
  are left out.
- ``way``: (accuracy - majority) / (1 - majority), of all tables. With the share of the most
  frequent class, which is public or guessed, this is an accuracy.

Ranges depend on the evidence, which grows with the rows and epsilon, see :func:`weigh_evidence`. At
each of a grid of places, the range is the 5% to 95% quantile over the tables measured near it, each
of which counts once, with the correction for their number of split-conformal prediction
(Papadopoulos et al. 2002). More evidence never lowers an end of the range: where quantiles fall,
the range is widened. It is read between places by straight lines, and beyond them as at the
nearest. Taking the numbers of attributes or classes into the evidence made ranges no narrower.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Literal, NamedTuple

from privet.accounting.cost import Number
from privet.epsilon.noise_on_counts import check_count, check_positive, check_probability

#: How often a stated range should hold, over tables.
HOLDS = 0.9
#: A table with less to learn than this has little to keep.
LEAST_GAIN = 0.05
#: Distance of the places at which ranges are computed, and how far off a measurement may be.
STEP, NEAR = 0.1, 0.3
#: How many times the noise of one count it takes to disturb a model as much as sampling does.
NOISE = 100
#: Fewer tables than this make no range.
LEAST_TABLES = 20

Measure = Literal["gap", "kept", "way"]


@dataclass(frozen=True)
class MeasuredAccuracy:
    """The measured accuracy of a learner, its standard error, and what it is compared with.

    The error is that of the held-out rows; the noise of another fit comes on top.
    """

    data: str
    attributes: int
    classes: int
    rows: int
    learner: str
    epsilon: float
    accuracy: float
    error: float
    majority: float
    best: float
    use: Literal["range", "check"] = "range"

    @property
    def share(self) -> float:
        """How much is left of what can be learnt; 1 at most.

        It is below 0 where always answering the most frequent class is better.
        """
        return min(1.0, (self.accuracy - self.majority) / (self.best - self.majority))

    @property
    def way(self) -> float:
        """The share of the way from the most frequent class to no errors at all."""
        return (self.accuracy - self.majority) / (1 - self.majority)

    @property
    def evidence(self) -> float:
        """How much the rows can tell."""
        return weigh_evidence(self.epsilon, self.rows)

    @property
    def teaches(self) -> bool:
        """Whether there is much to learn from the table."""
        return self.best - self.majority >= LEAST_GAIN


class Range(NamedTuple):
    """Where something lies in 9 of 10 tables, and its median."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Expected:
    """What to expect of one learner.

    ``lost`` is how much more accurate the best learner is without noise, in 9 of 10 tables: 0.02
    for two points. ``low`` to ``high`` is how much is kept of what can be learnt, in 9 of 10 tables
    where that is five points and more; half of them keep ``middle`` or more. ``accuracy`` is given
    with the share of the most frequent class. ``tables`` is how many tables with five points were
    measured near as much evidence: 0 means that ranges are those of the nearest place.
    """

    learner: str
    middle: float
    low: float
    high: float
    tables: int
    lost: Range
    accuracy: Range | None = None


def weigh_evidence(epsilon: float, rows: int) -> float:
    """Return how much rows can tell at an epsilon: minus the logarithm of their error.

    The error of a share is 1/sqrt(rows) from sampling, and some 1/(rows * epsilon) from noise. The
    weight of the latter was chosen on the tables that make ranges: weights from 3 to 100 gave
    ranges as wide.
    """
    return -math.log10(1 / math.sqrt(rows) + NOISE / (rows * epsilon))


class Place(NamedTuple):
    """The range at one amount of evidence, and how many tables it is from."""

    evidence: float
    range: Range
    tables: int


def expect_accuracy(epsilon: Number, rows: int, majority: Number | None = None) -> list[Expected]:
    """Estimate how accurate each learner is with so many rows.

    Parameters
    ----------
    epsilon, rows
        As they would be passed to a learner.
    majority
        The share of the most frequent class, if it is known or guessed.
    """
    evidence = weigh_evidence(check_positive("epsilon", epsilon), check_count("rows", rows))
    most = None if majority is None else check_probability("majority", majority)
    expected = []
    for learner in list_learners():
        places = fit_ranges(learner, "kept")
        kept, accuracy = read_range(places, evidence), None
        if most is not None:
            way = read_range(fit_ranges(learner, "way"), evidence)
            accuracy = Range(*(max(0.0, most + (1 - most) * share) for share in way))
        gap = read_range(fit_ranges(learner, "gap"), evidence)
        lost = Range(-gap.high, -gap.middle, -gap.low)
        nearest = min(places, key=lambda place: abs(place.evidence - evidence))
        tables = nearest.tables if abs(nearest.evidence - evidence) <= STEP / 2 + 1e-6 else 0
        expected.append(Expected(learner, kept.middle, kept.low, kept.high, tables, lost, accuracy))
    return expected


def find_nearest(
    epsilon: Number,
    rows: int,
    classes: int | None = None,
    attributes: int | None = None,
    most: int = 4,
) -> list[MeasuredAccuracy]:
    """Return the measurements of the public tables most like this one, for all learners.

    Each table stands with the size and epsilon nearest to those asked for. Likeness is the sum of
    the differences of logarithms: of rows, epsilon and, where they are known, classes and
    attributes.
    """
    asked = (rows, check_positive("epsilon", epsilon), classes, attributes)

    def distance(line: MeasuredAccuracy) -> float:
        pairs = zip(asked, (line.rows, line.epsilon, line.classes, line.attributes), strict=True)
        return sum(abs(math.log10(mine / its)) for mine, its in pairs if mine is not None)

    private = [line for line in load_measurements() if math.isfinite(line.epsilon)]
    closest = {
        name: min((line for line in private if line.data == name), key=distance)
        for name in {line.data for line in private}
    }
    chosen = sorted(closest.values(), key=lambda line: (distance(line), line.data))[:most]
    places = [(line.data, line.rows, line.epsilon) for line in chosen]
    return [
        line
        for place in places
        for line in private
        if (line.data, line.rows, line.epsilon) == place
    ]


@cache
def load_measurements() -> tuple[MeasuredAccuracy, ...]:
    """Load the measurements, noiseless ones (infinite epsilon) included."""
    text = (files("privet.epsilon") / "measured.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    learners = list(rows[0])[list(rows[0]).index("epsilon") + 1 :]
    best = {
        (row["data"], row["rows"]): max(float(row[learner]) for learner in learners)
        for row in rows
        if math.isinf(float(row["epsilon"]))
    }
    return tuple(
        MeasuredAccuracy(
            row["data"],
            int(row["attributes"]),
            int(row["classes"]),
            int(row["rows"]),
            learner,
            float(row["epsilon"]),
            float(row[learner]),
            math.sqrt(float(row[learner]) * (1 - float(row[learner])) / int(row["tested"])),
            float(row["majority"]),
            max(best[row["data"], row["rows"]], float(row["majority"])),
            "check" if row["use"] == "check" else "range",
        )
        for row in rows
        for learner in learners
    )


@cache
def list_learners() -> tuple[str, ...]:
    """List the learners that were measured."""
    return tuple(dict.fromkeys(line.learner for line in load_measurements()))


def select_lines(learner: str, measure: Measure) -> list[MeasuredAccuracy]:
    """Return the private measurements of a learner that have something to say about a share."""
    return [
        line
        for line in load_measurements()
        if line.learner == learner
        and math.isfinite(line.epsilon)
        and (measure != "kept" or line.teaches)
    ]


@cache
def fit_ranges(learner: str, measure: Measure) -> tuple[Place, ...]:
    """Return the ranges of a share, by evidence, from the tables that ranges are made from."""
    lines = [line for line in select_lines(learner, measure) if line.use == "range"]
    return make_ranges([(line.data, line.evidence, share_in(line, measure)) for line in lines])


def make_ranges(measured: Sequence[tuple[str, float, float]]) -> tuple[Place, ...]:
    """Return the ranges of shares, from the table, the evidence and the share of each measurement.

    They rise with the evidence, at both ends.
    """
    least, most = (end(evidence for _, evidence, _ in measured) for end in (min, max))
    places = []
    for step in range(math.floor(least / STEP), math.ceil(most / STEP) + 1):
        near = [
            (data, share) for data, at, share in measured if abs(at - step * STEP) <= NEAR + 1e-9
        ]
        counts = Counter(data for data, _ in near)
        if len(counts) >= LEAST_TABLES:
            weighted = [(share, 1 / counts[data]) for data, share in near]
            places.append(Place(step * STEP, make_range(weighted), len(counts)))
    lows = list(accumulate((place.range.low for place in reversed(places)), min))[::-1]
    middles = accumulate((place.range.middle for place in places), max)
    highs = accumulate((place.range.high for place in places), max)
    return tuple(
        Place(place.evidence, Range(*ends), place.tables)
        for place, *ends in zip(places, lows, middles, highs, strict=True)
    )


def make_range(weighted: Iterable[tuple[float, float]]) -> Range:
    """Return the range that one more value lies in, 9 times in 10, and the median.

    Values have weights, which add up to the number of tables.
    """
    rising = sorted(weighted)
    tables = math.fsum(weight for _, weight in rising)
    outside = (1 - HOLDS) / 2 * (tables + 1)
    return Range(
        _skip(rising, outside), _skip(rising, (tables + 1) / 2), _skip(rising[::-1], outside)
    )


def _skip(ordered: Sequence[tuple[float, float]], amount: float) -> float:
    """Return the last value until which no more than this amount of weight is reached."""
    reached = accumulate(weight for _, weight in ordered)
    within = sum(1 for weight in reached if weight <= amount + 1e-9)
    return ordered[max(0, within - 1)][0]


def read_range(places: Sequence[Place], evidence: float) -> Range:
    """Read a range: straight between places, level beyond them."""
    after = bisect_right([place.evidence for place in places], evidence)
    if after in (0, len(places)):
        return places[0 if after == 0 else -1].range
    before, behind = places[after - 1], places[after]
    part = (evidence - before.evidence) / (behind.evidence - before.evidence)
    ends = zip(before.range, behind.range, strict=True)
    return Range(*(left + (right - left) * part for left, right in ends))


def share_in(line: MeasuredAccuracy, measure: Measure) -> float:
    """Return one of the shares that are predicted."""
    if measure == "gap":
        return line.accuracy - line.best
    return line.share if measure == "kept" else line.way
