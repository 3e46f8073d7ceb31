"""Randomised response over k values: every person randomises their own value before it leaves them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.budget import Cost
from privet.errors import ParameterError
from privet.mechanisms.bernoulli import MAX_DENOMINATOR, exp_coins, geometric
from privet.mechanisms.randomness import Bits, uniform_below


def randomized_response(bits: Bits, codes: npt.NDArray[Any], size: int, epsilon: Fraction) -> tuple[npt.NDArray[np.int64], Cost]:
    """Each code is kept with probability e**epsilon / (e**epsilon + size - 1), and is otherwise any other code, uniformly.

    Warner (1965), k-ary form of Kairouz, Oh and Viswanath (2014). Sampled exactly: propose a uniform code; the true
    one is taken, another with probability exp(-epsilon). Sensitivity: none is needed; for any two true values the
    probability of every report differs by a factor of at most e**epsilon. Neighbours: one person's value is replaced
    (*local* privacy). Cost: pure ``epsilon``.
    """
    if size < 1 or (len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < size):
        raise ParameterError(f"codes must lie between 0 and {size - 1}")
    truth = codes.astype(np.int64)
    reports = np.empty(len(truth), dtype=np.int64)
    open_ = np.arange(len(truth))
    while len(open_):
        proposal = uniform_below(bits, np.full(len(open_), size, dtype=np.uint64)).astype(np.int64)
        taken = (proposal == truth[open_]) | _exp_coins(bits, len(open_), epsilon)
        reports[open_[taken]] = proposal[taken]
        open_ = open_[~taken]
    return reports, Cost.pure(epsilon)


def response_probabilities(size: int, epsilon: Fraction) -> tuple[float, float]:
    """The probability that a report is the truth, and that it is one given other code."""
    weight = math.exp(-float(epsilon))
    truth = 1 / (1 + (size - 1) * weight)
    return truth, truth * weight


def _exp_coins(bits: Bits, count: int, epsilon: Fraction) -> npt.NDArray[np.bool_]:
    """Coins of probability exp(-epsilon) for any epsilon; rounded to fewer digits (less epsilon) where 64 bits do not hold it."""
    if epsilon.denominator > MAX_DENOMINATOR:
        epsilon = Fraction(math.floor(epsilon * (1 << 50)), 1 << 50)
    whole, rest = divmod(epsilon.numerator, epsilon.denominator)
    heads = exp_coins(bits, np.full(count, rest, dtype=np.uint64), epsilon.denominator)
    return heads & (geometric(bits, count) >= np.uint64(min(whole, 1 << 40)))
