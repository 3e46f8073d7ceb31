"""Exact tables from exact counts and rows, inside the boundary: nothing in here leaves it
unnoised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from privet.cells import Split
from privet.counts.base import Rows
from privet.curator.score import RowScore
from privet.model import Model


def confusion(model: Model, rows: Iterable[Rows]) -> npt.NDArray[np.int64]:
    n_classes = model.schema.n_classes
    matrix = np.zeros((n_classes, n_classes), dtype=np.int64)
    for codes, classes, weights in rows:
        predicted = model.probabilities(list(codes)).argmax(axis=1)
        np.add.at(matrix, (classes.astype(np.int64), predicted), weights if len(weights) else 1)
    return matrix


def scored(table: npt.NDArray[np.int64], score: RowScore | None) -> npt.NDArray[np.int64]:
    """The count table itself, or the sum of the scores of the rows in each cell."""
    if score is None:
        return table
    return np.asarray((table * score.table).sum(axis=tuple(range(1, table.ndim))))


def children(table: npt.NDArray[np.int64], split: Split) -> npt.NDArray[np.int64]:
    """Child-by-class counts of each cell from its value-by-class counts."""
    out = np.zeros((table.shape[0], split.n_children, table.shape[2]), dtype=np.int64)
    for code, child in enumerate(split.branch):
        out[:, child] += table[:, code]
    return out


def distances(
    tables: Sequence[npt.NDArray[np.int64]],
    expected: Sequence[npt.NDArray[np.int64]],
    handicaps: Sequence[int],
) -> list[int]:
    """How far each count table is from what is expected of it, in all, less its handicap."""
    return [
        int(np.abs(table - public).sum()) - less
        for table, public, less in zip(tables, expected, handicaps, strict=True)
    ]


def perturbed(
    tables: Sequence[npt.NDArray[np.int64]],
    add_noise: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]],
) -> tuple[npt.NDArray[np.int64], ...]:
    """All tables through a mechanism at once, in the shapes they had."""
    noisy = add_noise(np.concatenate([table.reshape(-1) for table in tables]))
    parts = np.split(noisy, np.cumsum([table.size for table in tables])[:-1])
    return tuple(part.reshape(table.shape) for part, table in zip(parts, tables, strict=True))
