"""Draw the shares of values in two tables, side by side, in a panel for each attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet.errors import ParameterError
from privet.report.plots.style import INK, QUIET, fill_style, need_matplotlib
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Labels of values that are listed; more are numbered.
MAX_LISTED = 20
_SHARES_PANEL_SIZE = (3.4, 2.5)


def draw_shares(
    panels: Mapping[str, tuple[tuple[str, ...], Floats, Floats, float]],
    *,
    names: tuple[str, str],
    title: str = "",
    caption: str = "",
    columns: int = 4,
) -> Figure:
    """Draw a panel for each attribute.

    It has the labels of the values, their shares in the first table and in the second, and the
    standard deviation of the second.

    Whiskers show how far noise moves a share of the second table, 19 times in 20.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    if not panels:
        raise ParameterError("there must be at least one panel to draw")
    columns = min(columns, len(panels))
    lines = math.ceil(len(panels) / columns)
    figure = Figure(
        figsize=(_SHARES_PANEL_SIZE[0] * columns, _SHARES_PANEL_SIZE[1] * lines + 0.9),
        layout="constrained",
    )
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes in grid.flat[len(panels) :]:
        axes.axis("off")
    for axes, (name, (labels, first, second, deviation)) in zip(
        grid.flat, panels.items(), strict=False
    ):
        places = np.arange(len(labels))
        axes.bar(places - 0.2, first, 0.4, **fill_style(0), label=names[0])
        axes.bar(places + 0.2, np.maximum(second, 0), 0.4, **fill_style(1), label=names[1])
        if deviation:
            axes.errorbar(
                places + 0.2,
                np.maximum(second, 0),
                2 * deviation,
                fmt="none",
                ecolor=INK,
                elinewidth=0.8,
                capsize=1.5,
            )
        axes.set_title(
            shorten(escape_invisible(name), 40), fontsize=9, loc="left", parse_math=False
        )
        axes.set_ylim(0, None)
        axes.tick_params(labelsize=7)
        shown = (
            places if len(labels) <= MAX_LISTED else places[:: math.ceil(len(labels) / MAX_LISTED)]
        )
        axes.set_xticks(
            shown,
            [shorten(escape_invisible(labels[place]), 14) for place in shown],
            rotation=90,
            parse_math=False,
        )
        axes.spines[["top", "right"]].set_visible(False)
    handles, words = grid.flat[0].get_legend_handles_labels()
    legend = figure.legend(
        handles, words, loc="outside upper right", ncols=2, fontsize=9, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    if title:
        figure.suptitle(escape_invisible(title), fontsize=12, x=0.01, ha="left", parse_math=False)
    if caption:
        figure.supxlabel(
            escape_invisible(caption), fontsize=8, color=QUIET, x=0.01, ha="left", parse_math=False
        )
    return figure
