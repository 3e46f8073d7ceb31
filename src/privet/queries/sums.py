"""Sum a bounded score of the rows over each cell, with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cell, Cells
from privet.domain.questions import MAX_SCORE, Partition, Question, RowScore
from privet.errors import ParameterError
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import check_cells, load_of
from privet.queries.frames import Axes, cells_axis
from privet.queries.json_parts import CELLS, NAME, cells_from, cells_to, score_from, score_to
from privet.queries.release_kinds import Measures
from privet.queries.shapes import Either, Field, Integer, Items
from privet.queries.words import first_of, spell_cells
from privet.tables.base import CountSource

_SCORES = Items(Integer(-MAX_SCORE, MAX_SCORE), 0, 100_000)


@register
@dataclass(frozen=True)
class Sums(Measurement):
    """The noisy sum over each cell of a bounded integer score of the rows.

    Sensitivity: the score's bound, in L1 and L2, as cells are disjoint. Noise: discrete Laplace of
    scale bound/epsilon, or discrete Gaussian of variance bound**2/(2 rho). Neighbours: one row
    added or removed. Cost: epsilon, or rho.
    """

    cells: Cells | Sequence[Cell | Mapping[str, Any]]
    score: RowScore

    name = "sums"
    measured = "noisy sum"
    fields = {  # noqa: RUF012
        "cells": Field(CELLS, description="Disjoint cells; by default one of all rows."),
        "score": Field(
            Either((_SCORES, Items(_SCORES, 0, 100_000))), True, "By class, or by value and class."
        ),
        "by": Field(NAME, nullable=True),
    }
    examples = ({"epsilon": "0.1", "score": [0, 1, 2, 3, 4]},)

    def plain(self, schema: Schema) -> Self:
        cells = check_cells(schema, self.cells)
        if not isinstance(self.score, RowScore):
            raise ParameterError(f"a row score must be a RowScore, got {type(self.score).__name__}")
        return type(self)(cells, self.score)

    @property
    def _cells(self) -> Cells:
        assert isinstance(self.cells, Cells)
        return self.cells

    @property
    def _question(self) -> Question:
        return Question((Partition(self._cells, by=self.score.by),))

    @property
    def kind(self) -> Measures:
        return Measures(((len(self._cells),),), (self.score.bound,))

    @property
    def load(self) -> Load:
        return load_of(self._question)

    def axes(self) -> Sequence[Axes]:
        return [[cells_axis(self._cells)]]

    def describe(self) -> str:
        by = "" if self.score.by is None else f" by {self.score.by}"
        return f"sums of a row score{by}: {len(self._cells)} cells"

    def spell_out(self) -> str:
        score = self.score
        by = "" if score.by is None else f" by {score.by}"
        classes = zip(self.schema.label.labels, score.table.tolist(), strict=False)
        values = f" ({first_of(f'{label}: {n}' for label, n in classes)})" if not by else ""
        return f"sums of a row score{by}{values} over {spell_cells(self._cells)}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.cells, self.score, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        (table,) = source.count(self._question)
        weighted = table * self.score.table
        return [np.asarray(weighted.sum(axis=tuple(range(1, table.ndim))))]

    def to_json(self) -> Json:
        return {"cells": cells_to(self._cells), **score_to(self.score)}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        score = score_from(schema, data.get("by"), data["score"])
        return cls(cells_from(schema, data.get("cells")), score)
