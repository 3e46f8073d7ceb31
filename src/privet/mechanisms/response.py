"""Randomise values by randomised response, so that nobody else ever sees the true ones.

Each person randomises their own value, one of k, before it leaves them. A report is the truth with
probability p = 1 / (1 + (k - 1) exp(-epsilon)), and otherwise any other value, uniformly. A uniform
real U is compared with p: its first 64 bits decide unless they equal those of p, and then further
bits are drawn and further digits of p computed until they differ. So the distribution is exact, and
epsilon is never rounded.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.accounting.cost import Cost
from privet.errors import ParameterError
from privet.mechanisms.randomness import Bits, uniform_below, uniform_int


def randomized_response(
    bits: Bits, codes: npt.NDArray[Any], size: int, epsilon: Fraction
) -> tuple[npt.NDArray[np.int64], Cost]:
    """Randomise codes, and return them with what that costs.

    Each code is kept with probability e**epsilon / (e**epsilon + size - 1), and is otherwise any
    other code, uniformly.

    Warner (1965), k-ary form of Kairouz, Oh and Viswanath (2014). Sensitivity: none is needed; for
    any two true values the probability of every report differs by a factor of at most e**epsilon.
    Neighbours: one person's value is replaced (*local* privacy). Cost: pure ``epsilon``.
    """
    if size < 1 or (len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < size):
        raise ParameterError(f"codes must lie between 0 and {size - 1}")
    reports = codes.astype(np.int64)
    if size > 1:
        lies = np.flatnonzero(~_true_coins(bits, len(reports), size, epsilon))
        other = uniform_below(bits, np.full(len(lies), size - 1, dtype=np.uint64)).astype(np.int64)
        reports[lies] = other + (other >= reports[lies])  # any code but the true one
    return reports, Cost.pure(epsilon)


def response_probabilities(size: int, epsilon: Fraction) -> tuple[float, float]:
    """Return the probability that a report is the truth, and that it is one given other code."""
    weight = math.exp(-float(epsilon))
    truth = 1 / (1 + (size - 1) * weight)
    return truth, truth * weight


def _true_coins(bits: Bits, count: int, size: int, epsilon: Fraction) -> npt.NDArray[np.bool_]:
    """Flip coins of probability 1 / (1 + (size - 1) exp(-epsilon))."""
    first = np.uint64(_truth_threshold(size, epsilon))
    words = bits.words(count)
    heads = np.asarray(words < first)
    for i in np.flatnonzero(words == first).tolist():
        heads[i] = _is_below_truth(bits, int(words[i]), size, epsilon)
    return heads


@lru_cache(maxsize=1024)
def _truth_threshold(size: int, epsilon: Fraction) -> int:
    """Return the first 64 bits of the probability of the truth."""
    precision = 256
    while True:
        value = _truth_bits(size, epsilon, precision)
        words = {(value + off) >> (precision - 64) for off in (-4, 4)}
        if len(words) == 1 or precision > 1 << 14:  # so close to 1 that nothing else can be meant
            return min(*words, (1 << 64) - 1)
        precision *= 2


def _is_below_truth(bits: Bits, prefix: int, size: int, epsilon: Fraction) -> bool:
    """Return whether a uniform real with these first 64 bits is below the probability.

    Takes more bits of both until they differ.
    """
    known = 64
    while True:
        prefix = (prefix << 64) | uniform_int(bits, 1 << 64)
        known += 64
        threshold = _truth_bits(size, epsilon, known)
        if abs(prefix - threshold) > 4:
            return prefix < threshold


def _truth_bits(size: int, epsilon: Fraction, precision: int) -> int:
    """Return 2**precision / (1 + (size - 1) exp(-epsilon)), to within two units."""
    context = Context(prec=precision // 3 + 40)
    weight = context.exp(context.divide(Decimal(-epsilon.numerator), Decimal(epsilon.denominator)))
    below = context.add(Decimal(1), context.multiply(Decimal(size - 1), weight))
    return int(context.divide(Decimal(1 << precision), below))
