"""How many more rows the same accuracy would need.

Vu and Slavkovic (2009, "Differential privacy for clinical trial data: preliminary evaluations",
ICDM Workshops, pp. 138-143) adjust the size of a sample so that a test on noisy data has the level
and the power that it would have without noise. For a proportion p of n rows, whose count gets noise
of variance v, the estimate has variance

    p (1 - p) / n + v / n^2

A test that finds a difference d with normal quantiles z for its level and power needs that variance
to be (d / z)^2. Without noise this takes n0 = z^2 p (1 - p) / d^2 rows, and with noise the positive
root of a quadratic:

    n = n0 / 2 + sqrt(n0^2 / 4 + n0 v / (p (1 - p)))

The way is theirs. Ours are the root as it stands here, v of discrete noise in place of 2 /
epsilon^2, and one variance p (1 - p) under both hypotheses. The sum of the two errors is taken for
normal, as is usual; where the noise outweighs the sampling, its tails are heavier. The root has no
z in it but through n0: it also says how many rows give an estimate as precise as n0 rows do without
noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from privet.budget import Number
from privet.errors import ParameterError
from privet.explain.inputs import check_count, check_positive, check_probability
from privet.explain.noise import epsilon_for_variance, variance


@dataclass(frozen=True)
class RowsNeeded:
    """Rows without noise and with it, rounded up, and how many times as many that is."""

    without: int
    noisy: int
    ratio: float


@dataclass(frozen=True)
class Trial:
    """A two-sided test whether a share is another one by now.

    Args:
        share: the proportion, whose variance is taken.
        difference: what should be found.
        level: how often a difference is found where there is none.
        power: how often this difference is found.
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
    """How many rows a test needs that counts one share with this epsilon."""
    trial = trial or Trial()
    return _compute_rows_needed(epsilon, trial.rows, check_probability("share", trial.share))


def rows_for_share(epsilon: Number, rows: int, share: Number = 0.5) -> RowsNeeded:
    """How many rows give a share as precisely as these rows would without noise."""
    return _compute_rows_needed(
        epsilon, check_count("rows", rows), check_probability("share", share)
    )


def epsilon_for_ratio(ratio: Number, rows: float, share: Number = 0.5) -> float:
    """The smallest epsilon at which no more than ``ratio`` times these rows are needed."""
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
