"""Shapes of the parts that queries share: amounts, names, cells, splits, trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from privet.typed import Json

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
