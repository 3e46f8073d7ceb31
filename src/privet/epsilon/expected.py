"""Estimate how accurate our learners are at an epsilon, going by public tables.

``measured.csv`` holds the accuracy of three learners on rows that were held out, by data set,
number of rows and epsilon (``python -m experiments.bench.expected`` makes it). Tables differ in how
much can be learnt from them, so accuracies are compared by how much of it is left:

    share = (accuracy - majority) / (best - majority)

with the accuracy of always saying the commonest class, and that of the best of the learners without
noise on as many rows. Noise on a count is as large as 1/epsilon and counts grow with the rows, so
the share is taken to rise with rows * epsilon: each table gives a rising curve over its logarithm
(isotonic regression), read between measured points by straight lines and beyond them as at the
nearest. A table that was not measured gets the middle of these curves and their range: never a
promise. How far off it is for tables that are left out stands in docs/how-to/choose-epsilon.md;
taking the numbers of attributes or classes into the logarithm made it no better.
"""

from __future__ import annotations

import csv
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median

from privet.accounting.cost import Number
from privet.epsilon.noise_on_counts import check_count, check_positive

#: Logarithms of the same number, computed in different ways.
_NEAR = 1e-6
Point = tuple[float, float]
Curve = Sequence[Point]


@dataclass(frozen=True)
class MeasuredAccuracy:
    """The measured mean accuracy of a learner, its standard error, and what it is compared with."""

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

    @property
    def share(self) -> float:
        """How much is left of what can be learnt.

        It is below 0 where always answering the most frequent class is better.
        """
        return min(1.0, (self.accuracy - self.majority) / (self.best - self.majority))


@dataclass(frozen=True)
class Expected:
    """How much one learner keeps of what can be learnt.

    These are the median, the worst and the best of the public tables.

    ``tables`` is how many of them were measured at so many rows * epsilon; the others count with
    the nearest end of their curve.
    """

    learner: str
    middle: float
    low: float
    high: float
    tables: int


def expect_accuracy(epsilon: Number, rows: int) -> list[Expected]:
    """Estimate how much each learner keeps of what can be learnt from so many rows."""
    place = math.log10(check_positive("epsilon", epsilon) * check_count("rows", rows))
    expected = []
    for learner in list_learners():
        shares = [share_at(curve, place) for curve in fit_curves(learner).values()]
        tables = sum(
            curve[0][0] - _NEAR <= place <= curve[-1][0] + _NEAR
            for curve in fit_curves(learner).values()
        )
        expected.append(Expected(learner, median(shares), min(shares), max(shares), tables))
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
    lines = list(csv.DictReader(text.splitlines()))
    best: dict[tuple[str, str], float] = {}
    for line in lines:
        if math.isinf(float(line["epsilon"])):
            key = (line["data"], line["rows"])
            best[key] = max(best.get(key, 0.0), float(line["accuracy"]))
    return tuple(
        MeasuredAccuracy(
            line["data"],
            int(line["attributes"]),
            int(line["classes"]),
            int(line["rows"]),
            line["learner"],
            float(line["epsilon"]),
            float(line["accuracy"]),
            float(line["error"]),
            float(line["majority"]),
            best[line["data"], line["rows"]],
        )
        for line in lines
    )


@cache
def list_learners() -> tuple[str, ...]:
    """List the learners that were measured."""
    return tuple(dict.fromkeys(line.learner for line in load_measurements()))


@cache
def fit_curves(learner: str) -> dict[str, Curve]:
    """Fit the rising curve of each table over the logarithm of rows * epsilon."""
    lines = [
        line
        for line in load_measurements()
        if line.learner == learner and math.isfinite(line.epsilon)
    ]
    points: dict[str, list[Point]] = {}
    for line in lines:
        points.setdefault(line.data, []).append(
            (round(math.log10(line.rows * line.epsilon), 6), line.share)
        )
    return {name: fit_isotonic(of) for name, of in points.items()}


def fit_isotonic(points: Iterable[Point]) -> Curve:
    """Return the rising values nearest to these in squares.

    Neighbours that fall are pooled until none does.
    """
    by_place: dict[float, list[float]] = {}
    for place, value in sorted(points):
        by_place.setdefault(place, []).append(value)
    pools: list[tuple[list[float], list[float]]] = []
    for place, values in by_place.items():
        pools.append(([place], values))
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            places, pooled = pools.pop()
            pools[-1] = (pools[-1][0] + places, pools[-1][1] + pooled)
    return [(place, _mean(pool)) for pool in pools for place in pool[0]]


def share_at(curve: Curve, place: float) -> float:
    """Evaluate a curve: straight between its points, level beyond them."""
    after = bisect_right([x for x, _ in curve], place)
    if after in (0, len(curve)):
        return curve[0 if after == 0 else -1][1]
    (left, low), (right, high) = curve[after - 1], curve[after]
    return low + (high - low) * (place - left) / (right - left)


def _mean(pool: tuple[list[float], list[float]]) -> float:
    return math.fsum(pool[1]) / len(pool[1])
