"""Add one party's share of discrete Laplace noise; only the sum of all shares has the distribution.

Discrete Laplace noise of scale t is the difference of two geometric variables with Pr[G >= g] =
p**g, p = exp(-1/t). A geometric variable is infinitely divisible: it is the sum of h independent
negative binomial ones, NegBin(1/h, p). So h parties that each add X - Y with X, Y ~ NegBin(1/h, p)
add discrete Laplace noise of scale t, exactly, and no party knows it. The principle is that of Ács
and Castelluccia ("I have a DREAM!", 2011) and Goryczka and Xiong ("A comprehensive comparison of
multiparty secure additions with differential privacy", 2017); divisibility is in Kotz, Kozubowski
and Podgórski ("The Laplace distribution", 2001).

More than h shares are more noise, never less privacy: what the others add is independent of the
data. Fewer than h are NegBin(m/h, p) differences, for which epsilon is not promised.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.accounting.cost import Cost
from privet.errors import ParameterError
from privet.mechanisms.laplace import magnitudes
from privet.mechanisms.randomness import Bits, uniform_below

MAX_SHARES = 10_000

#: The least standard deviation that the noise of one share may have, in rows. A share alone
#: promises nothing, and with less noise than this it would be the exact counts.
LEAST_DEVIATION = 0.25

_CHUNK = 1 << 18  # bounds the working memory


def laplace_share(bits: Bits, count: int, scale: Fraction, shares: int) -> npt.NDArray[np.int64]:
    """Draw ``count`` values of X - Y with X, Y ~ NegBin(1/shares, exp(-1/scale)).

    ``shares`` of them add up to discrete Laplace of ``scale``.
    """
    shares = check_shares("shares", shares)
    if not scale > 0:
        raise ParameterError(f"scale must be a positive fraction, got {scale!r}")
    out = np.empty(count, dtype=np.int64)
    for start in range(0, count, _CHUNK):
        part = out[start : start + _CHUNK]
        part[:] = negative_binomial(bits, len(part), scale, shares) - negative_binomial(
            bits, len(part), scale, shares
        )
    return out


def add_laplace_share(
    bits: Bits,
    counts: npt.NDArray[np.int64],
    epsilon: Fraction,
    *,
    sensitivity: int = 1,
    shares: int,
) -> tuple[npt.NDArray[np.int64], Cost]:
    """Return the counts with one share of discrete Laplace noise, and what that costs.

    All ``shares`` of them make noise of scale ``sensitivity / epsilon``.

    Sensitivity: ``sensitivity`` in L1, for integer vectors. Neighbours: one row added or removed,
    as far as the sensitivity is stated for that. Cost: pure ``epsilon`` for the **sum** of at least
    ``shares`` honest shares; a single share alone promises nothing, so it may only leave inside a
    secure sum.
    """
    noise = laplace_share(bits, counts.size, Fraction(sensitivity) / epsilon, shares)
    return counts + noise.reshape(counts.shape), Cost.pure(epsilon)


def deviation_of_shares(scale: Fraction, shares: int, added: int) -> float:
    """Return the standard deviation of the sum of ``added`` shares.

    Variances add up; that of ``shares`` of them is discrete Laplace's.
    """
    p = math.exp(-1 / float(scale))
    return math.sqrt(2 * p * added / shares) / -math.expm1(-1 / float(scale))


def check_deviation(scale: Fraction, shares: int) -> None:
    """Raise where one of so many shares would have less noise than :data:`LEAST_DEVIATION`.

    What all shares together hide is hidden by their sum alone; this bounds what a share gives away
    if it ever leaves without the others.
    """
    if deviation_of_shares(scale, shares, 1) < LEAST_DEVIATION:
        most = math.floor((deviation_of_shares(scale, 1, 1) / LEAST_DEVIATION) ** 2)
        advice = f"at most {most} shares" if most else "a smaller epsilon"
        raise ParameterError(
            f"one of {shares} shares of noise of scale {float(scale):.4g} would have a standard "
            f"deviation below {LEAST_DEVIATION}, which is hardly any noise; rest the promise on "
            f"{advice}"
        )


def check_shares(name: str, shares: int) -> int:
    """Return a number of shares that noise can be made of, or raise."""
    return check_integer(name, shares, 1, MAX_SHARES)


def negative_binomial(
    bits: Bits, count: int, scale: Fraction, shares: int
) -> npt.NDArray[np.int64]:
    """Draw ``count`` values of NegBin(1/shares, p) with p = exp(-1/scale).

    Pr[k] is proportional to Gamma(k + 1/shares)/k! p**k.

    In a random permutation of a geometric number of elements the numbers of cycles of length l are
    independent and Poisson with mean p**l/l (Shepp and Lloyd, "Ordered cycle lengths in a random
    permutation", 1966). Keeping every cycle with probability 1/shares divides these means by
    ``shares``; what is then left is the compound Poisson form of NegBin(1/shares, p). The cycle of
    some element is equally likely to have any length up to the number of elements left, so nothing
    but uniform integers are drawn.
    """
    left = magnitudes(bits, count, scale).astype(np.uint64)
    kept = np.zeros(count, dtype=np.int64)
    open_ = np.flatnonzero(left)
    while len(open_):
        length = uniform_below(bits, left[open_]) + np.uint64(1)
        mine = uniform_below(bits, np.full(len(open_), shares, dtype=np.uint64)) == 0
        kept[open_[mine]] += length[mine].astype(np.int64)
        left[open_] -= length
        open_ = open_[left[open_] > 0]
    return kept
