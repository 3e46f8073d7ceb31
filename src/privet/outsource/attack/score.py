"""Score an attack, for the owner who has the true values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet._validate import check_integer
from privet.errors import ParameterError
from privet.outsource.attack.groups import CandidateGroups
from privet.outsource.attack.population import Population
from privet.outsource.attack.posterior import (
    ModelName,
    Posterior,
    check_truth,
    independent_trials,
    wilson,
)

CONFIDENT = 0.9
_BINS, _WORST, _LEAST = 20, 10, 2.0**-40


@dataclass(frozen=True)
class Claims:
    """Guesses with a probability from ``low`` to below ``high``, and how many are right.

    Also how many there are, and what they claim on average.
    """

    low: float
    high: float
    guesses: int
    claimed: float | None
    right: float | None


@dataclass(frozen=True)
class Score:
    """What an adversary learns from a split. For the owner: all of it depends on true values.

    Args:
        n_rows: the rows that were scored. Whoever shares a group with a known person is left out.
        n_groups: their groups.
        l: of the split.
        bound: one l-th, the most that l-diversity lets the group alone tell.
        model: what the adversary learnt with.
        known: how many people the adversary knew beforehand.
        exact: whether all matchings were counted; else large groups were balanced, an
            approximation.
        converged: whether naive Bayes had come to rest.
        accuracy: the share of rows whose best guess is right.
        interval: 19 in 20 for that accuracy (Wilson 1927).
        trials: as how many independent guesses the rows count for it: those of one group are right
            or wrong together.
        random_guess: the expected accuracy of drawing an entry of the group.
        frequent_guess: the expected accuracy of the group's most frequent value.
        renamed: the accuracy if the names of values were exchanged in favour of the adversary. Much
            more than the accuracy means that people were told apart, but not which value is which:
            knowing a few people settles that.
        names_open: whether the tables leave the names of some values open, so that without known
            people they were guessed.
        above_bound: the share of people whose true value got a probability of more than one l-th.
        at_least_half: the same for at least 0.5.
        at_least_confident: the same for at least 0.9: confident and right. These people are
            exposed.
        confident: the share of guesses that claim at least 0.9.
        confident_right: the share of those that are right; None without any.
        bits: the mean of log2 of the true value's probability over its frequency in the group;
            above 0 the adversary has learnt. Below 0 the adversary was confident and wrong too
            often. A probability counts as at least 2**-40.
        calibration: guesses by probability, in 10 bins.
        histogram: rows by the probability of their true value, in 20 bins from 0 to 1.
        worst: the positions of up to 10 rows whose true value got the highest probability.
        population: what is possible without the groups, if it was computed.
    """

    n_rows: int
    n_groups: int
    l: int  # noqa: E741 - its name everywhere
    bound: float
    model: ModelName
    known: int
    exact: bool
    converged: bool
    accuracy: float
    interval: tuple[float, float]
    trials: float
    random_guess: float
    frequent_guess: float
    renamed: float
    names_open: bool
    above_bound: float
    at_least_half: float
    at_least_confident: float
    confident: float
    confident_right: float | None
    bits: float
    calibration: tuple[Claims, ...]
    histogram: tuple[int, ...]
    worst: tuple[int, ...]
    population: Population | None = None

    @property
    def learns(self) -> bool:
        """Whether the accuracy is significantly above both guesses that need no attack.

        Where the names of values are open, the accuracy counts with the names in favour of the
        adversary.
        """
        low = wilson(self.renamed, self.trials)[0] if self.names_open else self.interval[0]
        return low > max(self.random_guess, self.frequent_guess)

    def to_json(self) -> dict[str, Any]:
        """Return all numbers as JSON."""
        return {"privet": "attack", "version": 1, **asdict(self), "learns": self.learns}


def score(
    posterior: Posterior,
    truth: npt.ArrayLike,
    *,
    l: int | None = None,  # noqa: E741
    population: Population | None = None,
) -> Score:
    """Compare what an adversary believes with the true value of each row.

    Args:
        posterior: of :func:`~privet.outsource.attack.attack`.
        truth: the true value code of each row.
        l: of the split; by default the largest that the groups satisfy.
        population: of :func:`~privet.outsource.attack.population`, to be shown beside.
    """
    groups = posterior.groups
    if l is not None:
        check_integer("l", l, 1, owner="score")
    values = check_truth(posterior, truth)
    rows = np.flatnonzero(~np.isin(groups.group, groups.group[posterior.known]))
    if not len(rows):
        raise ParameterError("score: known must leave at least one group without a known person")
    true_ = posterior.of_values(values)[rows]
    given, frequency = posterior.probability[true_], groups.frequency[true_]
    claimed, right = (
        posterior.best_probability[rows],
        (posterior.best == values)[rows].astype(float),
    )
    sure, accuracy, trials = (
        claimed >= CONFIDENT,
        float(right.mean()),
        independent_trials(right, groups.group[rows]),
    )
    bound = 1 / (groups.l if l is None else l)
    return Score(
        n_rows=len(rows),
        n_groups=len(np.unique(groups.group[rows])),
        l=groups.l if l is None else l,
        bound=bound,
        model=posterior.model,
        known=len(posterior.known),
        exact=posterior.exact,
        converged=posterior.converged,
        accuracy=accuracy,
        interval=wilson(accuracy, trials),
        trials=trials,
        random_guess=float(frequency.mean()),
        frequent_guess=_frequent_guess(groups, true_, rows),
        renamed=_score_renamed(posterior.best[rows], values[rows]),
        names_open=bool(posterior.alike) and not len(posterior.known),
        above_bound=float((given > bound + 1e-9).mean()),
        at_least_half=float((given >= 0.5).mean()),
        at_least_confident=float((given >= CONFIDENT).mean()),
        confident=float(sure.mean()),
        confident_right=float(right[sure].mean()) if sure.any() else None,
        bits=float(np.log2(np.maximum(given, _LEAST) / frequency).mean()),
        calibration=_calibration(claimed, right),
        histogram=tuple(np.histogram(given, bins=_BINS, range=(0, 1))[0].tolist()),
        worst=tuple(rows[np.argsort(-given, kind="stable")[:_WORST]].tolist()),
        population=population,
    )


def _frequent_guess(groups: CandidateGroups, true_: Ints, rows: Ints) -> float:
    """A group may have several most frequent values; one of them is drawn."""
    most = np.zeros(groups.n_rows)
    np.maximum.at(most, groups.row, groups.frequency)
    top = groups.frequency >= most[groups.row] - 1e-12
    n_top = np.bincount(groups.row, weights=top, minlength=groups.n_rows)
    return float((top[true_] / n_top[rows]).mean())


def _calibration(claimed: Floats, right: Floats) -> tuple[Claims, ...]:
    bins, edges = np.minimum((claimed * 10).astype(int), 9), np.linspace(0, 1, 11).round(1).tolist()
    table = []
    for number in range(10):
        mine = bins == number
        means = (
            (float(claimed[mine].mean()), float(right[mine].mean())) if mine.any() else (None, None)
        )
        table.append(Claims(edges[number], edges[number + 1], int(mine.sum()), *means))
    return tuple(table)


def _score_renamed(best: Ints, values: Ints) -> float:
    """The accuracy after exchanging names two at a time, as long as that makes more guesses
    right.
    """
    used = np.unique(np.concatenate([best, values]))
    table = np.zeros((len(used), len(used)), dtype=np.int64)
    np.add.at(table, (np.searchsorted(used, best), np.searchsorted(used, values)), 1)
    while True:
        own = np.diag(table)
        gain = table + table.T - own[:, None] - own[None, :]
        one, other = np.unravel_index(int(gain.argmax()), gain.shape)
        if gain[one, other] <= 0:
            return float(np.trace(table) / len(best))
        table[[one, other]] = table[[other, one]]
