"""Claims of papers as statistics with their uncertainty, and whether numbers bear them out.

A claim is a number that our lines give (a :class:`Sample`: its value, its standard error over
repeats, their degrees of freedom) and the :class:`Range` in which it has to lie for the claim to
hold. The verdict is taken at 95%:

- *agrees* where the whole interval lies in the range,
- *differs* where the whole interval lies outside it,
- *cannot tell* otherwise, and always where there is one repeat only.

A curve that is flat does not "fall": ranges of directions begin at :data:`MATERIAL`, half a point
of accuracy. Where a claim is about several numbers at once it agrees if all do, and differs if one
does; each interval then has a share of the 5% (Bonferroni).

Intervals are Student's, from repeats that are independent of each other: runs with structures and
noise of their own. Folds of one cross-validation share training rows, so intervals over folds are
somewhat too short (Bengio and Grandvalet 2004); the report says where folds are all there is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from experiments.papers.experiment import Comparison, Verdict

LEVEL = 0.05
#: A difference of accuracies below this is none, whatever its sign.
MATERIAL = 0.005


@dataclass(frozen=True)
class Sample:
    """A number, its standard error, and how many degrees of freedom that has: none for one repeat,
    infinitely many for a number that is known.
    """

    value: float
    error: float = 0.0
    freedom: float = math.inf

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return where the true number lies with a probability of 1 - level."""
        from scipy.stats import t  # type: ignore[import-untyped]

        if self.freedom <= 0 or math.isnan(self.value):
            return -math.inf, math.inf
        half = float(t.ppf(1 - level / 2, self.freedom)) * self.error if self.error else 0.0
        return self.value - half, self.value + half

    def minus(self, amount: float) -> Sample:
        """Return the number less one that is known."""
        return Sample(self.value - amount, self.error, self.freedom)


@dataclass(frozen=True)
class Range:
    """Where a number has to lie for a claim to hold."""

    low: float = -math.inf
    high: float = math.inf

    def judge(self, interval: tuple[float, float]) -> Verdict:
        """Return whether an interval lies inside, outside, or neither."""
        low, high = interval
        if self.low <= low and high <= self.high:
            return "agrees"
        return "differs" if high < self.low or low > self.high else "cannot tell"


MORE, LESS = Range(low=MATERIAL), Range(high=-MATERIAL)
NO_MORE = Range(high=MATERIAL)


def around(number: float, within: float) -> Range:
    """Return the range of numbers that are about this one."""
    return Range(number - within, number + within)


# -- statistics ------------------------------------------------------------------------------------


def mean_of(values: Sequence[float] | npt.NDArray[np.float64], tested: int = 0) -> Sample:
    """Return the mean of independent repeats.

    ``tested``: of accuracies on the same so many test rows, whose choice is chance too.
    """
    found = np.asarray(values, dtype=np.float64)
    if not len(found):
        return Sample(math.nan, 0.0, 0)
    value = float(found.mean())
    if len(found) < 2:
        return Sample(value, 0.0, 0)
    repeats = float(found.var(ddof=1)) / len(found)
    rows = value * (1 - value) / tested if tested else 0.0
    whole = repeats + rows
    freedom = math.inf if not repeats else (len(found) - 1) * (whole / repeats) ** 2
    return Sample(value, math.sqrt(whole), freedom)


def combine(samples: Sequence[Sample], weights: Sequence[float]) -> Sample:
    """Return the weighted sum of independent numbers (Welch and Satterthwaite)."""
    parts = [(weight * one.error) ** 2 for one, weight in zip(samples, weights, strict=True)]
    value = sum(weight * one.value for one, weight in zip(samples, weights, strict=True))
    if any(one.freedom <= 0 for one in samples):
        return Sample(value, 0.0, 0)
    loose = sum(part**2 / one.freedom for one, part in zip(samples, parts, strict=True))
    return Sample(value, math.sqrt(sum(parts)), sum(parts) ** 2 / loose if loose else math.inf)


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Sample:
    """Return by how much the mean of ours is larger, of repeats that have nothing to do with each
    other.
    """
    return combine([mean_of(ours), mean_of(theirs)], [1.0, -1.0])


def average(samples: Sequence[Sample]) -> Sample:
    """Return the mean of independent numbers."""
    return combine(samples, [1 / len(samples)] * len(samples))


def paired(ours: Mapping[object, float], theirs: Mapping[object, float]) -> Sample:
    """Return the mean difference of repeats with the same key."""
    return mean_of([ours[key] - theirs[key] for key in ours if key in theirs])


def slope(x: Sequence[float], y: Sequence[float]) -> Sample:
    """Return how much y grows with each unit of x, by least squares over independent points."""
    across = np.asarray(x, dtype=np.float64)
    up = np.asarray(y, dtype=np.float64)
    centred = across - across.mean()
    square = float((centred**2).sum())
    if not square:
        return Sample(math.nan, 0.0, 0)
    value = float(centred @ up) / square
    left = up - up.mean() - value * centred
    freedom = len(up) - 2
    error = math.sqrt(float(left @ left) / freedom / square) if freedom > 0 else 0.0
    return Sample(value, error, freedom)


def slope_by_run(curves: Sequence[Mapping[float, float]]) -> Sample:
    """Return the mean over runs of how much each run's curve grows with each unit."""
    return mean_of([slope(list(curve), list(curve.values())).value for curve in curves])


def deviations(groups: Sequence[Sequence[float]]) -> list[float]:
    """Return how far each value is from the median of its group: what spread is compared by (Brown
    and Forsythe 1974), as it needs no normal distribution.
    """
    return [abs(value - float(np.median(group))) for group in groups for value in group]


# -- verdicts --------------------------------------------------------------------------------------


def judge(
    what: str,
    paper: str,
    numbers: Sample | Mapping[str, Sample],
    holds: Range,
    *,
    unit: str = "points",
    more: str = "",
    why: str = "",
) -> Comparison:
    """Return a claim beside what came out: the numbers, their 95% intervals, and the verdict.

    Args:
        what: is compared.
        paper: what the text says.
        numbers: one, or several by name that must all lie in the range.
        holds: where a number has to lie.
        unit: ``"points"`` of accuracy, ``"share"``, or ``"number"``.
        more: what else is to be said of the numbers.
        why: not, where not.
    """
    several = {"": numbers} if isinstance(numbers, Sample) else dict(numbers)
    level = LEVEL / max(len(several), 1)
    intervals = {name: one.interval(level) for name, one in several.items()}
    verdicts = [holds.judge(one) for one in intervals.values()]
    told = ", ".join(
        f"{_say(one.value, unit)}{_interval(intervals[name], unit)}{f' {name}' if name else ''}"
        for name, one in several.items()
    )
    verdict: Verdict = (
        "differs"
        if "differs" in verdicts
        else "agrees"
        if verdicts and set(verdicts) == {"agrees"}
        else "cannot tell"
    )
    ours = "; ".join(part for part in (told, more) if part)
    return Comparison(
        what, paper, ours, verdict, why if verdict == "differs" else "", _bounds(holds, unit)
    )


def judge_any(
    what: str,
    paper: str,
    numbers: Mapping[str, Sample],
    holds: Range,
    *,
    unit: str = "points",
) -> Comparison:
    """Return a claim that one number at least lies in the range: it differs if all lie outside."""
    level = LEVEL / max(len(numbers), 1)
    verdicts = {name: holds.judge(one.interval(level)) for name, one in numbers.items()}
    agreeing = [name for name, verdict in verdicts.items() if verdict == "agrees"]
    verdict: Verdict = (
        "agrees"
        if agreeing
        else "differs"
        if verdicts and set(verdicts.values()) == {"differs"}
        else "cannot tell"
    )
    best = max(numbers, key=lambda name: numbers[name].value)
    told = (
        f"{_say(numbers[best].value, unit)}{_interval(numbers[best].interval(level), unit)} {best}"
    )
    listed = f"in {len(agreeing)} of {len(numbers)} places"
    return Comparison(what, paper, f"{told}; {listed}", verdict, "", _bounds(holds, unit))


def note(what: str, paper: str, ours: str) -> Comparison:
    """Return numbers that stand beside the claims, about which the paper says nothing."""
    return Comparison(what, paper, ours, None)


def _say(value: float, unit: str) -> str:
    if math.isnan(value):
        return "no number"
    if unit == "points":
        return f"{100 * value:+.1f} points"
    return f"{100 * value:.1f}%" if unit == "share" else f"{value:.5g}"


def _interval(interval: tuple[float, float], unit: str) -> str:
    low, high = interval
    if math.isinf(low) or low == high:
        return ""
    if unit == "number":
        return f" ({low:.5g} to {high:.5g})"
    sign = "+" if unit == "points" else ""
    return f" ({100 * low:{sign}.1f} to {100 * high:{sign}.1f})"


def _bounds(holds: Range, unit: str) -> str:
    """Say when the claim holds."""
    least, most = (0.0, 1.0) if unit == "share" else (-math.inf, math.inf)
    low, high = _say(max(holds.low, least), unit), _say(min(holds.high, most), unit)
    if math.isinf(holds.high):
        return f"at least {low}"
    if math.isinf(holds.low):
        return f"at most {high}"
    return low if holds.low == holds.high else f"{low} to {high}"
