"""One of several outcomes, with probabilities proportional to exp(x) for given doubles x, exactly.

A uniform real U is revealed bit by bit. The outcome is where U times the total weight falls among the running sums; it is decided from
64 bits and double arithmetic unless that comes too close to a boundary, and then from ever more bits and decimals until it is clear.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from privet.mechanisms.randomness import Bits

#: exp in double arithmetic is good to far better than this, relatively.
EXP_ERROR = 2.0**-45


def exact_draw(bits: Bits, x: npt.NDArray[np.float64]) -> int:
    """The index i with probability exp(x[i]) / sum of exp(x), for finite doubles taken as exact real numbers."""
    weights = np.exp(x - x.max())
    sums = np.cumsum(weights)
    uniform = int(bits.words(1)[0])
    at = uniform * 2.0**-64 * sums[-1]
    # The subtraction, exp, the sums, the product and the bits not yet seen: each is far within one of these.
    slack = sums[-1] * (len(x) + 4) * EXP_ERROR
    index = int(np.searchsorted(sums, at, side="right"))
    clear = index < len(x) and at + slack < sums[index] and (index == 0 or at - slack >= sums[index - 1])
    return index if clear else _with_more_bits(bits, x, uniform)


def _with_more_bits(bits: Bits, x: npt.NDArray[np.float64], uniform: int) -> int:
    """The same outcome from the same bits and more of them, in decimals that are rounded correctly."""
    n_bits, top = 64, Decimal(float(x.max()))
    while True:
        context = Context(prec=40 + n_bits // 3, Emin=MIN_EMIN, Emax=MAX_EMAX)
        # Decimal's exp and differences are rounded correctly, so all together are off by less than this.
        error = Decimal(len(x) + 4) * Decimal(10) ** (4 - context.prec)
        weights = [context.exp(context.subtract(Decimal(float(value)), top)) for value in x]
        sums = list(accumulate(weights, context.add))
        low = context.multiply(context.divide(Decimal(uniform), Decimal(1 << n_bits)), sums[-1])
        high = context.multiply(context.divide(Decimal(uniform + 1), Decimal(1 << n_bits)), sums[-1])
        for index, edge in enumerate(sums):
            floor = sums[index - 1] if index else -error * sums[-1] * 2
            if low - error * sums[-1] >= floor and (high + error * sums[-1] <= edge or index == len(sums) - 1):
                return index
        uniform = (uniform << 64) | int(bits.words(1)[0])
        n_bits += 64
