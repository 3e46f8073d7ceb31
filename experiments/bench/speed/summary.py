"""Ratios, slopes, and which goals are met. Nothing here measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.bench.speed.contestants import BINARY, MULTIWAY, OURS
from experiments.bench.speed.results import Measurement

#: Contestants that show a row to one tree, whatever the number of trees.
ONE_TREE = {"diffprivlib", "greedy"}
#: Contestants for which a row and a tree mean something else.
NO_TREES = {"gibbs"}
LINEAR = 1.05
MILLION, TEN_MILLION = 1_000_000, 10_000_000


@dataclass(frozen=True)
class Goal:
    """What was wanted and what was found; ``met`` is None where it was not measured at the size
    that the goal is about.
    """

    what: str
    wanted: str
    found: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return {True: "met", False: "**missed**", None: "not measured"}[self.met]


@dataclass(frozen=True)
class Summary:
    """All measurements, and what follows from them."""

    measurements: Sequence[Measurement]

    def of(self, section: str) -> list[Measurement]:
        return [m for m in self.measurements if m.section == section]

    def find(
        self, section: str, contestant: str, shape: str = "", **size: int
    ) -> Measurement | None:
        """The one measurement that has a time; where sizes are not given, the first."""
        for m in self.of(section):
            if (
                (m.contestant, m.shape) == (contestant, shape)
                and m.best is not None
                and all(getattr(m, k) == v for k, v in size.items())
            ):
                return m
        return None

    @property
    def bandwidth(self) -> float:
        """Bytes a second; not a number where it was not measured."""
        probe = next(iter(self.of("limit")), None)
        return probe.bytes / probe.best if probe and probe.bytes and probe.best else math.nan

    def limit(self, m: Measurement) -> float:
        """Seconds to read once the codes of all attributes and of the class, a byte each."""
        return m.rows * (m.attributes + 1) / self.bandwidth

    def ours(self, shape: str) -> Measurement | None:
        """Our fit with trees of this shape, which others are compared with."""
        return self.find("fit", OURS, shape)

    def slope(self, section: str, contestant: str, shape: str) -> float:
        """How a time grows with what the section is named after."""
        points = [
            (getattr(m, section), m.best)
            for m in self.of(section)
            if (m.contestant, m.shape) == (contestant, shape)
        ]
        return slope([(x, y) for x, y in points if y is not None])

    def lines(self, section: str) -> list[tuple[str, str]]:
        """The contestants of a section with their shapes, in order."""
        return list(
            dict.fromkeys((m.contestant, m.shape) for m in self.of(section) if m.best is not None)
        )

    def goals(self) -> list[Goal]:
        return [
            *self._beside_diffprivlib(),
            *self._counting(),
            *self._memory(),
            *self._predicting(),
            *self._growing(),
            *self._starting(),
        ]

    def _beside_diffprivlib(self) -> Iterable[Goal]:
        theirs = self.find("fit", "diffprivlib", BINARY)
        for shape in (MULTIWAY, BINARY):
            mine = self.find("fit", "frame", shape)
            right = mine is not None and theirs is not None and mine.rows == MILLION
            times = ratio(theirs, mine)
            per_visit = times * visits(mine) / visits(theirs) if mine and theirs else math.nan
            name = f"a fit of {MILLION:,} rows ({shape} trees) beside diffprivlib"
            yield _goal(
                f"{name}: wall time",
                "10 times faster",
                f"{times:.3g} times",
                times,
                10,
                right=right,
            )
            yield _goal(
                f"{name}: per row and tree",
                "100 times faster",
                f"{per_visit:.3g} times",
                per_visit,
                100,
                right=right,
            )

    def _counting(self) -> Iterable[Goal]:
        for shape in (MULTIWAY, BINARY):
            m = self.find("rows", "kernel", shape, rows=TEN_MILLION)
            seconds, times = (
                (m.best or math.nan, (m.best or math.nan) / self.limit(m))
                if m
                else (math.nan, math.nan)
            )
            name = f"counting ten {shape} trees of height 4 on {TEN_MILLION:,} rows"
            yield _goal(name, "within 2 s", f"{seconds:.2f} s", -seconds, -2, right=m is not None)
            yield _goal(
                f"{name}, beside the limit",
                "within 10 times",
                f"{times:.3g} times",
                -times,
                -10,
                right=m is not None,
            )

    def _memory(self) -> Iterable[Goal]:
        m = self.find("rows", "frame", MULTIWAY, rows=TEN_MILLION)
        most = TEN_MILLION * (m.attributes + 1) + 200_000_000 if m else 0
        peak = math.nan if m is None or m.bytes is None else m.bytes
        name = f"memory of a fit of {TEN_MILLION:,} rows, above the data frame"
        wanted = f"codes + 200 MB = {most / 1e6:.0f} MB" if m else "codes + 200 MB"
        yield _goal(name, wanted, f"{peak / 1e6:.0f} MB", -peak, -most, right=not math.isnan(peak))

    def _predicting(self) -> Iterable[Goal]:
        for shape in (MULTIWAY, BINARY):
            m = self.find("predict", "predict-frame", shape)
            rate = m.rows / m.best if m and m.best else math.nan
            name = f"predictions of ten {shape} trees from a data frame"
            yield _goal(
                name,
                "a million rows a second",
                f"{rate / 1e6:.2f} million",
                rate,
                1e6,
                right=m is not None and m.rows == MILLION,
            )

    def _growing(self) -> Iterable[Goal]:
        for contestant, what in (("kernel", "counting"), ("frame", "a fit")):
            for shape in (MULTIWAY, BINARY):
                found = self.slope("rows", contestant, shape)
                right = self.find("rows", contestant, shape, rows=TEN_MILLION) is not None
                name = f"growth of {what} over rows ({shape} trees)"
                yield _goal(
                    name, f"slope of at most {LINEAR}", f"{found:.2f}", -found, -LINEAR, right=right
                )

    def _starting(self) -> Iterable[Goal]:
        m = self.find("import", "import privet")
        seconds = m.best if m and m.best else math.nan
        yield _goal(
            "`import privet`, the interpreter included",
            "under 0.5 s",
            f"{seconds:.2f} s",
            -seconds,
            -0.5,
            right=m is not None,
        )


def ratio(one: Measurement | None, other: Measurement | None) -> float:
    """How many times as long one takes, by the best times."""
    return one.best / other.best if one and other and one.best and other.best else math.nan


def fixed(m: Measurement) -> str:
    """What does not grow in the section of a measurement."""
    sizes = {
        "rows": f"{m.rows:,} rows",
        "attributes": f"{m.attributes} attributes",
        "trees": f"{m.trees} trees",
    }
    return ", ".join(size for name, size in sizes.items() if name != m.section)


def visits(m: Measurement) -> int:
    """How many times a tree is shown a row."""
    return 0 if m.contestant in NO_TREES else m.rows * (1 if m.contestant in ONE_TREE else m.trees)


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the straight line through log seconds over log size, by least squares over the larger half
    of the sizes.
    """
    largest = sorted(points)[-max(2, math.ceil(len(points) / 2)) :]
    if len(largest) < 2:
        return math.nan
    x, y = np.log(np.array(largest, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def _goal(what: str, wanted: str, found: str, value: float, least: float, *, right: bool) -> Goal:
    """Met from ``least`` on; ``right`` says whether it was measured at the right size."""
    measured = right and not math.isnan(value)
    return Goal(what, wanted, found if measured else "", bool(value >= least) if measured else None)
