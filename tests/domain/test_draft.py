"""A first schema from a public sample."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Attribute, Boolean, Categorical, Date, Numeric, Schema
from privet.domain.draft import draft
from privet.domain.drafting.sample import FEW, MANY_CLASSES, draft_sample
from privet.domain.encode.rows import find_problems
from privet.errors import SchemaError


def drafted(*entries: object, dtype: object = None) -> Attribute:
    """The attribute that is drafted from a column of these entries."""
    sample = pd.DataFrame(
        {"x": pd.Series(entries, dtype=dtype), "class": [i % 2 for i in range(len(entries))]}
    )
    schema = draft(sample)
    assert find_problems(schema, sample) == []
    return schema.attributes["x"]


@pytest.mark.parametrize(
    ("entries", "attribute"),
    [
        (["b", "a", "b"], Categorical(["a", "b"])),
        (["b", None, "a"], Categorical(["a", "b"], missing="?")),
        (["b", "?", "a"], Categorical(["?", "a", "b"])),
        ([True, False], Boolean()),
        ([True, None], Boolean(missing="?")),
        (["True", "FALSE", "true"], Boolean()),
        (["True", None], Boolean(missing="?")),
        (["True", "no"], Categorical(["True", "no"])),
        (["13.0", "7.0", "0.50"], Categorical([7, 13, "0.50"])),
        (["01", "02"], Categorical(["01", "02"])),
        (["2016-04-29T18:38:08Z", "2015-12-03"], Date("2015-01-01", "2016-12-31")),
        ([pd.Timestamp("2016-04-29 18:38"), None], Date("2016-01-01", "2016-12-31", missing="?")),
        ([3, 1, 2], Categorical([1, 2, 3])),
        ([2.5, None, 1.0], Categorical([1.0, 2.5], missing="?")),
        (2 * [*range(FEW)], Categorical(range(FEW))),
        (2 * [*range(FEW + 1)], Numeric(0, 20)),
        (2 * [*map(str, range(FEW + 1))], Numeric(0, 20)),
        (2 * [None, *range(1, FEW + 2)], Numeric(1, 21, missing="?")),
        (2 * ["?", *map(str, range(1, FEW + 2))], Numeric(1, 21, missing="?")),
        (2 * [" ", *map(str, range(1, FEW + 2))], Numeric(1, 21, missing="?")),
        (["b", " ", "a"], Categorical([" ", "a", "b"])),
        (2 * [*range(FEW), 123_456], Numeric(0, 130_000, spacing="log")),
        (2 * [*range(-1, FEW), 123_456], Numeric(-1, 130_000)),
        (2 * ["x", *map(str, range(FEW))], Categorical(sorted(["x", *map(str, range(FEW))]))),
    ],
)
def test_a_column_is_drafted_as(entries: object, attribute: Attribute) -> None:
    assert drafted(*entries) == attribute


@pytest.mark.parametrize("date", ["31.12.{}", "12/31/{}", "1-2-{} 10:30"])
def test_dates_as_countries_write_them_are_left_out(date: str) -> None:
    dates = [date.format(year) for year in (2019, 2020, 2021, 2022)] * 10
    sample = pd.DataFrame({"x": dates, "b": [1, 2] * 20, "y": [0, 1] * 20})
    assert "ISO 8601" in draft_sample(sample).left_out["x"]


def significant(number: float) -> int:
    return len(Decimal(repr(number)).normalize().as_tuple().digits)


numbers = st.floats(-1e12, 1e12).filter(lambda number: number == 0 or abs(number) > 1e-6)


@given(st.sets(numbers | st.integers(-(10**6), 10**6), min_size=FEW + 1, max_size=FEW + 5))
def test_bounds_are_rounded_outwards_so_that_they_are_nobodys_value(sample: set) -> None:
    attribute = drafted(*sample, *sample, dtype=float)
    assert isinstance(attribute, Numeric)
    for bound, extreme in ((attribute.low, min(sample)), (attribute.high, max(sample))):
        assert significant(bound) <= 2
        assert bound != extreme or significant(float(extreme)) <= 2


def test_the_target_is_the_last_column_unless_named() -> None:
    sample = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": [1, 0]})
    assert (draft(sample).target, draft(sample).classes, draft(sample).names) == (
        "c",
        (0, 1),
        ("a", "b"),
    )
    assert (draft(sample, "a").target, draft(sample, "a").names) == ("a", ("b", "c"))
    assert isinstance(Schema.from_json(draft(sample).to_json()), Schema)


def test_nothing_is_declared_public_that_was_not_asked_for() -> None:
    schema = draft(pd.DataFrame({"a": ["x", "y"], "class": [0, 1]}))
    assert (schema.n_rows, schema.person) == (None, None)


IDENTIFIERS = [f"person-{i}" for i in range(MANY_CLASSES + 1)]


@pytest.mark.parametrize(
    ("columns", "target", "said"),
    [
        ({"class": [0, 1]}, None, "at least one attribute"),
        (
            {"x": ["a", "b"], "class": [0, 1]},
            "label",
            "target: no column 'label' in the table; there are x, class",
        ),
        ({"x": ["a", "b"], "class": [0, 0]}, None, "class column 'class' must have 2 to"),
        ({"x": ["a", "b"], "class": [None, 0]}, None, "class column 'class' must have 2 to"),
        (
            {"x": ["a"] * (MANY_CLASSES + 1), "class": IDENTIFIERS},
            None,
            "class column 'class' must have 2 to",
        ),
        (
            {"x": IDENTIFIERS, "class": [0, 1] * 500 + [0]},
            None,
            "no attribute is left.*'x': most rows have a value of their own",
        ),
        ({"x": [None, None], "class": [0, 1]}, None, "no attribute is left.*'x': it is empty"),
        ({"x": [1, 1], "class": [0, 1]}, None, "no attribute is left.*'x': .* same value"),
    ],
)
def test_what_cannot_be_drafted_is_refused(columns: dict, target: str | None, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        draft(pd.DataFrame(columns), target)


ENOUGH = 2 * FEW


@pytest.mark.parametrize(
    "sample",
    [
        pd.DataFrame({"x": pd.to_timedelta(range(ENOUGH)), "class": [0, 1] * FEW}),
        pd.DataFrame([["a", "b", 0], ["a", "b", 1]], columns=["x", "x", "class"]),
        pd.DataFrame({"x": [*range(ENOUGH - 1), float("inf")], "class": [0, 1] * FEW}),
        pd.DataFrame({"x": [i * 5e-324 for i in range(1, ENOUGH + 1)], "class": [0, 1] * FEW}),
    ],
    ids=["durations", "twice", "infinity", "subnormal"],
)
def test_an_odd_sample_is_refused_with_the_column(sample: pd.DataFrame) -> None:
    with pytest.raises(SchemaError, match="'x'"):
        draft(sample)


def test_odd_samples_that_can_be_drafted() -> None:
    spelled = pd.DataFrame({"x": ["a", "b"], "y": ["True", "False"]})
    assert draft(spelled).classes == (False, True)
    assert draft(pd.DataFrame({"x": ["a", "b"], "y": ["a", 1]})).classes == (1, "a")
    assert draft(pd.DataFrame({0: ["a", "b"], 1: [0, 1]})).names == ("0",)
