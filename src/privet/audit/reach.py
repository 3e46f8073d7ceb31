"""What an audit could show at best: the bound that a perfect test would find in so many runs.

A bound from n runs stays below the truth, and what is made of several answers gives away all of its
epsilon only if all of them do at once. So a claim may be exact and its audit still fall short of
it; the distance to this number, not to the claim, is the fault of the test.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import NormalDist

from privet.audit.bounds import CONFIDENCE, epsilon_at_least


def reach_of_parts(parts: Sequence[float], counted: int, confidence: float = CONFIDENCE) -> float:
    """For answers of these epsilons, each the worst that its epsilon allows: a coin that tells the
    truth with odds of e**epsilon to 1.

    No mechanism tells more (Kairouz, Oh and Viswanath 2015), whatever an answer depends on. The
    test looks at all evidence together.
    """
    chances = {0.0: 1.0}  # in the world that the evidence is for, by evidence
    for part in parts:
        after: defaultdict[float, float] = defaultdict(float)
        truth = 1 / (1 + math.exp(-part))
        for evidence, chance in chances.items():
            after[round(evidence + part, 9)] += chance * truth
            after[round(evidence - part, 9)] += chance * (1 - truth)
        chances = dict(after)
    above = below = 0.0
    points = []
    for evidence, chance in sorted(chances.items(), reverse=True):
        # in the other world, evidence speaks for the opposite
        above, below = above + chance, below + chances.get(-evidence, 0.0)
        points.append((above, below))
    return _find_best_bound(points, counted, 0.0, confidence)


def reach_of_gaussian(
    rho: float, counted: int, delta: float, confidence: float = CONFIDENCE
) -> float:
    """For Gaussian noise of this rho: the worlds are sqrt(2 rho) deviations apart."""
    apart, law = math.sqrt(2 * rho), NormalDist()
    points = [(law.cdf(apart - at), law.cdf(-at)) for at in (step / 20 for step in range(-60, 160))]
    return _find_best_bound(points, counted, delta, confidence)


def _find_best_bound(
    points: Iterable[tuple[float, float]], counted: int, delta: float, confidence: float
) -> float:
    """The largest bound from the numbers of hits that are to be expected of events with these
    chances.
    """
    hits = {
        (min(round(above * counted), counted), min(math.ceil(below * counted - 1e-9), counted))
        for above, below in points
    }
    return max(
        epsilon_at_least(one, counted, other, counted, delta=delta, confidence=confidence)
        for one, other in hits
    )
