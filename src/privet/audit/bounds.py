"""Bound epsilon from below by how often an event was seen in two worlds.

The bounds are exact binomial ones; nothing is only asymptotic.

The module also says what an audit could show at best (:func:`reach_of_claim`,
:func:`reach_of_parts`, :func:`reach_of_gaussian`): the bound that a perfect test would find in so
many runs. A bound from n runs stays below the truth, and what is made of several answers gives away
all of its epsilon only if all of them do at once. So a claim may be exact and its audit still fall
short of it; the distance to this number, not to the claim, is the fault of the test.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer, check_real
from privet.errors import ParameterError

#: How sure a bound is, unless somebody asks for another confidence.
CONFIDENCE = 0.999
_STEPS = 60  # of bisection: the ends are then closer than floating point tells apart


def share_at_least(hits: int, runs: int, error: float) -> float:
    """Return a lower confidence bound on the probability of an event (Clopper and Pearson 1934).

    The probability is below it with probability ``error`` at most.

    It is the chance with which so many hits or more have probability ``error``; rounded to its safe
    side, which is down.
    """
    _check_hits(hits, runs, error)
    if hits == 0:
        return 0.0
    return _find_tail_crossing(hits, runs, error)


def share_at_most(hits: int, runs: int, error: float) -> float:
    """Return an upper confidence bound on the probability of an event.

    The probability is above it with probability ``error`` at most: the bound for not happening,
    turned round.
    """
    _check_hits(hits, runs, error)
    if hits == runs:
        return 1.0
    return 1.0 - _find_tail_crossing(runs - hits, runs, error)


def epsilon_at_least(
    hits: int,
    runs: int,
    other_hits: int,
    other_runs: int,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> float:
    """Bound epsilon from below by an event that is likelier in the first world.

    (epsilon, delta)-differential privacy says p <= e^epsilon q + delta, so epsilon is at least
    ln((p - delta) / q). Below p and above q there is a Clopper-Pearson bound each, with half of the
    error: both hold together with the confidence. Which event, and which world comes first, must
    have been chosen without looking at these runs; :func:`epsilon_either_way` is for a choice that
    was not.
    """
    check_claim(delta, confidence)
    error = (1 - confidence) / 2
    return _bound_log_ratio(
        share_at_least(hits, runs, error), share_at_most(other_hits, other_runs, error), delta
    )


def epsilon_either_way(
    hits: int,
    runs: int,
    other_hits: int,
    other_runs: int,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> float:
    """Bound epsilon from below by an event or its complement, in whichever world it is likelier.

    All four bounds follow from one above and one below each of the two chances, so a quarter of the
    error for each is enough.
    """
    check_claim(delta, confidence)
    error = (1 - confidence) / 4
    low, high = share_at_least(hits, runs, error), share_at_most(hits, runs, error)
    other_low, other_high = (
        share_at_least(other_hits, other_runs, error),
        share_at_most(other_hits, other_runs, error),
    )
    ratios = (
        (low, other_high),
        (other_low, high),
        (1 - high, 1 - other_low),
        (1 - other_high, 1 - low),
    )
    return max(_bound_log_ratio(above, below, delta) for above, below in ratios)


def _bound_log_ratio(above: float, below: float, delta: float) -> float:
    """What is known of epsilon; 0 where nothing is."""
    if above - delta <= below:
        return 0.0
    return math.log((above - delta) / below) if below > 0 else math.inf


@lru_cache(maxsize=10_000)
def _find_tail_crossing(hits: int, runs: int, error: float) -> float:
    """Just below the chance whose tail from ``hits`` on is ``error``, by bisection on the exact
    tail.
    """
    log_ways = _log_binomial_coefficients(runs)[hits:]
    successes = np.arange(hits, runs + 1, dtype=np.float64)
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        terms = log_ways + successes * math.log(middle) + (runs - successes) * math.log1p(-middle)
        largest = float(terms.max())
        tail = math.exp(min(largest + math.log(float(np.exp(terms - largest).sum())), 0.0))
        low, high = (middle, high) if tail < error else (low, middle)
    return low


@lru_cache(maxsize=16)
def _log_binomial_coefficients(runs: int) -> npt.NDArray[np.float64]:
    """The logarithms of the binomial coefficients."""
    factorials = np.array([math.lgamma(number + 1) for number in range(runs + 1)])
    return np.asarray(factorials[runs] - factorials - factorials[::-1])


def _check_hits(hits: int, runs: int, error: float) -> None:
    check_integer("runs", runs, 1)
    check_integer("hits", hits, 0)
    if hits > runs:
        raise ParameterError(f"hits must be at most the number of runs ({runs}), got {hits}")
    check_real("error", error, above=0, below=1)


def check_claim(delta: float, confidence: float) -> None:
    """Raise unless the claim and its settings make sense."""
    if not 0 <= delta < 1:  # an amount, which may be a fraction
        raise ParameterError(f"delta must be at least 0 and below 1, got {delta!r}")
    check_real("confidence", confidence, above=0, below=1)


# What an audit could show at best: the bound that a perfect test would find.


#: The log-probabilities of each side of a coin, in one world and in the other.
Coin = tuple[tuple[float, float], tuple[float, float]]
#: How a selection or a draw may lean: which part of its epsilon speaks for one of the outcomes.
_LEANS = tuple(step / 4 for step in range(-1, 6))


def reach_of_parts(
    parts: Sequence[float],
    counted: int,
    confidence: float = CONFIDENCE,
    *,
    selections: Sequence[float] = (),
    draws: Sequence[float] = (),
) -> float:
    """Return the best bound for answers of these epsilons, each the worst that its epsilon allows.

    The worst is a coin that tells the truth with odds of e**epsilon to 1. No mechanism tells more
    (Kairouz, Oh and Viswanath 2015), whatever an answer depends on; a noisy count is as bad as
    that. The test looks at all evidence together.

    ``selections`` and ``draws`` are the epsilons of answers by permute-and-flip and by the
    exponential mechanism, which tell less than this coin, even in the worst of worlds: there, one
    of two candidates is ahead by a part of what one row can move, and falls behind by the rest.
    """
    truths = [_make_coin(part, -part) for part in parts]
    best = 0.0
    for lean in _LEANS if draws else (0.0,):
        drawn = [_make_coin(part * (1 - lean), -part * lean) for part in draws]
        for ahead in (0.0, 0.25, 0.5, 0.75, 1.0) if selections else (0.0,):
            selected = [_make_flipped_coin(part * ahead, part * (1 - ahead)) for part in selections]
            points = _list_best_events([*truths, *drawn, *selected])
            best = max(best, _find_best_bound(points, counted, 0.0, confidence))
    return best


def _make_coin(odds: float, other_odds: float) -> Coin:
    """A coin with these log-odds for its first side, in the two worlds."""
    first, second = (
        (-float(np.logaddexp(0, -side * odds)), -float(np.logaddexp(0, -side * other_odds)))
        for side in (1, -1)
    )
    return first, second


def _make_flipped_coin(ahead: float, behind: float) -> Coin:
    """Permute-and-flip among two: the better of them is not taken if the other comes first and its
    coin falls so, with probability exp(-gap) / 2.
    """
    missed, taken = math.exp(-ahead) / 2, math.exp(-behind) / 2
    return (math.log1p(-missed), math.log(taken)), (math.log(missed), math.log1p(-taken))


def _list_best_events(coins: Iterable[Coin]) -> list[tuple[float, float]]:
    """The probabilities, in both worlds, of the events that the evidence of all coins is at least
    something.
    """
    chances = {0.0: (1.0, 1.0)}  # by evidence
    for coin in coins:
        after: defaultdict[float, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        for one, other in coin:
            for evidence, (chance, other_chance) in chances.items():
                so_far, other_so_far = after[key := round(evidence + one - other, 9)]
                after[key] = (
                    so_far + chance * math.exp(one),
                    other_so_far + other_chance * math.exp(other),
                )
        chances = dict(after)
    above = below = 0.0
    points = []
    for _, (chance, other_chance) in sorted(chances.items(), reverse=True):
        above, below = above + chance, below + other_chance
        points.append((above, below))
    return points


def reach_of_claim(
    epsilon: float, counted: int, delta: float = 0.0, confidence: float = CONFIDENCE
) -> float:
    """Return the best bound for a single answer that is as bad as the claim allows.

    With probability delta it tells the world; else it is a coin that tells the truth with odds of
    e**epsilon to 1.
    """
    truth = 1 / (1 + math.exp(-epsilon))
    point = (delta + (1 - delta) * truth, (1 - delta) * (1 - truth))
    return _find_best_bound([point], counted, delta, confidence)


def reach_of_gaussian(
    rho: float, counted: int, delta: float, confidence: float = CONFIDENCE
) -> float:
    """Return the best bound for Gaussian noise of this rho.

    The worlds are sqrt(2 rho) deviations apart.
    """
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
        (min(round(above * counted), counted), min(math.ceil(below * counted - 1e-6), counted))
        for above, below in points
    }
    return max(
        epsilon_at_least(one, counted, other, counted, delta=delta, confidence=confidence)
        for one, other in hits
    )
