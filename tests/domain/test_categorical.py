"""Categorical: what may be declared, and the codes of what is listed, unknown and missing."""

from __future__ import annotations

import numpy as np
import pytest

from privet.domain import Categorical, text_of
from privet.errors import SchemaError


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"values": "abc"}, "values"),
        ({"values": {"a": 1}}, "values"),
        ({"values": None}, "values"),
        ({"values": 5}, "values"),
        ({"values": []}, "values"),
        ({"values": ["a", "a"]}, "values.*'a' is listed twice"),
        ({"values": [1, "1"]}, "values.*'1' is listed twice"),
        ({"values": [1.0, 1]}, "values.*'1' is listed twice"),
        ({"values": [True, "true"]}, "values.*'true' is listed twice"),
        ({"values": [float("nan")]}, "value"),
        ({"values": [float("inf")]}, "value"),
        ({"values": [None]}, "value"),
        ({"values": [["a"]]}, "value"),
        ({"values": [b"a"]}, "value"),
        ({"values": ["a"], "on_unknown": "clip"}, "on_unknown"),
        ({"values": ["a"], "on_unknown": ["drop"]}, "on_unknown"),
        ({"values": ["a"], "on_unknown": "other"}, "other"),
        ({"values": ["a"], "other": ["b"]}, "value"),
        ({"values": ["a"], "missing": float("nan")}, "value"),
    ],
)
def test_a_bad_parameter_is_named(arguments: dict, named: str) -> None:
    with pytest.raises(SchemaError, match=f"Categorical: .*{named}"):
        Categorical(**arguments)


@pytest.mark.parametrize("parameter", ["other", "missing"])
def test_a_bad_extra_value_is_named(parameter: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Categorical(["a"], **{parameter: ["b"]})
    assert parameter in str(caught.value)


@pytest.mark.parametrize("parameter", ["other", "missing"])
def test_numpy_scalars_become_plain_values_everywhere(parameter: str) -> None:
    attribute = Categorical([np.int64(1), np.str_("a"), np.bool_(True)], **{parameter: np.int64(2)})
    assert [type(value) for value in (*attribute.values, getattr(attribute, parameter))] == [
        int,
        str,
        bool,
        int,
        int,
    ]


def test_numbers_and_truth_values_are_different_domains() -> None:
    assert Categorical([0, 1]) != Categorical([False, True])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        ("01", "01"),
        (True, "true"),
        (np.bool_(False), "false"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e22, "1" + "0" * 22),
        (np.int8(-3), "-3"),
        (2**70, str(2**70)),
        ("True", "True"),
    ],
)
def test_one_text_stands_for_a_value(value: object, text: str) -> None:
    assert text_of(value) == text


def test_other_and_missing_are_added_once_and_in_this_order() -> None:
    assert Categorical(["a"], other="rest", missing="?").values == ("a", "rest", "?")
    assert Categorical(["?", "rest"], other="rest", missing="?").values == ("?", "rest")
    assert Categorical(["a"], other="?", missing="?").values == ("a", "?")
    assert Categorical([1], missing="1").values == (1,)
    assert Categorical([], missing="?").size == 1


@pytest.mark.parametrize(
    ("arguments", "unknown", "missing"),
    [
        ({}, 2, 2),
        ({"on_unknown": "drop"}, 2, 2),
        ({"other": "b"}, 1, 1),
        ({"other": "rest"}, 2, 2),
        ({"other": "rest", "on_unknown": "other"}, 2, 2),
        ({"other": "rest", "on_unknown": "drop"}, 3, 3),
        ({"missing": "?"}, 3, 2),
        ({"missing": "a"}, 2, 0),
        ({"other": "rest", "missing": "?"}, 2, 3),
        ({"other": "rest", "missing": "?", "on_unknown": "drop"}, 4, 3),
    ],
)
def test_codes_of_the_unknown_and_the_missing(arguments: dict, unknown: int, missing: int) -> None:
    attribute = Categorical(["a", "b"], **arguments)
    assert (attribute.unknown_code, attribute.missing_code) == (unknown, missing)


@pytest.mark.parametrize(("size", "dtype"), [(1, np.uint8), (255, np.uint8), (256, np.uint16)])
def test_the_smallest_type_holds_the_unknown_code_too(size: int, dtype: type) -> None:
    attribute = Categorical(range(size))
    assert attribute.dtype == dtype
    assert np.array(attribute.size).astype(attribute.dtype) == attribute.unknown_code == size


@pytest.mark.parametrize(("size", "allowed"), [(65_535, True), (65_536, False)])
def test_the_largest_domain(size: int, allowed: bool) -> None:
    if allowed:
        assert Categorical(range(size)).dtype == np.uint16
    else:
        with pytest.raises(SchemaError, match="1 to 65535 values, got 65536"):
            Categorical(range(size))


@pytest.mark.parametrize(
    ("kind", "lookup"),
    [
        ("number", {1.0: 0, 0.5: 2, -2.0: 3}),
        ("bool", {True: 5}),
    ],
)
def test_a_typed_column_is_looked_up_by_what_it_can_hold(kind: str, lookup: dict) -> None:
    attribute = Categorical(["1", "01", "0.5", -2, "nan", True, "1e3", "inf"])
    assert attribute.encoding(kind).listed == lookup


def test_a_text_column_is_looked_up_by_text() -> None:
    found = Categorical(["1", "01", True]).encoding("text").listed
    assert (found["1"], found["01"], found["true"]) == (0, 1, 2)


def test_files_spell_whole_numbers_and_truth_values_in_other_ways() -> None:
    found = Categorical([1, "1.0", 2, True, "3"]).code_of_text
    expected = {
        "1": 0,
        "1.0": 1,
        "2.0": 2,
        "True": 3,
        "TRUE": 3,
        "true": 3,
        "3.0": 4,
        "02": None,
    }
    assert {text: found.get(text) for text in expected} == expected


def test_a_number_matches_its_own_spelling() -> None:
    assert Categorical([1.0]).code_of_text.get("1.0") == 0
