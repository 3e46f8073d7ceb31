"""Lay queries out as walks over the codes of a row: the arrays that ``privet.ask_walks`` takes.

The codes of a row are 0, those of its attributes, and that of the target. A walk begins at a node
and goes on as the nodes say, to a cell. Its numbers begin at ``base``: each cell has ``width`` of
them, and the codes that it looks at say which one is counted, ``strides`` apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints, Tables
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.queries import ChooseSplits, Count, CountBy, Query, Size, Sums
from privet.queries.count_values import CountValues
from privet.tables.base import split_tables

#: Queries that are sums over walks, with noise.
MEASURED = (Count, CountBy, CountValues, Size, Sums)
#: The place of the first attribute among the codes of a row; before it stands a 0.
FIRST = 2


@dataclass(frozen=True)
class Nodes:
    """The nodes of some trees, one after the other, and at which each tree begins."""

    roots: list[int]
    steps: int
    tests: Ints
    firsts: Ints
    cells: Ints
    branches: Ints

    @classmethod
    def of(cls, trees: Sequence[Cells]) -> Nodes:
        """Lay cells out. A leaf leads to itself, so that every walk can be as long as the rest."""
        parts: list[tuple[Ints, ...]] = []
        roots, n_nodes, n_branches, steps = [], 0, 0, 0
        for cells in trees:
            leaf = cells.attribute < 0
            leaves = np.flatnonzero(leaf)
            firsts = cells.offset.astype(np.int64)
            firsts[leaves] = len(cells.branch) + np.arange(len(leaves))
            branches = np.concatenate([cells.branch.astype(np.int64), leaves]) + n_nodes + 1
            tests = np.where(leaf, 1, cells.attribute.astype(np.int64) + FIRST)
            parts.append((tests, firsts + n_branches + 1, cells.cell.astype(np.int64), branches))
            roots.append(n_nodes + 1)
            n_nodes += len(tests)
            n_branches += len(branches)
            steps = max(steps, int(cells.depths.max()))
        tests, firsts, numbers, branches = (np.concatenate(p) for p in zip(*parts, strict=True))
        return cls(roots, steps, tests, firsts, numbers, branches)


@dataclass(frozen=True)
class Walk:
    """One partition: its cells, and by which codes (places, with their strides) they are counted
    further.
    """

    cells: Cells
    width: int
    strides: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """What is counted for a query with noisy numbers, and how its tables come from the numbers."""

    walks: Sequence[Walk]
    weights: npt.NDArray[np.int64] = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    #: From the numbers of each walk in turn to the tables of the answer.
    tables: Callable[[Ints], Tables] | None = None

    @property
    def sensitivity(self) -> int:
        """What one row can change all numbers by, in L1."""
        return len(self.walks) * int(np.abs(self.weights).max())

    def to_arguments(self) -> dict[str, Any]:
        """Return the arguments of ``privet.ask_walks`` about the question."""
        distinct = {id(walk.cells): walk.cells for walk in self.walks}
        nodes = Nodes.of(list(distinct.values()))
        root = dict(zip(distinct, nodes.roots, strict=True))
        sizes = [len(walk.cells) * walk.width for walk in self.walks]
        n_looks = max(1, *(len(walk.strides) for walk in self.walks))
        looks = [[*walk.strides, *[1] * (n_looks - len(walk.strides))] for walk in self.walks]
        strides = [
            [*walk.strides.values(), *[0] * (n_looks - len(walk.strides))] for walk in self.walks
        ]
        return {
            "total": sum(sizes),
            "steps": nodes.steps,
            "starts": [root[id(walk.cells)] for walk in self.walks],
            "bases": (np.cumsum(sizes) - sizes).tolist(),
            "widths": [walk.width for walk in self.walks],
            "looks": list(chain.from_iterable(looks)),
            "strides": list(chain.from_iterable(strides)),
            "tests": nodes.tests,
            "firsts": nodes.firsts,
            "cells": nodes.cells,
            "branches": nodes.branches,
            "weights": self.weights.reshape(-1),
        }


def lay_out(query: Query[Any]) -> Measured:
    """Return what is counted for one of the queries that are measured."""
    schema, target = query.schema, len(query.schema.names) + FIRST
    everything = Cells.everything(schema)
    match query:
        case Count() | CountBy():
            question = _question_of(query)
            walks = [
                Walk(part.cells, int(np.prod(part.shape[1:])), _find_strides(schema, part.by))
                for part in question.partitions
            ]
            return Measured(walks, tables=lambda flat: _take(query, question, flat))
        case Size():
            return Measured([Walk(everything, 1)])
        case CountValues():
            place = schema.index(query.attribute)
            return Measured([Walk(everything, schema.sizes[place], {place + FIRST: 1})])
        case Sums():
            by = 1 if query.score.by is None else schema.index(query.score.by) + FIRST
            assert isinstance(query.cells, Cells)
            return Measured([Walk(query.cells, 1, {by: 0, target: 0})], query.score.table)
    raise AssertionError(query.name)


def choice_arguments(query: ChooseSplits) -> dict[str, Any]:
    """Return the arguments of ``privet.choose`` about a choice of splits."""
    schema = query.schema
    assert isinstance(query.cells, Cells)
    nodes = Nodes.of([query.cells])
    lists = query.lists
    shared = all(splits is lists[0] for splits in lists)
    distinct = list(
        dict.fromkeys(split for splits in lists[: 1 if shared else None] for split in splits)
    )
    number: dict[Split, int] = {split: place + 1 for place, split in enumerate(distinct)}
    names = list(dict.fromkeys(split.attribute for split in distinct))
    pairs = [(cell, number[split]) for cell, splits in enumerate(lists) for split in splits]
    return {
        "criterion": query.criterion,
        "n_cells": len(query.cells),
        "steps": nodes.steps,
        "start": 1,
        "tests": nodes.tests,
        "firsts": nodes.firsts,
        "cells": nodes.cells,
        "branches": nodes.branches,
        "attributes": [schema.index(name) + FIRST for name in names],
        "split_tables": [names.index(split.attribute) + 1 for split in distinct],
        "children": [child for split in distinct for child in split.branch],
        "offered_cells": [cell for cell, _ in pairs],
        "offered_splits": [split for _, split in pairs],
    }


def _find_strides(schema: Schema, by: str | None) -> dict[int, int]:
    target = len(schema.names) + FIRST
    return {target: 1} if by is None else {schema.index(by) + FIRST: schema.n_classes, target: 1}


def _take(query: Query[Any], question: Question, flat: Ints) -> Tables:
    """Return those of the noisy numbers that the query takes, as it takes exact ones."""
    told: Any = _Told(split_tables(question, flat))
    tables: Tables = query.exact(told)
    return tables


@dataclass(frozen=True)
class _Told:
    """A source that was told its tables."""

    tables: Tables

    def count(self, question: Question) -> Tables:  # noqa: ARG002
        return self.tables


class _Noted(Exception):
    pass


class _Noting:
    """A source that notes which question it is asked."""

    def count(self, question: Question) -> Tables:
        raise _Noted(question)


def _question_of(query: Query[Any]) -> Question:
    try:
        query.exact(_Noting())  # type: ignore[arg-type]
    except _Noted as noted:
        question: Question = noted.args[0]
        return question
    raise AssertionError(query.name)
