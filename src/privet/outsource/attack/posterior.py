"""What an adversary believes after the attack."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.outsource.attack.groups import CandidateGroups
from privet.typed import Floats, Ints

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
        """The values that a row may have, with their probabilities."""
        mine = np.flatnonzero(self.groups.row == row)
        return dict(
            zip(self.groups.value[mine].tolist(), self.probability[mine].tolist(), strict=True)
        )

    def of_values(self, values: npt.NDArray[np.integer]) -> Ints:
        """The candidate of each row that has this value; -1 where its group does not hold it."""
        found = np.full(self.groups.n_rows, -1, dtype=np.int64)
        hits = np.flatnonzero(self.groups.value == values[self.groups.row])
        found[self.groups.row[hits]] = hits
        return found

    @cached_property
    def _best_candidate(self) -> Ints:
        order = np.lexsort((self.groups.value, -self.probability, self.groups.row))
        first = np.ones(len(order), dtype=bool)
        first[1:] = np.diff(self.groups.row[order]) > 0
        return order[first]
