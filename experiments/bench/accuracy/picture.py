"""Accuracy and AUROC over epsilon, side by side; lines differ in marker and dash, so that they can
be told apart in grey.
"""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.figure import Figure

from experiments.bench.accuracy.contestants import CEILING, FLOOR
from experiments.bench.accuracy.summary import better_view, value
from privet.report.plots.style import INK, QUIET

STYLES = (
    ("#33475b", "o", "-"),
    ("#e9b44c", "s", "--"),
    ("#6b9a88", "^", "-."),
    ("#9c5c6e", "D", ":"),
    (INK, "v", "-"),
    (QUIET, "x", "--"),
)


def draw(table: pd.DataFrame, data: str, learners: list[str]) -> Figure:
    """The figure of one data set; the floor is dashed, the ceiling dotted."""
    best = better_view(table).reset_index()
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    panels = figure.subplots(1, 2)
    figure.suptitle(data, x=0.01, ha="left", fontweight="bold")
    for axes, measure, name in zip(
        panels, ("accuracy", "auroc"), ("accuracy", "AUROC"), strict=True
    ):
        for learner, (colour, marker, dash) in zip(learners, STYLES, strict=False):
            mine = best[
                (best.data == data) & (best.learner == learner) & (best.epsilon < math.inf)
            ].sort_values("epsilon")
            if len(mine):
                axes.plot(
                    mine.epsilon,
                    mine[measure],
                    color=colour,
                    marker=marker,
                    linestyle=dash,
                    label=learner,
                )
        for learner, dots in ((CEILING, ":"), (FLOOR, (0, (5, 4)))):
            axes.axhline(
                value(table, data, learner, measure=measure),
                color=INK,
                linestyle=dots,
                linewidth=1.1,
                zorder=0,
                label=learner,
            )
        epsilons = sorted(epsilon for epsilon in set(best.epsilon) if epsilon < math.inf)
        axes.set_xscale("log")
        axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("epsilon (smaller is more private)")
        axes.set_ylabel(name)
        axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
        axes.set_axisbelow(True)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return figure
