"""Count how many effects keep their sign when a model is trained again on the same rows.

Each fit is explained with bands, as its user would see it. An effect that it shows as real should
have the same sign in the other fits of the same rows; these are public rows, so that fits can be
repeated at will.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import privet as pv
from privet.datasets import Dataset
from privet.learners.repeats import repeat_fits
from privet.model import Model
from privet.model.explanations.boxes import Boxes
from privet.model.explanations.effects import find_effects
from privet.model.explanations.explanation import explain_model
from privet.model.explanations.people import People


@dataclass(frozen=True)
class Shown:
    """One effect of one fit: by how many deviations it differs from nothing, and in which part of
    the other fits it has the same sign.
    """

    fit: int
    attribute: str
    value: str
    effect: float
    deviation: float
    kept: float

    @property
    def times(self) -> float:
        """How many deviations it is from nothing."""
        return abs(self.effect) / self.deviation if self.deviation else 0.0


def measure_signs(
    data: Dataset, epsilon: float, fits: int, repeats: int
) -> Iterator[tuple[int, list[Shown]]]:
    """Yield the effects of each fit."""
    schema = data.schema.declare(n_rows=len(data.table))
    models = [
        pv.PrivetClassifier(epsilon, schema)
        .fit_from(pv.Curator(data.table, schema, pv.Budget(epsilon)))
        .model_
        for _ in range(fits)
    ]
    for number, model in enumerate(models):
        others = [other for other in models if other is not model]
        yield number, list(_compare(number, model, others, repeats))


def _compare(number: int, model: Model, others: list[Model], repeats: int) -> Iterator[Shown]:
    people = People.of(model)
    said = explain_model(model, repeats=repeat_fits(model, people, repeats))
    elsewhere = [find_effects(Boxes.of(other), people) for other in others]
    for place, effect in enumerate(said.effects.values()):
        assert effect.deviation is not None
        for row, group in enumerate(effect.groups):
            codes, shares = list(group), people.shares[place][list(group)]
            weights = (
                shares / shares.sum() if shares.sum() > 0 else np.full(len(codes), 1 / len(codes))
            )
            for column in range(effect.values.shape[1]):
                value = float(effect.values[row, column])
                again = [float(weights @ each[place][codes, column]) for each in elsewhere]
                kept = float(np.mean([np.sign(one) == np.sign(value) for one in again]))
                yield Shown(
                    number,
                    effect.name,
                    effect.labels[row],
                    value,
                    float(effect.deviation[row, column]),
                    kept,
                )
