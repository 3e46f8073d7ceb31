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

:class:`Powers` decides by exp(-gap x) for gaps that come from rows, so it does the same work for
every gap.
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


# -- exact decisions by exp(-gap rate), in as many steps whatever the gap --

_DIGIT, _DIGITS = 4, 16  # a gap is read as so many digits of so many bits each
_POWER = 192  # bits of a power
_POWER_ERROR = 1 << 10  # units of its last bit that it may be off by; see Powers.at


class Powers:
    """The numbers exp(-gap rate) for integers ``gap`` from 0 to below 2**64.

    A power is a product of one factor for each digit of the gap; that of the digit 0 is 1.
    """

    def __init__(self, rate: Fraction) -> None:
        self._scale = 1 / rate
        self._factors = [
            _list_powers(_exp_bits(1 << (_DIGIT * place), self._scale, _POWER))
            for place in range(_DIGITS)
        ]

    @staticmethod
    @lru_cache(maxsize=64)
    def of(rate: Fraction) -> Powers:
        """Return the powers of a rate, kept for the next selection at the same epsilon."""
        return Powers(rate)

    def at(self, gap: int) -> int:
        """Return 2**192 exp(-gap rate), to within 1024 units.

        A factor is off by 3 units for each of up to 15 products, and there are 16 of them.
        """
        product = 1 << _POWER
        for factors in self._factors:
            product = (product * factors[gap & 15]) >> _POWER
            gap >>= _DIGIT
        return product

    def flip(self, bits: Bits, gap: int) -> bool:
        """Flip a coin of probability exp(-gap rate)."""
        power, rest = self.at(gap), _POWER - 64
        word = uniform_int(bits, 1 << 64)
        if word < (power - _POWER_ERROR) >> rest:
            return True
        if word > (power + _POWER_ERROR) >> rest:
            return False
        return _is_below_exp(bits, int(word), gap, self._scale)

    def draw(self, bits: Bits, gaps: Sequence[int]) -> int:
        """Draw an index with probability proportional to exp(-gap rate)."""
        edges = list(accumulate(self.at(gap) for gap in gaps))
        error, total = _POWER_ERROR * len(gaps), edges[-1]
        word, index, clear = uniform_int(bits, 1 << 64), 0, True
        for number, edge in enumerate(edges[:-1], start=1):
            # From the second word on, what is drawn is surely beyond this edge; up to the first, it
            # surely is not.
            first = ((edge - error) << 64) // (total + error) - 1
            second = ((edge + error) << 64) // (total - error) + 1
            if word >= second:
                index = number
            elif word >= first:
                clear = False
        return index if clear else self._draw_with_more_bits(bits, int(word), gaps)

    def _draw_with_more_bits(self, bits: Bits, uniform: int, gaps: Sequence[int]) -> int:
        """Draw the same from the same word and more of them, with powers of more digits."""
        n_bits = 64
        while True:
            uniform, n_bits = (uniform << 64) | uniform_int(bits, 1 << 64), n_bits + 64
            edges = list(accumulate(_exp_bits(gap, self._scale, 2 * n_bits) for gap in gaps))
            error = 4 * len(gaps)
            low = uniform * (edges[-1] - error) >> n_bits
            high = ((uniform + 1) * (edges[-1] + error) >> n_bits) + 1
            index = sum(edge - error <= high for edge in edges[:-1])
            if index == 0 or edges[index - 1] + error <= low:
                return index


def _list_powers(factor: int) -> list[int]:
    """Return the powers 0 to 15 of a number in fixed point."""
    powers = [1 << _POWER]
    for _ in range((1 << _DIGIT) - 1):
        powers.append((powers[-1] * factor) >> _POWER)
    return powers
