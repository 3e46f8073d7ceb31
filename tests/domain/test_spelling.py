"""Numbers that text spells with thousands, decimal commas and units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Numeric
from privet.domain.attributes import attribute_from_json
from privet.domain.attributes.spelling import find_spelling
from privet.domain.drafting.answers import read_answer
from privet.domain.drafting.sample import FEW, draft_sample
from privet.domain.encode.rows import encode_entries
from privet.errors import SchemaError


def read(text: object, **spelled: Any) -> float:
    return Numeric(-1e12, 1e12, **spelled).read_number(text)


@pytest.mark.parametrize(
    ("text", "spelled", "number"),
    [
        ("1.234,50 €", {"decimal": ",", "thousands": ".", "unit": "€"}, 1234.5),
        ("€\u00a01.234,50", {"decimal": ",", "thousands": ".", "unit": "€"}, 1234.5),
        ("-$1,234.50", {"thousands": ",", "unit": "$"}, -1234.5),
        ("1 234,5", {"decimal": ",", "thousands": " "}, 1234.5),
        ("12 %", {"unit": "%"}, 12),
        ("7", {"decimal": ","}, 7),
        (7.25, {"decimal": ",", "thousands": "."}, 7.25),  # a number is one already
        ("US$3", {"unit": ["$", "US$"]}, 3),
    ],
)
def test_a_number_is_read_as_it_is_spelled(text: object, spelled: dict, number: float) -> None:
    assert read(text, **spelled) == number


@pytest.mark.parametrize("text", ["1 2", "12 EUR", "abc", "", "1,2,3"])
def test_what_was_not_declared_is_no_number(text: str) -> None:
    assert np.isnan(read(text, decimal=",", unit="€"))


@pytest.mark.parametrize(
    ("spelled", "told"),
    [
        ({"thousands": "."}, "decimal sign"),
        ({"decimal": ",", "thousands": ","}, "decimal sign"),
        ({"decimal": ";"}, "decimal"),
        ({"thousands": "x"}, "thousands"),
        ({"unit": "3"}, "without digits"),
        ({"unit": ""}, "1 to 10"),
        ({"unit": [7]}, "without digits"),
        ({"unit": 7}, "unit must be a sign"),
        ({"unit": ["€"] * 6}, "up to 5"),
        ({"unit": "e"}, "without digits"),
    ],
)
def test_what_cannot_be_meant_is_refused(spelled: dict, told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        Numeric(0, 1, **spelled)


SPELLED = [
    {"decimal": ",", "thousands": ".", "unit": ["€", "EUR"]},
    {"thousands": ",", "unit": "$"},
    {"decimal": ","},
]


@pytest.mark.parametrize("spelled", SPELLED)
@given(number=st.floats(-1e9, 1e9))
def test_what_is_written_is_read_again(spelled: dict, number: float) -> None:
    attribute = Numeric(-1e9, 1e9, bins=64, missing="?", **spelled)
    assert attribute.spelling is not None
    text = attribute.spelling.write(number)
    assert attribute.read_number(text) == number
    again = attribute_from_json(attribute.to_json())
    assert again == attribute
    assert encode_entries([again], [[text]])[0] == encode_entries([again], [[number]])[0]


def test_plain_numbers_stand_in_files_as_before() -> None:
    assert set(Numeric(0, 1).to_json()) == {"type", "low", "high", "bins", "spacing"}


@pytest.mark.parametrize(
    ("texts", "spelled"),
    [
        (["1.234,50 €", "3,00 €"], {"decimal": ",", "thousands": ".", "unit": "€"}),
        (["$1,234", "$3"], {"thousands": ",", "unit": "$"}),
        (["12,5", "3,25"], {"decimal": ","}),
        (["1 234", "12"], {"thousands": " "}),
        (["12%", "5 %"], {"unit": "%"}),
    ],
)
def test_a_sample_shows_how_numbers_are_spelled(texts: list[str], spelled: dict) -> None:
    found = find_spelling(texts)
    assert found is not None
    assert found.to_json() == spelled


@pytest.mark.parametrize("texts", [["12.5"], ["a"], [], ["2020-01-01"], ["1,23,4"], ["1.2.3"]])
def test_other_texts_do_not(texts: list[str]) -> None:
    assert find_spelling(texts) is None


def test_a_draft_declares_the_spelling() -> None:
    fees = [f"1.{100 + 7 * i % 800},{i % 100:02} €" for i in range(3 * FEW)]
    frame = pd.DataFrame({"fee": [*fees, "-", "n/a"], "y": [i % 2 for i in range(3 * FEW + 2)]})
    fee = draft_sample(frame).schema.attributes["fee"]
    assert isinstance(fee, Numeric)
    assert fee.to_json()["unit"] == "€"
    assert (fee.low, fee.high, fee.missing) == (1100, 1600, "?")


def test_an_answer_shows_a_number() -> None:
    answered = read_answer("fee", "0..9000 as 1.234,50 €")
    assert isinstance(answered, Numeric)
    assert answered.read_number("1.000,5 €") == 1000.5
    with pytest.raises(SchemaError, match="is no number"):
        read_answer("fee", "0..9000 as money")
