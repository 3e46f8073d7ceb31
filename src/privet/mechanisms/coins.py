"""Flip exact coins and draw exact geometric numbers, in integers only.

A coin is true with probability exp(-numerator/denominator). Canonne, Kamath and Steinke, "The
Discrete Gaussian for Differential Privacy" (2020), algorithm 1: for gamma <= 1 draw coins of
probability gamma/1, gamma/2, ... until one fails; the number of draws is odd with probability
exp(-gamma).

A geometric number has Pr[G >= g] = exp(-g / scale), and is drawn by inversion: G is the number of
g >= 1 with U < exp(-g / scale) for a uniform real U. A table holds the first 64 bits of these
thresholds; a 64-bit word of U decides against all of them unless it equals one, and then further
bits are drawn and further digits computed until it is decided. So the distribution is exact,
whatever the table's precision. A draw beyond the table starts again from there (the distribution is
memoryless).

:func:`flip_each` and :func:`draw_index` decide by exp(-gap rate) for gaps that come from rows. They
do the same work for all gaps: a word is compared with doubles that have room for their errors, and
in integers only where that leaves it open (one word in 2**38).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from privet.mechanisms.randomness import Bits, uniform_below, uniform_int

#: Denominators up to this keep every product of :func:`exp_coins` below 2**63.
MAX_DENOMINATOR = 1 << 56


def exp_coins(
    bits: Bits, numerators: npt.NDArray[np.uint64], denominator: int
) -> npt.NDArray[np.bool_]:
    """Flip coins of probability exp(-numerator/denominator), vectorised.

    Needs 0 <= numerator <= denominator <= 2**56.
    """
    heads = np.ones(len(numerators), dtype=bool)
    alive = np.arange(len(numerators))
    k = 1
    while len(alive):
        if k > 127:  # the chance to get here is below 1/127!, and going on would overflow
            for i in alive.tolist():
                heads[i] = _flip_series(bits, int(numerators[i]), denominator, k)
            break
        drawn = uniform_below(bits, np.full(len(alive), denominator * k, dtype=np.uint64))
        alive = alive[drawn < numerators[alive]]
        k += 1
        heads[alive] = k % 2 == 1
    return heads


def geometric(bits: Bits, count: int) -> npt.NDArray[np.uint64]:
    """Count how many coins of probability exp(-1) come up heads before the first tail.

    The count is at least w with probability exp(-w).
    """
    out = np.zeros(count, dtype=np.uint64)
    alive = np.arange(count)
    while len(alive := alive[exp_coins(bits, np.ones(len(alive), dtype=np.uint64), 1)]):
        out[alive] += np.uint64(1)
    return out


def exp_coin(bits: Bits, numerator: int, denominator: int) -> bool:
    """Flip one coin of probability exp(-numerator/denominator), for integers of any size."""
    whole, numerator = divmod(numerator, denominator)
    # exp(-whole - rest): all of `whole` coins of exp(-1), and then the rest.
    return all(_flip_series(bits, 1, 1, 1) for _ in range(whole)) and _flip_series(
        bits, numerator, denominator, 1
    )


def _flip_series(bits: Bits, numerator: int, denominator: int, k: int) -> bool:
    while uniform_int(bits, denominator * k) < numerator:
        k += 1
    return k % 2 == 1


# -- exact geometric draws, by a table --

#: Scales above this would need large tables.
MAX_TABLE_SCALE = 20_000
_REACH = 8  # a table ends where the tail has probability exp(-8)
_PRECISION = 320  # bits of the thresholds while the table is made


def table_geometric(bits: Bits, count: int, scale: Fraction) -> npt.NDArray[np.int64]:
    """Draw numbers with Pr[G >= g] = exp(-g / scale), by a table.

    The scale is at most :data:`MAX_TABLE_SCALE`.
    """
    ascending = _compute_thresholds(scale)
    out = np.zeros(count, dtype=np.int64)
    open_ = np.arange(count)
    while len(open_):
        words = bits.words(len(open_))
        at = np.searchsorted(ascending, words, side="right")
        drawn = len(ascending) - at
        for i in np.flatnonzero((at > 0) & (ascending[at - 1] == words)).tolist():
            g = int(drawn[i]) + 1  # the threshold that the word equals
            drawn[i] += _is_below_exp(bits, int(words[i]), g, scale)
        out[open_] += drawn
        open_ = open_[drawn == len(ascending)]
    return out


@lru_cache(maxsize=128)
def _compute_thresholds(scale: Fraction) -> npt.NDArray[np.uint64]:
    """Return floor(2**64 exp(-g / scale)) for g = 1, 2, ..., ascending."""
    length = max(1, math.ceil(_REACH * scale))
    factor = _exp_bits(1, scale, _PRECISION)
    thresholds, value, half = [], 1 << _PRECISION, _PRECISION - 64
    for g in range(1, length + 1):
        value = (value * factor) >> _PRECISION
        # Each step is off by at most two units of the last bit; a threshold so close to a whole
        # number is computed by itself.
        rest = value & ((1 << half) - 1)
        close = rest < 4 * g or rest > (1 << half) - 4 * g
        thresholds.append(
            _exp_bits(g, scale, 4 * _PRECISION) >> (4 * _PRECISION - 64) if close else value >> half
        )
    return np.array(thresholds[::-1], dtype=np.uint64)


def _is_below_exp(bits: Bits, prefix: int, g: int, scale: Fraction) -> bool:
    """Return whether a uniform real with these first 64 bits is below exp(-g / scale).

    Takes more bits of both until they differ.
    """
    known = 64
    while True:
        prefix = (prefix << 64) | uniform_int(bits, 1 << 64)
        known += 64
        threshold = _exp_bits(g, scale, known)
        if abs(prefix - threshold) > 4:
            return prefix < threshold


def _exp_bits(g: int, scale: Fraction, precision: int) -> int:
    """Return 2**precision exp(-g / scale), to within two units."""
    context = Context(prec=precision // 3 + 20)
    exponent = context.divide(Decimal(-g * scale.denominator), Decimal(scale.numerator))
    return int(context.multiply(context.exp(exponent), Decimal(1 << precision)))


# -- exact decisions by exp(-gap rate), in as many steps whatever the gaps --

#: exp(-x) is below 2**-64 from here on, and its first word is 0.
_BEYOND = 44.5
#: How far powers in doubles may be off, relatively: 44.5 times some roundings of the exponent, and
#: those of exp. What is so close to a word is decided in integers.
_POWER_ERROR = 2.0**-40


def flip_each(bits: Bits, gaps: Sequence[int], rate: Fraction) -> npt.NDArray[np.bool_]:
    """Flip a coin of probability exp(-gap rate) for each gap, from 0 to below 2**64."""
    powers, words = _compute_powers(gaps, rate), bits.words(len(gaps))
    heads = words < _round_to_words(powers * (1 - _POWER_ERROR))
    tails = words > _round_to_words(powers * (1 + _POWER_ERROR))
    for i in np.flatnonzero(~(heads | tails)).tolist():
        heads[i] = _flip_exactly(bits, words.tolist()[i], gaps[i], 1 / rate)
    return heads


def draw_index(bits: Bits, gaps: Sequence[int], rate: Fraction) -> int:
    """Draw an index with probability proportional to exp(-gap rate)."""
    edges = np.cumsum(_compute_powers(gaps, rate))
    shares, error = edges[:-1] / edges[-1], 4 * _POWER_ERROR + len(gaps) * 2.0**-50
    word = bits.words(1)
    before = word < _round_to_words(np.maximum(shares - error, 0.0))
    beyond = word > _round_to_words(shares + error)
    clear = (before | beyond).all()
    return int(beyond.sum()) if clear else _draw_exactly(bits, word.tolist()[0], gaps, 1 / rate)


def _compute_powers(gaps: Sequence[int], rate: Fraction) -> npt.NDArray[np.float64]:
    """Return exp(-gap rate) in doubles, in as much time for every gap."""
    exponents = np.array(gaps, dtype=np.float64) * float(rate)
    return np.asarray(np.exp(-np.minimum(exponents, _BEYOND)))


def _round_to_words(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.uint64]:
    """Return 2**64 times each number, rounded down; the last word for 1 and more."""
    scaled = shares * 2.0**64
    last = scaled >= 2.0**64
    words = np.where(last, 0.0, scaled).astype(np.uint64)
    return np.where(last, np.uint64((1 << 64) - 1), words)


def _flip_exactly(bits: Bits, word: int, gap: int, scale: Fraction) -> bool:
    """Return whether a uniform real with this first word is below exp(-gap / scale)."""
    first = _exp_bits(gap, scale, 128)
    if word < (first - 4) >> 64:
        return True
    if word > (first + 4) >> 64:
        return False
    return _is_below_exp(bits, int(word), gap, scale)


def _draw_exactly(bits: Bits, word: int, gaps: Sequence[int], scale: Fraction) -> int:
    """Return where a uniform real with this first word falls, with powers of more digits and more
    words until that is clear.
    """
    uniform, n_bits = word, 64
    while True:
        edges = list(accumulate(_exp_bits(gap, scale, 3 * n_bits) for gap in gaps))
        total, error = edges[-1], 4 * len(gaps)
        index, clear = 0, True
        for edge in edges[:-1]:
            # Numbers up to the first are surely before the edge, those from the second on beyond.
            first = ((edge - error) << n_bits) // (total + error) - 1
            second = ((edge + error) << n_bits) // (total - error) + 1
            beyond, before = uniform >= second, uniform < first
            index += beyond
            clear &= beyond | before
        if clear:
            return index
        uniform, n_bits = (int(uniform) << 64) | uniform_int(bits, 1 << 64), n_bits + 64
