"""Values are named by label wherever codes are taken, and no integer is read in two ways."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import RowScore
from privet.errors import ParameterError, QuestionError
from privet.queries import CountBy, check_query

SCHEMA = Schema(
    {
        "form": Categorical(["complete", "completed", "foster"]),
        "children": Categorical([1, 2, 3, "more"]),  # codes 0 to 3
        "grade": Categorical([0, 1, 2]),  # each is its own code
        "owner": Categorical([True, False]),
        "share": Categorical([0.5, 1.5]),
        "age": Numeric(0, 20, bins=4, missing="?"),  # cut at 5, 10 and 15
        "tenths": Numeric(0, 1, bins=10),
    },
    "ill",
    [0, 1],
)


@pytest.mark.parametrize(
    ("attribute", "value", "code"),
    [
        ("form", "foster", 2),
        ("form", 2, 2),
        ("form", np.int64(2), 2),
        ("children", "1", 0),
        ("children", 1.0, 0),  # a float is never a code
        ("grade", 1, 1),
        ("owner", False, 1),
        ("owner", np.True_, 0),
        ("share", 1.5, 1),
        ("age", "[5, 10)", 1),
        ("age", "?", 4),
    ],
)
def test_a_value_is_found_by_its_label_or_code(attribute, value, code):
    split = Split.value(SCHEMA, attribute, value)
    assert split.branch.index(1) == code
    assert split == Split.value(SCHEMA, attribute, code=code)
    (cell,) = Cells.of(SCHEMA, [{attribute: value}])
    assert cell == Cell((Condition(attribute, (code,)),))


@pytest.mark.parametrize("value", [0, 1, 3, np.int32(2), -1, 9])
@pytest.mark.parametrize(
    "use",
    [
        lambda value: Split.value(SCHEMA, "children", value),
        lambda value: Split.threshold(SCHEMA, "children", value),
        lambda value: Split.groups(SCHEMA, "children", [[value]]),
        lambda value: Cells.of(SCHEMA, [{"children": [value]}]),
        lambda value: check_query(CountBy((), {"children": [value]}), SCHEMA),
    ],
)
def test_an_integer_is_refused_where_values_are_integers(use, value):
    said = f"{value} could be a value or a code of 'children': write the label of the value"
    with pytest.raises(QuestionError, match=said):
        use(value)


def test_a_condition_is_explicit_about_codes():
    (by_code,) = Cells.of(SCHEMA, [Cell((Condition("children", (1,)),))])
    (by_label,) = Cells.of(SCHEMA, [Cell((Condition("children", "2"),))])
    assert by_code == by_label
    assert by_code.describe(SCHEMA) == "children = 2"


def test_where_always_means_values():
    (cell,) = Cells.of(SCHEMA, [Cell.where({"children": 1}, form=["foster", "complete"])])
    assert cell.describe(SCHEMA) == "form = complete | foster and children = 1"
    with pytest.raises(QuestionError, match=r"'form' has the values .*, got '0'"):
        Cells.of(SCHEMA, [Cell.where(form=0)])


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: Split.value(SCHEMA, "form", "fosters"), "did you mean 'foster'"),
        (lambda: Split.value(SCHEMA, "from", "foster"), "no attribute 'from'; .* mean 'form'"),
        (lambda: Split.value(SCHEMA, "age", "7"), r"'\[0, 5\)', .* 7 is in '\[5, 10\)'"),
        (lambda: Split.value(SCHEMA, "age", "20"), r"20 is in '\[15, 20\]'"),
        (lambda: Split.value(SCHEMA, "form", pd.DataFrame({"secret": [1]})), "got a DataFrame$"),
        (lambda: Split.value(SCHEMA, "form"), "must be labels .* got None"),
        (lambda: Cells.of(SCHEMA, [("form", "foster")]), "a cell says .* got tuple"),
        (lambda: Split.groups(SCHEMA, "form", "foster"), "groups must be a list"),
        (lambda: Split.groups(SCHEMA, "form", [["foster"], ["foster"]]), "'foster' twice"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(use, said):
    with pytest.raises(QuestionError, match=said):
        use()


def test_groups_send_other_values_to_one_more_child():
    assert Split.groups(SCHEMA, "form", ["foster", "complete"]).branch == (1, 2, 0)
    assert Split.groups(SCHEMA, "owner", [[True], [False]]).branch == (0, 1)


@pytest.mark.parametrize(("at", "code"), [(5, 1), (10.0, 2), (15, 3)])
def test_a_threshold_is_an_edge(at, code):
    by_edge = Split.threshold(SCHEMA, "age", at=at)
    assert by_edge == Split.threshold(SCHEMA, "age", code=code)
    assert by_edge.branch == tuple(int(other >= code) for other in range(5))


def test_an_edge_is_found_whatever_its_last_digit():
    for code in range(1, 10):
        assert Split.threshold(SCHEMA, "tenths", at=code / 10).branch.index(1) == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"at": 7}, "'age' can be cut at 5, 10, 15, got 7"),
        ({"at": 0}, "can be cut at"),
        ({"at": "five"}, "can be cut at"),
        ({"at": float("nan")}, "can be cut at"),
        ({}, "code must be an integer of at least 0, got None"),
        ({"code": 9}, "threshold must be 1 to 4, got 9"),
    ],
)
def test_a_threshold_elsewhere_is_refused(arguments, said):
    with pytest.raises(QuestionError, match=said):
        Split.threshold(SCHEMA, "age", **arguments)


def test_an_integer_that_is_an_edge_and_another_code_is_refused():
    fine = Schema({"n": Numeric(0, 40, bins=20)}, "ill", [0, 1])  # cut at 2, 4, ...
    with pytest.raises(QuestionError, match="write at=4 for the edge, or code=4 for the bin"):
        Split.threshold(fine, "n", 4)
    assert Split.threshold(fine, "n", 3) == Split.threshold(fine, "n", at=6)
    plain = Schema({"n": Numeric(0, 4, bins=4)}, "ill", [0, 1])  # an edge is its own code
    assert Split.threshold(plain, "n", 2) == Split.threshold(plain, "n", at=2)


def test_a_score_by_class_labels():
    assert RowScore.of(SCHEMA, {1: 3}).table.tolist() == [0, 3]
    assert RowScore.of(SCHEMA, {"1": 3, 0: -2}).table.tolist() == [-2, 3]
    table = RowScore.of(SCHEMA, {1: {1: 5}, "more": {0: 7}}, by="children").table
    assert table.tolist() == [[0, 5], [0, 0], [0, 0], [7, 0]]


@pytest.mark.parametrize(
    ("scores", "by", "said"),
    [
        ({2: 1}, None, "'ill' has the values '0', '1', got '2'"),
        ({1: 1.5}, None, "the score of 1 must be an integer"),
        ([0, 1], None, "scores must say an integer for some classes"),
        ({"foster": 1}, "form", "for each value the integers of some classes"),
        ({"fostr": {1: 1}}, "form", "did you mean 'foster'"),
        ({}, None, "must not be zero throughout"),
    ],
)
def test_a_score_of_something_else_is_refused(scores, by, said):
    with pytest.raises(QuestionError, match=said):
        RowScore.of(SCHEMA, scores, by)


def test_a_curator_takes_labels_and_pays_for_no_mistake():
    rows = {name: [a.labels[0]] * 50 for name, a in SCHEMA.attributes.items()}
    table = pd.DataFrame({**rows, "age": 1.0, "tenths": 0.1, "ill": [1] * 50})
    curator = pv.Curator(table, SCHEMA, pv.Budget(2000))
    assert curator.sums([{"children": "1"}], {1: 2}, 1000).tables[0].tolist() == [100]
    assert curator.count(where={"children": ["1"]}, epsilon=500).tables[0].tolist() == [0, 50]
    left = curator.left
    for where in ({"children": [1]}, {"children": ["4"]}):
        with pytest.raises((QuestionError, ParameterError)):
            curator.count(where=where, epsilon=1)
    assert curator.left == left


def test_codes_that_were_read_are_not_read_again():
    """JSON has codes, and a query that was checked once may be checked again."""
    query = CountBy.from_json(SCHEMA, {"where": {"children": [1]}})
    once = check_query(query, SCHEMA)
    assert once.labels == check_query(once, SCHEMA).labels
    assert once.describe() == "class counts where children = 2"
    assert CountBy.from_json(SCHEMA, once.to_json()).where == once.where


def test_a_label_of_several_bins_is_refused():
    fine = Schema({"n": Numeric(1_000_000, 1_000_001, bins=2)}, "ill", [0, 1])
    assert fine.attributes["n"].labels == ("[1e+06, 1e+06)", "[1e+06, 1e+06]")
    finer = Schema({"n": Numeric(1_000_000, 1_000_001, bins=3)}, "ill", [0, 1])
    with pytest.raises(QuestionError, match="several values with the label"):
        Split.value(finer, "n", "[1e+06, 1e+06)")
    assert Split.value(finer, "n", "[1e+06, 1e+06]").branch == (0, 0, 1)


def test_conditions_mix_labels_and_codes():
    (cell,) = Cells.of(SCHEMA, [Cell((Condition("children", (3, "1", 1)),))])
    assert cell.describe(SCHEMA) == "children = 1 | 2 | more"
