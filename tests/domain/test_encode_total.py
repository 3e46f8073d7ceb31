"""Encoding is total, and the code of a row depends on that row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.encode.rows import encode, find_problems
from privet.errors import ParameterError
from tests.domain.strategies import TRICKY, attributes, texts, values

LISTED = Categorical(["1", "true", "nan", "inf", 0, 0.5, 2**70, "5", "None"], missing="?")
BINS = Numeric(-5, 5, bins=10, missing="?", on_unknown="drop")
entries = st.sampled_from(TRICKY) | values | texts


def column(table: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"x": pd.Series(table, dtype=object)})


def codes(attribute: Attribute, table: object) -> list[int]:
    return encode(Schema({"x": attribute}, "class", [0, 1]), table, target=False).codes[0].tolist()


@settings(max_examples=200)
@given(attributes | st.sampled_from([LISTED, BINS]), st.lists(entries, max_size=8))
def test_every_row_gets_a_code_of_its_own(attribute: Attribute, rows: list) -> None:
    together = codes(attribute, column(rows))
    assert together == [codes(attribute, column([row]))[0] for row in rows]
    assert all(0 <= code <= attribute.size for code in together)


@pytest.mark.parametrize("attribute", [LISTED, BINS])
def test_no_pair_of_entries_changes_the_code_of_either(attribute: Attribute) -> None:
    alone = [codes(attribute, column([row]))[0] for row in TRICKY]
    for i, row in enumerate(TRICKY):
        for j in range(i):
            assert codes(attribute, column([row, TRICKY[j]])) == [alone[i], alone[j]], (
                row,
                TRICKY[j],
            )


@settings(max_examples=100)
@given(attributes, st.lists(entries, max_size=8))
def test_the_owners_check_is_total_too(attribute: Attribute, rows: list) -> None:
    schema = Schema({"x": attribute}, "class", [0, 1])
    found = find_problems(schema, column(rows), [0] * len(rows))
    assert {name for name, _ in found} <= {"x"}


@settings(max_examples=100)
@given(attributes, st.lists(st.none() | texts, min_size=1, max_size=6), st.data())
def test_categories_of_pandas_count_only_where_they_occur(
    attribute: Attribute, rows: list, data: st.DataObject
) -> None:
    unused = data.draw(st.lists(texts, max_size=3))
    listed = pd.Categorical(
        rows, categories=list(dict.fromkeys([row for row in rows if row is not None] + unused))
    )
    schema = Schema({"x": attribute}, "class", [0, 1])
    assert codes(attribute, pd.DataFrame({"x": listed})) == codes(attribute, column(rows))
    y = [0] * len(rows)
    assert find_problems(schema, pd.DataFrame({"x": listed}), y) == find_problems(
        schema, column(rows), y
    )


@pytest.mark.parametrize(
    "make", [lambda rows: {"x": rows}, lambda rows: [[row] for row in rows]], ids=["dict", "rows"]
)
@pytest.mark.parametrize("rows", [[1.0, "a"], [True, "a"], [True, 2]], ids=repr)
def test_a_row_of_a_list_has_the_same_code_alone(make: Any, rows: list) -> None:
    attribute = Categorical(["1", "true", 2])
    assert codes(attribute, make(rows)) == [codes(attribute, make([row]))[0] for row in rows]


@pytest.mark.parametrize(
    "rows",
    [
        [[1], [1, 2]],
        [["a"], ["b"]],
        pytest.param(
            ["\ud800", "a"],
        ),
    ],
    ids=["ragged", "lists", "half a character"],
)
def test_a_mapping_of_lists_is_total(rows: list) -> None:
    assert (
        codes(Categorical(["a"]), {"x": rows})[0] == codes(Categorical(["a"]), column(rows))[0] == 1
    )


NULLABLE = {
    "polars": lambda rows: pl.DataFrame({"x": rows}),
    "arrow": lambda rows: pa.table({"x": rows}),
}


@pytest.mark.parametrize("library", NULLABLE)
@pytest.mark.parametrize(
    ("attribute", "row"),
    [
        pytest.param(
            *(Numeric(0, 2, bins=2), True),
        ),
        (Categorical([2**53 + 1]), 2**53 + 1),
        (Categorical([0.5]), 0.5),
        (Categorical(["a"]), "a"),
        (Categorical([True]), True),
    ],
)
def test_a_null_does_not_change_the_code_of_another_row(
    library: str, attribute: Attribute, row: object
) -> None:
    make = NULLABLE[library]
    assert codes(attribute, make([row, None]))[0] == codes(attribute, make([row]))[0]


def test_a_complex_entry_is_no_value() -> None:
    assert codes(Categorical([1]), column([np.complex128(1 + 1j), 1])) == [1, 0]


def test_a_category_of_thousands_of_digits_is_unlisted() -> None:
    assert codes(Categorical([1]), pd.DataFrame({"x": pd.Categorical([10**5000])})) == [1]


def test_a_column_of_structs_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="'x'"):
        codes(Categorical([1]), pl.DataFrame({"x": [{"a": 1}]}))
