"""How far a share may be off by chance, when people of one group are right or wrong together."""

from __future__ import annotations

import math

import numpy as np

from privet.typed import Floats, Ints


def wilson(share: float, n: float, *, deviations: float = 1.96) -> tuple[float, float]:
    """The interval of Wilson (1927) around a share of ``n`` independent trials: 19 in 20 for 1.96
    deviations.
    """
    square = deviations**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = deviations / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return min(low, share), max(high, share)  # at 0 and 1 they meet, but for rounding


def independent_trials(right: Floats, group: Ints) -> float:
    """As how many independent trials the rows count.

    In a pair both guesses are right or both wrong, so n rows are n/2 trials. In general the
    variance of the share is estimated from sums by group (Kish 1965, the design effect), and n is
    what gives independent trials that variance. It is never more than the rows, and the number of
    groups where all guesses are the same.
    """
    share, n_rows = float(right.mean()), len(right)
    size = np.bincount(group)
    sums = np.bincount(group, weights=right)[size > 0]
    size = size[size > 0]
    n_groups = len(size)
    if n_groups == 1:
        return 1.0
    variance = float(((sums - share * size) ** 2).sum()) / n_rows**2 * n_groups / (n_groups - 1)
    if variance == 0 or share in (0.0, 1.0):
        return float(n_groups)
    return min(max(share * (1 - share) / variance, 1.0), float(n_rows))
