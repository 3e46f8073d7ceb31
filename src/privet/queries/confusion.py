"""Measure the noisy confusion matrix of a released model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privet._types import Ints, Json, Tables, WeightedRows
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.errors import QuestionError
from privet.model import Model
from privet.model.document import from_document, to_document_of_predictions
from privet.model.structure import Damaged
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import check_model, find_depth
from privet.queries.frames import Axes, Axis, class_axis
from privet.queries.release_kinds import Measures
from privet.queries.shapes import Document, Field
from privet.queries.words import spell_models
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class Confusion(Measurement):
    """The noisy confusion matrix of a released model: true classes in rows, predicted in columns.

    Sensitivity: a row of the table is in one entry, so 1. Noise: discrete Laplace of scale
    1/epsilon, or discrete Gaussian of variance 1/(2 rho). Neighbours: one row added or removed.
    Cost: epsilon, or rho.
    """

    model: Model

    name = "confusion"
    fields = {"model": Field(Document(), True, "A model as its file has it.")}  # noqa: RUF012

    def plain(self, schema: Schema) -> Self:  # noqa: ARG002
        check_model(self.model)
        return type(self)(self.model)

    @property
    def kind(self) -> Measures:
        n_classes = self.schema.n_classes
        return Measures(((n_classes, n_classes),), (1,))

    @property
    def load(self) -> Load:
        return load_of_models([self.model])

    def axes(self) -> Sequence[Axes]:
        classes = class_axis(self.schema)
        return [[classes, Axis(f"predicted {classes.name}", classes.labels)]]

    def describe(self) -> str:
        return "confusion matrix of a model"

    def spell_out(self) -> str:
        return f"confusion matrix of {spell_models([self.model])}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.model, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        return [confusion_matrix(self.model, source.rows())]

    def to_json(self) -> Json:
        return {"model": model_to(self.model)}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        return cls(model_from(data["model"]))


def confusion_matrix(model: Model, rows: Iterable[WeightedRows]) -> Ints:
    """Return how many rows of each class are predicted as each class, exactly."""
    n_classes = model.schema.n_classes
    matrix = np.zeros((n_classes, n_classes), dtype=np.int64)
    for codes, classes, weights in rows:
        predicted = model.decide(model.probabilities(list(codes)))
        np.add.at(matrix, (classes.astype(np.int64), predicted), weights if len(weights) else 1)
    return matrix


def load_of_models(models: Sequence[Model]) -> Load:
    """Return how much work it is to walk rows down all trees of some models."""
    trees = [tree.cells for model in models for tree in model.trees]
    nodes = sum(len(cells.attribute) for cells in trees)
    row_steps = sum(int(cells.depths.max()) + 1 for cells in trees)
    return Load(nodes=nodes, depth=find_depth(trees), trees=len(trees), row_steps=row_steps)


def model_to(model: Model) -> Json:
    """Return a model as a file of version 1 has it, or of version 3 where it decides by costs.

    A service of 0.1 reads version 1, too, and predictions do not depend on the kinds of trees,
    which that leaves out.
    """
    try:
        return to_document_of_predictions(model)
    except Damaged as damage:
        raise QuestionError(f"the model: {damage}") from None


def model_from(document: dict[str, Any]) -> Model:
    """Return the model that a file describes.

    A checksum is that of the file, and is not looked at.
    """
    document = {key: value for key, value in document.items() if key != "checksum"}
    try:
        return from_document(document)
    except Damaged as damage:
        raise QuestionError(f"the model: {damage}") from None
