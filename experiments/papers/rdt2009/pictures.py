"""Average and maximum accuracy over epsilon (figures 6 to 11), and updates in halves (figures 13 to
15).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.papers.experiment import NOT_PRIVATE, Row
from experiments.papers.rdt import pruning
from experiments.papers.rdt.cells import PREPARED_PRIVATELY
from experiments.papers.rdt.jobs import OURS, RDT
from experiments.papers.rdt.reading import runs, some
from privet.report.blocks import Grid
from privet.report.plots.boxes import draw_boxes
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


def draw_maximum(rows: Sequence[Row]) -> Figure:
    """All runs at epsilon 1, set by set."""
    found = [
        (data, RDT, accuracy)
        for data in dict.fromkeys(row["data"] for row in rows)
        for accuracy in runs(rows, data=data, learner=RDT, epsilon=1.0).values()
    ]
    return draw_boxes(found, measure="accuracy", title="Runs at epsilon 1")


def draw_trees(rows: Sequence[Row]) -> Figure:
    """Accuracy by the number of trees, table by table."""
    panels: dict[str, list[CurveRun]] = {}
    for row in rows:
        name = "no noise" if math.isinf(row["epsilon"]) else f"epsilon {row['epsilon']:g}"
        panels.setdefault(row["data"].capitalize(), []).append(
            (name, row["trees"], row["accuracy"])
        )
    caption = "Points are means, whiskers a standard error."
    return draw_curves(panels, parameter="trees", measure="accuracy", caption=caption, columns=3)


def characteristics_table(rows: Sequence[Row]) -> Grid:
    """Table II of 2009, and table 2 of 2012."""
    return Grid(
        ("data set", "attributes", "rows", "classes", "attributes that are used here"),
        tuple(
            tuple(
                str(row[name])
                for name in ("data", "attributes", "rows", "classes", "attributes used")
            )
            for row in rows
        ),
        numeric=(1, 2, 3, 4),
    )


def neighbours_table(_: Sequence[Row]) -> Grid:
    """Figure 3: the rows of both tables, and the leaf of each in one structure."""
    structure = pruning.structures()[0]
    root, left, right = (f"x{attribute + 1}" for attribute in structure)
    heads = ("x1", "x2", "x3", "class", "in D1", "in D2", f"leaf of {root}, then {left} or {right}")
    return Grid(
        heads,
        tuple(
            (
                *map(str, row),
                "yes",
                "yes" if row in pruning.D2 else "no",
                "".join(map(str, pruning.leaf_of(structure, row))),
            )
            for row in pruning.D1
        ),
    )


def pruned_table(_: Sequence[Row]) -> Grid:
    """Figure 4: which leaves are left of each structure, with each table."""

    def leaves(structure: pruning.Structure, table: pruning.Table) -> str:
        return ", ".join("".join(map(str, leaf)) for leaf in pruning.pruned(structure, table)[2])

    return Grid(
        ("tests: root, then for 0, for 1", "leaves of R1 (from D1)", "leaves of R2 (from D2)"),
        tuple(
            (
                ", ".join(f"x{attribute + 1}" for attribute in structure),
                leaves(structure, pruning.D1),
                leaves(structure, pruning.D2),
            )
            for structure in pruning.structures()
        ),
    )


def handmade_table(rows: Sequence[Row]) -> Grid:
    """Figure 12: the tree, path by path."""
    return Grid(
        ("path", "label"),
        tuple((row["path"], str(row["label"])) for row in rows if "path" in row),
    )
