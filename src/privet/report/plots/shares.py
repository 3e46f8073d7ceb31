"""Draw the shares of values in two tables, in a panel for each attribute, as wide as a phone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet.errors import ParameterError
from privet.report.plots.style import INK, QUIET, fill_style, need_matplotlib
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Labels of values that are listed; of more, some are.
MAX_LISTED = 20
#: Characters in a line of a label and of a name, and how many lines they may have.
LINE, NAME, LINES = 24, 40, 3
#: In inches: as wide as a phone shows without scaling, so that text can be read on it.
WIDTH, PER_VALUE, PER_LINE, PER_PANEL, AROUND = 4.4, 0.3, 0.17, 0.55, 1.1
#: Whiskers shorter than this share of a panel hide behind the end of a bar.
SEEN = 0.02


def draw_shares(
    panels: Mapping[str, tuple[tuple[str, ...], Floats, Floats, float]],
    *,
    names: tuple[str, str],
    title: str = "",
    caption: str = "",
) -> Figure:
    """Draw a panel for each attribute, one below the other.

    It has the labels of the values, their shares in the first table and in the second, and the
    standard deviation of the second. Whiskers show how far noise moves a share of the second table,
    19 times in 20, where it is far enough to be seen.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    if not panels:
        raise ParameterError("there must be at least one panel to draw")
    heights = [_height_of(name, panel[0]) for name, panel in panels.items()]
    title, caption = _wrap(title, 28), _wrap(caption, 62, lines=6)
    around = AROUND + PER_LINE * (title.count("\n") + caption.count("\n"))
    figure = Figure(figsize=(WIDTH, sum(heights) + around), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (name, panel) in zip(grid, panels.items(), strict=True):
        _draw_panel(axes, name, *panel, names=names)
    handles, words = grid[0].get_legend_handles_labels()
    legend = figure.legend(handles, words, loc="outside upper right", fontsize=8, frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    if title:
        figure.suptitle(title, fontsize=11, x=0.02, ha="left", parse_math=False)
    if caption:
        figure.supxlabel(caption, fontsize=8, color=QUIET, x=0.02, ha="left", parse_math=False)
    return figure


def _height_of(name: str, labels: tuple[str, ...]) -> float:
    """Return the height of a panel that has room for the lines of its labels."""
    lines = [_wrap(label, LINE).count("\n") + 1 for label in labels[:MAX_LISTED]]
    values = sum(max(PER_VALUE, PER_LINE * count) for count in lines)
    return PER_PANEL + PER_LINE * _wrap(name, NAME).count("\n") + values


def _draw_panel(
    axes: Axes,
    name: str,
    labels: tuple[str, ...],
    first: Floats,
    second: Floats,
    deviation: float,
    *,
    names: tuple[str, str],
) -> None:
    places, seen = np.arange(len(labels)), np.maximum(second, 0)
    axes.barh(places - 0.2, first, 0.4, **fill_style(0), label=names[0])
    axes.barh(places + 0.2, seen, 0.4, **fill_style(1), label=names[1])
    widest = max(float(np.max(first)), float(np.max(seen)), 1e-9)
    if 2 * deviation > SEEN * widest:
        axes.errorbar(
            seen,
            places + 0.2,
            xerr=2 * deviation,
            fmt="none",
            ecolor=INK,
            elinewidth=0.8,
            capsize=1.5,
        )
    axes.set_title(_wrap(name, NAME), fontsize=9, loc="left", parse_math=False)
    axes.set_xlim(0, None)
    axes.tick_params(labelsize=7)
    shown = places[:: math.ceil(len(labels) / MAX_LISTED)]
    axes.set_yticks(shown, [_wrap(labels[place], LINE) for place in shown], parse_math=False)
    axes.set_ylim(len(labels) - 0.5, -0.5)  # the first value on top
    axes.spines[["top", "right"]].set_visible(False)


def _wrap(text: str, width: int, lines: int = LINES) -> str:
    """Return a text in a few lines, so that it is not cut but where it is very long."""
    shown = shorten(escape_invisible(text), width * lines)
    return "\n".join(textwrap.wrap(shown, width) or [""])
