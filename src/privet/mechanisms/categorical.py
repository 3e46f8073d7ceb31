"""One of several outcomes, with probabilities proportional to exp(unit whole + rest), exactly.

A uniform real U is revealed bit by bit. The outcome is where U times the total weight falls among
the running sums; it is decided from 64 bits and double arithmetic unless that comes too close to a
boundary, and then from ever more bits and decimals until it is clear.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact, localcontext
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from privet.mechanisms.randomness import Bits

#: 32 roundings: more than double arithmetic loses per outcome; see :func:`exact_draw`.
DOUBLE_ERROR = 2.0**-48
#: Sums and products of doubles and whole numbers have fewer digits than this, so nothing is
#: rounded.
EXACT = Context(prec=2500, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])


def exact_draw(
    bits: Bits, whole: npt.NDArray[np.int64], unit: float, rest: npt.NDArray[np.float64]
) -> int:
    """The index i with probability proportional to exp(unit whole[i] + rest[i]); finite doubles are
    taken as exact real numbers.

    The product is not left to doubles, where its error would grow with ``whole``: an outcome's
    chance would be off by more in a larger table. It is rounded here only to see where U falls,
    with room for the error.
    """
    x = unit * (whole - whole.max()) + rest
    sums = np.cumsum(np.exp(x - x.max()))
    uniform = int(bits.words(1)[0])
    at = uniform * 2.0**-64 * sums[-1]
    # An exponent y below the largest is off by 2**-53 (4 y + 5 max |rest|), so a weight by 2**-53
    # (10 + 5 max |rest|) at most; summing adds 2**-53 per outcome, the product and the unseen bits
    # 2**-51.
    slack = sums[-1] * (len(x) + float(np.abs(rest).max()) + 4) * DOUBLE_ERROR
    index = int(np.searchsorted(sums, at, side="right"))
    clear = (
        index < len(x)
        and at + slack < sums[index]
        and (index == 0 or at - slack >= sums[index - 1])
    )
    return index if clear else _draw_with_more_bits(bits, whole, unit, rest, uniform)


def _draw_with_more_bits(
    bits: Bits,
    whole: npt.NDArray[np.int64],
    unit: float,
    rest: npt.NDArray[np.float64],
    uniform: int,
) -> int:
    """The same outcome from the same bits and more of them, in decimals that are rounded
    correctly.
    """
    with localcontext(EXACT):
        x = [
            Decimal(float(unit)) * int(w) + Decimal(float(r))
            for w, r in zip(whole, rest, strict=True)
        ]
        top = max(x)
        behind = [value - top for value in x]
    n_bits = 64
    while True:
        with localcontext(Context(prec=40 + n_bits // 3, Emin=MIN_EMIN, Emax=MAX_EMAX)) as context:
            sums = list(accumulate(value.exp() for value in behind))
            # Every weight, sum and product is rounded correctly: all together are off by less than
            # this.
            error = sums[-1] * (len(sums) + 4) * Decimal(10) ** (4 - context.prec)
            low, high = (sums[-1] * at / (1 << n_bits) for at in (uniform, uniform + 1))
            index = sum(edge <= high + error for edge in sums[:-1])
            if index == 0 or sums[index - 1] <= low - error:
                return index
        uniform = (uniform << 64) | int(bits.words(1)[0])
        n_bits += 64
