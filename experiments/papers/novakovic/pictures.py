"""Novakovic's figures in the form of the thesis: curves over epsilon, and the same as a heat map,
methods by epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.papers.experiment import Row
from experiments.papers.novakovic import protocol
from experiments.papers.novakovic.comparing import advantages
from experiments.papers.novakovic.jobs import BASELINE, FREQUENT, METHODS
from privet.report.plots.boxes import draw_boxes
from privet.report.plots.curves import CurveRun, add_caption, add_key, draw_curves, draw_lines
from privet.report.plots.maps import draw_map, draw_maps, scale_of
from privet.report.plots.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 6.4, 6.6
_ORDERS = {
    protocol.ORDERS[0]: "rows in the order of the file, as published",
    protocol.ORDERS[1]: "rows shuffled before folds are made",
}


def picture(rows: Sequence[Row]) -> Figure:
    """One table: above, accuracy over epsilon, for rows as they are and shuffled; below, the same
    numbers.
    """
    from matplotlib.figure import Figure

    orders = [order for order in _ORDERS if any(row.get("order") == order for row in rows)]
    runs = {order: _runs([row for row in rows if row.get("order") == order]) for order in orders}
    frequent = next(row["accuracy"] for row in rows if row["method"] == FREQUENT)
    maps = {
        order: [(method, f"{epsilon:g}", accuracy) for method, epsilon, accuracy in runs[order]]
        for order in orders
    }
    width = _WIDTH * len(orders) + 2.0  # the names of methods stand beside the first map
    figure = Figure(figsize=(width, _HEIGHT), layout="constrained")
    grid = figure.subplots(2, len(orders), squeeze=False, height_ratios=(1.7, 1.0))
    scale = scale_of(maps)
    for column, order in enumerate(orders):
        lines, numbers = grid[0][column], grid[1][column]
        draw_lines(lines, runs[order], METHODS)
        lines.axhline(frequent, color=INK, linestyle=(0, (1, 2)), linewidth=1.2)
        lines.set_title(_ORDERS[order], loc="left", fontsize=10)
        lines.set_ylabel("mean accuracy")
        draw_map(numbers, maps[order], scale)
        if column:
            numbers.set_yticks([])
        for axes in (lines, numbers):
            axes.set_xlabel("epsilon")
    add_key(figure, METHODS, width, rows[0]["table"])
    add_caption(
        figure,
        (
            "Whiskers: standard errors over folds and runs. Dotted: the most frequent class, "
            f"{frequent:.3f}."
        ),
        width,
    )
    return figure


def summary_picture(rows: Sequence[Row]) -> Figure:
    """By how much the max operator is better than Gini, table by table."""
    panels = {
        f"{how}, {order}": [
            (name, f"{epsilon:g}", value) for (_, name, epsilon), value in mine.items()
        ]
        for how, by in advantages(rows).items()
        for order, mine in by.groupby("order", sort=False)
    }
    return draw_maps(
        panels,
        rows="",
        columns="epsilon",
        title="Max operator minus Gini, mean accuracy",
        caption="Dark: the max operator is better.",
    )


def gain_picture(rows: Sequence[Row]) -> Figure:
    """The max operator and information gain, table by table."""
    panels = {
        name: [
            (row["method"], row["epsilon"], row["accuracy"]) for row in rows if row["table"] == name
        ]
        for name in dict.fromkeys(row["table"] for row in rows)
    }
    return draw_curves(
        panels,
        parameter="epsilon",
        measure="mean accuracy",
        title="Private trees by two criteria",
        caption="Whiskers: standard errors over folds and runs.",
    )


def folds_picture(rows: Sequence[Row]) -> Figure:
    """Cross-validated accuracies by the number of folds."""
    found = [(str(row["folds"]), "runs", row["accuracy"]) for row in rows]
    return draw_boxes(found, measure="accuracy", title="Tic-Tac-Toe, by the number of folds")


def dimensions_picture(rows: Sequence[Row]) -> Figure:
    """Accuracy over the number of attributes, with and without noise."""
    runs: list[CurveRun] = [
        (
            "without noise" if math.isinf(row["epsilon"]) else f"epsilon {row['epsilon']:g}",
            row["attributes"],
            row["accuracy"],
        )
        for row in rows
        if "attributes" in row
    ]
    return draw_curves(
        {"": runs},
        parameter="attributes",
        measure="accuracy",
        title="Attributes that say nothing",
        columns=1,
    )


def linkage_picture(rows: Sequence[Row]) -> Figure:
    """Who is alone, and who is found."""
    found = [
        (row["what"].replace(" ", "\n", 1), "towns", row["value"])
        for row in rows
        if row["what"] != "k after generalising"
    ]
    return draw_boxes(found, measure="share of people", title="Made-up towns")


def _runs(rows: Sequence[Row]) -> list[tuple[str, float, float]]:
    """Method, epsilon and accuracy; the non-private tree is the same for every epsilon."""
    epsilons = sorted({row["epsilon"] for row in rows if "epsilon" in row})
    found = []
    for method in METHODS:
        for row in rows:
            if row["method"] == method:
                found += [
                    (method, epsilon, row["accuracy"])
                    for epsilon in (epsilons if method == BASELINE else [row["epsilon"]])
                ]
    return found
