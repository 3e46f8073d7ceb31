"""Add discrete Gaussian noise to integer vectors, for zCDP."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.accounting.cost import Cost
from privet.mechanisms.coins import exp_coin, exp_coins, geometric
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.randomness import Bits

# a Laplace candidate beyond this many scales is judged in big integers; its square might overflow
_TAIL = 20


def discrete_gaussian(bits: Bits, count: int, variance: Fraction) -> npt.NDArray[np.int64]:
    """Draw from the discrete Gaussian distribution.

    Pr[k] is proportional to exp(-k**2 / (2 variance)); ``count`` numbers are drawn.

    Canonne, Kamath and Steinke (2020), algorithm 3: a discrete Laplace candidate y of scale t =
    floor(sigma) + 1 is accepted with probability exp(-(|y| - variance/t)**2 / (2 variance)).
    """
    p, q = _round_up_variance(variance)
    t = math.isqrt(p // q) + 1
    out = np.empty(count, dtype=np.int64)
    open_ = np.arange(count)
    while len(open_):
        candidates = discrete_laplace(bits, len(open_), Fraction(t))
        keep = _flip_acceptance_coins(bits, np.abs(candidates), p, q, t)
        out[open_[keep]] = candidates[keep]
        open_ = open_[~keep]
    return out


def add_gaussian(
    bits: Bits, counts: npt.NDArray[np.int64], rho: Fraction, *, squared_sensitivity: int = 1
) -> tuple[npt.NDArray[np.int64], Cost]:
    """Return the counts with discrete Gaussian noise, and what that costs.

    The noise has variance ``squared_sensitivity / (2 rho)``.

    Sensitivity: the square root of ``squared_sensitivity`` in L2, for integer vectors. Neighbours:
    one row added or removed, as far as the sensitivity is stated for that. Cost: rho-zCDP (Canonne,
    Kamath and Steinke 2020, theorem 4); no pure guarantee.
    """
    noise = discrete_gaussian(bits, counts.size, Fraction(squared_sensitivity) / (2 * rho))
    return counts + noise.reshape(counts.shape), Cost.concentrated(rho)


_SMALL = 1 << 24  # t**2 q and p up to this keep the arithmetic of _accepted within 64 bits


def _round_up_variance(variance: Fraction) -> tuple[int, int]:
    """Return the variance as p/q, rounded up where 64 bits would not hold it.

    That is more noise, by less than one part in 10**5.
    """
    t = math.isqrt(math.floor(variance)) + 1
    if max(t * t * variance.denominator, variance.numerator) <= _SMALL:
        return variance.numerator, variance.denominator
    q = max(1, _SMALL // (t * t))
    rounded = Fraction(math.ceil(variance * q), q)
    return rounded.numerator, rounded.denominator


def _flip_acceptance_coins(
    bits: Bits, magnitudes: npt.NDArray[np.int64], p: int, q: int, t: int
) -> npt.NDArray[np.bool_]:
    """Flip coins of probability exp(-gamma) with gamma = (|y| t q - p)**2 / (2 t**2 q p)."""
    denominator = 2 * t * t * q * p
    small = max(t * t * q, p) <= _SMALL
    fits = (magnitudes <= _TAIL * t) & small
    heads = np.zeros(len(magnitudes), dtype=bool)
    if small:
        squares = ((magnitudes[fits] * (t * q) - p) ** 2).astype(np.uint64)
        whole, rest = np.divmod(squares, np.uint64(denominator))
        heads[fits] = (geometric(bits, len(rest)) >= whole) & exp_coins(bits, rest, denominator)
    for i in np.flatnonzero(~fits).tolist():
        heads[i] = exp_coin(bits, (int(magnitudes[i]) * t * q - p) ** 2, denominator)
    return heads
