"""exp as rationals with a proved error, and what a promise says about two laws."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from tests.exact.enumeration import Law

#: What branches that were given up may add to a ratio.
TOLERANCE = Fraction(1, 10**9)
_TERMS = 40


@lru_cache(maxsize=4096)
def exp_bounds(x: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals below and above exp(x), for x up to 4 in size, less than 10**-20 apart.

    Of exp(y) with 0 <= y, the first terms of the series are below it; those left out are less than
    the first of them times 1/(1 - y/(n + 1)), as each is less than y/(n + 1) times the one before.
    """
    y = abs(x)
    assert y <= 4
    terms = [y**i / math.factorial(i) for i in range(_TERMS + 1)]
    low = sum(terms[:-1], Fraction(0))
    high = low + terms[-1] / (1 - y / (_TERMS + 1))
    return (low, high) if x >= 0 else (1 / high, 1 / low)


def check(one: Law, other: Law, epsilon: Fraction, least: Fraction = Fraction(0)) -> Fraction:
    """Assert that each outcome is at most e**epsilon times as likely under one law as under the
    other, both ways; the largest ratio.

    Outcomes that are known to be less likely than ``least`` under both are left out: all that was
    given up might be theirs.
    """
    most = exp_bounds(epsilon)[1] * (1 + TOLERANCE)
    worst = Fraction(1)
    for p, q in ((one, other), (other, one)):
        for outcome in p.low.keys() | q.low.keys():
            if max(p.low.get(outcome, 0), q.low.get(outcome, 0)) < least:
                continue
            assert q.low.get(outcome, 0) > 0, (outcome, "is impossible in one of two neighbours")
            ratio = p.high(outcome) / q.low[outcome]
            assert ratio <= most, (outcome, float(ratio), float(most))
            worst = max(worst, ratio)
    return worst
