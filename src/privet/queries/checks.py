"""Check what may be asked about, in copies of plain types (:mod:`privet.queries.plain`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.accounting.statement import PrivacyStatement
from privet.domain import Schema
from privet.domain.cells import Cell, Cells, Split, check_split
from privet.domain.questions import Partition, Question
from privet.domain.tree import Tree
from privet.errors import ParameterError, QuestionError
from privet.model import Model
from privet.queries.base import Load

# a question has 2**27 entries at most, so sums of distances fit into 64 bits
MAX_EXPECTED = 1 << 35
MAX_HANDICAP = 1 << 62


def check_question(
    schema: Schema, asked: Question | Cells | Sequence[Cell | Mapping[str, Any]]
) -> Question:
    """Return a question of plain types about this schema; raise for anything else."""
    if not isinstance(asked, Question):
        asked = Question.of(check_cells(schema, asked))
    if not all(
        isinstance(part, Partition) and isinstance(part.cells, Cells) for part in asked.partitions
    ):
        raise ParameterError("a question must be made of Partitions of Cells")
    return asked


def check_cells(schema: Schema, asked: Cells | Sequence[Cell | Mapping[str, Any]]) -> Cells:
    """Return the cells of one partition, of plain types and about this schema."""
    if isinstance(asked, Question):
        raise QuestionError(
            "this question is asked about the cells of one partition: give Cells, not a Question"
        )
    if not isinstance(asked, Iterable):  # Cells are iterable, too
        raise QuestionError(f"cells must be Cells or a list of cells, got {type(asked).__name__}")
    return asked if isinstance(asked, Cells) else Cells.of(schema, asked)


def load_of(question: Question) -> Load:
    """Return how much work it is to count for a question."""
    distinct = {id(partition.cells): partition.cells for partition in question.partitions}
    # cells that cover nothing must be counted, too
    counts = max(question.entries, question.places // 2)
    nodes = sum(len(cells.attribute) for cells in distinct.values())
    walks = sum(int(cells.depths.max()) + 1 for cells in distinct.values())
    row_steps = walks + len(question.partitions)
    return Load(counts, counts, nodes, find_depth(distinct.values()), row_steps=row_steps)


def find_depth(trees: Iterable[Cells]) -> int:
    """Return the most tests on a path of some trees."""
    return max((int(cells.depths.max()) for cells in trees), default=0)


def check_expected_tables(
    question: Question, expected: Sequence[npt.ArrayLike]
) -> list[npt.NDArray[np.int64]]:
    """Return what is expected of each partition.

    Plain tables of bounded integers that nobody else holds.
    """
    tables = list(expected)
    if len(tables) != len(question.partitions):
        raise QuestionError(
            f"expected must hold one table per partition ({len(question.partitions)}), got "
            f"{len(tables)}"
        )
    shapes = [partition.shape for partition in question.partitions]
    return [
        _check_expected_table(number, table, shape)
        for number, (table, shape) in enumerate(zip(tables, shapes, strict=True))
    ]


def _check_expected_table(
    number: int, given: npt.ArrayLike, shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    name = f"expected[{number}]"
    try:
        table = np.array(given)  # a copy of the base class
    except (ValueError, TypeError, OverflowError):
        raise QuestionError(f"{name} must be integers of shape {shape}") from None
    if table.shape != shape or not np.issubdtype(table.dtype, np.integer):
        raise QuestionError(
            f"{name} must be integers of shape {shape}, got {table.dtype} of shape {table.shape}"
        )
    # in Python's integers, which do not overflow
    if table.size and max(int(table.max()), -int(table.min())) > MAX_EXPECTED:
        raise QuestionError(f"{name} must hold numbers of at most {MAX_EXPECTED} in size")
    return table.astype(np.int64, copy=False)


def check_handicaps(question: Question, handicaps: Sequence[int] | None) -> list[int]:
    """Return one plain integer per partition; raise for anything else."""
    listed = [0] * len(question.partitions) if handicaps is None else list(handicaps)
    if len(listed) != len(question.partitions):
        raise QuestionError(
            f"handicaps must hold one number per partition ({len(question.partitions)}), got "
            f"{len(listed)}"
        )
    return [
        check_integer(f"handicaps[{i}]", handicap, -MAX_HANDICAP, MAX_HANDICAP, error=QuestionError)
        for i, handicap in enumerate(listed)
    ]


def check_model(model: Model) -> None:
    """Raise unless this is a model of trees with a privacy statement."""
    made_of = isinstance(model, Model) and isinstance(model.privacy, PrivacyStatement)
    if not made_of or not all(
        isinstance(tree, Tree) and isinstance(tree.cells, Cells) for tree in model.trees
    ):
        raise ParameterError(f"a model must be a released Model, got {type(model).__name__}")


def check_candidates(
    schema: Schema, candidates: Sequence[Split] | Sequence[Sequence[Split]], n_cells: int
) -> tuple[Split, ...] | tuple[tuple[Split, ...], ...]:
    """Return splits that all cells share, or those of each cell, of plain types.

    What all cells share is checked once: there may be billions of cells that nobody will count.
    """
    listed: tuple[Any, ...] = tuple(candidates)
    if listed and all(isinstance(split, Split) for split in listed):
        return _check_splits(schema, listed)
    if any(isinstance(split, Split) for split in listed):
        raise QuestionError("candidates must be splits, or one list of splits per cell")
    if len(listed) != n_cells:
        raise QuestionError(f"give one list of candidates per cell ({n_cells}), got {len(listed)}")
    lists = tuple(tuple(splits) for splits in listed)
    for cell, splits in enumerate(lists):
        if not splits:
            raise QuestionError(f"cell {cell} has no candidate")
        _check_splits(schema, splits)
    return lists


def _check_splits(schema: Schema, splits: tuple[Any, ...]) -> tuple[Split, ...]:
    for split in splits:
        if not isinstance(split, Split):
            raise QuestionError("candidates must be splits, or one list of splits per cell")
        check_split(schema, split)
    return splits
