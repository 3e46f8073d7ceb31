"""Accuracy, AUROC and log loss over epsilon, side by side; lines differ in marker and dash, so that
they can be told apart in grey.
"""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from experiments.bench.accuracy.contestants import CEILING, FLOOR
from experiments.bench.accuracy.measures import ACCURACY, AUROC, LOG_LOSS
from experiments.bench.accuracy.summary import Summary
from privet.report.plots.style import INK, QUIET

STYLES = (
    ("#33475b", "o", "-"),
    ("#e9b44c", "s", "--"),
    ("#6b9a88", "^", "-."),
    ("#9c5c6e", "D", ":"),
    (INK, "v", "-"),
    (QUIET, "x", "--"),
    ("#7a6fa8", "P", "-."),
    ("#b5651d", "*", ":"),
)


def draw(summary: Summary, data: str, learners: list[str]) -> Figure:
    """The figure of one data set; the floor is dashed, the ceiling dotted."""
    best = summary.best().reset_index()
    figure = Figure(figsize=(12.0, 4.4), layout="constrained")
    panels = figure.subplots(1, 3)
    figure.suptitle(data, x=0.01, ha="left", fontweight="bold")
    for axes, measure in zip(panels, (ACCURACY, AUROC, LOG_LOSS), strict=True):
        for learner, (colour, marker, dash) in zip(learners, STYLES, strict=False):
            mine = best[
                (best.data == data) & (best.learner == learner) & (best.epsilon < math.inf)
            ].sort_values("epsilon")
            if len(mine):
                axes.plot(
                    mine.epsilon,
                    mine[measure.name],
                    color=colour,
                    marker=marker,
                    linestyle=dash,
                    label=learner,
                )
        for learner, dots in ((CEILING, ":"), (FLOOR, (0, (5, 4)))):
            axes.axhline(
                summary.value(data, learner, measure=measure),
                color=INK,
                linestyle=dots,
                linewidth=1.1,
                zorder=0,
                label=learner,
            )
        if measure is LOG_LOSS:  # far above the floor, differences do not matter
            highest = 1.5 * summary.value(data, FLOOR, measure=measure)
            axes.set_ylim(top=min(axes.get_ylim()[1], highest))
        epsilons = sorted(epsilon for epsilon in set(best.epsilon) if epsilon < math.inf)
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("epsilon (smaller is more private)")
        axes.set_ylabel(measure.title)
        axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
        axes.set_axisbelow(True)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure
