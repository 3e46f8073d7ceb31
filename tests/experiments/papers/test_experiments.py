"""The tables of the experiments, and which of them are chosen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.papers.anatomy.experiments import EXPERIMENTS, QUICK, chosen
from experiments.papers.anatomy.folds import draw
from privet.errors import DatasetError, OutsourceError, ParameterError


@pytest.mark.usefixtures("real_data")
@pytest.mark.parametrize(
    "number",
    [1, 2, 3, pytest.param(4, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)],
)
def test_the_rows_and_how_many_of_them_are_withheld(number):
    experiment = EXPERIMENTS[number]
    table, schema = experiment.load()
    made = draw(experiment, table, schema)
    assert len(table) == {1: 201, 2: 435, 3: 690, 4: 14_936, 5: 14_936}[number]
    assert made.withheld == {1: 0, 2: 59, 3: 32, 4: 0, 5: 0}[number]
    assert (table["workclass"] != "Private").all() if number > 3 else True


@pytest.mark.usefixtures("real_data")
def test_those_of_unknown_work_class_are_in():
    table, _ = EXPERIMENTS[4].load()
    assert (table["workclass"] == "?").sum() == 2799


@pytest.mark.usefixtures("real_data")
def test_a_table_of_other_rows_is_refused():
    with pytest.raises(
        DatasetError, match="experiment 2 needs 434 rows of 'votes', but there are 435"
    ):
        replace(EXPERIMENTS[2], rows=434).load()


@pytest.mark.usefixtures("real_data")
def test_another_number_of_withheld_rows_is_refused():
    table, schema = EXPERIMENTS[2].load()
    with pytest.raises(OutsourceError, match="withholds 58 rows, but here it is 59"):
        draw(replace(EXPERIMENTS[2], withheld=58), table, schema)


@pytest.mark.usefixtures("real_data")
def test_a_sample_is_the_same_every_time():
    (first, _), (second, _) = QUICK[2].load(), QUICK[2].load()
    assert len(first) == 1500
    assert first.equals(second)
    assert (first["workclass"] != "Private").all()


def test_experiments_are_chosen_once_and_in_order():
    assert [one.number for one in chosen([], quick=False)] == [1, 2, 3, 4, 5]
    assert [one.number for one in chosen([3, 1, 3], quick=False)] == [1, 3]
    assert [(one.number, one.sample) for one in chosen([], quick=True)] == [
        (2, None),
        (3, None),
        (4, 1500),
    ]


@pytest.mark.parametrize(
    ("numbers", "quick", "message"),
    [([6], False, "1, 2, 3, 4, 5; got 6"), ([1], True, "2, 3, 4 of --quick; got 1")],
)
def test_there_is_no_such_experiment(numbers, quick, message):
    with pytest.raises(ParameterError, match=message):
        chosen(numbers, quick=quick)
