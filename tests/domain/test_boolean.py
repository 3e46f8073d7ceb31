"""Boolean: however a source spells a boolean, it has one code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.domain import Boolean, Categorical, Schema
from privet.domain.attributes import attribute_from_json
from privet.domain.encode.rows import encode, find_problems
from privet.errors import SchemaError

TRUE = ["true", "True", "TRUE", "t", "T", "yes", "Yes", "YES", "y", "Y", "on", "1", "1.0"]
FALSE = ["false", "False", "FALSE", "f", "F", "no", "No", "NO", "n", "N", "off", "0", "0.0"]


def codes_of(attribute: Boolean, column: object) -> list[int]:
    schema = Schema({"x": attribute}, "class", ["no", "yes"])
    return encode(schema, {"x": column}, target=False).codes[0].tolist()


@pytest.mark.parametrize(
    "column",
    [
        np.array([True, False]),
        np.array([1, 0], dtype=np.int8),
        np.array([1.0, 0.0]),
        [True, False],
        [1, 0.0],
        ["yes", "no"],
        pd.Series([True, False], dtype="boolean"),
        pa.array([True, False]),
        pl.Series([True, False]),
    ],
)
def test_true_is_one_and_false_is_zero(column: object) -> None:
    assert codes_of(Boolean(), column) == [1, 0]


def test_every_spelling_is_taken() -> None:
    assert codes_of(Boolean(), TRUE) == [1] * len(TRUE)
    assert codes_of(Boolean(), FALSE) == [0] * len(FALSE)


@pytest.mark.parametrize(
    ("attribute", "unknown", "null"),
    [
        (Boolean(), 2, 2),
        (Boolean(missing="?"), 2, 2),
        (Boolean(missing="?", on_unknown="drop"), 3, 2),
    ],
)
def test_what_spells_no_boolean_is_missing_or_dropped(attribute, unknown, null) -> None:
    assert codes_of(attribute, ["maybe", "tRUE", "2", 2, -1, 0.5]) == [unknown] * 6
    assert codes_of(attribute, [None, np.nan]) == [null] * 2
    assert codes_of(attribute, np.array([1.0, np.nan])) == [1, null]
    assert codes_of(attribute, np.array([2, 1])) == [unknown, 1]


def test_labels_and_files() -> None:
    attribute = Boolean(missing="unknown", column="smokes")
    assert attribute.labels == ("false", "true", "unknown")
    assert attribute.to_json() == {"type": "boolean", "missing": "unknown", "column": "smokes"}
    assert attribute_from_json(attribute.to_json()) == attribute
    assert Boolean() != Categorical([False, True])
    with pytest.raises(SchemaError, match="unknown key 'values' in a boolean attribute"):
        attribute_from_json({"type": "boolean", "values": [0, 1]})


@pytest.mark.parametrize("label", ["true", "no", "T", "0"])
def test_a_missing_entry_is_not_labelled_as_a_boolean(label: str) -> None:
    with pytest.raises(SchemaError, match="must not spell a boolean"):
        Boolean(missing=label)


@pytest.mark.parametrize(
    ("options", "entries", "problems"),
    [
        ({}, ["yes", 0, True], []),
        ({}, ["maybe"], ["unlisted"]),
        ({}, [None], ["null"]),
        ({"missing": "?"}, ["maybe", None], []),
        ({"on_unknown": "drop"}, ["maybe", None], []),
    ],
)
def test_the_owner_learns_what_does_not_fit(options, entries, problems) -> None:
    schema = Schema({"x": Boolean(**options)}, "class", ["no", "yes"])
    table = {"x": entries, "class": ["no"] * len(entries)}
    assert find_problems(schema, table) == [("x", problem) for problem in problems]
