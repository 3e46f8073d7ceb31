"""Draw curves: the mean of repeated runs over a parameter, in one panel or several.

Whiskers are one standard error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.report.plots.style import INK, QUIET, need_matplotlib, text_width, wrap_text
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: A run: its series, the value of the parameter, and what was measured.
CurveRun = tuple[str, float, float]
#: Colour, marker and dash by series: they differ in lightness, and can be told apart in grey.
LINES: tuple[tuple[str, str, Any], ...] = (
    ("#33475b", "o", "-"),
    ("#d08a00", "s", (0, (6, 2))),
    ("#2f8f73", "^", (0, (4, 2, 1, 2))),
    ("#9c4a64", "D", (0, (1, 1.4))),
    (INK, "v", (0, (8, 2, 1, 2, 1, 2))),
    (QUIET, "X", (0, (3, 3))),
    ("#5b8fd6", "P", (0, (2, 1))),
    ("#b5541c", "<", (0, (5, 1, 1, 1))),
)
_CURVE_PANEL_SIZE = (4.6, 3.5)
#: Sizes of letters, the width of what stands beside a word of the key in inches, and how far series
#: stand apart on the axis.
_KEY, _CAPTION, _CURVE_HANDLE_LENGTH, _CURVES_APART = 9.0, 8.0, 0.85, 0.05


def draw_curves(
    panels: Mapping[str, Sequence[CurveRun]],
    *,
    parameter: str,
    measure: str,
    title: str = "",
    caption: str = "",
    columns: int = 2,
) -> Figure:
    """Draw a panel for each group of runs, with a curve for each series.

    The values of the parameter stand at equal distances, in order; an infinite one, which means no
    noise, stands at the right end. Series keep their colour in all panels, and stand a little
    apart, so that whiskers do not hide each other.

    Parameters
    ----------
    panels
        What stands above each panel, and its runs.
    parameter, measure
        What the axes show.
    title
        Stands above.
    caption
        Stands below, in small letters.
    columns
        How many panels stand side by side.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    _check_curves(panels)
    series = list(dict.fromkeys(name for runs in panels.values() for name, _, _ in runs))
    columns = min(columns, len(panels))
    lines = math.ceil(len(panels) / columns)
    width = _CURVE_PANEL_SIZE[0] * columns
    figure = Figure(figsize=(width, _CURVE_PANEL_SIZE[1] * lines + 0.9), layout="constrained")
    grid = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axes, (name, runs) in zip(grid, panels.items(), strict=False):
        draw_lines(axes, runs, series)
        axes.set_title(escape_invisible(name), loc="left", fontsize=10, parse_math=False)
        axes.set_xlabel(escape_invisible(parameter), parse_math=False)
        axes.set_ylabel(escape_invisible(measure), parse_math=False)
    for axes in grid[len(panels) :]:
        axes.remove()
    add_key(figure, series, width, title)
    add_caption(figure, caption, width)
    return figure


def draw_lines(axes: Axes, runs: Sequence[CurveRun], series: Sequence[str]) -> None:
    """Draw one panel.

    A series has the colour, the marker and the dash of its place in ``series``.
    """
    values = sorted({float(value) for _, value, _ in runs})
    for number, name in enumerate(series):
        mine = {
            place: [results for of, at, results in runs if of == name and at == value]
            for place, value in enumerate(values)
        }
        mine = {place: results for place, results in mine.items() if results}
        if not mine:
            continue
        shift = (number - (len(series) - 1) / 2) * _CURVES_APART
        axes.errorbar(
            [place + shift for place in mine],
            [float(np.mean(results)) for results in mine.values()],
            yerr=[_standard_error(results) for results in mine.values()],
            zorder=3 + len(series) - number,
            **_curve_style(number),
        )
    if len(values) > 1 and math.isinf(values[-1]):
        axes.axvline(len(values) - 1.5, color="#9a9a9a", linewidth=0.8)
    axes.set_xticks(
        range(len(values)), ["∞" if math.isinf(value) else f"{value:.6g}" for value in values]
    )
    axes.set_xlim(-0.5, len(values) - 0.5)
    axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)


def add_key(figure: Figure, series: Sequence[str], width: float, title: str) -> None:
    """Add a legend under a title, above all panels of a figure that is so many inches wide."""
    key = [_make_legend_handle(number, name) for number, name in enumerate(series)]
    side_by_side = max(
        1,
        int(
            width
            / (
                _CURVE_HANDLE_LENGTH
                + max(text_width(escape_invisible(name), _KEY) for name in series)
            )
        ),
    )
    legend = figure.legend(
        handles=key,
        loc="outside upper left",
        ncols=min(side_by_side, len(key)),
        frameon=False,
        fontsize=_KEY,
        handlelength=3.2,
        title=escape_invisible(title),
        title_fontproperties={"weight": "bold", "size": 12},
        alignment="left",
    )
    for text in (legend.get_title(), *legend.get_texts()):
        text.set_parse_math(False)


def add_caption(figure: Figure, caption: str, width: float) -> None:
    """Add small letters below all panels, if there is anything to say."""
    if caption:
        text = "\n".join(wrap_text(caption, width, _CAPTION))
        figure.supxlabel(text, x=0.01, ha="left", fontsize=_CAPTION, color=QUIET, parse_math=False)


def _curve_style(number: int) -> dict[str, Any]:
    colour, marker, dash = LINES[number % len(LINES)]
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dash,
        "markersize": 6,
        "markeredgecolor": "white",
        "markeredgewidth": 0.7,
        "linewidth": 1.5,
        "capsize": 2.5,
        "elinewidth": 1.0,
    }


def _make_legend_handle(number: int, name: str) -> Any:
    from matplotlib.lines import Line2D

    style = {
        key: value
        for key, value in _curve_style(number).items()
        if key not in ("capsize", "elinewidth")
    }
    return Line2D([], [], label=escape_invisible(name), **style)


def _standard_error(found: Sequence[float]) -> float:
    """Of the mean, from runs that are taken for independent."""
    return float(np.std(found, ddof=1) / math.sqrt(len(found))) if len(found) > 1 else 0.0


def _check_curves(panels: Mapping[str, Sequence[CurveRun]]) -> None:
    if not panels or not all(panels.values()):
        raise ParameterError("draw_curves: every panel must have at least one run")
    if any(
        value is None or not math.isfinite(value)
        for runs in panels.values()
        for _, _, value in runs
    ):
        raise ParameterError("draw_curves: what was measured must be a finite number in every run")
    if any(math.isnan(value) for runs in panels.values() for _, value, _ in runs):
        raise ParameterError("draw_curves: the parameter must be a number in every run")
