"""Logistic regression: attributes that say the same are not counted twice, as naive Bayes would.

It gives P(v | x); divided by P(v) that is P(x | v) up to a factor of the row, and such a factor
cancels inside a group.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.outsource.attack.groups import mix_bits
from privet.outsource.attack.table import CodedTable
from privet.typed import Floats, Ints

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
        """log P(v | x_r) - log P(v) for each pair of a row and a value; 0 for a value that was
        never seen.
        """
        found = np.empty(len(row))
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
            found[part] = gain[place, value[part]]
        return found


def fit_logistic(
    table: CodedTable, row: Ints, value: Ints, share: Floats, n_values: int
) -> Logistic | None:
    """Fit on pairs of a row and a value, each counted by its share, of at most ``MAX_ROWS`` rows.
    None where all have one value.
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
