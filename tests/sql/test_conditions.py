"""Conditions in JSON count exactly the rows that they say."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.errors import QuestionError
from privet.sql.conditions import lay_out

SCHEMA = pv.Schema(
    {
        "color": pv.Categorical(["red", "green", "blue"]),
        "age": pv.Numeric(0, 100, bins=10),
        "size": pv.Ordinal(["S", "M", "L"]),
    },
    target="class",
    classes=["no", "yes", "perhaps"],
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(26)
    return pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], 500),
            "age": rng.integers(0, 100, 500),
            "size": rng.choice(["S", "M", "L"], 500),
            "class": rng.choice(["no", "yes", "perhaps"], 500),
        }
    )


CASES = {
    "{}": lambda t: t["age"] >= 0,
    '["or"]': lambda t: t["age"] < 0,
    '{"color": []}': lambda t: t["age"] < 0,
    '{"color": ["red", "blue"]}': lambda t: t["color"] != "green",
    '{"color": {"not": ["red"]}, "class": ["yes"]}': lambda t: (
        (t["color"] != "red") & (t["class"] == "yes")
    ),
    '{"age": {"from": 20, "to": 60}}': lambda t: t["age"].between(20, 59),
    '{"age": {"from": "90"}}': lambda t: t["age"] >= 90,
    '{"age": {"to": 100}}': lambda t: t["age"] < 100,
    '{"age": {"from": 60, "to": 20}}': lambda t: t["age"] < 0,
    '{"size": {"to": "M"}}': lambda t: t["size"] != "L",
    '["or", {"age": {"to": 20}}, ["not", {"color": ["red"], "size": ["S"]}]]': lambda t: (
        (t["age"] < 20) | ~((t["color"] == "red") & (t["size"] == "S"))
    ),
    '["and", {"class": {"not": ["no"]}}, ["or", {"color": ["red"]}, {"size": ["L"]}]]': lambda t: (
        (t["class"] != "no") & ((t["color"] == "red") | (t["size"] == "L"))
    ),
    '["not", ["or", {"class": ["no"]}, {"color": ["red"]}]]': lambda t: (
        (t["class"] != "no") & (t["color"] != "red")
    ),
}


@pytest.mark.parametrize("condition", CASES)
@pytest.mark.parametrize("by", [(), ("size",), ("size", "color"), ("class", "size"), ("class",)])
def test_what_meets_a_condition_is_counted(rows, condition, by):
    curator = pv.Curator(rows, SCHEMA, pv.Budget(10**7))
    asked = lay_out(SCHEMA, condition, by)
    answer = curator.ask(asked.query, 10**5)  # so much that there is no noise
    assert answer.row_cost.epsilon == 10**5
    kept = rows[CASES[condition](rows)]
    told = list(asked.read(answer.tables[0]))
    assert sum(number for _, number in told) == len(kept)
    for cell, number in told:
        assert tuple(cell) == by
        expected = kept
        for name, value in cell.items():
            expected = expected[expected[name] == value]
        assert number == len(expected), cell


def test_one_number_has_one_noise():
    """Its deviation is that of one count, although the curator counts by class."""
    for condition, by in (("{}", ()), ('{"class": ["yes", "no"]}', ("size",)), ("{}", ("class",))):
        query = lay_out(SCHEMA, condition, by).query.plain(SCHEMA)
        assert query.kind.sensitivity == 1


@pytest.mark.parametrize("condition", ["[" * 100_000, '["not", ' * 5000 + "{}" + "]" * 5000])
def test_what_is_nested_too_deep_is_refused(condition):
    with pytest.raises(QuestionError, match="condition: "):
        lay_out(SCHEMA, condition, ())


def test_too_many_cells_are_refused(monkeypatch):
    many = pv.Schema(
        {f"a{i}": pv.Categorical(list(map(str, range(10)))) for i in range(7)}, "class", ["0", "1"]
    )
    with pytest.raises(QuestionError, match="more than 100000 combinations"):
        lay_out(many, "{}", [f"a{i}" for i in range(6)])
    monkeypatch.setattr("privet.sql.conditions.MAX_NODES", 2000)
    digits = list(map(str, range(10)))
    equal = ["or", *({f"a{i}": [c], f"a{i + 1}": [c]} for i in range(6) for c in digits)]
    with pytest.raises(QuestionError, match="too many cases"):
        lay_out(many, json.dumps(equal), [f"a{i}" for i in range(5)])
