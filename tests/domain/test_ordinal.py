"""Values with an order."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import privet as pv
from privet.domain import Categorical, Ordinal, Schema
from privet.domain.cells import Split
from privet.domain.drafting.answers import read_answer
from privet.errors import QuestionError, SchemaError

GRADES = ["low", "medium", "high"]


@pytest.mark.parametrize(
    ("values", "facts", "told"),
    [
        (["a"], {}, "2 values or more"),
        ("ab", {}, "list of values"),
        (["a", "b", "a"], {}, "'a' is listed twice"),
        ([1, "1"], {}, "'1' is listed twice"),
        (["a", "b"], {"missing": "a"}, "must not be one of the values"),
        (["a", "b"], {"missing": 3}, "label"),
        (["a", "b"], {"on_unknown": "clip"}, "on_unknown"),
        (["a", None], {}, "Ordinal: values: a value must be"),
    ],
)
def test_what_is_no_order_is_refused(values: Any, facts: dict, told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        Ordinal(values, **facts)


def test_a_branch_is_written_by_its_ends() -> None:
    attribute = Ordinal([*GRADES, "top"], missing="?")
    written = {
        (0,): "= low",
        (0, 1): "<= medium",
        (1, 2): "from medium to high",
        (2, 3, 4): ">= high or = ?",
        (0, 1, 2, 3): "is any value",
        (0, 2): "= low or = high",
    }
    for codes, text in written.items():
        assert attribute.describe_branch(codes) == text


def test_a_split_is_at_a_value() -> None:
    schema = Schema({"grade": Ordinal(GRADES)}, "y", ["no", "yes"])
    assert Split.threshold(schema, "grade", at="medium") == Split.threshold(schema, "grade", code=1)
    with pytest.raises(QuestionError, match="'grade' can be cut at medium, high"):
        Split.threshold(schema, "grade", at="huge")


def test_integers_are_drafted_with_their_order() -> None:
    frame = pd.DataFrame({"children": [0, 1, 2, 5] * 10, "flag": [0, 1] * 20, "y": [0, 1] * 20})
    attributes = pv.Schema.draft(frame).attributes
    assert attributes["children"] == Ordinal([0, 1, 2, 5], missing="missing")
    assert isinstance(attributes["flag"], Categorical)


def test_an_answer_has_an_order() -> None:
    assert read_answer("x", "low < medium<high") == Ordinal(GRADES, missing="missing")
    assert read_answer("x", "1<2<3") == Ordinal([1, 2, 3], missing="missing")
