"""Draw box plots: of several series on one axis, or in panels side by side.

:func:`draw_boxes` draws a group of boxes per place on the axis, and marks each mean by a dot.
:func:`draw_box_panels` draws one panel per method, all on the same scale, with lines of means over
the boxes and a parameter below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.report.plots.curves import LINES
from privet.report.plots.style import INK, QUIET, fill_style, need_matplotlib, text_width, wrap_text
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: A run: its place on the axis, its series, and its value.
BoxRun = tuple[str, str, float]
_WIDTH = 0.8
#: Sizes of letters, and the width of what stands beside a word of the key, in inches.
_KEY, _CAPTION, _BOX_HANDLE_LENGTH = 9.0, 8.0, 0.75


def draw_boxes(
    runs: Sequence[BoxRun],
    *,
    measure: str,
    title: str = "",
    caption: str = "",
    level: tuple[float, str] | None = None,
) -> Figure:
    """Draw box plots by place and series, both in the order in which they first come.

    Parameters
    ----------
    runs
        Place, series and value of every run. A place may have line breaks.
    measure
        What the values are; stands at the axis.
    title
        Stands above.
    caption
        Stands below, in small letters.
    level
        A value that means something, drawn as a dashed line, and what it means. The axis
        then begins at zero.
    """
    need_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    _check_runs(runs)
    places, series = (
        list(dict.fromkeys(place for place, _, _ in runs)),
        list(dict.fromkeys(name for _, name, _ in runs)),
    )
    width = max(7.0, 1.2 + 0.36 * len(places) * (len(series) + 1))
    figure = Figure(figsize=(width, 4.6), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(series):
        values = {
            place: [float(value) for at, mine, value in runs if (at, mine) == (place, name)]
            for place in places
        }
        shift = (number - (len(series) - 1) / 2) * _WIDTH / len(series)
        _draw_series_boxes(
            axes,
            {places.index(place) + shift: run for place, run in values.items() if run},
            _WIDTH / len(series),
            number,
        )
    key: list[Any] = [
        Patch(label=escape_invisible(name), **fill_style(number))
        for number, name in enumerate(series)
    ]
    key.append(Line2D([], [], **_mean_dot_style(), label="mean"))
    if level is not None:
        axes.axhline(level[0], color=INK, linestyle=(0, (5, 4)), linewidth=1.1, zorder=0)
        key.append(
            Line2D(
                [],
                [],
                color=INK,
                linestyle=(0, (5, 4)),
                linewidth=1.1,
                label=escape_invisible(level[1]),
            )
        )
        axes.set_ylim(bottom=0)
    for border in range(1, len(places)):
        axes.axvline(border - 0.5, color="#dcdcdc", linewidth=0.8, zorder=0)
    axes.set_xticks(
        range(len(places)),
        ["\n".join(map(escape_invisible, place.split("\n"))) for place in places],
    )
    for text in axes.get_xticklabels():
        text.set_parse_math(False)
    axes.set_xlim(-0.5, len(places) - 0.5)
    axes.set_ylabel(escape_invisible(measure), parse_math=False)
    axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(escape_invisible(title), loc="left", fontweight="bold", parse_math=False)
    columns = max(
        1,
        int(
            width / (_BOX_HANDLE_LENGTH + max(text_width(entry.get_label(), _KEY) for entry in key))
        ),
    )
    legend = figure.legend(
        handles=key,
        loc="outside upper left",
        ncols=min(columns, len(key)),
        frameon=False,
        fontsize=_KEY,
        handlelength=2.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    if caption:
        told = "\n".join(wrap_text(caption, width, _CAPTION))
        figure.supxlabel(told, x=0.01, ha="left", fontsize=_CAPTION, color=QUIET, parse_math=False)
    return figure


def _draw_series_boxes(
    axes: Axes, runs: dict[float, list[float]], width: float, number: int
) -> None:
    """The boxes of one series. What is black on a dark box has a white rim."""
    drawn = axes.boxplot(
        list(runs.values()),
        positions=list(runs),
        widths=width * 0.84,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": "black", "linewidth": 1.8},
        flierprops={
            "marker": "o",
            "markersize": 3,
            "markerfacecolor": "none",
            "markeredgecolor": INK,
        },
    )
    for box in drawn["boxes"]:
        box.set(**fill_style(number))
    for median in drawn["medians"]:
        axes.plot(
            *median.get_data(),
            color="white",
            linewidth=3.6,
            solid_capstyle="butt",
            zorder=median.get_zorder() - 0.01,
        )
    axes.plot(
        list(runs), [float(np.mean(run)) for run in runs.values()], zorder=4, **_mean_dot_style()
    )


def _mean_dot_style() -> dict[str, Any]:
    return {
        "marker": "o",
        "markersize": 6,
        "markerfacecolor": "black",
        "markeredgecolor": "white",
        "markeredgewidth": 1.2,
        "linestyle": "none",
    }


def _check_runs(runs: Sequence[BoxRun]) -> None:
    if not runs:
        raise ParameterError("draw_boxes: runs must have at least one run")
    if any(value is None or not math.isfinite(value) for _, _, value in runs):
        raise ParameterError("draw_boxes: the value of every run must be a finite number")


# Panels side by side, on one scale, with lines of means over the boxes.

#: The place of a run on the axis, and its value.
PanelRun = tuple[str, float]
_BOX_PANEL_SIZE = (5.2, 3.6)
_PANEL_KEY, _PANEL_CAPTION, _PANEL_HANDLE_LENGTH = 9.0, 8.0, 0.85


@dataclass(frozen=True)
class Panel:
    """The runs of the boxes, and of each named line. A panel may have lines and no boxes."""

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
    """Draw a panel of boxes for each method, with lines of means to compare them with.

    Parameters
    ----------
    panels
        What stands above each, and its runs.
    places
        What stands along the axis, from left to right.
    parameter, measure
        What the axes show.
    title
        Stands above.
    caption
        Stands below, in small letters.
    level
        A value that means something, drawn as a dashed line, and what it means.
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
        text = "\n".join(wrap_text(caption, width, _PANEL_CAPTION))
        figure.supxlabel(
            text, x=0.01, ha="left", fontsize=_PANEL_CAPTION, color=QUIET, parse_math=False
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
