"""Accuracy of a learner that got some rows of a public data set, on rows that it did not get."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import privet as pv
from privet.datasets import Dataset
from privet.errors import NoiseWarning, PrivacyWarning

SMALL = ("monks1", "monks2", "monks3", "votes", "crx", "tic_tac_toe", "car", "drug_consumption")
SETS = (*SMALL, "mushroom", "nursery", "synthetic1", "adult", "synthetic2", "synthetic3")
SIZES = (300, 1000, 3000, 10_000, 30_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, math.inf)
LEARNERS = {
    "privet": pv.PrivetClassifier,
    "greedy-tree": pv.GreedyTreeClassifier,
    "random-trees": pv.RandomTreesClassifier,
}
#: No more than this share of a set is learnt from, and no more than so many of the others are
#: classified.
MOST, TESTED = 0.8, 5000


class Run(NamedTuple):
    """One fit. ``majority`` is what one would get by always saying the class that most of the rows
    learnt from have.
    """

    data: str
    attributes: int
    classes: int
    rows: int
    learner: str
    epsilon: float
    accuracy: float
    majority: float


def runs(data: Dataset, repeat: int) -> Iterator[Run]:
    """Every learner at every epsilon, on the same rows: drawn at random, others in every repeat."""
    schema, order = data.schema, np.random.default_rng(repeat).permutation(len(data.y))
    for rows in (size for size in SIZES if size <= MOST * len(data.y)):
        learnt, tested = order[:rows], order[rows : rows + TESTED]
        truth = data.y.iloc[tested].to_numpy()
        majority = float((truth == data.y.iloc[learnt].mode()[0]).mean())
        for name, learner in LEARNERS.items():
            for epsilon in EPSILONS:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", NoiseWarning)
                    warnings.simplefilter("ignore", PrivacyWarning)
                    model = learner(epsilon=epsilon, schema=schema.declare(n_rows=rows)).fit(
                        data.X.iloc[learnt], data.y.iloc[learnt]
                    )
                accuracy = float((model.predict(data.X.iloc[tested]) == truth).mean())
                yield Run(
                    data.name,
                    len(schema.names),
                    schema.n_classes,
                    rows,
                    name,
                    epsilon,
                    accuracy,
                    majority,
                )
