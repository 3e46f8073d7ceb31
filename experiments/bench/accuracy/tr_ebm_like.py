"""TR-EBM-like, our own code: boosting one attribute at a time, cut at random places.

After Maddock, Cormode, Wang, Maple and Jha, "Federated Boosted Decision Trees with Differential
Privacy", CCS 2022: totally random splits, which cost nothing; cycles over the attributes, a small
tree on one attribute at a time; Newton leaves from sums of derivatives with Gaussian noise. The
original is not on the package registry. This differs in that the budget is converted exactly
(:mod:`~experiments.bench.accuracy.gaussian`), noise lowers a leaf's value in proportion, and the
number of cycles follows from the number of rows, which is public here. Two classes only.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.bench.accuracy.gaussian import mu_for
from experiments.bench.accuracy.views import View
from privet._types import Floats, Ints

#: A person adds at most 1 to the sum of gradients and 1/4 to that of second derivatives.
SENSITIVITY = math.hypot(1, 0.25)
DEPTH = 4
LEARNING_RATE = 0.3
LARGEST_STEP = 2.0


def predict(
    view: View, classes: Ints, train: Ints, test: Ints, epsilon: float, delta: float
) -> Floats:
    """Return the probability of class 1 for each test row."""
    random = np.random.default_rng()
    mu = mu_for(epsilon, delta)
    n_attributes = view.X.shape[1]
    cycles = cycles_for(len(train), n_attributes, mu)
    noise = SENSITIVITY * math.sqrt(cycles * n_attributes) / mu
    truth = classes[train]
    scores = np.zeros(len(view.X))
    for _ in range(cycles):
        for attribute in random.permutation(n_attributes):
            cells, n_cells = cut_at_random(view, attribute, random)
            chances = 1 / (1 + np.exp(-scores[train]))
            gradients, curvatures = (
                np.bincount(cells[train], summed, n_cells) + noise * random.normal(size=n_cells)
                for summed in (truth - chances, chances * (1 - chances))
            )
            steps = gradients / (np.maximum(curvatures, 0) + noise + 1)
            scores += LEARNING_RATE * np.clip(steps, -LARGEST_STEP, LARGEST_STEP)[cells]
    likely: Floats = 1 / (1 + np.exp(-scores[test]))
    return likely


def cycles_for(n_rows: int, n_attributes: int, mu: float) -> int:
    """Return how often each attribute is visited: more often where rows drown the noise.

    Fitted to adult, crx, drug_consumption, mushroom and votes at epsilon .1, 1 and 5, which is
    more help than a user of the original has.
    """
    return int(np.clip(round((n_rows * mu / n_attributes) ** 0.35), 1, 20))


def cut_at_random(view: View, attribute: int, random: np.random.Generator) -> tuple[Ints, int]:
    """Return the cell of each row in a totally random tree on one attribute, and the number of
    cells. A nominal attribute's values are dealt to the cells.
    """
    column, low, high = view.X[:, attribute], view.low[attribute], view.high[attribute]
    if view.nominal[attribute]:
        n_values = int(high - low) + 1
        n_cells = min(n_values, 2**DEPTH)
        dealt = random.permutation(n_values) % n_cells
        return dealt[(column - low).astype(np.int64)], n_cells
    edges = np.array([low, high])
    for _ in range(DEPTH):
        edges = np.sort(np.append(edges, random.uniform(edges[:-1], edges[1:])))
    return np.searchsorted(edges[1:-1], column), len(edges) - 1
