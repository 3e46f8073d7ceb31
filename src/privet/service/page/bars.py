"""Bars: parts of a whole, as percentages of their width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Segment:
    """One part of a bar: where it begins, how wide it is, and its tone."""

    x: float
    width: float
    tone: str


def stack_segments(whole: Fraction, parts: Iterable[tuple[str, Fraction]]) -> list[Segment]:
    """Parts beside each other. Parts that exceed the whole (a cap may be lowered) fill the bar."""
    listed = [(tone, part) for tone, part in parts if part > 0]
    full = max(whole, sum((part for _, part in listed), Fraction(0)))
    segments, x = [], 0.0
    for tone, part in listed:
        width = float(part / full) * 100
        # a sliver can still be seen
        segments.append(Segment(round(x, 3), round(max(width, 0.3), 3), tone))
        x += width
    return segments
