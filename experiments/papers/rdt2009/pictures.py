"""Average and maximum accuracy over epsilon (figures 6 to 11), and updates in halves (figures 13 to
15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.papers.experiment import NOT_PRIVATE, Row
from experiments.papers.rdt.cells import PREPARED_PRIVATELY
from experiments.papers.rdt.jobs import OURS, RDT
from experiments.papers.rdt.reading import some
from privet.report.plots.curves import CurveRun, draw_curves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AVERAGE, MAXIMUM = f"{RDT}, average of the runs", f"{RDT}, the best of the runs"


def draw_accuracy(rows: Sequence[Row], data: str) -> Figure:
    """The average and the maximum over runs."""
    mine = some(rows, data=data, learner=RDT)
    runs: list[CurveRun] = [(AVERAGE, row["epsilon"], row["accuracy"]) for row in mine]
    best = {
        one: max(row["accuracy"] for row in some(mine, epsilon=one))
        for one in {row["epsilon"] for row in mine}
    }
    runs += [(MAXIMUM, epsilon, accuracy) for epsilon, accuracy in best.items()]
    honest = PREPARED_PRIVATELY.get(data, data)
    runs += [
        (f"{RDT}, '?' as a value", row["epsilon"], row["accuracy"])
        for row in some(rows, data=honest, learner=RDT)
        if honest != data
    ]
    runs += [
        (OURS, row["epsilon"], row["accuracy"]) for row in some(rows, data=honest, learner=OURS)
    ]
    filled = (
        f"Missing votes are filled in from the rows ({NOT_PRIVATE}), but not where '?' is a value. "
        if honest != data
        else ""
    )
    caption = (
        f"{filled}Points are means, whiskers a standard error. The best of several runs is not "
        "what a release gets. ∞ is no noise."
    )
    return draw_curves(
        {data.capitalize(): runs},
        parameter="epsilon",
        measure="accuracy",
        caption=caption,
        columns=1,
    )


def draw_halves(rows: Sequence[Row], data: str) -> Figure:
    """One update with the second half of the rows."""
    runs = [(row["learner"], row["epsilon"], row["accuracy"]) for row in some(rows, data=data)]
    caption = "Points are means, whiskers a standard error. Nobody is in both halves."
    title = f"{data.capitalize()}: rows in two halves"
    return draw_curves(
        {title: runs}, parameter="epsilon", measure="accuracy", caption=caption, columns=1
    )
