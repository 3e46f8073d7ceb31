"""Write the parts that queries share as JSON, read them, and say what shape they have.

Cells come in one of two forms. A **list** is for people: each cell is an object that says, for some
attributes, which values are in it; integers are codes, texts are the labels of the schema. A
**tree** is for programs: ``attribute`` has the position of the attribute that each node tests (-1
for a leaf), ``branch`` for each inner node in turn the node that each code leads to, ``cell`` the
cell of each leaf (-1: none), ``n_cells`` how many cells there are.

Reading checks values; kinds and sizes were checked by whoever took the JSON in, against the shapes
at the end of this module (amounts, names, cells, splits, trees).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Json
from privet.domain import Schema
from privet.domain.cells import Cells, Split, domain_size
from privet.domain.labels import Codes, read_codes
from privet.domain.questions import Partition, Question, RowScore
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import QuestionError
from privet.model.structure import LARGEST_SCORE, Damaged, tree_from, tree_to
from privet.queries.shapes import (
    Either,
    Field,
    Fields,
    Integer,
    Items,
    Named,
    Real,
    Shape,
    ShapeError,
    Text,
)

#: Lists of cells that together need larger trees are refused: compiling them would take long.
MAX_COMPILED = 1 << 16


def cells_to(cells: Cells) -> Json:
    """Return cells in the form of a tree. Branches are written in the order of their nodes."""
    sizes = cells.schema.sizes
    inner = np.flatnonzero(cells.attribute >= 0).tolist()
    branches = [
        cells.branch[cells.offset[node] : cells.offset[node] + sizes[cells.attribute[node]]]
        for node in inner
    ]
    branch = np.concatenate(branches).tolist() if branches else []
    return {
        "attribute": cells.attribute.tolist(),
        "branch": branch,
        "cell": cells.cell.tolist(),
        "n_cells": cells.n_cells,
    }


def cells_from(
    schema: Schema,
    data: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None,
    max_nodes: int = MAX_COMPILED,
) -> Cells:
    """Return cells from either form; by default one of all rows."""
    if data is None:
        return Cells.everything(schema)
    if not isinstance(data, Mapping):
        listed = [conditions_from(schema, cell) for cell in data]
        return Cells.of(schema, listed, max_nodes=max_nodes)
    attribute, branch, cell = (
        _integer_array(data[name]) for name in ("attribute", "branch", "cell")
    )
    if (attribute < -1).any() or (attribute >= len(schema.sizes)).any():
        raise QuestionError("a partition tests an attribute that the schema does not have")
    # The size that stands last belongs to -1: a leaf has no branches.
    widths = np.array([*schema.sizes, 0], dtype=np.int64)[attribute]
    if int(widths.sum()) != len(branch):
        raise QuestionError(
            f"the nodes of a partition must have one branch per value: {int(widths.sum())} in all, "
            f"got {len(branch)}"
        )
    return Cells(schema, attribute, np.cumsum(widths) - widths, branch, cell, data["n_cells"])


def _integer_array(numbers: npt.ArrayLike) -> npt.NDArray[np.int32]:
    """Return the numbers of a partition; one that is cut off would be another partition."""
    given = np.asarray(numbers)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise QuestionError("a partition must be made of integers of 32 bits")
    if given.size and not -(1 << 31) <= int(given.min()) <= int(given.max()) < 1 << 31:
        raise QuestionError("a partition holds a number that is out of range")
    return given.astype(np.int32)


def conditions_from(schema: Schema, data: Mapping[str, Sequence[int | str]]) -> dict[str, Codes]:
    """Return the codes that JSON allows of some attributes: integers are codes, texts are
    labels.
    """
    return {name: read_codes(schema, name, values) for name, values in data.items()}


def split_to(split: Split) -> Json:
    """Return a split of one attribute as JSON: the child of each code."""
    return {"attribute": split.attribute, "branch": list(split.branch)}


def split_from(data: Mapping[str, Any]) -> Split:
    """Return the split that JSON describes; that it fits the schema is checked where it is used."""
    return Split(data["attribute"], tuple(data["branch"]))


def question_to(question: Question) -> Json:
    """Return a question as JSON. Partitions of the same cells share them."""
    shared: dict[int, int] = {}
    listed: list[Json] = []
    partitions = []
    for partition in question.partitions:
        if id(partition.cells) not in shared:
            shared[id(partition.cells)] = len(listed)
            listed.append(cells_to(partition.cells))
        partitions.append({"cells": shared[id(partition.cells)], "by": partition.by})
    return {"cells": listed, "partitions": partitions}


def question_from(
    schema: Schema, cells: Sequence[Any] | None, partitions: Sequence[Mapping[str, Any]] | None
) -> Question:
    """Return the question that JSON describes.

    Without partitions, it is about the class counts of all cells that are listed.
    """
    cells = [None] if cells is None else cells
    compiled: list[Cells] = []
    room = MAX_COMPILED
    for one in cells:
        compiled.append(cells_from(schema, one, room))
        if not isinstance(one, Mapping | None):
            room -= len(compiled[-1].attribute)
    asked: Sequence[Mapping[str, Any]] = (
        [{"cells": i} for i in range(len(compiled))] if partitions is None else partitions
    )
    numbers = [int(part.get("cells") or 0) for part in asked]
    if bad := [number for number in numbers if not 0 <= number < len(compiled)]:
        raise QuestionError(
            f"a partition refers to cells {bad[0]}, but {len(compiled)} are listed (the first is 0)"
        )
    return Question(
        tuple(
            Partition(compiled[number], by=part.get("by"))
            for number, part in zip(numbers, asked, strict=True)
        )
    )


def expected_to(expected: Sequence[npt.NDArray[np.int64]], handicaps: Sequence[int]) -> Json:
    """Return what is expected of each partition as JSON, its numbers in one list, and the
    handicaps.
    """
    return {
        "expected": [table.reshape(-1).tolist() for table in expected],
        "handicaps": list(handicaps),
    }


def expected_from(
    question: Question, expected: Sequence[Sequence[int]]
) -> list[npt.NDArray[np.int64]]:
    """Return the tables that are expected of a question's partitions."""
    if len(expected) != len(question.partitions):
        raise QuestionError(
            f"expected must hold one list per partition ({len(question.partitions)}), got "
            f"{len(expected)}"
        )
    tables = []
    for number, (listed, partition) in enumerate(zip(expected, question.partitions, strict=True)):
        if len(listed) != partition.entries:
            raise QuestionError(
                f"expected[{number}] must hold a number for each of {partition.entries} counts, "
                f"got {len(listed)}"
            )
        tables.append(np.array(listed, dtype=np.int64).reshape(partition.shape))
    return tables


def candidates_to(candidates: Sequence[Split] | Sequence[Sequence[Split]]) -> Json:
    """Return candidate splits as JSON.

    Listed once, and by their numbers for each cell where cells have lists of their own.
    """
    shared = [split for split in candidates if isinstance(split, Split)]
    lists = [] if shared else [list(of_cell) for of_cell in candidates]  # type: ignore[arg-type]
    # what is offered twice counts twice
    distinct = shared or list(dict.fromkeys(split for of_cell in lists for split in of_cell))
    number = {split: i for i, split in enumerate(distinct)}
    return {
        "splits": [split_to(split) for split in distinct],
        "candidates": None
        if shared
        else [[number[split] for split in of_cell] for of_cell in lists],
    }


def candidates_from(
    splits: Sequence[Mapping[str, Any]], candidates: Sequence[Sequence[int]] | None
) -> list[Split] | list[list[Split]]:
    """Return candidate splits: one list for all cells, or one per cell."""
    listed = [split_from(split) for split in splits]
    if candidates is None:
        return listed
    if bad := [i for of_cell in candidates for i in of_cell if not 0 <= i < len(listed)]:
        raise QuestionError(
            f"a candidate refers to split {bad[0]}, but {len(listed)} are listed (the first is 0)"
        )
    return [[listed[i] for i in of_cell] for of_cell in candidates]


def space_to(space: TreeSpace) -> Json:
    """Return a space of trees as JSON."""
    splits = {
        name: [split_to(split) for split in getattr(space, name)] for name in ("inner", "last")
    }
    return {"depth": space.depth, **splits, "split": space.split, "keep": space.keep}


def space_from(schema: Schema, data: Mapping[str, Any]) -> TreeSpace:
    """Return the space of trees that JSON describes; by default with all splits."""
    inner, last = (
        None if data.get(name) is None else tuple(split_from(one) for one in data[name])
        for name in ("inner", "last")
    )
    split, keep = (0.5 if data.get(name) is None else data[name] for name in ("split", "keep"))
    return TreeSpace(schema, data["depth"], inner, last, split, keep)


def score_to(score: RowScore) -> Json:
    """Return a score of rows as JSON."""
    return {"by": score.by, "score": score.table.tolist()}


def score_from(schema: Schema, by: str | None, table: Sequence[Any]) -> RowScore:
    """Return the score of rows that JSON describes."""
    if by is not None:
        domain_size(schema, by)
    try:
        return RowScore(schema, np.array(table, dtype=np.int64), by)
    except (ValueError, OverflowError, TypeError):
        shape = "(values, classes)" if by is not None else "(classes)"
        raise QuestionError(f"a row score must be a table of integers of shape {shape}") from None


def trees_to(trees: Sequence[Tree]) -> list[Json]:
    """Return released trees of scores as JSON."""
    return [tree_to(tree) for tree in trees]


def trees_from(schema: Schema, data: Sequence[Mapping[str, Any]]) -> list[Tree]:
    """Return the released trees of scores that JSON describes."""
    try:
        return [
            tree_from(schema, dict(tree), number, LARGEST_SCORE, "scores")
            for number, tree in enumerate(data)
        ]
    except Damaged as problem:
        raise QuestionError(str(problem)) from None


# -- shapes --

#: Most nodes of one partition, and of all in one request.
MAX_REQUEST_NODES = 1 << 18
#: Most noisy numbers in one answer.
MAX_NUMBERS = 1 << 20
#: Most released trees in one request.
MAX_TREES = 1000


@dataclass(frozen=True)
class Amount:
    """A number, or text such as ``"1/3"``; that it is above zero is checked where it is used."""

    @property
    def schema(self) -> Json:
        return {"type": ["number", "string"], "examples": ["0.1", "1/3", 0.5]}

    def check(self, value: Any, where: str) -> None:
        if not Real().fits(value) and type(value) is not str:
            raise ShapeError(where, 'must be a number, or text such as "1/3"')


NAME = Text(500, 1)
CODE = Integer(-1, (1 << 31) - 1)
NUMBER = Integer(0, (1 << 31) - 1)
CODES = Items(CODE, 0, MAX_REQUEST_NODES)
AT_LEAST_ONE_CODE = Items(CODE, 1, MAX_REQUEST_NODES)


@dataclass(frozen=True)
class _Value:
    """A code or a label."""

    @property
    def schema(self) -> Json:
        return {"type": ["integer", "string"], "maxLength": 10_000}

    def check(self, value: Any, where: str) -> None:
        if type(value) is not int and (type(value) is not str or len(value) > 10_000):
            raise ShapeError(where, "must be a code (an integer) or a label (text)")


#: For some attributes, the values that are meant: codes or labels.
CONDITIONS = Named(Items(_Value(), 0, 100_000), NAME)
CELL_TREE = Fields(
    {
        "attribute": Field(
            AT_LEAST_ONE_CODE,
            True,
            "The position of the attribute that each node tests; -1 for a leaf.",
        ),
        "branch": Field(
            CODES, True, "For each inner node in turn: the node that each code leads to."
        ),
        "cell": Field(CODES, True, "The cell of each leaf; -1 for none."),
        "n_cells": Field(NUMBER, True),
    },
    "Disjoint cells as a tree in flat arrays.",
)
CELLS: Shape = Either((Items(CONDITIONS, 1, 10_000), CELL_TREE))
SPLIT = Fields(
    {
        "attribute": Field(NAME, True),
        "branch": Field(AT_LEAST_ONE_CODE, True, "The child that each code goes to: 0, 1, 2, ..."),
    },
    "A public way to split a cell.",
)
SPLITS = Items(SPLIT, 0, 10_000)
TREES = Items(
    Fields(
        {
            "attribute": Field(AT_LEAST_ONE_CODE, True),
            "branch": Field(CODES, True),
            "counts": Field(Items(Items(Real(), 0, MAX_REQUEST_NODES), 0, MAX_REQUEST_NODES), True),
        },
        "A released tree with class scores at each node.",
    ),
    0,
    MAX_TREES,
)
#: Cells, and how they are split further: what counts are asked of.
PARTITIONS = {
    "cells": Field(
        Items(CELLS, 1, 10_000),
        description=(
            "Disjoint cells, several times if you like; each cell says for some attributes which "
            "values are in it: integers are codes, texts are labels. By default all rows."
        ),
    ),
    "partitions": Field(
        Items(
            Fields(
                {
                    "cells": Field(
                        NUMBER, description="Which of the listed cells; the first are 0."
                    ),
                    "by": Field(NAME, nullable=True),
                },
                "Cells, split further by all values of an attribute.",
            ),
            1,
            10_000,
        ),
        nullable=True,
    ),
}
