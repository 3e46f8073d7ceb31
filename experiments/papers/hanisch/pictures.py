"""Hanisch's figures in his form: histograms, curves and heat maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from experiments.papers.experiment import Row
from experiments.papers.hanisch import protocol
from experiments.papers.hanisch.jobs import EXACT_FOREST, EXACT_TREE, GIBBS, HOWS
from experiments.papers.stories.diseases import HEADS, TABLE
from privet.report.blocks import Grid
from privet.report.plots.curves import LINES, CurveRun, add_caption, draw_curves
from privet.report.plots.maps import draw_maps
from privet.report.plots.style import INK, QUIET, fill_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DOTTED = (
    f"Dotted: {GIBBS} with all of epsilon, which has a depth and a number of trees of its own."
)
_NAMES = {HOWS[0]: "as published, NOT PRIVATE", HOWS[1]: "corrected"}


def patients_table(_: Sequence[Row]) -> Grid:
    """Table I."""
    return Grid(HEADS, TABLE)


def millionaires_picture(rows: Sequence[Row]) -> Figure:
    """Figure 2: the probability of each answer, with and without him."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(("with him", "without him")):
        law = {
            row["answer"]: row["probability"]
            for row in rows
            if row["table"] == name and "probability" in row
        }
        places = np.array(list(law)) + (0.2 if number else -0.2)
        axes.bar(places, list(law.values()), 0.38, label=name, **fill_style(number))
    axes.set_xlabel("answer: millionaires in Washington")
    axes.set_ylabel("probability")
    axes.legend(frameon=False, fontsize=9)
    axes.set_title("A count at epsilon ln 2", loc="left", fontweight="bold", fontsize=11)
    return figure


def sample_table(rows: Sequence[Row]) -> Grid:
    """Figure 8: his five rows, and five of ours."""
    ours = [
        [str(value) for name, value in row.items() if name != "row"] for row in rows if "row" in row
    ]
    names = next(tuple(name for name in row if name != "row") for row in rows if "row" in row)
    lines = [("his", *line) for line in protocol.FIGURE_8] + [("ours", *line) for line in ours]
    return Grid(("", *names), tuple(lines))


def village_picture(rows: Sequence[Row]) -> Figure:
    """Figure 3: the law of the noise in the mean income, by the text's numbers and by its
    deviation.
    """
    from matplotlib.figure import Figure

    deviation = next(row["value"] for row in rows if row["what"] == "deviation") / 1e6
    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    x = np.linspace(-150, 150, 1201)
    for number, (spread, name) in enumerate(
        (
            (deviation, f"by the text's numbers: deviation {deviation:.1f}"),
            (48.0, "by its deviation of 48"),
        )
    ):
        scale = spread / math.sqrt(2)
        axes.plot(
            x,
            np.exp(-np.abs(x) / scale) / (2 * scale),
            color=LINES[number][0],
            linestyle=LINES[number][2],
            linewidth=1.6,
            label=name,
        )
    axes.axvspan(-1, 1, color=QUIET, alpha=0.5, linewidth=0, label="within a million of the truth")
    axes.set_xlabel("noise in the mean income, millions of dollars")
    axes.set_ylabel("density")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=9)
    axes.set_title(
        "Epsilon 0.5, 100 residents, up to a billion each",
        loc="left",
        fontweight="bold",
        fontsize=11,
    )
    return figure


def ratio_picture(rows: Sequence[Row]) -> Figure:
    """Figure 9: how the noisy share of the frequent class is spread."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.2, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    bins = np.linspace(0.3, 0.75, 46)
    for number, (axes, how) in enumerate(zip(panels, HOWS, strict=True)):
        ratios = [row["ratio"] for row in rows if row.get("how") == how]
        axes.hist(np.clip(ratios, bins[0], bins[-1]), bins=bins, **fill_style(number))
        axes.axvline(protocol.NAIVE, color=INK, linestyle=(0, (5, 4)), linewidth=1.1)
        axes.set_title(_NAMES[how], loc="left", fontsize=10)
        axes.set_xlabel("noisy share of the frequent class")
    panels[0].set_ylabel("calls")
    figure.suptitle(
        "Two noisy counts at epsilon 0.001", x=0.01, ha="left", fontsize=12, fontweight="bold"
    )
    add_caption(
        figure,
        f"Dashed: the true share, {protocol.NAIVE:.1%}. Calls beyond the axis stand at its ends.",
        9.2,
    )
    return figure


def exact_tree_picture(rows: Sequence[Row]) -> Figure:
    """Figure 10: the non-private tree by depth, and ours with epsilon 1."""
    runs: list[CurveRun] = [
        (EXACT_TREE, row["depth"], row["accuracy"]) for row in rows if row.get("how") == EXACT_TREE
    ]
    figure = draw_curves(
        {"": runs},
        parameter="depth",
        measure="accuracy",
        title="Non-private tree",
        columns=1,
        caption=_level_caption(rows),
    )
    figure.set_size_inches(8.0, 4.2)
    _with_levels(figure, {1.0: _mean_gibbs(rows)[1.0]}, one_colour=True)
    return figure


def exact_forest_map(rows: Sequence[Row]) -> Figure:
    """Figure 11: non-private forests by depth and number of trees."""
    runs = [
        (str(row["depth"]), str(row["trees"]), row["accuracy"])
        for row in rows
        if row.get("how") == EXACT_FOREST
    ]
    return draw_maps(
        {"": runs},
        rows="depth",
        columns="trees",
        title="Non-private forest",
        caption=_level_caption(rows).replace("Dotted: ", ""),
    )


def exact_forest_curves(rows: Sequence[Row]) -> Figure:
    """Figure 12: the same, by depth and by number of trees."""
    forests = [row for row in rows if row.get("how") == EXACT_FOREST]
    panels = {
        f"by {name}": [(EXACT_FOREST, row[name], row["accuracy"]) for row in forests]
        for name in ("depth", "trees")
    }
    figure = draw_curves(
        panels,
        parameter="",
        measure="mean accuracy",
        title="Non-private forest",
        caption=_level_caption(rows),
    )
    _with_levels(figure, {1.0: _mean_gibbs(rows)[1.0]}, one_colour=True)
    return figure


def mean_picture(rows: Sequence[Row]) -> Figure:
    """Figure 13: the mean accuracy of a private tree by depth and epsilon."""
    panels = {
        _NAMES[how]: [(_epsilon(row), row["depth"], row["accuracy"]) for row in _forests(rows, how)]
        for how in HOWS
    }
    figure = draw_curves(
        panels,
        parameter="depth",
        measure="mean accuracy",
        title="One private random tree",
        caption=_DOTTED,
    )
    _with_levels(figure, _mean_gibbs(rows))
    return figure


def variance_picture(rows: Sequence[Row]) -> Figure:
    """Figure 14: the variance of the same accuracies."""
    panels: dict[str, list[CurveRun]] = {}
    for how in HOWS:
        groups: dict[tuple[str, float], list[float]] = {}
        for row in _forests(rows, how):
            groups.setdefault((_epsilon(row), row["depth"]), []).append(row["accuracy"])
        panels[_NAMES[how]] = [
            (name, depth, float(np.var(found, ddof=1))) for (name, depth), found in groups.items()
        ]
    figure = draw_curves(
        panels,
        parameter="depth",
        measure="variance of accuracy",
        title="One private random tree",
        caption=_DOTTED,
    )
    levels = {epsilon: float(np.var(found, ddof=1)) for epsilon, found in _gibbs(rows).items()}
    _with_levels(figure, levels, limits=None)
    return figure


def forest_maps(rows: Sequence[Row]) -> Figure:
    """Figure 15: private forests by depth and number of trees, for each epsilon."""
    ours = _mean_gibbs(rows)
    panels = {
        f"epsilon {epsilon:g}, {_NAMES[how]}": [
            (str(row["depth"]), str(row["trees"]), row["accuracy"])
            for row in _forests(rows, how)
            if row["epsilon"] == epsilon
        ]
        for epsilon in ours
        for how in HOWS
    }
    caption = (
        f"{GIBBS} instead: "
        + ", ".join(f"{mean:.3f} with epsilon {epsilon:g}" for epsilon, mean in ours.items())
        + "."
    )
    return draw_maps(
        panels,
        rows="depth",
        columns="trees",
        title="Private random forest, mean accuracy",
        caption=caption,
    )


def forest_curves(rows: Sequence[Row]) -> Figure:
    """Figure 16: the same, by depth (mean over numbers of trees) and by number of trees (mean over
    depths).
    """
    panels = {
        f"by {name}, {_NAMES[how]}": [
            (_epsilon(row), row[name], row["accuracy"]) for row in _forests(rows, how)
        ]
        for how in HOWS
        for name in ("depth", "trees")
    }
    figure = draw_curves(
        panels,
        parameter="",
        measure="mean accuracy",
        title="Private random forest",
        caption=_DOTTED,
    )
    _with_levels(figure, _mean_gibbs(rows))
    return figure


def many_trees_picture(rows: Sequence[Row]) -> Figure:
    """Figure 17: up to a hundred trees with epsilon 0.01, by depth."""
    panels = {
        _NAMES[how]: [
            (f"depth {row['depth']}", row["trees"], row["accuracy"]) for row in _forests(rows, how)
        ]
        for how in HOWS
    }
    title = f"Private random forest, epsilon {protocol.MANY_TREES_EPSILON:g}"
    figure = draw_curves(
        panels, parameter="trees", measure="mean accuracy", title=title, caption=_DOTTED
    )
    _with_levels(figure, _mean_gibbs(rows), one_colour=True)
    return figure


# -- parts -------------------------------------------------------------------------------------------------------------  # noqa: E501


def _forests(rows: Sequence[Row], how: str) -> list[Row]:
    return [row for row in rows if row.get("how") == how]


def _epsilon(row: Row) -> str:
    return f"epsilon {row['epsilon']:g}"


def _gibbs(rows: Sequence[Row]) -> dict[float, list[float]]:
    found: dict[float, list[float]] = {}
    for row in rows:
        if row.get("how") == GIBBS:
            found.setdefault(row["epsilon"], []).append(row["accuracy"])
    return found


def _mean_gibbs(rows: Sequence[Row]) -> dict[float, float]:
    return {epsilon: float(np.mean(found)) for epsilon, found in _gibbs(rows).items()}


def _level_caption(rows: Sequence[Row]) -> str:
    return f"Dotted: {GIBBS}, private with epsilon 1: {_mean_gibbs(rows)[1.0]:.3f}."


def _with_levels(
    figure: Figure,
    levels: Mapping[float, float],
    *,
    one_colour: bool = False,
    limits: tuple[float, float] | None = protocol.ACCURACY_AXIS,
) -> None:
    """What our learner gets, as dotted levels in the colours of the epsilons; his limits of the
    axis.
    """
    for axes in figure.axes:
        for number, level in enumerate(levels.values()):
            axes.axhline(
                level,
                color=INK if one_colour else LINES[number % len(LINES)][0],
                linestyle=(0, (1, 2)),
                linewidth=1.3,
                zorder=1,
            )
        if limits is not None:
            axes.set_ylim(*limits)
