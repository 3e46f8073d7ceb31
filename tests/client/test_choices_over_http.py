"""Choices through a real service: what they are in process, of groups of people too, and charged
once.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import BudgetExceeded
from tests.client.running import running

SCHEMA = Schema(
    {"age": Numeric(0, 100, bins=10, missing="?"), "sex": Categorical(["f", "m"])},
    "ill",
    ["no", "yes"],
    neighbours="replace",
)
ROWS = pd.DataFrame(
    {"age": [i % 50 if i % 9 else None for i in range(1000)], "sex": ["f", "m"] * 500}
)
ROWS["ill"] = ["no", "no", "no", "yes"] * 250
QUESTION = Question.level(Cells.everything(SCHEMA), ["sex", "age"])
SURE = 1000


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    ROWS.to_parquet(folder / "people.parquet")
    with running(folder) as service:
        service.add("people", folder / "people.parquet", SCHEMA, Budget(10**6))
        yield service


@pytest.fixture
def here():
    return pv.Curator(ROWS, SCHEMA, Budget(10**6))


def test_they_are_what_they_are_in_process_and_charged_for_the_declared_neighbours(service, here):
    expected = [table + 1 for table in here.count(QUESTION, SURE).tables]
    with service.connect() as there:
        for ask, cost in (
            (lambda curator: curator.median("age", SURE), Cost.pure(SURE)),
            (
                lambda curator: curator.quantile("age", "0.95", SURE, mechanism="exponential"),
                Cost.bounded_range(SURE),
            ),
            (
                lambda curator: curator.choose_partition(QUESTION, expected, SURE),
                Cost.bounded_range(SURE),
            ),
            (
                lambda curator: curator.choose_partition(
                    QUESTION, expected, SURE, handicaps=[0, 40]
                ),
                Cost.bounded_range(SURE),
            ),
        ):
            before = there.left
            told, same = ask(there), ask(here)
            assert (told.index, told.row_cost, told.cost) == (
                same.index,
                cost,
                cost.promised(SCHEMA),
            )
            assert before - there.left == 2 * SURE
            assert told.entry.what == same.entry.what


def test_a_group_of_people_is_asked_from_its_own_budget(service):
    with service.connect() as there, there.snapshot():
        parts = there.split_people(2, SURE)
        before = there.left
        assert [part.quantile("age", "0.9", SURE / 4).index for part in parts] == [4, 4]
        expected = [np.zeros(part.shape, dtype=np.int64) for part in QUESTION.partitions]
        assert (
            parts[0].choose_partition(QUESTION, expected, SURE / 4, handicaps=[0, 10**6]).index == 0
        )
        with pytest.raises(BudgetExceeded):
            parts[0].median("age", SURE)
        assert there.left == before
