"""Count the rows of each class in every cell of some partitions, with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cell, Cells
from privet.domain.questions import Question
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import check_question, load_of
from privet.queries.frames import Axes, attribute_axes, cells_axis, class_axis
from privet.queries.json_parts import PARTITIONS, question_from, question_to
from privet.queries.release_kinds import Measures
from privet.queries.words import spell_question
from privet.tables.base import CountSource

#: What may be counted: a question, the cells of one partition, or a list of disjoint cells.
Asked = Question | Cells | Sequence[Cell | Mapping[str, Any]]


@register
@dataclass(frozen=True)
class Count(Measurement):
    """Noisy class counts of every cell of every partition.

    Sensitivity: one row is in one entry of each of the P partitions, so P in L1 and P in squared
    L2. Noise: discrete Laplace of scale P/epsilon, or discrete Gaussian of variance P/(2 rho).
    Neighbours: one row added or removed. Cost: epsilon, or rho.
    """

    question: Asked

    name = "count"
    fields = PARTITIONS
    examples = (
        {"epsilon": "0.1", "cells": [[{}]]},
        {"epsilon": "0.1", "cells": [[{"form": ["complete"]}, {"form": ["foster"]}]]},
        {"epsilon": "1/4", "cells": [[{}]], "partitions": [{"cells": 0, "by": "form"}]},
    )

    def plain(self, schema: Schema) -> Self:
        return type(self)(check_question(schema, self.question))

    @property
    def _question(self) -> Question:
        assert isinstance(self.question, Question)
        return self.question

    @property
    def kind(self) -> Measures:
        partitions = self._question.partitions
        return Measures(tuple(part.shape for part in partitions), (1,) * len(partitions))

    @property
    def load(self) -> Load:
        return load_of(self._question)

    def axes(self) -> Sequence[Axes]:
        return [
            [
                cells_axis(part.cells),
                *attribute_axes(self.schema, part.by),
                class_axis(self.schema),
            ]
            for part in self._question.partitions
        ]

    def describe(self) -> str:
        return self._question.describe()

    def spell_out(self) -> str:
        return f"class counts of {spell_question(self._question)}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.question, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        return source.count(self._question)

    def to_json(self) -> Json:
        return question_to(self._question)

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        return cls(question_from(schema, data.get("cells"), data.get("partitions")))
