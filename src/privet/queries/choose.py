"""Choose a good split for each cell, by private selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from privet._types import Ints, Json
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cell, Cells, Split
from privet.domain.questions import Question
from privet.mechanisms.criteria import Criterion, criterion_named
from privet.mechanisms.selection import Selection
from privet.queries.answers import Answer, ChosenSplits
from privet.queries.base import MECHANISM, Load, Query, check_mechanism, expect, register
from privet.queries.checks import check_candidates, check_cells, load_of
from privet.queries.frames import cells_axis
from privet.queries.json_parts import (
    CELLS,
    MAX_REQUEST_NODES,
    NUMBER,
    SPLIT,
    candidates_from,
    candidates_to,
    cells_from,
    cells_to,
    split_from,
)
from privet.queries.release_kinds import Selects
from privet.queries.shapes import Field, Items, Text
from privet.queries.words import spell_cells, spell_splits
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class ChooseSplits(Query[ChosenSplits]):
    """A good split for each cell.

    ``candidates`` is one list of splits for all cells, or one list per cell. Sensitivity: the
    criterion's range. A row is in one cell, so all cells together cost epsilon once. Cost: pure
    epsilon; with the exponential mechanism only epsilon**2/8 in zCDP. Neighbours: one row added or
    removed.
    """

    cells: Cells | Sequence[Cell | Mapping[str, Any]]
    candidates: Sequence[Split] | Sequence[Sequence[Split]]
    criterion: str = "gini"
    mechanism: Selection = "permute-and-flip"

    name = "choose"
    fields = {  # noqa: RUF012
        "cells": Field(CELLS, description="Disjoint cells; by default one of all rows."),
        "splits": Field(Items(SPLIT, 1, 10_000), True),
        "candidates": Field(
            Items(Items(NUMBER, 0, 100_000), 0, MAX_REQUEST_NODES),
            description=(
                "For each cell, the numbers of its candidates among the splits; by default all of "
                "them."
            ),
            nullable=True,
        ),
        "criterion": Field(Text(100), description="What makes a split good; by default gini."),
        "mechanism": MECHANISM,
    }
    examples = (
        {
            "epsilon": "0.1",
            "splits": [
                {"attribute": "form", "branch": [0, 1, 2, 3]},
                {"attribute": "health", "branch": [0, 0, 1]},
            ],
        },
    )

    def plain(self, schema: Schema) -> Self:
        cells = check_cells(schema, self.cells)
        candidates = check_candidates(schema, self.candidates, len(cells))
        mechanism = check_mechanism(self.mechanism)
        criterion_named(self.criterion, schema.n_rows)
        return type(self)(cells, candidates, self.criterion, mechanism)

    @property
    def _cells(self) -> Cells:
        assert isinstance(self.cells, Cells)
        return self.cells

    @property
    def _shared_splits(self) -> tuple[Split, ...]:
        """The candidates that all cells share; empty where each cell has its own."""
        return tuple(split for split in self.candidates if isinstance(split, Split))

    @cached_property
    def lists(self) -> list[Sequence[Split]]:
        """The candidates of each cell. As long as there are cells: look at the load first."""
        if self._shared_splits:
            return [self._shared_splits] * len(self._cells)
        return list(self.candidates)  # type: ignore[arg-type]

    @cached_property
    def _distinct_splits(self) -> list[Split]:
        lists = [self._shared_splits] if self._shared_splits else self.lists
        return list(dict.fromkeys(split for splits in lists for split in splits))

    @cached_property
    def _question(self) -> Question:
        return Question.level(
            self._cells, dict.fromkeys(split.attribute for split in self._distinct_splits)
        )

    @property
    def _quality(self) -> Criterion:
        return criterion_named(self.criterion, self.schema.n_rows)

    @property
    def kind(self) -> Selects:
        offered = tuple(map(len, self.lists))
        return Selects(offered, self._quality.score_range, self.mechanism)

    @property
    def load(self) -> Load:
        working = load_of(self._question)
        shared = len(self._shared_splits)
        scored = shared * len(self._cells) if shared else sum(map(len, self.lists))
        return replace(working, numbers=scored)

    def cell_labels(self) -> Sequence[str]:
        """Return the paths of the cells, in labels."""
        return cells_axis(self._cells).labels

    def describe(self) -> str:
        return (
            f"private selection: {len(self._cells)} cells, {len(self._distinct_splits)} candidates"
        )

    def spell_out(self) -> str:
        splits = f"{spell_splits(self._distinct_splits)}, by {self.criterion}"
        return f"private selection of a split of {spell_cells(self._cells)}: {splits}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.cells, self.candidates, self.criterion, epsilon, self.mechanism

    def exact(self, source: CountSource) -> list[list[int]]:
        question, quality = self._question, self._quality
        tables = dict(
            zip((part.by for part in question.partitions), source.count(question), strict=True)
        )
        scores = {
            split: quality.scores(_children(tables[split.attribute], split)).tolist()
            for split in self._distinct_splits
        }
        return [[scores[split][cell] for split in splits] for cell, splits in enumerate(self.lists)]

    def answer(self, released: list[int], terms: Answer) -> ChosenSplits:
        chosen = tuple(splits[index] for splits, index in zip(self.lists, released, strict=True))
        return ChosenSplits(**terms.terms, splits=chosen)

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> ChosenSplits:
        splits = tuple(split_from(split) for split in data["splits"])
        expect(len(splits) == len(self.lists), "its choices are for other cells")
        expect(
            all(split in offered for split, offered in zip(splits, self.lists, strict=True)),
            "it chose what was not offered",
        )
        declined = data.get("declined", [])
        expect(
            isinstance(declined, list)
            and all(type(cell) is int and 0 <= cell < len(splits) for cell in declined),
            "it declined cells that were not asked about",
        )
        return ChosenSplits(**terms.terms, splits=splits, declined=frozenset(declined))

    def to_json(self) -> Json:
        settings = {"criterion": self.criterion, "mechanism": self.mechanism}
        return {"cells": cells_to(self._cells), **candidates_to(self.candidates), **settings}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        return cls(
            cells_from(schema, data.get("cells")),
            candidates_from(data["splits"], data.get("candidates")),
            data.get("criterion") or "gini",
            data.get("mechanism") or "permute-and-flip",
        )


def _children(table: Ints, split: Split) -> Ints:
    """Return child-by-class counts of each cell from its value-by-class counts."""
    out = np.zeros((table.shape[0], split.n_children, table.shape[2]), dtype=np.int64)
    for code, child in enumerate(split.branch):
        out[:, child] += table[:, code]
    return out
