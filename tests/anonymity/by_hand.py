"""The measures as they are written down in the papers, one group at a time, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

Rows = list[tuple[int, int]]


def grouped(rows: Rows) -> dict[int, list[int]]:
    """The values of each group."""
    groups: dict[int, list[int]] = {}
    for group, value in rows:
        groups.setdefault(group, []).append(value)
    return dict(sorted(groups.items()))


def entropy_l(values: list[int]) -> float:
    shares = [count / len(values) for count in Counter(values).values()]
    return math.exp(-sum(share * math.log(share) for share in shares))


def frequency_l(values: list[int]) -> Fraction:
    return Fraction(len(values), max(Counter(values).values()))


def recursive_l(values: list[int], c: Fraction) -> int:
    counts = sorted(Counter(values).values(), reverse=True)
    return max(
        (start + 1 for start in range(len(counts)) if counts[0] < c * sum(counts[start:])),
        default=0,
    )


def equal_distance(values: list[int], everything: list[int]) -> Fraction:
    here, there = Counter(values), Counter(everything)
    return (
        sum(
            (
                abs(Fraction(here[value], len(values)) - Fraction(there[value], len(everything)))
                for value in there
            ),
            Fraction(),
        )
        / 2
    )


def ordered_distance(values: list[int], everything: list[int]) -> Fraction:
    domain = sorted(set(everything))
    here, there = Counter(values), Counter(everything)
    carried = total = Fraction()
    for value in domain:
        carried += Fraction(here[value], len(values)) - Fraction(there[value], len(everything))
        total += abs(carried)
    return total / (len(domain) - 1) if len(domain) > 1 else Fraction()
