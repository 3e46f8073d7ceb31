"""Hold what an adversary believes after the attack, and the true values to compare it with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet._validate import check_integer
from privet.errors import ParameterError
from privet.outsource.attack.groups import CandidateGroups, mix_bits

ModelName = Literal["logistic", "naive-bayes"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """For each row the probability of each value of its group.

    Args:
        groups: the candidates: each row with each value of its group.
        probability: of each candidate, in the order of ``groups.row`` and ``groups.value``.
        model: what was learnt about people with a value.
        known: the rows whose value the adversary knew beforehand.
        rounds: how often the model was learnt again.
        converged: whether naive Bayes had come to rest.
        objective: the log likelihood after each round of naive Bayes, with the log density of its
            prior.
        exact: whether every group was small enough to count all its matchings in every round.
    """

    groups: CandidateGroups
    probability: Floats
    model: ModelName
    known: Ints
    rounds: int
    converged: bool
    objective: tuple[float, ...]
    exact: bool

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """Values whose names the two tables do not tell apart: only an adversary who knows somebody
        can.
        """
        return self.groups.alike

    @cached_property
    def best(self) -> Ints:
        """The most likely value of each row; the smallest code where several are equally likely."""
        return self.groups.value[self._best_candidate]

    @cached_property
    def best_probability(self) -> Floats:
        """The probability of that value."""
        return self.probability[self._best_candidate]

    def of(self, row: int) -> dict[int, float]:
        """Return the values that a row may have, with their probabilities."""
        mine = np.flatnonzero(self.groups.row == row)
        return dict(
            zip(self.groups.value[mine].tolist(), self.probability[mine].tolist(), strict=True)
        )

    def of_values(self, values: npt.NDArray[np.integer]) -> Ints:
        """Return the candidate of each row that has this value.

        It is -1 where the row's group does not hold the value.
        """
        candidates = np.full(self.groups.n_rows, -1, dtype=np.int64)
        hits = np.flatnonzero(self.groups.value == values[self.groups.row])
        candidates[self.groups.row[hits]] = hits
        return candidates

    @cached_property
    def _best_candidate(self) -> Ints:
        order = np.lexsort((self.groups.value, -self.probability, self.groups.row))
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.diff(self.groups.row[order]) > 0
        return order[first]


# The true values, which only the owner has, and people whose values an adversary may know.


def check_truth(posterior: Posterior, truth: npt.ArrayLike) -> Ints:
    """Return the true value code of each row, or raise unless each is in the group of its row."""
    values = np.asarray(truth)
    if values.ndim != 1 or values.dtype.kind not in "iu" or len(values) != posterior.groups.n_rows:
        raise ParameterError(f"truth must be one column of {posterior.groups.n_rows} value codes")
    values = values.astype(np.int64)
    if (posterior.of_values(values) < 0).any():
        raise ParameterError("truth must give every row a value that its group holds")
    return values


def acquaintances(truth: npt.ArrayLike, how_many: int) -> dict[int, int]:
    """Return the true values of a few people, by position: what an adversary may know beforehand.

    Who they are is a public function of position.
    """
    values = np.asarray(truth)
    check_integer("how_many", how_many, 0, len(values), owner="acquaintances")
    rows = np.argsort(mix_bits(np.arange(len(values), dtype=np.uint64)), kind="stable")[:how_many]
    return {int(row): int(values[row]) for row in rows}


# Confidence intervals of shares, when people of one group are right or wrong together.


def wilson(share: float, n: float, *, deviations: float = 1.96) -> tuple[float, float]:
    """Return the confidence interval of Wilson (1927) around a share of ``n`` independent trials.

    It holds 19 times in 20 for 1.96 standard deviations.
    """
    square = deviations**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = deviations / (1 + square / n) * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return min(low, share), max(high, share)  # at 0 and 1 they meet, but for rounding


def independent_trials(right: Floats, group: Ints) -> float:
    """Return how many independent trials the rows count as.

    In a pair both guesses are right or both wrong, so n rows are n/2 trials. In general the
    variance of the share is estimated from sums by group (Kish 1965, the design effect), and n is
    what gives independent trials that variance. It is never more than the rows, and the number of
    groups where all guesses are the same.
    """
    share, n_rows = float(right.mean()), len(right)
    size = np.bincount(group)
    sums = np.bincount(group, weights=right)[size > 0]
    size = size[size > 0]
    n_groups = len(size)
    if n_groups == 1:
        return 1.0
    variance = float(((sums - share * size) ** 2).sum()) / n_rows**2 * n_groups / (n_groups - 1)
    if variance == 0 or share in (0.0, 1.0):
        return float(n_groups)
    return min(max(share * (1 - share) / variance, 1.0), float(n_rows))
