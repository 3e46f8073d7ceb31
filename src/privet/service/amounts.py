"""Write amounts in few digits, and as bars, never rounded in our own favour.

What was spent is rounded up, what is left is rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

_DIGITS = 4


def format_up(amount: Fraction) -> str:
    """Format an amount, rounded up."""
    return _format_rounded(amount, upwards=True)


def format_down(amount: Fraction) -> str:
    """Format an amount, rounded down."""
    return _format_rounded(amount, upwards=False)


def format_exactly(amount: Fraction) -> str:
    """Format the exact amount; where that is very long, its first digits."""
    text = str(amount)
    if len(text) <= 60:
        return text
    context = Context(prec=30)
    return f"{context.divide(Decimal(amount.numerator), Decimal(amount.denominator)):.25g}…"


def _format_rounded(amount: Fraction, *, upwards: bool) -> str:
    if amount == 0:
        return "0"
    whole, part = len(str(amount.numerator)), len(str(amount.denominator))
    size = whole - part  # the power of ten, or one too many
    if amount < Fraction(10) ** size:
        size -= 1
    places = _DIGITS - 1 - size
    scaled = amount * Fraction(10) ** places
    digits = math.ceil(scaled) if upwards else math.floor(scaled)
    short = Decimal(digits).scaleb(-places).normalize()
    return f"{short:f}" if -6 < size < 12 else f"{short:e}"


# Bars: parts of a whole, as percentages of their width.


@dataclass(frozen=True)
class Segment:
    """One part of a bar: where it begins, how wide it is, and its tone."""

    x: float
    width: float
    tone: str


def stack_segments(whole: Fraction, parts: Iterable[tuple[str, Fraction]]) -> list[Segment]:
    """Stack parts beside each other.

    Parts that exceed the whole (a cap may be lowered) fill the bar.
    """
    listed = [(tone, part) for tone, part in parts if part > 0]
    full = max(whole, sum((part for _, part in listed), Fraction(0)))
    segments, x = [], 0.0
    for tone, part in listed:
        width = float(part / full) * 100
        # a sliver can still be seen
        segments.append(Segment(round(x, 3), round(max(width, 0.3), 3), tone))
        x += width
    return segments
