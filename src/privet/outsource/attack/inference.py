"""Attack a split: learn who has which value from groups alone, by expectation maximisation.

Kifer (SIGMOD 2009) showed that the groups of an anatomized table teach how sensitive values go with
what identifies people, and that this lets an adversary do better than one l-th. Here the
expectation is over the matchings inside groups, and the maximisation is naive Bayes with a
Dirichlet prior, followed by a few rounds of logistic regression where asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import get_args

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet._validate import check_integer, check_name
from privet.domain import Schema
from privet.errors import ParameterError
from privet.outsource.attack.adversaries import NaiveBayes, fit_logistic, fit_naive_bayes
from privet.outsource.attack.groups import (
    CandidateGroups,
    CodedTable,
    make_groups,
    make_table,
    mix_bits,
)
from privet.outsource.attack.matching import MAX_STATES, MAX_STATES_AT_LAST, match_all, n_states
from privet.outsource.attack.posterior import ModelName, Posterior

_STARTS, _FIRST_ROUNDS = 4, 25
_REFINEMENTS = 3
_NAMED_VALUES, _RENAMINGS = 6, 6
_IMPOSSIBLE = -1e4  # finite, so that differences of logarithms stay numbers


def attack(
    schema: Schema,
    codes: Sequence[npt.ArrayLike],
    classes: npt.ArrayLike,
    row_gid: npt.ArrayLike,
    st_values: npt.ArrayLike,
    st_gid: npt.ArrayLike,
    n_values: int,
    *,
    known: Mapping[int, int] | None = None,
    model: ModelName = "logistic",
    smoothing: float = 1.0,
    max_rounds: int = 300,
    tolerance: float = 1e-5,
) -> Posterior:
    """Return what an adversary with both tables and without the key believes about each row.

    Nothing random is drawn: the same tables give the same answer.

    Args:
        schema: of the identifier table: its attributes and its class.
        codes: a column of codes for each attribute; the code past the end of a domain is one more
            value.
        classes: the column of class codes.
        row_gid: the group of each row.
        st_values, st_gid: the value code and the group of each entry of the sensitive table. A
            group may have more entries than rows.
        n_values: the size of the sensitive domain.
        known: values of a few people that the adversary knows beforehand, by position of the row.
        model: ``"naive-bayes"`` as Kifer has it, or ``"logistic"``: three more rounds, which are
            better calibrated.
        smoothing: what the Dirichlet prior adds to every count.
        max_rounds, tolerance: naive Bayes ends when the root mean square change of the
            probabilities is below the tolerance.
    """
    check_integer("n_values", n_values, 1, owner="attack")
    check_name("model", model, get_args(ModelName), owner="attack")
    if not smoothing > 0:
        raise ParameterError(f"attack: smoothing must be above zero, got {smoothing!r}")
    table = make_table(schema, codes, classes)
    groups = make_groups(row_gid, st_values, st_gid, n_values)
    if table.n_rows != groups.n_rows:
        raise ParameterError(
            f"attack: row_gid must be as long as the columns, {table.n_rows} rows; got "
            f"{groups.n_rows}"
        )
    climb = _Climb(
        table, groups, _rule_out_known(groups, known or {}), smoothing, max_rounds, tolerance
    )
    share = climb.named(climb.best_start())
    rounds, exact = (
        len(climb.objective),
        all(n_states(block.counts) <= MAX_STATES for block in groups),
    )
    weights = climb.learn(share).weights(table, groups.row, groups.value)
    if model == "logistic":
        weights, share, more = _refine_with_regression(climb, weights, share)
        rounds += more
    if not exact:
        share, _ = climb.match_shares(weights, max_states=MAX_STATES_AT_LAST)
    return Posterior(
        groups=groups,
        probability=share,
        model=model,
        known=np.array(sorted(known or {}), dtype=np.int64),
        rounds=rounds,
        converged=climb.converged,
        objective=tuple(climb.objective),
        exact=exact,
    )


class _Climb:
    """Expectation maximisation with naive Bayes: what is climbed, and how far it has come."""

    def __init__(
        self,
        table: CodedTable,
        groups: CandidateGroups,
        ruled_out: Floats | None,
        smoothing: float,
        max_rounds: int,
        tolerance: float,
    ) -> None:
        self.table, self.groups, self.ruled_out = table, groups, ruled_out
        self.smoothing, self.max_rounds, self.tolerance = smoothing, max_rounds, tolerance
        self.objective: list[float] = []
        self.converged = False

    def learn(self, share: Floats) -> NaiveBayes:
        """The model that fits these shares best."""
        return fit_naive_bayes(
            self.table,
            self.groups.row,
            self.groups.value,
            share,
            self.groups.n_values,
            smoothing=self.smoothing,
        )

    def expect(self, model: NaiveBayes) -> tuple[Floats, float]:
        """The shares under a model, and how well it explains the tables."""
        share, total = self.match_shares(
            model.weights(self.table, self.groups.row, self.groups.value)
        )
        return share, total + model.penalty

    def match_shares(
        self, weights: Floats, *, max_states: int = MAX_STATES
    ) -> tuple[Floats, float]:
        """The shares under these weights and what is known."""
        return match_all(
            self.groups,
            weights if self.ruled_out is None else weights + self.ruled_out,
            max_states=max_states,
        )

    def climb_from(self, share: Floats, max_rounds: int | None = None) -> Floats:
        """Learn and expect in turn until the shares rest."""
        self.objective, self.converged = [], False
        while not self.converged and len(self.objective) < (
            self.max_rounds if max_rounds is None else max_rounds
        ):
            after, reached = self.expect(self.learn(share))
            self.converged = bool(np.sqrt(np.mean((after - share) ** 2)) < self.tolerance)
            share = after
            self.objective.append(reached)
        return share

    def best_start(self) -> Floats:
        """Start from the frequencies in the groups; where these tell some values not apart, from a
        few tilted ones.
        """
        if not self.groups.alike:
            return self.climb_from(self.groups.frequency)
        best, reached = self.groups.frequency, -np.inf
        for salt in range(_STARTS):
            share = self.climb_from(
                _tilt_frequencies(self.table, self.groups, salt),
                min(_FIRST_ROUNDS, self.max_rounds),
            )
            if self.objective[-1] - 1e-6 * abs(self.objective[-1]) > reached:
                best, reached = share, self.objective[-1]
        return self.climb_from(best)

    def named(self, share: Floats) -> Floats:
        """Exchange the names of two values as long as that explains the tables better, and climb on
        from there.

        A model may have found the right people and the wrong names: a hill of its own, with a
        valley between.
        """
        for _ in range(_RENAMINGS):
            model, best, reached = self.learn(share), None, self.objective[-1]
            for one, other in self._worth_exchanging():
                other_share, objective = self.expect(model.swapped(one, other))
                if objective > reached + 1e-9 * abs(reached):
                    best, reached = other_share, objective
            if best is None:
                return share
            share = self.climb_from(best)
        return share

    def _worth_exchanging(self) -> list[tuple[int, int]]:
        """Pairs of frequent values and of values that are alike; the latter only where known people
        can tell.
        """
        often = np.argsort(-self.groups.entries, kind="stable")[:_NAMED_VALUES]
        alike = [value for values in self.groups.alike for value in values][:_NAMED_VALUES]
        values = dict.fromkeys(
            [*(int(value) for value in often if self.groups.entries[value]), *alike]
        )
        same = (
            {pair for values in self.groups.alike for pair in combinations(sorted(values), 2)}
            if self.ruled_out is None
            else set()
        )
        return [pair for pair in combinations(sorted(values), 2) if pair not in same]


def _refine_with_regression(
    climb: _Climb, weights: Floats, share: Floats
) -> tuple[Floats, Floats, int]:
    """A few more rounds with logistic regression: weights, shares, and how many rounds. Few: each
    shrinks what is known a little.
    """
    groups = climb.groups
    for done in range(_REFINEMENTS):
        model = fit_logistic(climb.table, groups.row, groups.value, share, groups.n_values)
        if model is None:
            return weights, share, done
        weights = model.weights(climb.table, groups.row, groups.value)
        share, _ = climb.match_shares(weights)
    return weights, share, _REFINEMENTS


def _tilt_frequencies(table: CodedTable, groups: CandidateGroups, salt: int) -> Floats:
    """Frequencies that lean: rows on one side of a public direction a little more towards the first
    of values that are alike.
    """
    side = np.zeros(table.n_rows)
    for number, (column, size) in enumerate(zip(table.columns, table.sizes, strict=True)):
        keys = np.arange(size, dtype=np.uint64) + np.uint64((salt * 1024 + number) << 32)
        side += (mix_bits(keys) / 2.0**63 - 1.0)[column]
    side -= (np.bincount(groups.group, weights=side) / np.bincount(groups.group))[groups.group]
    lean = np.zeros(groups.n_values)
    for values in groups.alike:
        lean[list(values)] = np.linspace(-1, 1, len(values))
    return groups.frequency * (1 + 0.5 * np.tanh(side)[groups.row] * lean[groups.value])


def _rule_out_known(groups: CandidateGroups, known: Mapping[int, int]) -> Floats | None:
    """What known people add to the weights: next to nothing is left of their other values."""
    if not known:
        return None
    values = np.full(groups.n_rows, -1, dtype=np.int64)
    for row, value in known.items():
        if not 0 <= row < groups.n_rows:
            raise ParameterError(
                f"attack: known must be positions of rows from 0 to below {groups.n_rows}, got "
                f"{row!r}"
            )
        values[row] = value
    theirs = values[groups.row]
    fits: Ints = np.bincount(
        groups.row, weights=theirs == groups.value, minlength=groups.n_rows
    ).astype(np.int64)
    if (fits[sorted(known)] != 1).any():
        raise ParameterError("attack: known must give every row a value that its group holds")
    return np.where((theirs >= 0) & (theirs != groups.value), _IMPOSSIBLE, 0.0)
