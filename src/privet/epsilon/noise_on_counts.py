"""Describe the noise on one count, and how many more rows it makes necessary.

The noise is discrete Laplace of scale 1/epsilon, with p = e^-epsilon:

    P(k) = (1 - p) / (1 + p) p^|k|

This is exactly the distribution of ``Curator.count`` for a query of one partition (Ghosh,
Roughgarden and Sundararajan 2012, the geometric mechanism). Epsilon is that of the query, for one
row added or removed, whatever neighbours are declared.

**Rows needed.** Vu and Slavkovic (2009, "Differential privacy for clinical trial data: preliminary
evaluations", ICDM Workshops, pp. 138-143) adjust the size of a sample so that a test on noisy data
has the level and the power that it would have without noise. For a proportion p of n rows, whose
count gets noise of variance v, the estimate has variance

    p (1 - p) / n + v / n^2

A test that finds a difference d with normal quantiles z for its level and power needs that variance
to be (d / z)^2. Without noise this takes n0 = z^2 p (1 - p) / d^2 rows, and with noise the positive
root of a quadratic:

    n = n0 / 2 + sqrt(n0^2 / 4 + n0 v / (p (1 - p)))

The method is theirs. Ours are the root as it stands here, v of discrete noise in place of 2 /
epsilon^2, and one variance p (1 - p) under both hypotheses. The sum of the two errors is taken for
normal, as is usual; where the noise outweighs the sampling, its tails are heavier. The root depends
on z only through n0: it also says how many rows give an estimate as precise as n0 rows do without
noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from privet._validate import check_integer
from privet.accounting.cost import Number, parse_exact
from privet.errors import ParameterError


@dataclass(frozen=True)
class Noise:
    """The standard deviation of a count, a margin, and the exact probability to keep it."""

    deviation: float
    margin: int
    coverage: float


def describe_noise(epsilon: Number, confidence: Number = 0.95) -> Noise:
    """Describe the noise on a count, with the margin that it keeps with this confidence.

    Integers rarely keep it exactly.
    """
    margin = margin_of(epsilon, confidence)
    return Noise(math.sqrt(variance(epsilon)), margin, margin_probability(epsilon, margin))


def variance(epsilon: Number) -> float:
    """Return the variance 2 p / (1 - p)^2, which is 1 / (cosh(epsilon) - 1).

    This is a little less than the 2 / epsilon^2 of continuous Laplace noise.
    """
    half = check_positive("epsilon", epsilon) / 2
    return 0.5 / math.sinh(half) ** 2 if half < 300 else 0.0


def epsilon_for_variance(largest: Number) -> float:
    """Return the epsilon whose noise has this variance: cosh(epsilon) = 1 + 1 / variance."""
    return 2 * math.asinh(math.sqrt(0.5 / check_positive("variance", largest)))


def margin_probability(epsilon: Number, margin: int) -> float:
    """Return the probability that the noise is at most so many rows to either side.

    It is 1 - 2 p^(margin + 1) / (1 + p).
    """
    check_count("margin", margin, 0)
    rate = check_positive("epsilon", epsilon)
    p = math.exp(-rate)
    # no digit is lost where epsilon is small
    return -(math.expm1(-rate * (margin + 1)) + p * math.expm1(-rate * margin)) / (1 + p)


def margin_of(epsilon: Number, confidence: Number = 0.95) -> int:
    """Return the smallest margin that the noise keeps with this confidence."""
    rate, kept = check_positive("epsilon", epsilon), check_probability("confidence", confidence)
    if rate < 1e-12:
        raise ParameterError(f"epsilon must be at least 1e-12 for a margin, got {epsilon!r}")
    margin = max(0, math.ceil(math.log(2 / ((1 + math.exp(-rate)) * (1 - kept))) / rate) - 1)
    while margin_probability(rate, margin) < kept:  # rounding
        margin += 1
    while margin > 0 and margin_probability(rate, margin - 1) >= kept:
        margin -= 1
    return margin


def epsilon_for_margin(margin: int, confidence: Number = 0.95) -> float:
    """Return the epsilon whose noise keeps this margin with exactly this confidence.

    Larger ones keep it more often.

    With margin 0 it is ln((1 + c) / (1 - c)); otherwise it is found by bisection, to the last
    digits.
    """
    kept = check_probability("confidence", confidence)
    check_count("margin", margin, 0)
    low, high = 1e-12 / (margin + 1), 2 * math.log((1 + kept) / (1 - kept))
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if margin_probability(middle, margin) >= kept else (middle, high)
    return high


# How many more rows the same accuracy needs (Vu and Slavkovic 2009).


@dataclass(frozen=True)
class RowsNeeded:
    """Rows without noise and with it, rounded up, and how many times as many that is."""

    without: int
    noisy: int
    ratio: float


@dataclass(frozen=True)
class Trial:
    """A two-sided test of whether a share has changed.

    Parameters
    ----------
    share
        The proportion, whose variance is taken.
    difference
        What should be found.
    level
        How often a difference is found where there is none.
    power
        How often this difference is found.
    """

    share: Number = 0.5
    difference: Number = 0.05
    level: Number = 0.05
    power: Number = 0.8

    def __post_init__(self) -> None:
        share, difference = (
            check_probability("share", self.share),
            check_probability("difference", self.difference),
        )
        level, power = (
            check_probability("level", self.level),
            check_probability("power", self.power),
        )
        if share + difference > 1 and share - difference < 0:
            raise ParameterError(
                f"difference must lead from the share {share:g} to another share, got "
                f"{self.difference!r}"
            )
        if power <= level:
            raise ParameterError(f"power must be above the level, {level:g}, got {self.power!r}")

    @property
    def rows(self) -> float:
        """n0, not rounded."""
        share, difference = (
            check_probability("share", self.share),
            check_probability("difference", self.difference),
        )
        level, power = (
            check_probability("level", self.level),
            check_probability("power", self.power),
        )
        z = NormalDist().inv_cdf(power) - NormalDist().inv_cdf(level / 2)
        return z**2 * share * (1 - share) / difference**2


def rows_for_trial(epsilon: Number, trial: Trial | None = None) -> RowsNeeded:
    """Return how many rows a test needs that counts one share with this epsilon."""
    trial = trial or Trial()
    return _compute_rows_needed(epsilon, trial.rows, check_probability("share", trial.share))


def rows_for_share(epsilon: Number, rows: int, share: Number = 0.5) -> RowsNeeded:
    """Return how many rows give a share as precisely as these rows would without noise."""
    return _compute_rows_needed(
        epsilon, check_count("rows", rows), check_probability("share", share)
    )


def epsilon_for_ratio(ratio: Number, rows: float, share: Number = 0.5) -> float:
    """Return the smallest epsilon at which at most ``ratio`` times these rows are needed."""
    times, spread = check_positive("ratio", ratio), check_probability("share", share)
    if times <= 1:
        raise ParameterError(
            f"ratio must be above 1, as noise always takes some rows; got {ratio!r}"
        )
    return epsilon_for_variance(
        spread * (1 - spread) * check_positive("rows", rows) * times * (times - 1)
    )


def _compute_rows_needed(epsilon: Number, rows: float, share: float) -> RowsNeeded:
    noisy = rows / 2 + math.sqrt(rows**2 / 4 + rows * variance(epsilon) / (share * (1 - share)))
    return RowsNeeded(math.ceil(rows), math.ceil(noisy), noisy / rows)


# Checks of what the formulas take: numbers above zero, probabilities, integers.

#: No table has more rows, and floating-point numbers count exactly up to there.
MOST = 10**15


def check_count(name: str, value: int, low: int = 1) -> int:
    """Return an integer of at least ``low`` that is no more than there can be rows."""
    count = check_integer(name, value, low)
    if count > MOST:
        raise ParameterError(f"{name} must be at most {MOST:,}, got {count}")
    return count


def check_positive(name: str, value: Number) -> float:
    """Return a finite number above zero, or raise."""
    return float(parse_exact(name, value))


def check_probability(name: str, value: Number) -> float:
    """Return a number above 0 and below 1, or raise."""
    try:
        probability = float(parse_exact(name, value))
    except ParameterError:
        probability = 0.0  # one message for all that is no probability
    if not 0 < probability < 1:
        raise ParameterError(f"{name} must be above 0 and below 1, got {value!r}")
    return probability
