"""Decide for a class by what mistakes cost.

Probabilities stay those of the population. A decision takes the class whose expected cost is
smallest: with probabilities p and the cost C[i, j] of saying j where i is true, the class j with
the smallest sum over i of p[i] C[i, j]. Everything here follows from released probabilities and
public costs, so it is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from privet._types import Floats, Ints
from privet._validate import check_real, show
from privet.domain import Schema
from privet.domain.labels import find_classes
from privet.errors import ParameterError

#: What mistakes cost: a number for each (true class, predicted class), or a matrix with true
#: classes in rows and predicted ones in columns, in the order of the schema's classes.
Costs = Mapping[tuple[Any, Any], float] | Sequence[Sequence[float]] | Floats
#: A weight for each class.
Weights = Mapping[Any, float]

#: Costs and weights are at most this, and so are sums of them exact enough to compare.
MOST = 1e9


def read_costs(schema: Schema, costs: Costs) -> Floats:
    """Return the matrix of costs, true classes in rows; raise unless it is one for these classes.

    Pairs that a mapping leaves out cost 1 where the prediction is wrong, and nothing where it is
    right.
    """
    if isinstance(costs, Mapping):
        matrix = 1.0 - np.eye(schema.n_classes)
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ParameterError(
                    "costs must have pairs (true class, predicted class) as keys, got "
                    f"{show(pair)}; write {{({_example(schema)}): 5}}, say"
                )
            true, predicted = find_classes(schema, pair)
            matrix[true, predicted] = check_real(f"costs[{pair!r}]", cost, least=0, most=MOST)
        return _check(matrix)
    expected = f"a row and a column for each of the {schema.n_classes} classes"
    try:
        matrix = np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"costs must be a mapping of class pairs, or a matrix with {expected}, got "
            f"{show(costs)}"
        ) from None
    if matrix.shape != (schema.n_classes,) * 2:
        shape = " x ".join(map(str, matrix.shape)) or "one number"
        raise ParameterError(f"costs must have {expected}, got {shape}")
    if not (np.isfinite(matrix) & (matrix >= 0) & (matrix <= MOST)).all():
        raise ParameterError(f"costs must be numbers from 0 to {MOST:.0e}")
    return _check(matrix)


def read_weights(schema: Schema, weights: Weights) -> Floats:
    """Return the weight of each class; classes that are left out weigh 1."""
    each = np.ones(schema.n_classes)
    for label, weight in weights.items():
        (code,) = find_classes(schema, [label])
        each[code] = check_real(f"class_weight[{label!r}]", weight, least=0, most=MOST)
    return each


def balance_classes(shares: Floats) -> Floats:
    """Return the weights that make all classes count the same, 1 for a class of average size."""
    return np.asarray(np.minimum(1 / (len(shares) * shares), MOST))


def weigh_mistakes(weights: Floats) -> Floats:
    """Return the costs that class weights stand for.

    A mistake costs as much as its true class weighs, whichever class is said instead.
    """
    return _check(weights[:, None] * (1 - np.eye(len(weights))))


def decide(probabilities: Floats, costs: Floats | None) -> Ints:
    """Return the number of the class with the smallest expected cost for each row.

    The most likely one without costs. Of several, the first.
    """
    if costs is None:
        return np.asarray(probabilities.argmax(axis=1))
    return np.asarray((probabilities @ costs).argmin(axis=1))


def _check(matrix: Floats) -> Floats:
    if not matrix.any():
        raise ParameterError("costs must not all be 0: every decision would be as good as another")
    matrix.setflags(write=False)
    return matrix


def _example(schema: Schema) -> str:
    first, second = schema.classes[:2]
    return f"{first!r}, {second!r}"
