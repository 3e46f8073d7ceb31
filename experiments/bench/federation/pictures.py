"""Curves of the means, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from experiments.bench.federation.forests import ALONE, ALONE_AT_RANDOM
from experiments.bench.federation.summary import paired
from privet.report.plots import save_figure
from privet.report.plots.boxes import draw_boxes
from privet.report.plots.curves import CurveRun, draw_curves

WHISKERS = "Means over folds; whiskers are one standard error."
REBUILT = "a rebuild at epsilon/2"
#: Whether the trees were drawn for as many rows as the first part has, or for all that will come.
UPDATED = {
    "updated": "trees for the first part",
    "updated, trees for all rows": "trees for all rows",
}
RECIPES = {"ours": "class shares, shrunk (default)", "papers'": "sum of counts (papers')"}


def draw_all(table: pd.DataFrame, output: Path) -> None:
    """Every picture whose experiment was run."""
    for name, (experiment, draw) in PICTURES.items():
        here = table[table.experiment == experiment]
        if len(here):
            figure = draw(here)
            for suffix in ("png", "svg"):
                save_figure(figure, output / f"federation-{name}.{suffix}")


def updates(table: pd.DataFrame) -> Figure:
    ways = (
        "one build at epsilon",
        "updated",
        "rebuilt at epsilon/2",
        "rebuilt at epsilon/m",
        "first part only",
    )
    panels = {
        f"{data}, {RECIPES[recipe]}": _runs(here, ways, "parties")
        for (data, recipe), here in table.groupby(["data", "recipe"], sort=False)
    }
    return draw_curves(
        panels,
        parameter="number of parts m",
        measure="accuracy",
        title="Rows that come in m parts, epsilon 0.5",
        caption=WHISKERS,
    )


def warnings(table: pd.DataFrame) -> Figure:
    panels = {}
    for data, here in table[table.recipe == "ours"].groupby("data", sort=False):
        for way, trees in UPDATED.items():
            found = paired(here, "rebuilt at epsilon/2", way)
            at = found.parties.astype(float)
            better = [
                (f"{REBUILT} is better", m, float(lead > 0))
                for m, lead in zip(at, found.lead, strict=True)
            ]
            warned = [
                ("the updated model warns", m, float(warns))
                for m, warns in zip(at, found.warns_second, strict=True)
            ]
            panels[f"{data}, {trees}"] = better + warned
    return draw_curves(
        panels,
        parameter="number of parts m",
        measure="share of folds",
        title="When an updated model warns, and when it should",
        caption=f"Random trees, our default, epsilon 0.5. {WHISKERS}",
    )


def horizontal(table: pd.DataFrame) -> Figure:
    ways = (
        "pooled",
        "secure sum",
        "secure sum, half may fail",
        "plain merge",
        ALONE_AT_RANDOM,
        ALONE,
    )
    ours = table[table.recipe == "ours"]
    panels = {
        f"{data}, epsilon {epsilon:g}": _runs(here, ways, "parties")
        for (data, epsilon), here in ours.groupby(["data", "epsilon"], sort=False)
    }
    return draw_curves(
        panels,
        parameter="number of parties",
        measure="accuracy",
        title="Parties with different rows",
        caption=f"Random trees; one party alone has the default learner, too. {WHISKERS}",
    )


def weights(table: pd.DataFrame) -> Figure:
    lead = paired(table[table.recipe == "ours"], "by-noise", "equal")
    runs = [
        (case.replace(", ", ",\n").replace(" is ", "\nis "), data, value)
        for case, data, value in zip(lead.case, lead.data, lead.lead, strict=True)
    ]
    return draw_boxes(
        runs,
        measure="accuracy: by-noise minus equal",
        title="Four unequal parties: does weighting by noise help?",
        caption=(
            "Above zero, weighting helps. A box is all folds, paired; the dot is their mean, the "
            "line their median."
        ),
    )


def vertical(table: pd.DataFrame) -> Figure:
    ways = (
        "one table of all attributes",
        "joined, each party at epsilon/2",
        "joined, each party at epsilon",
        ALONE_AT_RANDOM,
        ALONE,
    )
    names = {
        ways[1]: "joined, each party at epsilon/2 (costs epsilon)",
        ways[2]: "joined, each party at epsilon (costs 2 epsilon)",
    }
    panels = {
        RECIPES[recipe]: _runs(here, ways, "epsilon", names)
        for recipe, here in table.groupby("recipe", sort=False)
    }
    return draw_curves(
        panels,
        parameter="epsilon (smaller is more private)",
        measure="accuracy",
        title="votes: two parties with different attributes",
        caption=WHISKERS,
    )


def gibbs(table: pd.DataFrame) -> Figure:
    ways = (
        "Gibbs trees, pooled",
        "Gibbs trees, union",
        "Gibbs trees, one party alone",
        "random trees, secure sum",
        "random trees, plain merge",
    )
    panels = {
        str(data): _runs(here, ways, "parties") for data, here in table.groupby("data", sort=False)
    }
    return draw_curves(
        panels,
        parameter="number of parties",
        measure="accuracy",
        title="Drawn trees of several parties, epsilon 1",
        caption=WHISKERS,
    )


PICTURES: dict[str, tuple[str, Callable[[pd.DataFrame], Figure]]] = {
    "updates": ("updates", updates),
    "warnings": ("updates", warnings),
    "horizontal": ("horizontal", horizontal),
    "weights": ("unequal", weights),
    "vertical": ("vertical", vertical),
    "gibbs": ("gibbs", gibbs),
}


def _runs(
    table: pd.DataFrame, ways: Sequence[str], column: str, names: dict[str, str] | None = None
) -> list[CurveRun]:
    """The runs of these ways, in their order."""
    return [
        ((names or {}).get(way, way), float(at), float(accuracy))
        for way in ways
        for at, accuracy in table.loc[table.way == way, [column, "accuracy"]].itertuples(
            index=False
        )
    ]
