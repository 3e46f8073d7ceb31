"""One data set on the page: what everyone reached at each epsilon."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from experiments.bench.accuracy.contestants import NOT_PRIVATE, PEERS, Problem, delta_of
from experiments.bench.accuracy.data import DEVELOPMENT
from experiments.bench.accuracy.markdown import show_figure, table_head, table_line
from experiments.bench.accuracy.measures import (
    ACCURACY,
    AUROC,
    BALANCED,
    CALIBRATION,
    LOG_LOSS,
    Measure,
)
from experiments.bench.accuracy.summary import Summary


def section(
    summary: Summary, problem: Problem, ours: Sequence[str], epsilons: Sequence[float]
) -> str:
    """The section of a data set: two tables and a picture."""
    name = problem.data.name
    best = summary.best()
    first, second = (ACCURACY, AUROC, LOG_LOSS), (BALANCED, CALIBRATION)
    return "\n".join(
        [
            f"## {name}",
            "",
            "development" if name in DEVELOPMENT else "held out",
            "",
            " / ".join(measure.title for measure in first),
            "",
            *table_head(["learner", "delta"], epsilons, ["seconds per fit", "binning"]),
            *(
                table_line([*line, *_cost(best, name, line[0], epsilons)])
                for line in _lines(best, problem, ours, epsilons, first)
            ),
            *_spreads(summary, name, ours, epsilons),
            "",
            " / ".join(measure.title for measure in second),
            "",
            *table_head(["learner", "delta"], epsilons),
            *map(table_line, _lines(best, problem, ours, epsilons, second)),
            "",
            f"![{name}: accuracy, AUROC and log loss over epsilon](accuracy/{name}.svg)",
            "",
        ]
    )


def _lines(
    best: pd.DataFrame,
    problem: Problem,
    ours: Sequence[str],
    epsilons: Sequence[float],
    measures: Sequence[Measure],
) -> Iterator[list[str]]:
    """Name, delta and figures of everyone, of the view with the best mean accuracy."""
    name = problem.data.name
    for learner in (*ours, *PEERS):
        if not problem.view_names(learner):
            yield [learner, "", *("not available" for _ in epsilons)]
        elif any((name, learner, epsilon) in best.index for epsilon in epsilons):
            figures = [_figures(best, (name, learner, epsilon), measures) for epsilon in epsilons]
            yield [learner, f"{delta_of(learner):g}", *figures]
    for learner in NOT_PRIVATE:
        if (name, learner, math.inf) in best.index:
            figures = [_figures(best, (name, learner, math.inf), measures)] * len(epsilons)
            yield [f"{learner}, not private", "", *figures]


def _figures(best: pd.DataFrame, cell: tuple[str, str, float], measures: Sequence[Measure]) -> str:
    if cell not in best.index:
        return ""
    return " / ".join(show_figure(best.loc[cell, measure.name]) for measure in measures)


def _cost(best: pd.DataFrame, data: str, learner: str, epsilons: Sequence[float]) -> list[str]:
    """The seconds of a fit, and which views were the best."""
    learner = learner.removesuffix(", not private")
    cells = [(data, learner, epsilon) for epsilon in (*epsilons, math.inf)]
    rows = [best.loc[cell] for cell in cells if cell in best.index]
    if not rows:
        return ["", ""]
    seconds = sum(row["seconds"] for row in rows) / len(rows)
    return [f"{seconds:.2f}", ", ".join(dict.fromkeys(str(row["view"]) for row in rows))]


def _spreads(
    summary: Summary, data: str, ours: Sequence[str], epsilons: Sequence[float]
) -> Iterator[str]:
    table = summary.means
    for learner in ours:
        runs = table[(table.data == data) & (table.learner == learner)].set_index("epsilon")
        if len(runs):
            spreads = [show_figure(runs.spread.get(epsilon, math.nan)) for epsilon in epsilons]
            yield table_line([f"{learner}, spread of accuracy", "", *spreads, "", ""])
