"""Measure noisy derivatives of the rows' log-likelihood by the scores of released trees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cell, Cells
from privet.domain.questions import Question
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.queries.base import Load, Measurement, register
from privet.queries.checks import check_cells, find_depth, load_of
from privet.queries.draw_tree import copy_trees
from privet.queries.frames import Axes, Axis, cells_axis, class_axis
from privet.queries.json_parts import CELLS, TREES, cells_from, cells_to, trees_from, trees_to
from privet.queries.release_kinds import Measures
from privet.queries.shapes import Field, OneOf
from privet.queries.words import spell_cells
from privet.tables.base import CountSource

if TYPE_CHECKING:
    from privet.tables.counting.scoring import Clip

CLIPS = ("own", "even")


@register
@dataclass(frozen=True)
class Gradients(Measurement):
    """Noisy sums of the derivatives of the rows' log-likelihood by the scores of released trees.

    The table is (cells, 2, numbers): first and second derivatives in units of 1/65536, one number
    for two classes, otherwise one per class. Sensitivity: a row is in one cell and scaled down to
    3/4 (two classes) or 1 in L1, hence in L2. With ``clip="even"``, which is better for a price in
    rho, rows of equal scores are scaled alike to .559 (two classes) or 3/4 in L2. Noise: discrete
    Laplace or discrete Gaussian, as for :class:`~privet.queries.sums.Sums`. Neighbours: one row
    added or removed. Cost: epsilon, or rho.
    """

    cells: Cells | Sequence[Cell | Mapping[str, Any]]
    trees: Sequence[Tree] = ()
    clip: Clip = "own"

    name = "gradients"
    measured = "noisy sum"
    fields = {  # noqa: RUF012
        "cells": Field(CELLS, description="Disjoint cells; by default one of all rows."),
        "trees": Field(TREES, True),
        "clip": Field(OneOf(CLIPS), description="How a row is scaled down; by default 'own'."),
    }
    examples = ({"epsilon": "0.1", "trees": []},)

    def plain(self, schema: Schema) -> Self:
        from privet.tables.counting.scoring import copy_cells

        cells = copy_cells(schema, check_cells(schema, self.cells))
        if not (isinstance(self.clip, str) and self.clip in CLIPS):
            raise ParameterError(f"clip must be 'own' or 'even', got {self.clip!r}")
        return type(self)(cells, copy_trees(schema, self.trees), self.clip)

    @property
    def _cells(self) -> Cells:
        assert isinstance(self.cells, Cells)
        return self.cells

    @property
    def kind(self) -> Measures:
        from privet.tables.counting.scoring import clip_of, even_clip_of

        n_classes = self.schema.n_classes
        numbers = 1 if n_classes == 2 else n_classes
        shape = (len(self._cells), 2, numbers)
        if self.clip == "own":
            return Measures((shape,), (clip_of(n_classes),))
        squared = even_clip_of(n_classes) ** 2
        # a row has 2 * numbers entries: Cauchy and Schwarz
        return Measures((shape,), (math.isqrt(2 * numbers * squared) + 1,), squared)

    @property
    def load(self) -> Load:
        counted, trees = load_of(Question.of(self._cells)), [tree.cells for tree in self.trees]
        return Load(
            counted.numbers,
            counted.counts,
            max(counted.nodes, sum(len(cells.attribute) for cells in trees)),
            max(counted.depth, find_depth(trees)),
            len(trees),
            row_steps=counted.row_steps + sum(int(cells.depths.max()) + 1 for cells in trees),
        )

    def axes(self) -> Sequence[Axes]:
        derivatives = Axis("derivative", ["first", "second"])
        classes = class_axis(self.schema)
        if self.schema.n_classes == 2:  # that of the second, which tells that of the first
            classes = Axis(classes.name, classes.labels[1:])
        return [[cells_axis(self._cells), derivatives, classes]]

    def describe(self) -> str:
        return f"derivatives of the log-likelihood: {len(self._cells)} cells"

    def spell_out(self) -> str:
        trees = f"{len(self.trees)} released tree{'s' if len(self.trees) != 1 else ''}"
        over = spell_cells(self._cells)
        return f"derivatives of the log-likelihood of {trees} over {over}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        evenly = () if self.clip == "own" else (self.clip,)
        return self.cells, self.trees, epsilon, rho, *evenly

    def exact(self, source: CountSource) -> Tables:
        from privet.tables.counting.row_sums import Derivatives, sum_rows
        from privet.tables.counting.scoring import Scoring

        scoring, shape = Scoring(self.schema, self.trees), self.kind.shapes[0]
        flat = sum_rows(source, Derivatives(scoring, self._cells, shape, self.clip))
        # what is left out: rows of no cell
        return [flat[: math.prod(shape)].reshape(shape)]

    def to_json(self) -> Json:
        body = {"cells": cells_to(self._cells), "trees": trees_to(self.trees)}
        return body if self.clip == "own" else body | {"clip": self.clip}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        cells, trees = cells_from(schema, data.get("cells")), trees_from(schema, data["trees"])
        return cls(cells, trees, data.get("clip") or "own")
