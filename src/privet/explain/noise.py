"""The noise on one count: discrete Laplace of scale 1/epsilon, P(k) = (1 - p) / (1 + p) p^|k| with
p = e^-epsilon.

This is the law of ``Curator.count`` for a question of one partition, exactly (Ghosh, Roughgarden
and Sundararajan 2012, the geometric mechanism). Epsilon is that of the question, for one row added
or removed, whatever neighbours are declared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privet.budget import Number
from privet.errors import ParameterError
from privet.explain.inputs import check_count, check_positive, check_probability


@dataclass(frozen=True)
class Noise:
    """Standard deviation; how far a count is off at most, as often as was asked for; and how often
    exactly it is not further off.
    """

    deviation: float
    margin: int
    coverage: float


def describe_noise(epsilon: Number, confidence: Number = 0.95) -> Noise:
    """The noise on a count, with the margin that it keeps with this confidence. Whole numbers
    rarely keep it exactly.
    """
    margin = margin_of(epsilon, confidence)
    return Noise(math.sqrt(variance(epsilon)), margin, margin_probability(epsilon, margin))


def variance(epsilon: Number) -> float:
    """2 p / (1 - p)^2, which is 1 / (cosh(epsilon) - 1): a little less than the 2 / epsilon^2 of
    continuous Laplace noise.
    """
    half = check_positive("epsilon", epsilon) / 2
    return 0.5 / math.sinh(half) ** 2 if half < 300 else 0.0


def epsilon_for_variance(largest: Number) -> float:
    """The epsilon whose noise has this variance: cosh(epsilon) = 1 + 1 / variance."""
    return 2 * math.asinh(math.sqrt(0.5 / check_positive("variance", largest)))


def margin_probability(epsilon: Number, margin: int) -> float:
    """The probability that the noise is at most so many rows to either side: 1 - 2 p^(margin + 1) /
    (1 + p).
    """
    check_count("margin", margin, 0)
    rate = check_positive("epsilon", epsilon)
    p = math.exp(-rate)
    # no digit is lost where epsilon is small
    return -(math.expm1(-rate * (margin + 1)) + p * math.expm1(-rate * margin)) / (1 + p)


def margin_of(epsilon: Number, confidence: Number = 0.95) -> int:
    """The smallest margin that the noise keeps with this confidence."""
    rate, kept = check_positive("epsilon", epsilon), check_probability("confidence", confidence)
    if rate < 1e-12:
        raise ParameterError(f"epsilon must be at least 1e-12 for a margin, got {epsilon!r}")
    found = max(0, math.ceil(math.log(2 / ((1 + math.exp(-rate)) * (1 - kept))) / rate) - 1)
    while margin_probability(rate, found) < kept:  # rounding
        found += 1
    while found > 0 and margin_probability(rate, found - 1) >= kept:
        found -= 1
    return found


def epsilon_for_margin(margin: int, confidence: Number = 0.95) -> float:
    """The epsilon whose noise keeps this margin with this confidence and no more: larger ones keep
    it more often.

    With margin 0 it is ln((1 + c) / (1 - c)); otherwise it is found by bisection, to the last
    digits.
    """
    kept = check_probability("confidence", confidence)
    check_count("margin", margin, 0)
    low, high = 1e-12 / (margin + 1), 2 * math.log((1 + kept) / (1 - kept))
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if margin_probability(middle, margin) >= kept else (middle, high)
    return high
