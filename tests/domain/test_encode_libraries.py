"""The same rows get the same codes, whatever library and column type holds them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.encode.rows import encode
from privet.errors import ParameterError


def codes(attribute: Attribute, table: object) -> list[int]:
    """The codes of the only column, x."""
    return encode(Schema({"x": attribute}, "class", [0, 1]), table, target=False).codes[0].tolist()


def held_as(entries: list[Any], *dtypes: str) -> dict[str, object]:
    """The same column in every library, and in these types of pandas."""
    series = {
        f"pandas {dtype}": pd.DataFrame({"x": pd.Series(entries, dtype=dtype)})
        for dtype in ("object", *dtypes)
    }
    array = np.empty((len(entries), 1), dtype=object)
    array[:, 0] = entries
    return {
        **series,
        "pandas category": pd.DataFrame({"x": pd.Categorical(entries)}),
        "polars": pl.DataFrame({"x": entries}),
        "arrow": pa.table({"x": entries}),
        "dict": {"x": entries},
        "array": array,
    }


TEXT = held_as(["a", "b", "c", None], "string", "str")
NUMBERS = held_as([1, 2, 3, None], "Int64", "Float64", "float", "int64[pyarrow]")
WHOLE = {
    **held_as([1, 2, 3], "int8", "uint16", "Int64", "float32"),
    "two-dimensional": np.array([[1.0], [2.0], [3.0]]),
}
TRUTHS = held_as([True, False], "bool", "boolean", "bool[pyarrow]")


@pytest.mark.parametrize("library", TEXT)
def test_texts_of_every_library_are_encoded_alike(library: str) -> None:
    assert codes(Categorical(["b", "a"], missing="?"), TEXT[library]) == [1, 0, 3, 2]


@pytest.mark.parametrize("library", NUMBERS)
def test_numbers_with_missing_entries(library: str) -> None:
    assert codes(Categorical(["2", 1], missing="?"), NUMBERS[library]) == [1, 0, 3, 2]
    assert codes(Numeric(0, 3, bins=3, missing="?"), NUMBERS[library]) == [1, 2, 2, 3]


@pytest.mark.parametrize("library", WHOLE)
def test_numbers_of_every_library_are_encoded_alike(library: str) -> None:
    assert codes(Categorical(["2", 1.0]), WHOLE[library]) == [1, 0, 2]
    assert codes(Numeric(0, 3, bins=3), WHOLE[library]) == [1, 2, 2]


@pytest.mark.parametrize("library", TRUTHS)
def test_truth_values(library: str) -> None:
    assert codes(Categorical(["true", 1, False]), TRUTHS[library]) == [0, 2]


@pytest.mark.parametrize(
    "library", ["pandas object", "pandas bool", "pandas boolean", "polars", "arrow", "dict"]
)
def test_truth_values_as_numbers(library: str) -> None:
    assert codes(Numeric(0, 2, bins=2), TRUTHS[library]) == [1, 0]


def test_text_that_spells_numbers() -> None:
    spelled = {"x": ["1", " 2 ", "3e0", "1_0", "abc", "", "nan", "inf"]}
    assert codes(Numeric(0, 3, bins=3, missing="?"), spelled) == [1, 2, 2, 3, 3, 3, 3, 2]


@pytest.mark.parametrize("entry", [1, 1.0, "1", np.int8(1), np.float32(1), np.str_("1")])
def test_one_number_is_the_same_category_however_it_is_held(entry: object) -> None:
    for listed in (1, 1.0, "1"):
        assert codes(
            Categorical(["a", listed]), pd.DataFrame({"x": pd.Series([entry], dtype=object)})
        ) == [1]


@pytest.mark.parametrize(
    ("listed", "entry"),
    [
        ("1", "01"),
        (1, "01"),
        ("1", True),
        ("true", 1),
        ("0", False),
        ("a", "a "),
        ("a", "A"),
        ("1", " 1"),
    ],
)
def test_what_only_looks_alike_is_unlisted(listed: object, entry: object) -> None:
    assert codes(Categorical([listed]), pd.DataFrame({"x": pd.Series([entry], dtype=object)})) == [
        1
    ]


@pytest.mark.parametrize("null", [None, float("nan"), pd.NA, pd.NaT, np.nan])
@pytest.mark.parametrize("others", [["a"], [1], [1, "a"], []])
def test_every_null_is_missing(null: object, others: list) -> None:
    table = pd.DataFrame({"x": pd.Series([null, *others], dtype=object)})
    assert codes(Categorical(["a", 1], missing="?"), table)[0] == 2
    assert codes(Numeric(0, 1, bins=2, missing="?"), table)[0] == 2


@pytest.mark.parametrize("others", [["a"], [1], []])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_numpy_nan_among_objects_is_missing(dtype: str, others: list) -> None:
    table = pd.DataFrame({"x": pd.Series([np.dtype(dtype).type("nan"), *others], dtype=object)})
    assert codes(Categorical(["nan"], missing="?"), table)[0] == 1


@pytest.mark.parametrize(
    "dtype",
    ["object", "float"],
)
def test_infinity_is_not_the_text_inf(dtype: str) -> None:
    assert codes(
        Categorical(["inf"]), pd.DataFrame({"x": pd.Series([float("inf")], dtype=dtype)})
    ) == [1]


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param([1]),
        "\x01",
    ],
)
def test_what_is_no_value_matches_nothing(entry: object) -> None:
    assert codes(
        Categorical(["\x00"]), pd.DataFrame({"x": pd.Series([entry, 3], dtype=object)})
    ) == [1, 1]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [([1.0, "a"], [0, 1]), ([True, "a"], [2, 1]), ([True, 1], [2, 0]), (["a\x00", "a"], [3, 1])],
)
def test_a_list_of_mixed_entries_is_matched_entry_by_entry(entries: list, expected: list) -> None:
    assert codes(Categorical(["1", "a", "true"]), {"x": entries}) == expected


def test_a_sparse_column() -> None:
    assert codes(Categorical([1, 0]), pd.DataFrame({"x": pd.arrays.SparseArray([0, 1, 0])})) == [
        1,
        0,
        1,
    ]


def test_a_masked_entry_is_missing() -> None:
    assert codes(
        Categorical([1, 2], missing="?"), np.ma.masked_array([[1], [2]], mask=[[True], [False]])
    ) == [2, 1]


def test_classes_come_from_y_or_from_the_table() -> None:
    schema = Schema({"x": Categorical(["a"])}, "class", ["no", "yes"])
    inside = encode(schema, {"x": ["a", "a"], "class": ["yes", "?"]})
    for y in (
        ["yes", "?"],
        np.array([["yes"], ["?"]]),
        pd.Series(["yes", "?"], index=[7, 3]),
        pl.Series(["yes", "?"]),
    ):
        outside = encode(schema, {"x": ["a", "a"]}, y)
        assert outside.classes.tolist() == inside.classes.tolist() == [1, 2]
    assert inside.known(schema).tolist() == [True, False]


def test_people_are_told_apart() -> None:
    schema = Schema({"x": Categorical(["a"])}, "class", [0, 1], person="id")
    person = encode(
        schema, {"x": ["a"] * 5, "class": [0] * 5, "id": pd.Series(["p", None, "q", None, "p"])}
    ).person
    assert person[0] == person[4]
    assert len({person[0], person[1], person[2]}) == 3


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("rows", "got str"),
        (5, "got int"),
        (None, "got NoneType"),
        (pl.LazyFrame({"x": ["a"]}), "lazy"),
        (np.zeros(3), "two dimensions"),
        (np.zeros((3, 2)), "1 columns"),
        (pd.DataFrame([["a", "a"]], columns=["x", "x"]), "'x' stands more than once"),
        *(pytest.param(table, "got") for table in (pd.Series([1]), pl.Series([1]), pa.array([1]))),
    ],
)
def test_what_is_no_table_is_refused(table: object, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        codes(Categorical(["a"]), table)


def test_a_person_column_of_another_length_is_refused() -> None:
    schema = Schema({"x": Categorical(["a"])}, "class", ["no", "yes"], person="id")
    with pytest.raises(ParameterError, match="same length"):
        encode(schema, {"x": ["a", "a"], "class": ["no", "yes"], "id": [1]})


@pytest.mark.parametrize("y", [["no"], ["no", "yes", "no"]])
def test_columns_of_different_lengths_are_refused(y: list) -> None:
    with pytest.raises(ParameterError, match="same length"):
        encode(Schema({"x": Categorical(["a"])}, "class", ["no", "yes"]), {"x": ["a", "a"]}, y)
