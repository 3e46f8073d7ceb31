"""Box plots in panels side by side, with lines of means over them: a parameter below, the same
scale for all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.plots.canvas import wrap_text
from privet.plots.curves import LINES
from privet.plots.style import INK, QUIET, need_matplotlib, text_width
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The place of a run on the axis, and its value.
PanelRun = tuple[str, float]
_BOX_PANEL_SIZE = (5.2, 3.6)
_PANEL_KEY, _PANEL_CAPTION, _PANEL_HANDLE_LENGTH = 9.0, 8.0, 0.85


@dataclass(frozen=True)
class Panel:
    """The runs of the boxes, and of each line, which has a name. Where there is no box there may be
    lines alone.
    """

    boxes: Sequence[PanelRun]
    lines: Mapping[str, Sequence[PanelRun]]


def draw_box_panels(
    panels: Mapping[str, Panel],
    *,
    places: Sequence[str],
    parameter: str,
    measure: str,
    title: str = "",
    caption: str = "",
    level: tuple[float, str] | None = None,
) -> Figure:
    """A panel of boxes for each method, and lines of means to compare them with.

    Args:
        panels: what stands above each, and its runs.
        places: what stands along the axis, from left to right.
        parameter, measure: what the axes show.
        title: stands above.
        caption: stands below, in small letters.
        level: a value that means something, drawn as a dashed line, and what it means.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    _check_panels(panels, places)
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel.lines))
    width = _BOX_PANEL_SIZE[0] * len(panels)
    figure = Figure(figsize=(width, _BOX_PANEL_SIZE[1] + 1.0), layout="constrained")
    for axes, (name, panel) in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False).flat,
        panels.items(),
        strict=True,
    ):
        _draw_panel_boxes(axes, panel, places, names)
        if level is not None:
            axes.axhline(level[0], color=INK, linestyle=(0, (5, 4)), linewidth=1.0, zorder=0)
        axes.set_title(escape_invisible(name), loc="left", fontsize=10, parse_math=False)
        axes.set_xlabel(escape_invisible(parameter), parse_math=False)
        axes.set_ylabel(escape_invisible(measure), parse_math=False)
        axes.label_outer()
    _draw_boxes_key(figure, names, level, width, title)
    if caption:
        told = "\n".join(wrap_text(caption, width, _PANEL_CAPTION))
        figure.supxlabel(
            told, x=0.01, ha="left", fontsize=_PANEL_CAPTION, color=QUIET, parse_math=False
        )
    return figure


def _draw_panel_boxes(
    axes: Axes, panel: Panel, places: Sequence[str], names: Sequence[str]
) -> None:
    at = {place: number for number, place in enumerate(places)}
    boxes = {place: [value for where, value in panel.boxes if where == place] for place in places}
    boxes = {place: values for place, values in boxes.items() if values}
    if boxes:
        axes.boxplot(
            list(boxes.values()),
            positions=[at[place] for place in boxes],
            widths=0.62,
            whis=(0, 100),  # from the least to the largest, as the papers draw them
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": "#c9d3df", "edgecolor": INK, "linewidth": 0.8},
            medianprops={"color": "black", "linewidth": 1.6},
        )
    for name, runs in panel.lines.items():
        means = {
            at[place]: float(np.mean([value for where, value in runs if where == place]))
            for place in {where for where, _ in runs}
        }
        order = sorted(means)
        axes.plot(order, [means[one] for one in order], zorder=5, **_level_style(names.index(name)))
    axes.set_xticks(
        range(len(places)), list(map(escape_invisible, places)), fontsize=8, parse_math=False
    )
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)


def _draw_boxes_key(
    figure: Figure, names: Sequence[str], level: tuple[float, str] | None, width: float, title: str
) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    key: list[Any] = [
        Patch(
            facecolor="#c9d3df",
            edgecolor=INK,
            linewidth=0.8,
            label="the method of the panel: least, quartiles, largest",
        )
    ]
    key += [
        Line2D([], [], label=escape_invisible(name), **_level_style(number))
        for number, name in enumerate(names)
    ]
    if level is not None:
        key.append(
            Line2D(
                [],
                [],
                color=INK,
                linestyle=(0, (5, 4)),
                linewidth=1.0,
                label=escape_invisible(level[1]),
            )
        )
    columns = max(
        1,
        int(
            width
            / (
                _PANEL_HANDLE_LENGTH
                + max(text_width(entry.get_label(), _PANEL_KEY) for entry in key)
            )
        ),
    )
    legend = figure.legend(
        handles=key,
        loc="outside upper left",
        ncols=min(columns, len(key)),
        frameon=False,
        fontsize=_PANEL_KEY,
        handlelength=3.2,
        title=escape_invisible(title),
        title_fontproperties={"weight": "bold", "size": 12},
        alignment="left",
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)


def _level_style(number: int) -> dict[str, Any]:
    colour, marker, dash = LINES[(number + 1) % len(LINES)]  # the first is too near to the boxes
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dash,
        "markersize": 5,
        "markeredgecolor": "white",
        "linewidth": 1.4,
    }


def _check_panels(panels: Mapping[str, Panel], places: Sequence[str]) -> None:
    runs = [
        run
        for panel in panels.values()
        for some in (panel.boxes, *panel.lines.values())
        for run in some
    ]
    if not panels or not all(panel.boxes or panel.lines for panel in panels.values()):
        raise ParameterError("draw_box_panels: every panel must have at least one run")
    if any(place not in places or not math.isfinite(value) for place, value in runs):
        raise ParameterError(
            "draw_box_panels: every run must be at one of the places, with a finite number"
        )
