"""Model how a person's public attributes depend on the sensitive value: two adversaries.

- :class:`NaiveBayes`: given the sensitive value, the identifying attributes are independent.
- :class:`Logistic`: logistic regression. Attributes that say the same are not counted twice, as
  naive Bayes would.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.outsource.attack.groups import CodedTable, mix_bits


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """The estimates log P(code

    value) for each column.

    Args:
        tables: for each column the logarithms, by code and value.
        penalty: log density of the Dirichlet prior up to a constant; with the log likelihood it is
            what EM climbs.
    """

    tables: tuple[Floats, ...]
    penalty: float

    def weights(self, table: CodedTable, row: Ints, value: Ints) -> Floats:
        """Return log P(x_r

        v) for each pair of a row and a value.
        """
        total = np.zeros(len(row))
        for column, logs in zip(table.columns, self.tables, strict=True):
            total += logs.ravel()[column[row] * np.int64(logs.shape[1]) + value]
        return total

    def swapped(self, one: int, other: int) -> NaiveBayes:
        """Return the same model with the names of two values exchanged."""
        order = np.arange(self.tables[0].shape[1])
        order[[one, other]] = order[[other, one]]
        return NaiveBayes(tuple(logs[:, order] for logs in self.tables), self.penalty)


def fit_naive_bayes(
    table: CodedTable,
    row: Ints,
    value: Ints,
    share: Floats,
    n_values: int,
    *,
    smoothing: float = 1.0,
) -> NaiveBayes:
    """Fit naive Bayes to pairs of a row and a value, each counted by its share.

    ``smoothing`` is added to every count.
    """
    tables, penalty = [], 0.0
    for column, size in zip(table.columns, table.sizes, strict=True):
        place = column[row] * np.int64(n_values) + value
        counts = (
            np.bincount(place, weights=share, minlength=size * n_values).reshape(size, n_values)
            + smoothing
        )
        logs = np.log(counts) - np.log(counts.sum(axis=0))
        tables.append(logs)
        penalty += smoothing * float(logs.sum())
    return NaiveBayes(tuple(tables), penalty)


# Logistic regression gives P(v | x); divided by P(v) that is P(x | v) up to a factor of the row,
# and such a factor cancels inside a group.

#: Rows that are learnt from at most, and rows that are looked at together.
MAX_ROWS, _ROWS_AT_ONCE = 50_000, 50_000
#: More regularisation, round after round, would shrink what is known of small tables to nothing.
_STRENGTH, _STEPS, _LEAST_SHARE = 0.3, 100, 1e-3


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted regression, with the share that each value had."""

    encoder: Any
    regression: Any
    log_share: Floats

    def weights(self, table: CodedTable, row: Ints, value: Ints) -> Floats:
        """Return log P(v

        x_r) - log P(v) for each pair of a row and a value.

        It is 0 for a value that was never seen.
        """
        weights = np.empty(len(row))
        for start in range(0, len(row), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            rows, place = np.unique(row[part], return_inverse=True)
            gain = np.zeros((len(rows), len(self.log_share)))
            seen = self.regression.classes_
            gain[:, seen] = (
                self.regression.predict_log_proba(
                    self.encoder.transform(_stack_columns(table, rows))
                )
                - self.log_share[seen]
            )
            weights[part] = gain[place, value[part]]
        return weights


def fit_logistic(
    table: CodedTable, row: Ints, value: Ints, share: Floats, n_values: int
) -> Logistic | None:
    """Fit on pairs of a row and a value, each counted by its share, of at most ``MAX_ROWS`` rows.

    Returns None where all have one value.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import OneHotEncoder

    keep = share > _LEAST_SHARE
    if table.n_rows > MAX_ROWS:  # which rows: a public scrambling of their positions
        keep &= mix_bits(row.astype(np.uint64)) < np.uint64(MAX_ROWS / table.n_rows * 2**64)
    row, value, share = row[keep], value[keep], share[keep]
    counts = np.bincount(value, weights=share, minlength=n_values)
    if (counts > 0).sum() < 2:
        return None
    encoder = OneHotEncoder(categories=[np.arange(size) for size in table.sizes])
    rows, place = np.unique(row, return_inverse=True)
    known = encoder.fit_transform(_stack_columns(table, rows))
    with warnings.catch_warnings():
        # the next round goes on from better shares anyway
        warnings.simplefilter("ignore", ConvergenceWarning)
        regression = LogisticRegression(C=_STRENGTH, max_iter=_STEPS).fit(
            known[place], value, sample_weight=share
        )
    with np.errstate(divide="ignore"):
        return Logistic(encoder, regression, np.log(counts / counts.sum()))


def _stack_columns(table: CodedTable, rows: Ints) -> npt.NDArray[np.int64]:
    return np.stack([column[rows].astype(np.int64) for column in table.columns], axis=1)
