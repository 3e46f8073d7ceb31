"""One data set on the page: what everyone reached at each epsilon."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    return "\n".join(
        [
            f"## {name}",
            "",
            "development" if name in DEVELOPMENT else "held out",
            "",
            *_table(summary, problem, ours, epsilons, (ACCURACY, AUROC, LOG_LOSS)),
            *_table(summary, problem, ours, epsilons, (BALANCED, CALIBRATION)),
            f"![{name}: accuracy, AUROC and log loss over epsilon](accuracy/{name}.svg)",
            "",
        ]
    )


def _table(
    summary: Summary,
    problem: Problem,
    ours: Sequence[str],
    epsilons: Sequence[float],
    measures: Sequence[Measure],
) -> list[str]:
    """Everyone's figures, of the view with the best mean accuracy."""
    name, best = problem.data.name, summary.best()
    lines = [" / ".join(measure.title for measure in measures), ""]
    lines += table_head(["learner", "delta"], epsilons, ["seconds per fit", "binning"])
    for learner in [*ours, *PEERS]:
        if not problem.view_names(learner):
            lines.append(table_line([learner, "", *("not available" for _ in epsilons), "", ""]))
            continue
        cells = [(name, learner, epsilon) for epsilon in epsilons]
        if rows := [best.loc[cell] for cell in cells if cell in best.index]:
            shown = [_figures(best.loc[c], measures) if c in best.index else "" for c in cells]
            views = list(dict.fromkeys(str(row["view"]) for row in rows))
            seconds = sum(row["seconds"] for row in rows) / len(rows)
            delta = f"{delta_of(learner):g}"
            lines.append(table_line([learner, delta, *shown, f"{seconds:.2f}", ", ".join(views)]))
    for learner in ours if ACCURACY in measures else ():
        runs = summary.means[(summary.means.data == name) & (summary.means.learner == learner)]
        spread = [float(runs.spread[runs.epsilon == epsilon].min()) for epsilon in epsilons]
        if not all(map(math.isnan, spread)):
            shown = [*map(show_figure, spread)]
            lines.append(table_line([f"{learner}, spread of accuracy", "", *shown, "", ""]))
    for learner in NOT_PRIVATE:
        if (name, learner, math.inf) in best.index:
            row = best.loc[(name, learner, math.inf)]
            shown = [_figures(row, measures) for _ in epsilons]
            seconds = f"{row['seconds']:.2f}"
            lines.append(table_line([f"{learner}, not private", "", *shown, seconds, ""]))
    return [*lines, ""]


def _figures(row: pd.Series, measures: Sequence[Measure]) -> str:
    return " / ".join(show_figure(row[measure.name]) for measure in measures)
