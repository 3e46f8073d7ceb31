"""Exact coins: true with probability exp(-numerator/denominator), in integers only.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithm 1:
for gamma <= 1 draw coins of probability gamma/1, gamma/2, ... until one fails; the number of draws
is odd with probability exp(-gamma).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.mechanisms.randomness import Bits, uniform_below, uniform_int

#: Denominators up to this keep every product of :func:`exp_coins` below 2**63.
MAX_DENOMINATOR = 1 << 56


def exp_coins(
    bits: Bits, numerators: npt.NDArray[np.uint64], denominator: int
) -> npt.NDArray[np.bool_]:
    """Coins of probability exp(-numerator/denominator), vectorised. Needs 0 <= numerator <=
    denominator <= 2**56.
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
    """How many coins of probability exp(-1) come up heads before the first tail: at least w with
    probability exp(-w).
    """
    out = np.zeros(count, dtype=np.uint64)
    alive = np.arange(count)
    while len(alive := alive[exp_coins(bits, np.ones(len(alive), dtype=np.uint64), 1)]):
        out[alive] += np.uint64(1)
    return out


def exp_coin(bits: Bits, numerator: int, denominator: int) -> bool:
    """One coin of probability exp(-numerator/denominator), for integers of any size."""
    whole, numerator = divmod(numerator, denominator)
    # exp(-whole - rest): all of `whole` coins of exp(-1), and then the rest.
    return all(_flip_series(bits, 1, 1, 1) for _ in range(whole)) and _flip_series(
        bits, numerator, denominator, 1
    )


def _flip_series(bits: Bits, numerator: int, denominator: int, k: int) -> bool:
    while uniform_int(bits, denominator * k) < numerator:
        k += 1
    return k % 2 == 1
