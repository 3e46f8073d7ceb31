"""From one row per fit to means, paired intervals, wins and losses, and the share of the way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.bench.accuracy.contestants import CEILING, FLOOR, PEERS
from experiments.bench.accuracy.measures import ACCURACY, MEASURES, Measure
from experiments.bench.accuracy.results import Row

CONFIDENCE = 0.95
CELL = ["data", "learner", "view", "epsilon"]


@dataclass(frozen=True)
class Duel:
    """Ours beside a peer in one cell.

    ``difference`` is the mean over folds and repeats of how much better we are, and ``margin`` half
    its paired 95% interval.
    """

    data: str
    epsilon: float
    measure: Measure
    learner: str
    peer: str
    ours: float
    theirs: float
    difference: float
    margin: float

    @property
    def outcome(self) -> int:
        """1 for a win, 0 for a tie, where the interval contains 0, -1 for a loss."""
        if abs(self.difference) <= self.margin:
            return 0
        return 1 if self.difference > 0 else -1


class Summary:
    """The rows of all fits; an infinite epsilon stands for no privacy."""

    def __init__(self, rows: list[Row]) -> None:
        self.fits = pd.DataFrame(rows)
        self.fits["epsilon"] = self.fits["epsilon"].astype(float).fillna(math.inf)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Over folds and repeats, and the spread of accuracy over them."""
        table = self.fits.assign(spread=self.fits["accuracy"])
        how = dict.fromkeys((measure.name for measure in MEASURES), "mean")
        # the first fit may compile
        how |= {"seconds": "median", "spread": "std"}
        return table.groupby(CELL, sort=False).agg(how).reset_index()

    @cached_property
    def _folds(self) -> dict[tuple[str, str, str, float], pd.DataFrame]:
        """The measures of a cell, by repeat and fold."""
        return {
            cell: group.set_index(["repeat", "fold"])
            for cell, group in self.fits.groupby(CELL, sort=False)
        }

    def best(self, measure: Measure = ACCURACY) -> pd.DataFrame:
        """One line per data set, learner and epsilon: that of the view with the better mean."""
        signed = measure.sign * self.means[measure.name]
        cells = [self.means[name] for name in ("data", "learner", "epsilon")]
        chosen = self.means.loc[signed.groupby(cells, sort=False).idxmax()]
        return chosen.set_index(["data", "learner", "epsilon"])

    def value(
        self, data: str, learner: str, epsilon: float = math.inf, measure: Measure = ACCURACY
    ) -> float:
        """The figure of a contestant in a cell with its better view, NaN where there is none."""
        table = self.means
        here = (table.data == data) & (table.epsilon == epsilon) & (table.learner == learner)
        return float(measure.sign * (measure.sign * table.loc[here, measure.name]).max())

    def best_peer(
        self,
        data: str,
        epsilon: float,
        measure: Measure = ACCURACY,
        peers: Iterable[str] = PEERS,
    ) -> float:
        """The best of the peers in a cell, NaN where there is none."""
        values = pd.Series([self.value(data, peer, epsilon, measure) for peer in peers])
        return float(measure.sign * (measure.sign * values).max())

    def way(self, data: str, figure: float, measure: Measure = ACCURACY) -> float:
        """How much of the way from majority to gradient boosting a figure is; NaN where there is no
        way to go.
        """
        floor, ceiling = (self.value(data, end, measure=measure) for end in (FLOOR, CEILING))
        if not measure.sign * (ceiling - floor) > 0:
            return math.nan
        return (figure - floor) / (ceiling - floor)

    def duels(self, learner: str, measure: Measure, peers: Iterable[str] = PEERS) -> Iterator[Duel]:
        """Every cell that ours and a peer have, against the best of the peers, each with its better
        view by this very measure.
        """
        best = self.best(measure)
        peers = list(peers)
        for data, name, epsilon in best.index:
            theirs = {
                peer: best.loc[(data, peer, epsilon)]
                for peer in peers
                if (data, peer, epsilon) in best.index
            }
            if name != learner or not theirs:
                continue
            peer = max(theirs, key=lambda each: measure.sign * theirs[each][measure.name])
            ours = self._folds[data, learner, "", epsilon][measure.name]
            other = self._folds[data, peer, theirs[peer]["view"], epsilon][measure.name]
            differences = measure.sign * (ours - other).dropna()
            yield Duel(
                data,
                epsilon,
                measure,
                learner,
                peer,
                float(ours.mean()),
                float(other.mean()),
                float(differences.mean()),
                margin(differences.to_numpy()),
            )


def margin(differences: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """Return half of the 95% interval of a mean by Student's distribution; infinite for one."""
    count = len(differences)
    if count < 2:
        return math.inf
    error = float(differences.std(ddof=1)) / math.sqrt(count)
    return float(t.ppf((1 + CONFIDENCE) / 2, count - 1)) * error


def tally(duels: Iterable[Duel]) -> tuple[int, int, int]:
    """Wins, ties and losses."""
    outcomes = [duel.outcome for duel in duels]
    return outcomes.count(1), outcomes.count(0), outcomes.count(-1)
