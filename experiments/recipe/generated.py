"""Generated tables, of kinds that collections of real ones have few of: additive, deep, wide, rare
classes, interactions.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from privet._types import Floats

#: Numbers are cut into these letters where an attribute is categorical.
EDGES, LETTERS = (-np.inf, -1, -0.3, 0.3, 1, np.inf), "abcde"


class Generated(NamedTuple):
    """How a table is generated: scores of classes from normal attributes."""

    rows: int
    attributes: int
    #: The first so many attributes are categorical.
    categorical: int
    #: Log-odds of the second of two classes, or one column of scores for each class; the second
    #: argument is a matrix of normal coefficients.
    score: Callable[[Floats, Floats], Floats]


def _deep(x: Floats, _: Floats) -> Floats:
    right = np.where(x[:, 1] > 0.4, np.where(x[:, 2] > 0, 1, -1), np.where(x[:, 3] > -0.5, -1, 1))
    left = np.where(x[:, 4] > 0, np.where(x[:, 5] > 0.2, 1, -1), np.where(x[:, 1] > 0, -1, 0.3))
    return 2.2 * np.where(x[:, 0] > 0, right, left)


GENERATED = {
    "additive": Generated(
        60_000, 10, 3, lambda x, b: 0.5 * x @ b[:, 0] + np.sin(3 * x[:, 0]) + (x[:, 1] > 0.5)
    ),
    "additive, rare": Generated(60_000, 10, 3, lambda x, b: 0.5 * x @ b[:, 0] - 3.4),
    "pairs": Generated(
        60_000,
        8,
        2,
        lambda x, _: (
            1.5 * np.sign(x[:, 0] * x[:, 1])
            + 1.2 * np.sign(x[:, 2] - x[:, 3])
            + 0.5 * x[:, 4]
            - 0.6
        ),
    ),
    "deep": Generated(60_000, 7, 2, _deep),
    "wide": Generated(
        8000, 60, 20, lambda x, _: 1.2 * x[:, 0] + 0.9 * (x[:, 1] > 0) - 0.8 * x[:, 2] - 0.4
    ),
    "steps, rare": Generated(
        30_000,
        12,
        4,
        lambda x, _: -3.9 + 2.2 * (x[:, 0] > 0.7) + 1.5 * (x[:, 1] > 0) * (x[:, 2] > 0),
    ),
    "weak": Generated(40_000, 12, 6, lambda x, b: 0.25 * x @ b[:, 0] - 0.8),
    "five classes": Generated(40_000, 9, 3, lambda x, b: 1.3 * x @ b[:, :5]),
    "three classes": Generated(
        40_000,
        6,
        2,
        lambda x, _: np.stack(
            [x[:, 0], 1.2 * (x[:, 1] > 0) - 0.3, -0.8 * x[:, 2] * x[:, 0]], axis=1
        ),
    ),
}


def generate(name: str) -> pd.DataFrame:
    """Return a generated table, the same every time; its last column is ``class``."""
    kind = GENERATED[name]
    random = np.random.default_rng(zlib.crc32(name.encode()))
    x = random.normal(size=(kind.rows, kind.attributes)).round(3)
    scores = kind.score(x, random.normal(size=(kind.attributes, 5)))
    if scores.ndim == 1:
        scores = np.stack([np.zeros(kind.rows), scores], axis=1)
    classes = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    table = pd.DataFrame(x, columns=[f"x{number}" for number in range(kind.attributes)])
    for column in table.columns[: kind.categorical]:
        table[column] = pd.cut(table[column], EDGES, labels=list(LETTERS)).astype(str)
    return table.assign(**{"class": [f"c{label}" for label in classes]})
