"""Choose the released model that gets about the most rows right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privet._types import Json
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.errors import ParameterError
from privet.model import Model
from privet.queries.answers import Answer, ChosenIndex
from privet.queries.base import Load, Query, register
from privet.queries.checks import check_model
from privet.queries.choose_partition import parse_choice
from privet.queries.confusion import confusion_matrix, load_of_models, model_from, model_to
from privet.queries.release_kinds import Selects
from privet.queries.shapes import Document, Field, Items
from privet.queries.words import spell_models
from privet.tables.base import CountSource


@dataclass(frozen=True, eq=False, repr=False)
class ModelChoice(ChosenIndex):
    """The number of the chosen model; the first has 0."""

    def to_json(self) -> Json:
        return {**super().to_json(), "splits": []}  # clients of 0.1 look for it


@register
@dataclass(frozen=True)
class ChooseModel(Query[ModelChoice]):
    """The number of a released model that gets about the most rows right.

    By permute-and-flip on the number of correct rows. Sensitivity: a row adds 0 or 1 to each
    score: range 1. Cost: pure epsilon. Neighbours: one row added or removed.
    """

    models: Sequence[Model]

    name = "choose-model"
    fields = {  # noqa: RUF012
        "models": Field(Items(Document(), 1, 100), True, "Models as their files have them.")
    }

    def plain(self, schema: Schema) -> Self:  # noqa: ARG002
        models = tuple(self.models)
        if not models:
            raise ParameterError("give at least one model to choose from")
        for model in models:
            check_model(model)
        return type(self)(models)

    @property
    def kind(self) -> Selects:
        return Selects((len(self.models),), 1, "permute-and-flip")

    @property
    def load(self) -> Load:
        return load_of_models(self.models)

    def name_choice(self, index: int) -> str:
        return spell_models([self.models[index]])

    def describe(self) -> str:
        return f"private selection among {len(self.models)} models"

    def spell_out(self) -> str:
        return f"private selection of the most accurate of {spell_models(self.models)}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.models, epsilon, rho

    def exact(self, source: CountSource) -> list[list[int]]:
        return [[int(np.trace(confusion_matrix(model, source.rows()))) for model in self.models]]

    def answer(self, released: list[int], terms: Answer) -> ModelChoice:
        return ModelChoice(**terms.terms, index=released[0])

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> ModelChoice:
        return self.answer([parse_choice(data, len(self.models))], terms)

    def to_json(self) -> Json:
        return {"models": [model_to(model) for model in self.models]}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        return cls([model_from(document) for document in data["models"]])
