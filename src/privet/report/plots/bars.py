"""Draw bars: one number each, side by side, from zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from privet.errors import ParameterError
from privet.report.plots.style import INK, QUIET, fill_style, need_matplotlib, wrap_text
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The width of the picture, the height of a bar with the space around it, the height of everything
#: else, and how wide a name may be, in inches.
_WIDTH, _PER_BAR, _AROUND, _NAME_WIDTH = 7.2, 0.42, 1.6, 2.3
#: How many characters of a name are shown.
_LONGEST = 60
#: Letter sizes in points, and where the numbers stand on the axis.
_NAME, _CAPTION, _TITLE, _NUMBERS = 9.0, 8.0, 12.0, 1.02


def draw_bars(
    bars: Mapping[str, float],
    *,
    measure: str,
    fills: Sequence[int] = (),
    line: tuple[str, float] | None = None,
    title: str = "",
    caption: str = "",
) -> Figure:
    """Draw a bar for each share between 0 and 1, from top to bottom, with the number beside it.

    The axis goes from 0 to 1: a bar that began elsewhere would make differences look larger.

    Parameters
    ----------
    bars
        The name of each bar, and its share.
    measure
        What the axis shows.
    fills
        Which fill of :data:`~privet.report.plots.style.FILLS` each bar has; by default the first.
    line
        A share that bars are to be compared with, and its name; drawn as a dashed line.
    title, caption
        Stand above and, in small letters, below.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    if not bars or not all(0 <= value <= 1 for value in bars.values()):
        raise ParameterError("draw_bars: there must be bars, each a share between 0 and 1")
    chosen = [*fills] or [0] * len(bars)
    if len(chosen) != len(bars):
        raise ParameterError(f"draw_bars: {len(bars)} bars need as many fills, got {len(chosen)}")
    figure = Figure(figsize=(_WIDTH, _PER_BAR * len(bars) + _AROUND), layout="constrained")
    axes = figure.subplots()
    for place, ((_, value), fill) in enumerate(zip(bars.items(), chosen, strict=True)):
        axes.barh(place, value, 0.72, **fill_style(fill))
        # In a column of their own, where the line cannot cross them.
        axes.text(_NUMBERS, place, f"{value:.3f}", va="center", fontsize=_NAME, color=INK)
    names = ["\n".join(wrap_text(shorten(name, _LONGEST), _NAME_WIDTH, _NAME)) for name in bars]
    axes.set_yticks(range(len(bars)), names, fontsize=_NAME, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    if line is not None:
        name, value = line
        axes.axvline(value, color=INK, linestyle=(0, (5, 4)), linewidth=1.1)
        axes.annotate(
            shorten(escape_invisible(name), _LONGEST),
            (value, 1),
            (0, 3),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if value > 0.5 else "left",
            va="bottom",
            fontsize=_CAPTION,
            color=INK,
            parse_math=False,
        )
    axes.set_xlim(0, 1)
    axes.set_xticks([tenth / 10 for tenth in range(0, 11, 2)])
    axes.set_xlabel(shorten(escape_invisible(measure), _LONGEST), parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    if title:
        heading = "\n".join(wrap_text(title, _WIDTH * 0.94, _TITLE, bold=True))
        words = {"fontsize": _TITLE, "fontweight": "bold", "x": 0.015, "ha": "left"}
        figure.suptitle(heading, parse_math=False, **words)
    if caption:
        below = "\n".join(wrap_text(caption, _WIDTH * 0.98, _CAPTION))
        small = {"fontsize": _CAPTION, "color": QUIET, "x": 0.015, "ha": "left"}
        figure.supxlabel(below, parse_math=False, **small)
    return figure
