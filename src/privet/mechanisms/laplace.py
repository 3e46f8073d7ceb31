"""Add discrete Laplace noise to integer vectors, for pure epsilon."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet.accounting.cost import Cost
from privet.mechanisms.coins import MAX_TABLE_SCALE, exp_coins, geometric, table_geometric
from privet.mechanisms.randomness import Bits, uniform_below

_CHUNK = 1 << 18  # bounds the working memory


def discrete_laplace(bits: Bits, count: int, scale: Fraction) -> npt.NDArray[np.int64]:
    """Draw from the discrete Laplace distribution.

    Pr[k] is proportional to exp(-|k| / scale); ``count`` numbers are drawn.

    A magnitude with Pr[M >= m] = exp(-m / scale) and a random sign, where "minus zero" is drawn
    again (Canonne, Kamath and Steinke 2020, algorithm 2). Magnitudes come from an exact table, or,
    for large scales, from that algorithm itself.
    """
    out = np.empty(count, dtype=np.int64)
    for start in range(0, count, _CHUNK):
        open_ = np.arange(start, min(start + _CHUNK, count))
        while len(open_):
            magnitude = magnitudes(bits, len(open_), scale)
            negative = random_signs(bits, len(open_))
            keep = ~(negative & (magnitude == 0))
            out[open_[keep]] = np.where(negative, -magnitude, magnitude)[keep]
            open_ = open_[~keep]
    return out


def magnitudes(bits: Bits, count: int, scale: Fraction) -> npt.NDArray[np.int64]:
    """Draw numbers with Pr[M >= m] = exp(-m / scale)."""
    t, s = _round_up_scale(scale)
    if scale <= MAX_TABLE_SCALE:
        return table_geometric(bits, count, Fraction(t, s))
    return large_magnitudes(bits, count, t, s)


def large_magnitudes(bits: Bits, count: int, t: int, s: int) -> npt.NDArray[np.int64]:
    """Draw the same for any scale t/s, in 64-bit integers.

    Canonne, Kamath and Steinke 2020, algorithm 2.

    x = u + t v with u uniform below t and accepted with probability exp(-u/t), v geometric with
    exp(-1); then floor(x / s).
    """
    low = _draw_remainders(bits, count, t)
    return np.asarray(
        ((low + np.uint64(t) * geometric(bits, count)) // np.uint64(s)).astype(np.int64)
    )


def random_signs(bits: Bits, count: int) -> npt.NDArray[np.bool_]:
    """Flip fair coins, 64 to a word."""
    return np.unpackbits(bits.words(-(-count // 64)).view(np.uint8))[:count].astype(bool)


def add_laplace(
    bits: Bits, counts: npt.NDArray[np.int64], epsilon: Fraction, *, sensitivity: int = 1
) -> tuple[npt.NDArray[np.int64], Cost]:
    """Return the counts with discrete Laplace noise, and what that costs.

    The noise has scale ``sensitivity / epsilon``.

    Sensitivity: ``sensitivity`` in L1, for integer vectors. Neighbours: one row added or removed,
    as far as the sensitivity is stated for that. Cost: pure ``epsilon``.
    """
    noise = discrete_laplace(bits, counts.size, Fraction(sensitivity) / epsilon)
    return counts + noise.reshape(counts.shape), Cost.pure(epsilon)


def _round_up_scale(scale: Fraction) -> tuple[int, int]:
    """Return the scale as t/s with t and s small enough for 64-bit arithmetic.

    It is rounded up (more noise) where it is not.

    With t <= 2**48 a magnitude overflows 63 bits with probability exp(-2**15): never.
    """
    limit = 1 << 48
    t, s = scale.numerator, scale.denominator
    if max(t, s) <= limit:
        return t, s
    if scale >= limit:
        raise OverflowError("the noise scale is too large for 64-bit counts")
    # Round up to a multiple of 2**-bits with about 30 significant bits.
    bits = 30 - max(0, math.ceil(math.log2(scale))) if scale >= 1 else 46
    rounded = Fraction(math.ceil(scale * 2 ** max(bits, 0)), 2 ** max(bits, 0))
    return rounded.numerator, rounded.denominator


def _draw_remainders(bits: Bits, count: int, t: int) -> npt.NDArray[np.uint64]:
    """Draw integers u below t with probability proportional to exp(-u/t)."""
    out = uniform_below(bits, np.full(count, t, dtype=np.uint64))
    open_ = np.arange(count)
    while len(open_ := open_[~exp_coins(bits, out[open_], t)]):
        out[open_] = uniform_below(bits, np.full(len(open_), t, dtype=np.uint64))
    return out
