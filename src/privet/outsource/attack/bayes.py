"""Naive Bayes: given the sensitive value, what identifies a person is drawn attribute by
attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet.outsource.attack.table import CodedTable
from privet.typed import Floats, Ints


@dataclass(frozen=True, eq=False)
class NaiveBayes:
    """log P(code | value) for each column.

    Args:
        tables: for each column the logarithms, by code and value.
        penalty: log density of the Dirichlet prior up to a constant; with the log likelihood it is
            what EM climbs.
    """

    tables: tuple[Floats, ...]
    penalty: float

    def weights(self, table: CodedTable, row: Ints, value: Ints) -> Floats:
        """log P(x_r | v) for each pair of a row and a value."""
        total = np.zeros(len(row))
        for column, logs in zip(table.columns, self.tables, strict=True):
            total += logs.ravel()[column[row] * np.int64(logs.shape[1]) + value]
        return total

    def swapped(self, one: int, other: int) -> NaiveBayes:
        """The same model with the names of two values exchanged."""
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
    """Estimate from pairs of a row and a value, each counted by its share. ``smoothing`` is added
    to every count.
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
