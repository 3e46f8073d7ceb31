"""Measure how often a released model gives which probability to rows of each class, with noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np

from privet._plain import copy_scalar
from privet._types import Floats, Ints, Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.errors import QuestionError
from privet.model import Model
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import check_model
from privet.queries.confusion import load_of_models, model_from, model_to
from privet.queries.frames import Axes, Axis, class_axis
from privet.queries.release_kinds import Measures
from privet.queries.shapes import Document, Field, Items, Real
from privet.queries.words import spell_models
from privet.tables.base import CountSource

#: A class has at most so many edges between bins of its probability.
MAX_EDGES = 255
MAX_CLASSES = 10_000


@register
@dataclass(frozen=True)
class Scores(Measurement):
    """How many rows of each class a released model puts into each class with which probability.

    A row is in the entry (its class, the class that the model says, the bin of the probability that
    the model gives to what it says). ``edges`` are the public edges between bins, one list for each
    class that can be said.

    Sensitivity: a row of the table is in one entry, so 1. Noise: discrete Laplace of scale
    1/epsilon, or discrete Gaussian of variance 1/(2 rho). Neighbours: one row added or removed.
    Cost: epsilon, or rho.
    """

    model: Model
    edges: Sequence[Sequence[float]]

    name = "scores"
    fields = {  # noqa: RUF012
        "model": Field(Document(), True, "A model as its file has it."),
        "edges": Field(
            Items(Items(Real(), 0, MAX_EDGES), 1, MAX_CLASSES),
            True,
            "For each class, increasing probabilities between 0 and 1 at which a bin ends.",
        ),
    }

    def plain(self, schema: Schema) -> Self:
        check_model(self.model)
        edges = tuple(tuple(map(_read_edge, listed)) for listed in self.edges)
        if len(edges) != schema.n_classes or len(self.model.schema.classes) != schema.n_classes:
            raise QuestionError(
                f"edges must be one list for each of the {schema.n_classes} classes, got "
                f"{len(edges)}"
            )
        for listed in edges:
            increasing = all(low < high for low, high in pairwise((0.0, *listed, 1.0)))
            if not increasing or len(listed) > MAX_EDGES:
                raise QuestionError(
                    f"edges of a class must be at most {MAX_EDGES} increasing probabilities "
                    "between 0 and 1"
                )
        return type(self)(self.model, edges)

    @property
    def n_bins(self) -> int:
        """How many bins the class with the most has."""
        return 1 + max(map(len, self.edges))

    @property
    def kind(self) -> Measures:
        n_classes = self.schema.n_classes
        return Measures(((n_classes, n_classes, self.n_bins),), (1,))

    @property
    def load(self) -> Load:
        load = load_of_models([self.model])
        numbers = self.schema.n_classes**2 * self.n_bins
        return Load(
            numbers=numbers,
            counts=numbers,
            nodes=load.nodes,
            depth=load.depth,
            trees=load.trees,
            row_steps=load.row_steps + self.n_bins,
        )

    def axes(self) -> Sequence[Axes]:
        classes = class_axis(self.schema)
        bins = Axis("bin of its probability", [str(number) for number in range(self.n_bins)])
        return [[classes, Axis(f"predicted {classes.name}", classes.labels), bins]]

    def describe(self) -> str:
        return "scores of a model by class"

    def spell_out(self) -> str:
        return f"scores by class, in {self.n_bins} bins, of {spell_models([self.model])}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.model, self.edges, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        edges = [np.array(listed, dtype=np.float64) for listed in self.edges]
        table = np.zeros(self.kind.shapes[0], dtype=np.int64)
        for codes, classes, weights in source.rows():
            shares = self.model.probabilities(list(codes))
            predicted, bins = place_in_bins(self.model, shares, edges)
            at = (classes.astype(np.int64), predicted, bins)
            np.add.at(table, at, weights if len(weights) else 1)
        return [table]

    def to_json(self) -> Json:
        return {"model": model_to(self.model), "edges": [list(listed) for listed in self.edges]}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        return cls(model_from(data["model"]), data["edges"])


def place_in_bins(model: Model, shares: Floats, edges: Sequence[Floats]) -> tuple[Ints, Ints]:
    """Return what the model says of each row of probabilities, and the bin of its probability.

    Every edge is compared with every row, so that the time does not depend on the rows.
    """
    most = max(map(len, edges))
    padded = np.full((len(edges), most), np.inf)
    for line, listed in zip(padded, edges, strict=True):
        line[: len(listed)] = listed
    predicted = model.decide(shares)
    stated = shares[np.arange(len(shares)), predicted]
    return predicted, (stated[:, None] >= padded[predicted]).sum(axis=1)


def _read_edge(edge: object) -> float:
    value = copy_scalar(edge)
    if type(value) not in (int, float) or not math.isfinite(value):
        raise QuestionError(f"edges must be numbers between 0 and 1, got {type(edge).__name__}")
    return float(value)
