"""Choose about the best of several candidates privately, by integer scores.

What counts is the *range* of a criterion: how far apart the changes of any two candidates' scores
can be when one row is added or removed. If all scores rise by something in [0, r] (monotone), the
range is r; if they move by up to s in either direction it is 2 s. Both mechanisms depend on score
differences only, so a common shift is free.

Both look at all candidates, and draw as many words of 64 bits whatever the scores are (but for rare
ones that need more): a clock tells how many candidates there were, and not how close they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from privet.accounting.cost import Cost
from privet.mechanisms.coins import draw_index, flip_each
from privet.mechanisms.randomness import Bits, uniform_int

Selection = Literal["permute-and-flip", "exponential"]


def permute_and_flip(bits: Bits, scores: Sequence[int], epsilon: Fraction, score_range: int) -> int:
    """Choose a good candidate by permute-and-flip, and return its index.

    Candidates are visited in random order; each is taken with probability exp(-epsilon (best -
    score) / range).

    McKenna and Sheldon (2020): never worse than the exponential mechanism, and as private.
    Sensitivity: the range of the scores is ``score_range`` when one row is added or removed. Cost:
    pure ``epsilon``.
    """
    best = max(scores)
    taken = flip_each(bits, [best - score for score in scores], epsilon / score_range)
    order, chosen = list(range(len(scores))), -1
    while order:
        # The best one is always taken when its turn comes; those behind it have a turn, too.
        index = order.pop(uniform_int(bits, len(order)))
        chosen = index if taken[index] and chosen < 0 else chosen
    return chosen


def exponential(bits: Bits, scores: Sequence[int], epsilon: Fraction, score_range: int) -> int:
    """Choose a good candidate by the exponential mechanism, and return its index.

    Its probability is proportional to exp(epsilon score / range).

    McSherry and Talwar (2007), sampled exactly by inversion. Sensitivity: the range of the scores
    is ``score_range`` when one row is added or removed. Cost: pure ``epsilon``, and only
    epsilon**2/8 in zCDP (bounded range).
    """
    best = max(scores)
    return draw_index(bits, [best - score for score in scores], epsilon / score_range)


def select(
    bits: Bits, scores: Sequence[int], epsilon: Fraction, score_range: int, mechanism: Selection
) -> int:
    """Choose a good candidate by one of the two mechanisms, and return its index."""
    chosen = permute_and_flip if mechanism == "permute-and-flip" else exponential
    return chosen(bits, scores, epsilon, score_range)


def selection_cost(epsilon: Fraction, mechanism: Selection) -> Cost:
    """Return what a selection costs.

    Permute-and-flip has no bounded range, so its zCDP cost is that of any pure mechanism.
    """
    return Cost.pure(epsilon) if mechanism == "permute-and-flip" else Cost.bounded_range(epsilon)
