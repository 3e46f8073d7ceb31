"""Bars of times, and growth in double logarithmic scale. Lines and bars can be told apart in
grey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.bench.speed.contestants import label
from experiments.bench.speed.results import Measurement
from experiments.bench.speed.summary import Summary, fixed
from privet.report.plots import save_figure
from privet.report.plots.curves import LINES
from privet.report.plots.style import INK, QUIET, fill_style, text_width

#: Fill of a bar: ours, private peers, not private or not a learner.
_PRIVATE_PEERS = ("diffprivlib", "predict-diffprivlib")
_OTHERS = ("forest", "extra", "sql", "sql-parquet", "predict-forest")
_KEY = ("Privet", "private peer", "not private")
_LIMIT = "the limit: reading the codes once"
_GROWTH = ("rows", "attributes", "trees")
_LINES = (*LINES, ("#7a5aa6", "p", (0, (5, 1, 1, 1))))
_BAR, _TEXT = 0.27, 8.5
#: From this ratio of the longest to the shortest bar on, their scale is logarithmic.
_WIDE = 30


def draw_all(summary: Summary, output: Path) -> list[str]:
    """Every picture that there are measurements for; their names."""
    drawn = []
    for section, title in (
        ("fit", "Fitting ten trees of height 4"),
        ("predict", "Predictions of ten trees of height 4"),
    ):
        if any(m.best for m in summary.of(section)):
            save_figure(bars(summary, section, title), output / f"speed-{section}.svg")
            drawn.append(section)
    for section in _GROWTH:
        if summary.lines(section):
            save_figure(growth(summary, section), output / f"speed-{section}.svg")
            drawn.append(section)
    return drawn


def bars(summary: Summary, section: str, title: str) -> Figure:
    """Seconds of everyone in a section, the fastest first; the limit is a line."""
    from matplotlib.patches import Patch

    found = sorted((m for m in summary.of(section) if m.best), key=lambda m: -m.best)
    names = [label(m.contestant, m.shape) for m in found]
    left = max(text_width(name, _TEXT) for name in names) + 0.3
    figure = Figure(figsize=(left + 6.0, _BAR * len(found) + 1.45), layout="constrained")
    axes = figure.subplots()
    for place, m in enumerate(found):
        axes.barh(place, m.best, height=0.72, **fill_style(_kind(m)))
        beside = {"xytext": (4, 0), "textcoords": "offset points", "va": "center_baseline"}
        axes.annotate(_seconds(m.best), (m.best, place), fontsize=_TEXT, color=INK, **beside)
    if logarithmic := found[0].best / found[-1].best > _WIDE:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(right=found[0].best * (3 if logarithmic else 1.12))
    axes.set_yticks(range(len(found)), names, fontsize=_TEXT)
    axes.set_ylim(-0.7, len(found) - 0.3)
    axes.set_xlabel("seconds, the best of all runs" + (" (logarithmic)" if logarithmic else ""))
    shown = sorted({_kind(m) for m in found})
    key = [Patch(label=_KEY[kind], **fill_style(kind)) for kind in shown]
    if section == "fit" and logarithmic and not math.isnan(summary.bandwidth):
        axes.set_xlim(left=summary.limit(found[0]) * 0.75)
        key.append(
            axes.axvline(
                summary.limit(found[0]),
                color=INK,
                linestyle=(0, (5, 3)),
                linewidth=1.1,
                label=_LIMIT,
            )
        )
    _grid(axes, "x")
    figure.legend(handles=key, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    figure.suptitle(
        f"{title}, {found[0].rows:,} rows, {found[0].attributes} attributes",
        x=0.01,
        ha="left",
        fontweight="bold",
        fontsize=12,
    )
    return figure


def growth(summary: Summary, section: str) -> Figure:
    """A line for each contestant, with its slope in the key."""
    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    axes = figure.subplots()
    every: list[int] = []
    for number, (contestant, shape) in enumerate(summary.lines(section)):
        mine = sorted(_points(summary.of(section), section, contestant, shape))
        every += [x for x, _ in mine]
        colour, marker, dash = _LINES[number % len(_LINES)]
        steep = summary.slope(section, contestant, shape)
        name = label(contestant, shape) + ("" if math.isnan(steep) else f": {steep:.2f}")
        look = {
            "color": colour,
            "marker": marker,
            "linestyle": dash,
            "markeredgecolor": "white",
            "markeredgewidth": 0.7,
        }
        axes.plot(
            [x for x, _ in mine],
            [y for _, y in mine],
            label=name,
            linewidth=1.5,
            markersize=6.5,
            **look,
        )
    if section == "rows" and not math.isnan(summary.bandwidth):
        ends = [m for m in summary.of("rows") if m.rows in (min(every), max(every))]
        limit = sorted({(m.rows, summary.limit(m)) for m in ends})
        axes.plot(
            [x for x, _ in limit], [y for _, y in limit], color=QUIET, linewidth=1.0, label=_LIMIT
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    places = sorted(set(every))
    axes.set_xticks(places, [_short(place) for place in places])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(f"{section} (logarithmic)")
    axes.set_ylabel("seconds (logarithmic)")
    _grid(axes, "both")
    figure.legend(
        loc="outside right center",
        frameon=False,
        fontsize=9,
        handlelength=3.4,
        title="slope over the larger half",
        alignment="left",
    )
    figure.suptitle(
        f"Seconds over {section}: {fixed(summary.of(section)[0])}",
        x=0.01,
        ha="left",
        fontweight="bold",
        fontsize=12,
    )
    return figure


def _points(
    found: Sequence[Measurement], section: str, contestant: str, shape: str
) -> list[tuple[int, float]]:
    return [
        (getattr(m, section), m.best)
        for m in found
        if (m.contestant, m.shape) == (contestant, shape) and m.best
    ]


def _kind(m: Measurement) -> int:
    return 1 if m.contestant in _PRIVATE_PEERS else 2 if m.contestant in _OTHERS else 0


def _short(number: int) -> str:
    exponent = math.floor(math.log10(number))
    return f"{number:,}" if exponent < 4 else f"{number / 10**exponent:g}e{exponent}"


def _seconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _grid(axes: Axes, which: str) -> None:
    axes.grid(axis=which, color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
