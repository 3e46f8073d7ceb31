"""Tables and figures in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def show_figure(figure: float) -> str:
    """Return three digits, without the zero before the point; nothing for NaN."""
    if math.isnan(figure):
        return ""
    sign, digits = ("-" if figure < 0 else ""), f"{abs(figure):.3f}"
    return sign + digits.removeprefix("0")


def show_share(share: float) -> str:
    """Return a share in percent; nothing for NaN."""
    return "" if math.isnan(share) else f"{share:.0%}"


def table_head(
    first: Sequence[str], epsilons: Sequence[float], last: Sequence[str] = ()
) -> list[str]:
    """Return the two lines above a table with a column per epsilon."""
    names = [*first, *(f"{epsilon:g}" for epsilon in epsilons), *last]
    return [table_line(names), "|---|" + "---:|" * (len(names) - 1)]


def table_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
