"""How a tree's epsilon is spread over its levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from privet.budget import Number
from privet.checks import check_name

Schedule = Literal["thesis", "even", "deep"]


@dataclass(frozen=True)
class Shares:
    """What each question of a greedy tree may cost.

    ``splits[d]`` is for choosing the splits of level d, ``counts[d]`` for the class counts of its
    cells; the last entry of ``counts`` is for the leaves. Zero: not asked.
    """

    splits: tuple[Number, ...]
    counts: tuple[Number, ...]


def split_epsilon(schedule: Schedule, epsilon: Fraction | None, depth: int) -> Shares:
    """The shares of a tree of this depth; all infinite where epsilon is None (exact counts).

    ``"thesis"``: class counts at every level for stopping rules, and a split at every level but the
    last: 2(d+1) - 1 equal questions (Novakovic, chapter 6). ``"even"``: no counts on the way; half
    for the leaves, the rest evenly over the splits. ``"deep"``: like even, but each level gets 1.5
    times what the one above it got, because its nodes have fewer rows.
    """
    one, none = Fraction(1), Fraction(0)
    check_name("schedule", schedule, get_args(Schedule))
    if depth == 0:
        return Shares((), _scale_weights([one], epsilon))
    if schedule == "thesis":
        return Shares(
            _scale_weights([one] * depth, epsilon, 2 * depth + 1),
            _scale_weights([one] * (depth + 1), epsilon, 2 * depth + 1),
        )
    growth = Fraction(3, 2) if schedule == "deep" else one
    weights = [growth**d for d in range(depth)]
    return Shares(
        _scale_weights(weights, epsilon, 2 * sum(weights)),
        _scale_weights([none] * depth + [one], epsilon, 2),
    )


def _scale_weights(
    weights: Sequence[Fraction], epsilon: Fraction | None, total: Fraction | int = 1
) -> tuple[Number, ...]:
    if epsilon is None:
        return tuple(math.inf if weight else Fraction(0) for weight in weights)
    return tuple(epsilon * weight / total for weight in weights)
