"""The canonical hash sees every cell, and nothing but the cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.datasets import canonical_hash
from privet.domain import Categorical, Numeric, Schema
from privet.errors import DatasetError

SCHEMA = Schema(
    {"colour": Categorical(["red", "green"]), "size": Numeric(-1000, 1000, missing="?")},
    "class",
    ["a", "b"],
)
Row = tuple[str, float | None, str]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["red", "green", "re", "d", ""]),
        st.one_of(st.none(), st.integers(-99_999, 99_999).map(lambda cents: cents / 100)),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=12,
)


def frame_of(rows: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["colour", "size", "class"], dtype=object)


@given(ROWS, st.data())
def test_row_and_column_order_do_not_matter(rows: list[Row], data: st.DataObject) -> None:
    frame = frame_of(rows)
    shuffled = frame_of(data.draw(st.permutations(rows)))[data.draw(st.permutations(list(frame)))]
    assert canonical_hash(shuffled, SCHEMA) == canonical_hash(frame, SCHEMA)


def ways_to_write(number: float | None) -> list[object]:
    if number is None:
        return [None, float("nan"), "?", "", " ? ", pd.NA]
    sign, size = ("-", -number) if number < 0 else ("", number)
    return [
        number,
        np.float64(number),
        str(number),
        f"{number:.5f}",
        f" {number} ",
        f"{sign}00{size}",
        f"{number:.12e}",
    ]


@given(ROWS, st.data())
def test_number_formatting_does_not_matter(rows: list[Row], data: st.DataObject) -> None:
    written = [
        (f" {colour} ", data.draw(st.sampled_from(ways_to_write(size))), label)
        for colour, size, label in rows
    ]
    assert canonical_hash(frame_of(written), SCHEMA) == canonical_hash(frame_of(rows), SCHEMA)


@given(ROWS, st.data())
def test_changing_any_cell_matters(rows: list[Row], data: st.DataObject) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    colour, size, label = rows[row]
    changes = [
        (colour + "x", size, label),
        (colour, 0.5 if size is None else None, label),
        (colour, (size or 0) + 0.01, label),
        (colour, size, "b" if label == "a" else "a"),
    ]
    changed = data.draw(st.sampled_from(changes))
    others = [*rows[:row], changed, *rows[row + 1 :]]
    assert canonical_hash(frame_of(others), SCHEMA) != canonical_hash(frame_of(rows), SCHEMA)


@given(ROWS)
def test_a_row_more_matters(rows: list[Row]) -> None:
    assert canonical_hash(frame_of([*rows, rows[0]]), SCHEMA) != canonical_hash(
        frame_of(rows), SCHEMA
    )


def test_rows_are_sorted_as_a_whole_and_not_column_by_column() -> None:
    one, other = [("red", 1.0, "a"), ("green", 2.0, "b")], [("red", 2.0, "a"), ("green", 1.0, "b")]
    assert canonical_hash(frame_of(one), SCHEMA) != canonical_hash(frame_of(other), SCHEMA)


def test_neighbouring_cells_do_not_run_together() -> None:
    schema = Schema({"one": Categorical(["a"]), "two": Categorical(["b"])}, "class", ["a", "b"])
    columns = ["one", "two", "class"]
    left = pd.DataFrame([("ab", "c", "a")], columns=columns)
    right = pd.DataFrame([("a", "bc", "a")], columns=columns)
    assert canonical_hash(left, schema) != canonical_hash(right, schema)


def test_names_of_columns_matter() -> None:
    frame = frame_of([("red", 1.0, "a")])
    renamed = Schema(
        {"hue": SCHEMA.attributes["colour"], "size": SCHEMA.attributes["size"]}, "class", ["a", "b"]
    )
    assert canonical_hash(frame.rename(columns={"colour": "hue"}), renamed) != canonical_hash(
        frame, SCHEMA
    )


def test_columns_that_the_schema_does_not_name_are_left_out() -> None:
    frame = frame_of([("red", 1.0, "a")])
    assert canonical_hash(frame.assign(index=7), SCHEMA) == canonical_hash(frame, SCHEMA)


def test_a_category_is_the_same_as_number_and_as_text() -> None:
    schema = Schema({"one": Categorical(["1", "2"])}, "class", ["0", "1"])
    text = pd.DataFrame({"one": ["1", "2"], "class": ["0", "1"]})
    assert (
        canonical_hash(text.astype(float), schema)
        == canonical_hash(text.astype(int), schema)
        == canonical_hash(text, schema)
    )


def test_one_and_true_are_different_categories() -> None:
    schema = Schema({"one": Categorical(["1", "true"])}, "class", ["0", "1"])
    mixed = pd.DataFrame({"one": [1.0, True], "class": ["0", "1"]}, dtype=object)
    both = pd.DataFrame({"one": [1.0, 1.0], "class": ["0", "1"]}, dtype=object)
    assert canonical_hash(mixed, schema) != canonical_hash(both, schema)


@pytest.mark.parametrize(("cell", "why"), [("many", "size"), ("inf", "finite")])
def test_what_is_no_number_is_refused(cell: str, why: str) -> None:
    with pytest.raises(DatasetError, match=why):
        canonical_hash(frame_of([("red", cell, "a")]), SCHEMA)


def test_a_separator_inside_a_value_is_refused() -> None:
    with pytest.raises(DatasetError, match=r"colour.*control"):
        canonical_hash(frame_of([("re\x1fd", 1.0, "a")]), SCHEMA)


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DatasetError, match="no column 'size'"):
        canonical_hash(frame_of([("red", 1.0, "a")]).drop(columns="size"), SCHEMA)
