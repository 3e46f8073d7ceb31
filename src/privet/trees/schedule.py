"""How a tree's epsilon is spread over its levels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privet.errors import ParameterError

Schedule = Literal["thesis", "even", "deep"]


@dataclass(frozen=True)
class Shares:
    """What each question of a greedy tree may cost.

    ``splits[d]`` is for choosing the splits of level d; ``counts[d]`` for the class counts of the cells of level d, of which the last
    entry is for the leaves (zero: not asked).
    """

    splits: tuple[Fraction, ...]
    counts: tuple[Fraction, ...]


def shares(schedule: Schedule, epsilon: Fraction, depth: int) -> Shares:
    """The shares of a tree of this depth.

    ``"thesis"``: class counts at every level for stopping rules, and a split at every level but the last: 2(d+1) - 1 equal
    questions (Novakovic, chapter 6). ``"even"``: no counts on the way; half for the leaves, the rest evenly over the splits.
    ``"deep"``: like even, but each level gets 1.5 times what the one above it got, because it has fewer rows per node.
    """
    if depth == 0:
        return Shares((), (epsilon,))
    if schedule == "thesis":
        each = epsilon / (2 * (depth + 1) - 1)
        return Shares((each,) * depth, (each,) * (depth + 1))
    nothing = (Fraction(0),) * depth
    if schedule == "even":
        return Shares((epsilon / 2 / depth,) * depth, (*nothing, epsilon / 2))
    if schedule == "deep":
        weights = [Fraction(3, 2) ** d for d in range(depth)]
        return Shares(tuple(epsilon / 2 * weight / sum(weights) for weight in weights), (*nothing, epsilon / 2))
    raise ParameterError(f"schedule must be 'thesis', 'even' or 'deep', got {schedule!r}")
