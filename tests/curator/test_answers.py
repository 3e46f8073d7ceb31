"""Answers say how noisy each number is and which cells they declined, whoever gave them; their JSON
says it only where it is not as usual.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.queries import ChooseSplits, ChosenSplits, check_query
from privet.queries.base import NotTheAnswer, read_answer
from tests.local.small import SCHEMA, table

ROWS = table(200)
CELLS = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "b")})
SPLITS = [Split.multiway(SCHEMA, "a"), Split.threshold(SCHEMA, "c", code=1)]
TERMS = ["cost", "row_cost", "private", "entry"]


def table_curator():
    return Curator(ROWS, SCHEMA, Budget(rho=10))


def record_curator():
    randomizer = Randomizer(SCHEMA, 4, "split")
    return local_curator(randomizer.many(ROWS), randomizer)


@pytest.mark.parametrize("price", [{"epsilon": F(1, 3)}, {"rho": F(1, 50)}], ids=str)
def test_numbers_of_a_table_are_all_as_noisy_as_each_other(price):
    answer = table_curator().count(Question.level(CELLS, ["a", "c"]), **price)
    assert answer.deviation > 1
    assert [part.shape for part in answer.deviations] == [part.shape for part in answer.tables]
    assert all((part == answer.deviation).all() for part in answer.deviations)
    assert answer.node_deviations == ()
    assert list(answer.to_json()) == [*TERMS, "tables", "noise", "spread", "deviation"]


def test_numbers_from_records_have_a_deviation_each():
    answer = record_curator().count(CELLS)
    (deviations,) = answer.deviations
    assert deviations.shape == answer.tables[0].shape == (2, 3)
    assert len(np.unique(deviations)) > 1
    assert answer.deviation == pytest.approx(np.sqrt((deviations**2).mean()))
    (of_nodes,) = answer.node_deviations
    assert of_nodes.shape == (3,)  # the root and its children
    told = answer.to_json()
    assert told["deviations"] == [deviations.reshape(-1).tolist()]
    assert told["deviation"] == answer.deviation


def test_a_table_declines_no_cell():
    choice = table_curator().choose(CELLS, SPLITS, "gini", 1)
    assert choice.declined == frozenset()
    assert list(choice.to_json()) == [*TERMS, "splits"]


def test_declined_cells_are_told_and_understood():
    query = check_query(ChooseSplits(CELLS, SPLITS), SCHEMA)
    terms = table_curator().ask(query, 1).terms
    told = ChosenSplits(**terms, splits=(SPLITS[0],) * 2, declined=frozenset({1})).to_json()
    assert told["declined"] == [1]
    assert read_answer(query, told).declined == {1}
    assert read_answer(query, {**told, "declined": []}).declined == frozenset()
    for declined in ([2], [-1], [True], [0.0], ["0"], [None], [[0]], None, 1, "1", {"1": 0}):
        with pytest.raises(NotTheAnswer, match="declined"):
            read_answer(query, {**told, "declined": declined})
