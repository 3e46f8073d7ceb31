"""Draw how anonymous a table is: how many rows are in small classes, and l and t by class size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.anonymity.report import Report
from privet.report.plots.style import INK, QUIET, need_matplotlib
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The kinds of l, with lines that differ in marker, dash and grey. The strictest is the darkest,
#: and its marker fits into the others.
_KINDS: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "distinct l",
        {
            "marker": "o",
            "linestyle": (0, (1, 1.6)),
            "color": "#8a8a8a",
            "markerfacecolor": "white",
            "markersize": 10,
        },
    ),
    (
        "entropy l",
        {
            "marker": "s",
            "linestyle": (0, (5, 2.5)),
            "color": "#5a5a5a",
            "markerfacecolor": "#c9d3df",
            "markersize": 7,
        },
    ),
    (
        "frequency l",
        {"marker": "^", "linestyle": "-", "color": INK, "markerfacecolor": INK, "markersize": 4.5},
    ),
)
_ROOM = 1.6  # to the right of the largest class


def draw_anonymity(report: Report, *, title: str = "") -> Figure:
    """Draw three panels over class size: the share of rows in classes up to it, l, and t.

    The second shows the lowest l.

    Classes are put together by powers of two of their size, so that the picture stays small however
    many there are.

    Parameters
    ----------
    report
        What :func:`privet.anonymity.examine` found.
    title
        Stands above; by default which columns were looked at.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    sizes = report.groups.sizes
    figure = Figure(figsize=(11.5, 4.5), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _draw_row_shares(left, sizes)
    _draw_diversity(middle, report)
    _draw_closeness(right, report)
    widest = int(sizes.max())
    for axes in (left, middle, right):
        axes.set_xscale("log")
        axes.set_xlim(0.8, max(widest * _ROOM, 4))
        axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}" if size >= 1 else "")
        axes.set_xlabel("rows in a class")
        axes.grid(color="#dcdcdc", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    by = shorten(", ".join(report.quasi), 80)
    above = title or f"{report.table}: {report.sensitive} among rows that agree in {by}"
    figure.suptitle(
        escape_invisible(above), x=0.01, ha="left", fontweight="bold", fontsize=11, parse_math=False
    )
    figure.supxlabel(
        "Exact, not differentially private: for the owner of the table.",
        x=0.01,
        ha="left",
        fontsize=8.5,
        color=QUIET,
    )
    return figure


def _draw_row_shares(axes: Axes, sizes: npt.NDArray[np.int64]) -> None:
    """The share of rows in classes of at most some size, as steps."""
    different, classes = np.unique(sizes, return_counts=True)
    share = np.cumsum(different * classes) / sizes.sum()
    x = np.concatenate([[0.8], different, [max(different[-1] * _ROOM, 4)]])
    y = np.concatenate([[0.0], share, [1.0]])
    axes.fill_between(x, y, step="post", color="#c9d3df", linewidth=0)
    axes.plot(x, y, drawstyle="steps-post", color=INK, linewidth=1.4)
    axes.axvline(different[0], color=INK, linestyle=(0, (5, 4)), linewidth=1.1)
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    axes.set_title(
        f"Rows in classes up to this size\n(dashed: k = {different[0]:,})", loc="left", fontsize=10
    )


def _draw_diversity(axes: Axes, report: Report) -> None:
    """The lowest l of each kind, by class size."""
    asked, top = report.asked_l, 1.0
    for kind, style in _KINDS:
        middle, lowest = _summarize_by_size(
            report.groups.sizes, report.by_measure[kind], lambda part: float(part.min())
        )
        axes.plot(middle, lowest, label=kind, markeredgecolor=INK, linewidth=1.6, **style)
        top = max(top, *lowest)
    axes.axhline(asked, color=INK, linestyle=(0, (5, 4)), linewidth=1.1, zorder=0)
    top = max(top, asked)
    if top > 30:  # a straight scale would hide what matters, near the bottom
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_ylim(0.8 if top > 30 else 0, top * (1.6 if top > 30 else 1.08))
    axes.set_title(
        f"Lowest l of classes about this size\n(dashed: l = {asked})", loc="left", fontsize=10
    )
    _draw_key_below(axes)


def _draw_closeness(axes: Axes, report: Report) -> None:
    """The largest and the median t, by class size."""
    sizes, t = report.groups.sizes, report.by_measure["t"]
    middle, largest = _summarize_by_size(sizes, t, lambda part: float(part.max()))
    _, median = _summarize_by_size(sizes, t, lambda part: float(np.median(part)))
    axes.fill_between(middle, median, largest, color="#c9d3df", linewidth=0)
    axes.plot(middle, largest, label="largest", color=INK, marker="^", markersize=6, linewidth=1.6)
    style: dict[str, Any] = {
        "color": "#5a5a5a",
        "linestyle": (0, (5, 2.5)),
        "marker": "s",
        "markerfacecolor": "white",
    }
    axes.plot(
        middle, median, label="median", markeredgecolor=INK, markersize=6, linewidth=1.6, **style
    )
    axes.set_ylim(0, 1.03)
    distance = "ordered" if report.ordered else "equal"
    axes.set_title(
        f"t of classes about this size\n({distance} distance; table: t = {t.max():.3f})",
        loc="left",
        fontsize=10,
    )
    _draw_key_below(axes)


def _draw_key_below(axes: Axes) -> None:
    """What the lines mean, where no line runs."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.16), "ncols": 3}
    axes.legend(**place, frameon=False, fontsize=8.5, handlelength=3, columnspacing=1.2)


def _summarize_by_size(
    sizes: npt.NDArray[np.int64], values: npt.NDArray[Any], summary: Any
) -> tuple[list[float], list[float]]:
    """A summary of the values of classes whose size has the same power of two, at the geometric
    mean of their sizes.
    """
    power = np.frexp(sizes.astype(np.float64))[1]
    parts = [power == which for which in np.unique(power)]
    return [float(np.exp(np.log(sizes[part]).mean())) for part in parts], [
        summary(values[part]) for part in parts
    ]
