"""ROC curves on a log scale, one panel for each epsilon, with what it allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from experiments.bench.membership.contestants import EPSILONS, OPEN, PEER, PRIVATE
from experiments.bench.membership.found import GRID, Found, tpr_bound
from experiments.bench.membership.results import Task
from privet.report.plots.style import INK, QUIET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#33475b", "#b8860b", "#4f8a74", "#9c5c6e", "#5b7fb5", "#c0622d", "#7a6aa8", "#6f7d1f")
_MARKS = "os^vDPX*"
_TICKS = (0.01, 0.1, 1.0)


def draw(found: Mapping[Task, Found]) -> Figure:
    """What the attacks came to."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.2), layout="constrained")
    panels = figure.subplots(1, len(EPSILONS), sharex=True, sharey=True)
    for axes, epsilon in zip(panels, EPSILONS, strict=True):
        _allowed(axes, epsilon)
        for number, name in enumerate(PRIVATE):
            _curve(
                axes,
                found,
                name,
                epsilon,
                color=_COLOURS[number],
                marker=_MARKS[number],
                markersize=4.5,
                linewidth=1.1,
            )
        for name, style in zip(OPEN, (":", "--", "-."), strict=True):
            label = name if name == PEER else f"{name} without noise"
            _curve(
                axes,
                found,
                name,
                float("inf"),
                label=label,
                color=INK,
                linestyle=style,
                linewidth=1.6,
                clip_on=False,
            )
        axes.set_title(f"epsilon {epsilon:g}", fontsize=10.5)
    panels[0].set_ylabel("true positive rate: members who are found")
    panels[len(panels) // 2].set_xlabel("false positive rate: others who are taken for members")
    figure.get_layout_engine().set(wspace=0.05)
    figure.suptitle(
        "Membership attack on released models, and what epsilon allows (grey)",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8.5, frameon=False)
    return figure


def _allowed(axes: Axes, epsilon: float) -> None:
    rates = np.geomspace(GRID[0], 1, 200)
    most = [tpr_bound(epsilon, rate) for rate in rates]
    axes.fill_between(rates, 1e-4, most, color="#e4e4e4", linewidth=0, label="allowed by epsilon")
    axes.plot(rates, most, color=QUIET, linewidth=1)
    axes.plot(rates, rates, color="white", linewidth=1.2)
    for scale, limits in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        scale("log")
        limits(GRID[0], 1.04)
    axes.set_ylim(GRID[0] * 0.5, 1.04)
    axes.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.set_yticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)


def _curve(
    axes: Axes,
    found: Mapping[Task, Found],
    name: str,
    epsilon: float,
    label: str = "",
    **style: object,
) -> None:
    """The mean of a learner's curves over the data sets."""
    curves = [
        one.curve for task, one in found.items() if (task.learner, task.epsilon) == (name, epsilon)
    ]
    if curves:
        axes.plot(GRID, np.mean(curves, axis=0), label=label or name, **style)
