"""Accuracy over epsilon: a box per learner and epsilon, from repeated runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.plots.style import INK, fill, need_matplotlib
from privet.text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = ("learner", "epsilon", "accuracy")


def accuracy_over_epsilon(table: Any, *, majority: float | None = None, title: str = "") -> Figure:
    """Box plots of accuracy, by epsilon and learner.

    Args:
        table: a pandas data frame with the columns ``learner``, ``epsilon`` and ``accuracy``, one
            line per run. An infinite epsilon, which means no noise, stands at the right end.
        majority: how accurate it is to always answer the most frequent class; drawn as a dashed
            line.
        title: stands above.
    """
    need_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    _check(table)
    learners = list(dict.fromkeys(table["learner"]))
    epsilons = sorted(set(table["epsilon"].astype(float)))
    width = 0.8 / len(learners)
    figure = Figure(
        figsize=(max(6.0, 1.6 + 0.34 * len(epsilons) * (len(learners) + 1)), 4.4),
        layout="constrained",
    )
    axes = figure.add_subplot()
    for number, learner in enumerate(learners):
        mine = table[table["learner"] == learner]
        runs = [
            mine["accuracy"][mine["epsilon"] == epsilon].to_numpy(dtype=float)
            for epsilon in epsilons
        ]
        at = [
            (position + (number - (len(learners) - 1) / 2) * width, run)
            for position, run in enumerate(runs)
            if len(run)
        ]
        drawn = axes.boxplot(
            [run for _, run in at],
            positions=[position for position, _ in at],
            widths=width * 0.86,
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
            box.set(**fill(number))
        for median in drawn["medians"]:  # a black line on a dark box needs a white rim
            axes.plot(
                *median.get_data(),
                color="white",
                linewidth=3.6,
                solid_capstyle="butt",
                zorder=median.get_zorder() - 0.01,
            )
    key: list[Any] = [
        Patch(label=visible(str(name)), **fill(number)) for number, name in enumerate(learners)
    ]
    if majority is not None:
        axes.axhline(majority, color=INK, linestyle=(0, (5, 4)), linewidth=1.1, zorder=0)
        key.append(
            Line2D(
                [],
                [],
                color=INK,
                linestyle=(0, (5, 4)),
                linewidth=1.1,
                label="always the majority class",
            )
        )
    if math.inf in epsilons and len(epsilons) > 1:
        axes.axvline(len(epsilons) - 1.5, color="#9a9a9a", linewidth=0.8)
    axes.set_xticks(range(len(epsilons)), [_name(epsilon) for epsilon in epsilons])
    axes.set_xlim(-0.6, len(epsilons) - 0.4)
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(visible(title), loc="left", fontweight="bold", parse_math=False)
    legend = figure.legend(
        handles=key,
        loc="outside lower center",
        ncols=min(3, len(key)),
        frameon=False,
        handlelength=2.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return figure


def _name(epsilon: float) -> str:
    return "∞\n(no noise)" if math.isinf(epsilon) else f"{epsilon:.6g}"


def _check(table: Any) -> None:
    if missing := [name for name in _COLUMNS if name not in table.columns]:
        raise ParameterError(
            f"accuracy_over_epsilon: table must have the columns {', '.join(_COLUMNS)}; "
            f"{missing[0]!r} is missing"
        )
    if not len(table):
        raise ParameterError("accuracy_over_epsilon: table must have at least one line")
    epsilon, accuracy = (table[name].to_numpy(dtype=float) for name in _COLUMNS[1:])
    if not (epsilon > 0).all():
        raise ParameterError("accuracy_over_epsilon: epsilon must be above zero in every line")
    if not np.isfinite(accuracy).all():
        raise ParameterError(
            "accuracy_over_epsilon: accuracy must be a finite number in every line"
        )
