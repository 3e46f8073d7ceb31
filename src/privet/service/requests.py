"""What may be asked: typed, bounded, with examples. Conditions are structures; there is no text of
a query language anywhere.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

#: Most nodes of one partition, and of all in one request.
MAX_NODES = 1 << 18
#: Most noisy numbers in one answer.
MAX_NUMBERS = 1 << 20
#: Most released trees in one request.
MAX_TREES = 1000
#: Most tests on a path of a released tree that rows are scored by.
MAX_DEPTH = 64


class _First(FailFast):
    """One that can stand in a union."""

    __hash__ = object.__hash__


#: Lists are read up to the first entry that is wrong: a million of them would make a million
#: errors.
FAST = _First()

Amount = Annotated[
    StrictInt | StrictFloat | StrictStr,
    Field(
        description='A number above zero, or text such as "1/3", which is exact.',
        examples=["0.1", "1/3", 0.5],
    ),
]
Name = Annotated[StrictStr, Field(min_length=1, max_length=500)]
Code = Annotated[StrictInt, Field(ge=-1, lt=1 << 31)]
Codes = Annotated[list[Code], Field(max_length=MAX_NODES), FAST]
Number = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]


class Strict(BaseModel):
    """Nothing that is not named here."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class CellTree(Strict):
    """Disjoint cells as a tree in flat arrays."""

    attribute: Codes = Field(
        min_length=1,
        description="The position of the attribute that each node tests; -1 for a leaf.",
    )
    branch: Codes = Field(
        description="For each inner node in turn: the node that each code leads to."
    )
    cell: Codes = Field(description="The cell of each leaf; -1 for none.")
    n_cells: Number


CellList = Annotated[
    list[
        dict[
            Name,
            Annotated[
                list[StrictInt | Annotated[StrictStr, Field(max_length=10_000)]],
                Field(max_length=100_000),
                FAST,
            ],
        ]
    ],
    FAST,
    Field(
        min_length=1,
        max_length=10_000,
        description=(
            "Disjoint cells; each says for some attributes which values are in it: whole numbers "
            "are codes, texts are labels."
        ),
    ),
]
Cells = CellTree | CellList
EVERYTHING: list[Any] = [{}]


class Split(Strict):
    """A public way to split a cell."""

    attribute: Name
    branch: Codes = Field(
        min_length=1, description="The child that each code goes to: 0, 1, 2, ..."
    )


class Tree(Strict):
    """A released tree with class scores at each node."""

    attribute: Codes = Field(min_length=1)
    branch: Codes
    counts: Annotated[list[Annotated[list[StrictInt | StrictFloat], FAST]], FAST] = Field(
        max_length=MAX_NODES
    )


Splits = Annotated[list[Split], Field(max_length=10_000), FAST]
Trees = Annotated[list[Tree], Field(max_length=MAX_TREES), FAST]


class Part(Strict):
    """One of the groups of people that a division made."""

    division: Number = Field(description="As the answer to the division says.")
    number: Number = Field(description="Which group; the first is 0.")


class Asked(Strict):
    """What every question may say."""

    snapshot: Annotated[StrictStr, Field(max_length=64)] | None = Field(
        None, description="Ask about the rows of this snapshot, rather than those of the moment."
    )
    part: Part | None = Field(
        None, description="Ask about one group of people only, from the budget of the division."
    )


class Priced(Asked):
    """A question that is paid in epsilon or in rho."""

    epsilon: Amount | None = None
    rho: Amount | None = None

    @model_validator(mode="after")
    def _one_price(self) -> Priced:
        if (self.epsilon is None) == (self.rho is None):
            raise ValueError("give either epsilon or rho")
        return self


class AskedPartition(Strict):
    """Cells, split further by all values of an attribute."""

    cells: Number = Field(0, description="Which of the listed cells; the first are 0.")
    by: Name | None = None


class Count(Priced):
    """Noisy class counts of every cell of every partition."""

    cells: Annotated[list[Cells], Field(min_length=1, max_length=10_000), FAST] = Field(
        default=[EVERYTHING]
    )
    partitions: (
        Annotated[list[AskedPartition], Field(min_length=1, max_length=10_000), FAST] | None
    ) = None

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"epsilon": "0.1", "cells": [[{}]]},
                {"epsilon": "0.1", "cells": [[{"form": ["complete"]}, {"form": ["foster"]}]]},
                {"epsilon": "1/4", "cells": [[{}]], "partitions": [{"cells": 0, "by": "form"}]},
            ]
        }
    )


class Size(Priced):
    """The noisy number of rows."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"epsilon": "0.05"}]})


class Sums(Priced):
    """The noisy sum over each cell of a bounded whole-number score of the rows."""

    cells: Cells = Field(default_factory=lambda: EVERYTHING)
    score: (
        Annotated[list[StrictInt], FAST] | Annotated[list[Annotated[list[StrictInt], FAST]], FAST]
    ) = Field(max_length=100_000, description="By class, or by value and class.")
    by: Name | None = None

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"epsilon": "0.1", "score": [0, 1, 2, 3, 4]}]}
    )


class Choose(Asked):
    """A good split for each cell."""

    epsilon: Amount
    cells: Cells = Field(default_factory=lambda: EVERYTHING)
    splits: Splits = Field(min_length=1)
    candidates: (
        Annotated[
            list[Annotated[list[Number], Field(max_length=100_000), FAST]],
            Field(max_length=MAX_NODES),
            FAST,
        ]
        | None
    ) = Field(
        None,
        description="For each cell, the numbers of its candidates among the splits; by default all of them.",  # noqa: E501
    )
    criterion: Annotated[StrictStr, Field(max_length=100)] = "gini"
    mechanism: Literal["permute-and-flip", "exponential"] = "permute-and-flip"

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "epsilon": "0.1",
                    "splits": [
                        {"attribute": "form", "branch": [0, 1, 2, 3]},
                        {"attribute": "health", "branch": [0, 0, 1]},
                    ],
                }
            ]
        }
    )


Bounded = Annotated[StrictInt, Field(ge=-(1 << 35), le=1 << 35)]


class ChoosePartition(Asked):
    """The partition whose class counts are about farthest from what is expected of them."""

    epsilon: Amount
    cells: Annotated[list[Cells], Field(min_length=1, max_length=10_000), FAST] = Field(
        default=[EVERYTHING]
    )
    partitions: (
        Annotated[list[AskedPartition], Field(min_length=1, max_length=10_000), FAST] | None
    ) = None
    expected: Annotated[
        list[Annotated[list[Bounded], Field(max_length=MAX_NUMBERS), FAST]],
        Field(max_length=10_000),
        FAST,
    ] = Field(
        description=(
            "For each partition, the class counts that are expected of it, cell by cell in one "
            "list."
        )
    )
    handicaps: (
        Annotated[
            list[Annotated[StrictInt, Field(ge=-(1 << 62), le=1 << 62)]],
            Field(max_length=10_000),
            FAST,
        ]
        | None
    ) = Field(
        None,
        description="For each partition, what is subtracted from its distance; by default nothing.",
    )
    mechanism: Literal["permute-and-flip", "exponential"] = "exponential"

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "epsilon": "0.1",
                    "cells": [[{"form": ["complete"]}, {"form": ["foster"]}], [{}]],
                    "expected": [
                        [700, 0, 60, 900, 800, 700, 0, 60, 900, 800],
                        [4300, 2, 300, 4200, 4000],
                    ],
                    "handicaps": [100, 50],
                }
            ]
        }
    )


class Quantile(Asked):
    """The bin of a numeric attribute that about holds its q-quantile."""

    epsilon: Amount
    attribute: Name
    q: StrictInt | StrictFloat | StrictStr = Field(
        "1/2",
        description="The share of the rows that shall lie below, from 0 to 1; by default the median.",  # noqa: E501
    )
    mechanism: Literal["permute-and-flip", "exponential"] = "permute-and-flip"

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"epsilon": "0.1", "attribute": "age", "q": "0.9"}]}
    )


class Space(Strict):
    """A public set of trees with a prior."""

    depth: Number
    inner: Splits | None = Field(
        None, description="The splits above the last level; by default all."
    )
    last: Splits | None = Field(None, description="The splits at the last level; by default all.")
    split: StrictFloat = 0.5
    keep: StrictFloat = 0.5


class DrawTree(Asked):
    """A whole labelled tree, drawn by the exponential mechanism."""

    epsilon: Amount
    space: Space
    weighting: Trees = Field(default_factory=list)

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"epsilon": "0.5", "space": {"depth": 2}}]}
    )


class Gradients(Priced):
    """Noisy sums of the derivatives of the rows' log-likelihood by the scores of released trees."""

    cells: Cells = Field(default_factory=lambda: EVERYTHING)
    trees: Trees

    model_config = ConfigDict(json_schema_extra={"examples": [{"epsilon": "0.1", "trees": []}]})


class Confusion(Priced):
    """The noisy confusion matrix of a released model."""

    model: dict[str, Any] = Field(description="A model as its file has it.")


class ChooseModel(Asked):
    """The released model that gets about the most rows right."""

    epsilon: Amount
    models: list[dict[str, Any]] = Field(
        min_length=1, max_length=100, description="Models as their files have them."
    )


class Divide(Asked):
    """Disjoint random groups of people, each with this budget, paid once."""

    epsilon: Amount
    n_parts: Annotated[StrictInt, Field(ge=1, le=10_000)]

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"epsilon": "1", "n_parts": 4, "snapshot": "<id>"}]}
    )


class Lines(Strict):
    """Which lines of a history."""

    after: Annotated[
        int, Field(ge=0, lt=1 << 60, description="Those with higher numbers only.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class PlannedCost(Strict):
    """The cost of one planned question, for one row added or removed: an epsilon, a rho, or a pair
    of both.
    """

    epsilon: Amount | None = None
    rho: Amount | None = None


class Plan(Strict):
    """What would be asked."""

    plan: Annotated[list[PlannedCost], Field(max_length=10_000), FAST]
    part: Part | None = None
    snapshot: Annotated[StrictStr, Field(max_length=64)] | None = None

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"plan": [{"epsilon": "0.1"}, {"epsilon": "0.1"}]}]}
    )
