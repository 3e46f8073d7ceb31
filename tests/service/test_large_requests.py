"""Requests that are small to send and would be large to answer, or to refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import MAX_ENTRIES, Partition, Question
from privet.errors import QuestionError
from privet.queries import check_query
from privet.queries.json_parts import TREES
from privet.queries.shapes import ShapeError
from privet.service import requests
from privet.service.problems import problem_of

WIDE = Schema({"a": Numeric(0, 1, bins=30_000)}, "y", [str(i) for i in range(10)])
NO_CELL = {"attribute": [-1], "branch": [], "cell": [-1], "n_cells": 0}


def test_cells_that_cover_nothing_are_counted_in_the_size_of_a_request():
    """Rows in no cell have counts as well: of every value and class, for every partition."""
    curator = Curator({"a": [0.5], "y": ["1"]}, WIDE, budget=Budget(1))
    for n, fine in ((2, True), (100, False)):
        body = requests.check_body(
            "count",
            {"epsilon": "1/100", "cells": [NO_CELL], "partitions": [{"cells": 0, "by": "a"}] * n},
        )
        asked = check_query(requests.query_of("count", WIDE, body), WIDE)
        if fine:
            requests.check_load(asked.load, len(WIDE.names))
            told = curator.ask(asked, body["epsilon"]).to_json()
            assert told["tables"][0]["numbers"] == []
        else:
            with pytest.raises(QuestionError, match="one request may ask for"):
                requests.check_load(asked.load, len(WIDE.names))


def test_a_question_is_as_large_as_what_it_counts():
    nothing = Cells(
        WIDE, np.array([-1]), np.array([0]), np.array([], dtype=np.int32), np.array([-1]), 0
    )
    n = MAX_ENTRIES // 300_000
    Question(tuple(Partition(nothing, by="a") for _ in range(n)))
    with pytest.raises(QuestionError, match="with those of rows in no cell"):
        Question(tuple(Partition(nothing, by="a") for _ in range(n + 1)))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (TREES, [{"attribute": [-1], "branch": [], "counts": [[[]] * 500] * 500}]),
        (
            TREES,
            [{"attribute": [None] * 5000, "branch": ["x"] * 5000, "counts": [None] * 5000}],
        ),
        (requests.BODIES["sums"], {"epsilon": 1, "score": [[None] * 100] * 1000}),
        (
            requests.BODIES["choose"],
            {
                "epsilon": 1,
                "splits": [{"attribute": 1, "branch": [[]] * 100}] * 1000,
                "criterion": "gini",
            },
        ),
        (
            requests.BODIES["choose"],
            {"epsilon": 1, "splits": [], "candidates": [[None] * 100] * 1000, "criterion": "gini"},
        ),
        (requests.BODIES["count"], {"epsilon": 1, "cells": [[{"a": [None] * 1000}] * 1000] * 10}),
        (requests.BODIES["count"], {"epsilon": 1, "partitions": [{"cells": None}] * 5000}),
    ],
)
def test_what_is_wrong_is_told_once_and_not_a_million_times(kind, body):
    with pytest.raises(ShapeError) as refused:
        kind.check(body, "body")
    told = json.loads(problem_of(refused.value).body)
    assert (told["status"], len(told["errors"])) == (422, 1)
    assert len(told["detail"]) < 1000


def test_splits_keep_nothing_behind():
    """Masks of a split are with the split, not in a cache of the process that requests could
    fill.
    """
    from privet.domain import space

    assert not [name for name, value in vars(space).items() if hasattr(value, "cache_info")]
    schema = Schema({"a": Categorical(["x", "y", "z"])}, "y", ["0", "1"])
    split = Split.value(schema, "a", code=1)
    assert split.masks == [0b101, 0b010]
