"""Count the values of one attribute, with noise, whatever the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cells, domain_size
from privet.domain.questions import Question
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import load_of
from privet.queries.frames import Axes, Axis
from privet.queries.json_parts import NAME
from privet.queries.release_kinds import Measures
from privet.queries.shapes import Field
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class CountValues(Measurement):
    """The noisy number of rows with each value of one attribute, over all classes.

    One number for each value instead of one for each value and class, so that the noise of a value
    is that of one count. Sensitivity: a row has one value, so 1. Noise: discrete Laplace of scale
    1/epsilon, or discrete Gaussian of variance 1/(2 rho). Neighbours: one row added or removed.
    Cost: epsilon, or rho, however many values there are.
    """

    attribute: str

    name = "count-values"
    fields = {"attribute": Field(NAME, True)}  # noqa: RUF012
    examples = ({"epsilon": "0.1", "attribute": "form"},)

    def plain(self, schema: Schema) -> Self:
        domain_size(schema, self.attribute)
        return type(self)(self.attribute)

    @property
    def _question(self) -> Question:
        return Question.level(Cells.everything(self.schema), [self.attribute])

    @property
    def _labels(self) -> tuple[str, ...]:
        return self.schema.attributes[self.attribute].labels

    @property
    def kind(self) -> Measures:
        return Measures(((len(self._labels),),), (1,))

    @property
    def load(self) -> Load:
        return replace(load_of(self._question), numbers=len(self._labels))

    def axes(self) -> Sequence[Axes]:
        return [[Axis(self.attribute, self._labels)]]

    def describe(self) -> str:
        return f"counts of the values of {self.attribute}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.attribute, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        (table,) = source.count(self._question)
        return [np.asarray(table.reshape(-1, table.shape[-1]).sum(axis=1))]

    def to_json(self) -> Json:
        return {"attribute": self.attribute}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        return cls(data["attribute"])
