"""What is said when a table does not fit, and that it never holds a value or a count of the
table.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.encode.rows import check_structure, encode, find_problems
from privet.domain.encode.values import What, describe, raise_if_any
from privet.errors import PrivetError, SchemaMismatch

SECRET, NUMBER = "SECRET-VALUE", 987654321
SCHEMA = Schema({"c": Categorical(["a"]), "n": Numeric(0, 1)}, "class", ["no", "yes"], person="id")
GOOD: dict[str, list] = {"c": ["a"], "n": [0.5], "class": ["no"], "id": [1]}


@pytest.mark.parametrize("column", GOOD)
@pytest.mark.parametrize("act", [encode, check_structure])
def test_an_absent_column_is_named(column: str, act: Any) -> None:
    with pytest.raises(SchemaMismatch, match=f"column '{column}' is not in the table") as caught:
        act(SCHEMA, {name: entries for name, entries in GOOD.items() if name != column})
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("column", ["c", "n", "class"])
@pytest.mark.parametrize(
    "entries",
    [
        np.array([0], dtype="datetime64[s]"),
        np.array([0], dtype="timedelta64[s]"),
        np.array([1 + 1j]),
        pd.Series([datetime(2020, 1, 1, tzinfo=UTC)]),
        pd.Series(pd.Categorical([pd.Timestamp(0)])),
        pd.Series([pd.Period("2020")]),
        pl.Series([datetime(2020, 1, 1, tzinfo=UTC)]),
    ],
    ids=lambda entries: str(entries.dtype),
)
def test_an_impossible_type_is_named_whatever_the_rows(column: str, entries: Any) -> None:
    empty = {name: np.array(entries)[:0] for name, entries in GOOD.items()}
    for table in ({**GOOD, column: entries}, {**empty, column: entries[:0]}):
        with pytest.raises(SchemaMismatch, match=f"column '{column}' has a type") as caught:
            check_structure(SCHEMA, table)
        assert len(caught.value.problems) == 1


def test_all_problems_are_listed_at_once() -> None:
    table = {"c": np.array([0], dtype="datetime64[s]"), "class": [SECRET]}
    assert find_problems(SCHEMA, table) == [
        ("c", "dtype"),
        ("n", "absent"),
        ("id", "absent"),
        ("class", "unlisted"),
    ]
    with pytest.raises(SchemaMismatch) as caught:
        encode(SCHEMA, table)
    assert [line.split("'")[1] for line in caught.value.problems] == ["c", "n", "id"]


def test_a_person_may_be_of_any_type_and_a_target_is_not_needed_to_predict() -> None:
    assert find_problems(SCHEMA, {**GOOD, "id": np.array([0], dtype="datetime64[s]")}) == []
    assert encode(SCHEMA, {"c": ["a"], "n": [0.5]}, target=False).classes is None


PLAIN, BINS = Categorical(["a", 1]), Numeric(0, 1)


@pytest.mark.parametrize(
    ("attribute", "entries", "found"),
    [
        (PLAIN, ["a", 1, "1", 1.0], []),
        (PLAIN, ["b"], ["unlisted"]),
        (PLAIN, [2], ["unlisted"]),
        (PLAIN, [None], ["null"]),
        (PLAIN, ["b", None], ["unlisted", "null"]),
        (Categorical(["a"], missing="?"), [None, "?"], []),
        (Categorical(["a"], missing="?"), ["b"], ["unlisted"]),
        (Categorical(["a"], other="rest"), ["b", None], []),
        (Categorical(["a"], on_unknown="drop"), ["b", None], []),
        (BINS, [0, 1, "0.5", 0.25], []),
        (BINS, ["abc"], ["not a number"]),
        (BINS, ["?"], ["not a number"]),
        (BINS, [2], ["out of range"]),
        (BINS, [-0.1], ["out of range"]),
        (BINS, [float("inf")], ["out of range"]),
        (BINS, ["2"], ["out of range"]),
        (BINS, [None], ["null"]),
        (BINS, [float("nan")], ["null"]),
        (BINS, ["abc", 2, None], ["not a number", "out of range", "null"]),
        (Numeric(0, 1, missing="?"), ["?", "abc", None], []),
        (Numeric(0, 1, missing="?"), [2], ["out of range"]),
        (Numeric(0, 1, on_unknown="clip"), [2, -1], []),
        (Numeric(0, 1, on_unknown="clip"), [None], ["null"]),
        (Numeric(0, 1, on_unknown="clip"), ["abc"], ["not a number"]),
        (Numeric(0, 1, on_unknown="drop"), [2, None], []),
    ],
)
def test_the_owner_learns_what_does_not_fit_and_was_not_declared(
    attribute: Attribute, entries: list, found: list
) -> None:
    schema = Schema({"x": attribute}, "class", [0, 1])
    for column in (pd.Series(entries, dtype=object), pd.Series(entries)):
        assert find_problems(schema, {"x": column, "class": [0] * len(entries)}) == [
            ("x", what) for what in found
        ]


def test_the_classes_are_checked_like_a_column_without_a_catch_all() -> None:
    schema = Schema({"x": PLAIN}, "class", [0, 1])
    assert find_problems(schema, {"x": ["a"] * 3}, pd.Series([0, 2, None])) == [
        ("class", "unlisted"),
        ("class", "null"),
    ]


@pytest.mark.parametrize("what", get_args(What))
def test_every_problem_names_the_column_and_a_way_out(what: str) -> None:
    said = describe("age", what)
    assert said.startswith("column 'age' ")
    assert ";" in said


@pytest.mark.parametrize(
    "table",
    [
        {**GOOD, "c": [SECRET, NUMBER]},
        {**GOOD, "n": [SECRET]},
        {**GOOD, "n": [NUMBER]},
        {**GOOD, "class": [SECRET]},
        {**GOOD, "c": pd.Series([pd.Timestamp(NUMBER, unit="s")])},
        {**GOOD, "n": pd.Series(pd.Categorical([pd.Timestamp(NUMBER, unit="s")]))},
        {"c": [SECRET] * 4321},
        pd.DataFrame([[SECRET, SECRET]] * 4321, columns=["c", "c"]),
        np.full((4321, 3), SECRET),
        [[SECRET, 1, 1]] * 4321,
        [[SECRET]] * 4321 + [[SECRET, 1]],
    ],
    ids=range(11),
)
def test_no_message_holds_a_value_or_a_count(table: object) -> None:
    said = []
    for act in (
        encode,
        check_structure,
        lambda *arguments: raise_if_any(find_problems(*arguments)),
    ):
        try:
            act(SCHEMA, table)
        except PrivetError as error:
            said.append(f"{error!r} {error} {error.__cause__} {error.__context__}")
    assert said
    for secret in (SECRET, str(NUMBER), "4321", "2001"):
        assert not any(secret in message for message in said)
