"""Where one of our learners stands: goals, wins and losses against each peer and the best of them,
and how much of the way to gradient boosting it goes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from experiments.bench.accuracy import goals
from experiments.bench.accuracy.contestants import CEILING, FLOOR, OURS, PEERS, PURE_PEERS
from experiments.bench.accuracy.data import DEVELOPMENT, SIX
from experiments.bench.accuracy.markdown import show_figure, show_share, table_head, table_line
from experiments.bench.accuracy.measures import (
    ACCURACY,
    AUROC,
    CALIBRATION,
    LOG_LOSS,
    Measure,
)
from experiments.bench.accuracy.summary import Duel, Summary, tally

#: Measures that are fought over.
BATTLES = (ACCURACY, AUROC, LOG_LOSS, CALIBRATION)
TITLES = {
    "diffprivlib": "diffprivlib",
    "diffprivlib-regression": "diffprivlib's regression",
    "dp-ebm": "DP-EBM",
    "tr-ebm-like": "TR-EBM-like",
    "s-bdt-like": "S-BDT-like",
}


def standing(summary: Summary, learner: str, epsilons: Sequence[float]) -> str:
    """The section of one of our learners."""
    means = summary.means
    sets = list(dict.fromkeys(means.data[means.learner == learner]))
    groups = {
        "development": [name for name in sets if name in DEVELOPMENT],
        "held out": [name for name in sets if name not in DEVELOPMENT],
    }
    groups = {group: names for group, names in groups.items() if names}
    lines = [f"## {learner}", ""]
    if set(SIX) <= set(sets):
        lines += [*_six_sets(summary, learner, epsilons), ""]
    if "adult" in sets and learner in goals.ADULT:
        lines += [*_adult(summary, learner, epsilons), ""]
    for measure in BATTLES:
        lines += [
            f"### {learner}: {measure.title}",
            "",
            (
                f"Cells won, tied and lost; {_lost_at_most(measure)}the best peer is the best in "
                "each cell."
            ),
            "",
            *table_head(["", "sets", "all", "not lost"], epsilons),
            *_battle_lines(summary, learner, measure, groups, epsilons),
            "",
        ]
        if measure is not CALIBRATION:
            lines += [*_ways(summary, learner, measure, groups, epsilons), ""]
    return "\n".join(lines)


def yardsticks(learner: str) -> dict[str, Sequence[str]]:
    """The peers that one of ours is measured by, the best of them in each cell. For pure epsilon,
    pure peers are the fair ones, and all of them the strict ones.
    """
    best: dict[str, Sequence[str]] = {"best peer": PEERS}
    return best if OURS[learner].delta else best | {"best pure peer": PURE_PEERS}


def _lost_at_most(measure: Measure) -> str:
    goal = goals.NOT_LOST.get(measure.name)
    return "" if goal is None else f"the goal is to win or tie {goal:.0%}; "


def _battle_lines(
    summary: Summary,
    learner: str,
    measure: Measure,
    groups: dict[str, list[str]],
    epsilons: Sequence[float],
) -> Iterator[str]:
    each_peer = {TITLES[peer]: [peer] for peer in PEERS}
    for title, peers in (yardsticks(learner) | each_peer).items():
        duels = list(summary.duels(learner, measure, peers))
        for group, names in groups.items():
            chosen = [duel for duel in duels if duel.data in names and duel.epsilon in epsilons]
            if not chosen:
                continue
            by_epsilon = [
                _score([duel for duel in chosen if duel.epsilon == epsilon]) for epsilon in epsilons
            ]
            won, tied, _ = tally(chosen)
            not_lost = show_share((won + tied) / len(chosen))
            yield table_line(
                [f"{measure.title}, {title}", group, _score(chosen), not_lost, *by_epsilon]
            )


def _ways(
    summary: Summary,
    learner: str,
    measure: Measure,
    groups: dict[str, list[str]],
    epsilons: Sequence[float],
) -> list[str]:
    goal = goals.WAY.get(measure.name, {})
    lines = [
        f"The share of the way from majority to gradient boosting, by {measure.title}:",
        "",
        *table_head(["", "sets"], epsilons),
    ]
    if goal:
        shown = [show_share(goal.get(epsilon, math.nan)) for epsilon in epsilons]
        lines.append(table_line(["goal", "", *shown]))
    figures: dict[str, Callable[[str, float], float]] = {
        learner: lambda name, epsilon: summary.value(name, learner, epsilon, measure),
        "best peer": lambda name, epsilon: summary.best_peer(name, epsilon, measure),
    }
    for group, names in groups.items():
        for what, figure in figures.items():
            shares = [
                pd.Series(
                    [summary.way(name, figure(name, epsilon), measure) for name in names]
                ).mean()
                for epsilon in epsilons
            ]
            lines.append(table_line([what, group, *map(show_share, shares)]))
    return lines


def _six_sets(summary: Summary, learner: str, epsilons: Sequence[float]) -> list[str]:
    lines = [f"Mean accuracy over {', '.join(SIX)}:", "", *table_head([""], epsilons)]
    figures: dict[str, Callable[[str, float], float]] = {
        "goal": lambda _, epsilon: goals.SIX_SETS.get(epsilon, math.nan),
        learner: lambda name, epsilon: summary.value(name, learner, epsilon),
        "best peer of each set": summary.best_peer,
        "gradient boosting": lambda name, _: summary.value(name, CEILING),
        "majority": lambda name, _: summary.value(name, FLOOR),
    }
    for what, figure in figures.items():
        means = [sum(figure(name, epsilon) for name in SIX) / len(SIX) for epsilon in epsilons]
        lines.append(table_line([what, *map(show_figure, means)]))
    return lines


def _adult(summary: Summary, learner: str, epsilons: Sequence[float]) -> list[str]:
    lines = ["Accuracy / AUROC on adult:", "", *table_head([""], epsilons)]
    goal = goals.ADULT[learner]
    aims = [" / ".join(map(show_figure, goal.get(epsilon, ()))) for epsilon in epsilons]
    found = [
        " / ".join(
            show_figure(summary.value("adult", learner, epsilon, measure))
            for measure in (ACCURACY, AUROC)
        )
        for epsilon in epsilons
    ]
    return [*lines, table_line(["goal", *aims]), table_line([learner, *found])]


def _score(duels: list[Duel]) -> str:
    return "-".join(map(str, tally(duels))) if duels else ""
