"""From one row per fit to means, the peers' better binning, and wins and losses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from experiments.bench.accuracy.contestants import CEILING, FLOOR, PEERS
from experiments.bench.accuracy.results import Row

MEASURES = ("accuracy", "auroc", "balanced", "seconds")
#: What we aim at: mean accuracy over the six sets by epsilon, and one model on adult at epsilon 1.
GOALS = {0.1: 0.85, 0.5: 0.905, 1.0: 0.93, 2.0: 0.94, 5.0: 0.95}
ADULT_GOAL = {"accuracy": 0.855, "auroc": 0.904}


def means(rows: list[Row]) -> pd.DataFrame:
    """Over folds and repeats, and the spread of accuracy over them; an infinite epsilon stands for
    no privacy.
    """
    table = pd.DataFrame(rows)
    table["epsilon"] = table["epsilon"].astype(float).fillna(math.inf)
    table["spread"] = table["accuracy"]
    # the first fit may compile
    how = dict.fromkeys(MEASURES, "mean") | {"seconds": "median", "spread": "std"}
    return table.groupby(["data", "learner", "view", "epsilon"], sort=False).agg(how).reset_index()


def better_view(table: pd.DataFrame, measure: str = "accuracy") -> pd.DataFrame:
    """One line per data set, learner and epsilon: that of the view with the better mean."""
    best = table.groupby(["data", "learner", "epsilon"], sort=False)[measure].idxmax()
    return table.loc[best].set_index(["data", "learner", "epsilon"])


@dataclass(frozen=True)
class Duel:
    """Ours beside a peer in one cell. Figures that print the same are a tie."""

    data: str
    epsilon: float
    ours: float
    theirs: float
    peer: str

    @property
    def outcome(self) -> int:
        """1 for a win, 0 for a tie, -1 for a loss."""
        ours, theirs = round(self.ours, 3), round(self.theirs, 3)
        return (ours > theirs) - (ours < theirs)


def duels(
    table: pd.DataFrame, learner: str, measure: str, peers: Iterable[str] = PEERS
) -> list[Duel]:
    """Every cell that ours and a peer have, against the best of the peers, each with its better
    view by this very measure.
    """
    best = better_view(table, measure)[measure]
    found = []
    for data, name, epsilon in best.index:
        if name == learner:
            theirs = {
                peer: best[data, peer, epsilon]
                for peer in peers
                if (data, peer, epsilon) in best.index
            }
            if theirs:
                peer = max(theirs, key=lambda each: theirs[each])
                found.append(
                    Duel(
                        data,
                        epsilon,
                        float(best[data, learner, epsilon]),
                        float(theirs[peer]),
                        peer,
                    )
                )
    return found


def tally(cells: Iterable[Duel]) -> tuple[int, int, int]:
    """Wins, ties and losses."""
    outcomes = [cell.outcome for cell in cells]
    return outcomes.count(1), outcomes.count(0), outcomes.count(-1)


def best_peer(table: pd.DataFrame, data: str, epsilon: float, measure: str = "accuracy") -> float:
    """The best of the peers in a cell, NaN where there is none."""
    here = table[(table.data == data) & (table.epsilon == epsilon) & table.learner.isin(PEERS)]
    return float(here[measure].max())


def value(
    table: pd.DataFrame,
    data: str,
    learner: str,
    epsilon: float = math.inf,
    measure: str = "accuracy",
) -> float:
    """The figure of a contestant in a cell, NaN where there is none."""
    here = table[(table.data == data) & (table.epsilon == epsilon) & (table.learner == learner)]
    return float(here[measure].max())


def lift(table: pd.DataFrame, data: str, accuracy: float) -> float:
    """How much of the way from the majority rate to gradient boosting; NaN where there is no way to
    go.
    """
    floor, ceiling = value(table, data, FLOOR), value(table, data, CEILING)
    return (accuracy - floor) / (ceiling - floor) if ceiling > floor else math.nan
