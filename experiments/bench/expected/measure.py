"""Accuracy of learners that got some rows of a public table, on rows that they did not get."""

from __future__ import annotations

import math
import warnings
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import privet as pv
from experiments.bench.expected.tables import Use, use_of
from privet.datasets import Dataset
from privet.errors import NoiseWarning, PrivacyWarning

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, math.inf)
LEARNERS = {
    "privet": pv.PrivetClassifier,
    "greedy-tree": pv.GreedyTreeClassifier,
    "random-trees": pv.RandomTreesClassifier,
}
#: Learnt from: at least so many rows, at most this share of a table and so many rows.
LEAST_ROWS, TRAINING_SHARE, MOST_ROWS = 150, 0.75, 10_000
#: At most so many of the other rows are classified.
MOST_TESTED = 5000


class Run(NamedTuple):
    """One fit of one learner. ``majority`` is the accuracy of always answering the class that most
    of the rows learnt from have; ``tested`` is how many rows both are from.
    """

    data: str
    use: Use
    attributes: int
    classes: int
    rows: int
    tested: int
    learner: str
    epsilon: float
    accuracy: float
    majority: float


def choose_rows(data: Dataset, repeat: int) -> int:
    """Return how many rows to learn from: any number of digits is as likely, the same each time."""
    most = min(int(TRAINING_SHARE * len(data.y)), MOST_ROWS)
    least = min(LEAST_ROWS, most)
    share = np.random.default_rng(_seed(data, repeat)).random()
    return round(least * math.pow(most / least, share))


def run(data: Dataset, repeat: int) -> Iterator[Run]:
    """Yield every learner at every epsilon, on the same rows; others in every repeat."""
    rows = choose_rows(data, repeat)
    order = np.random.default_rng(_seed(data, repeat)).permutation(len(data.y))
    learnt, tested = order[:rows], order[rows : rows + MOST_TESTED]
    schema, truth = data.schema.declare(n_rows=rows), data.y.iloc[tested].to_numpy()
    majority = float((truth == data.y.iloc[learnt].mode()[0]).mean())
    for name, learner in LEARNERS.items():
        for epsilon in EPSILONS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoiseWarning)
                warnings.simplefilter("ignore", PrivacyWarning)
                model = learner(epsilon=epsilon, schema=schema)
                model.fit(data.X.iloc[learnt], data.y.iloc[learnt])
            accuracy = float((model.predict(data.X.iloc[tested]) == truth).mean())
            yield Run(
                data.name,
                use_of(data.name),
                len(schema.names),
                schema.n_classes,
                rows,
                len(tested),
                name,
                epsilon,
                accuracy,
                majority,
            )


def _seed(data: Dataset, repeat: int) -> int:
    return zlib.crc32(f"{data.name}, {repeat}".encode())
