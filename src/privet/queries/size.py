"""Count all rows, with noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.queries.base import Load, Measurement, register
from privet.queries.frames import Axes, Axis
from privet.queries.release_kinds import Measures
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class Size(Measurement):
    """The noisy number of rows, as a table of one number.

    Sensitivity: 1. Noise: discrete Laplace of scale 1/epsilon, or discrete Gaussian of variance
    1/(2 rho). Neighbours: one row added or removed. Cost: epsilon, or rho.
    """

    name = "size"
    examples = ({"epsilon": "0.05"},)

    def plain(self, schema: Schema) -> Self:  # noqa: ARG002
        return type(self)()

    @property
    def kind(self) -> Measures:
        return Measures(((1,),), (1,))

    @property
    def load(self) -> Load:
        return Load(numbers=1, counts=self.schema.n_classes, nodes=1)

    def axes(self) -> Sequence[Axes]:
        return [[Axis("cell", ["everything"])]]

    def describe(self) -> str:
        return "number of rows"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        (table,) = source.count(Question.of(Cells.everything(self.schema)))
        return [np.asarray(table.sum(axis=1))]

    def to_json(self) -> Json:
        return {}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        return cls()
