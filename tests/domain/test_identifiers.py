"""Columns that tell who somebody is are left out of a schema, with a reason."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.drafting.identifiers import judge_name, judge_numbers, judge_texts, split_name
from privet.domain.drafting.sample import MANY_VALUES, OFTEN, draft_sample
from privet.errors import DraftWarning, SchemaError

ROWS = 60
RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("customerID", ["customer", "id"]),
        ("PatientId", ["patient", "id"]),
        ("e-mail address", ["e", "mail", "address"]),
        ("IDNumber", ["id", "number"]),
        ("last_name", ["last", "name"]),
        ("x2", ["x", "2"]),
    ],
)
def test_a_name_has_words(name: str, words: list[str]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    "name",
    [
        "customerID",
        "id",
        "AppointmentID",
        "uuid",
        "E-Mail",
        "phone_number",
        "Last Name",
        "SSN",
        "firstName",
        "user_name",
        "IBAN",
        "account",
        "street",
        "mobile",
    ],
)
def test_names_of_identifiers(name: str) -> None:
    assert judge_name(name) is not None


@pytest.mark.parametrize(
    "name", ["age", "gender", "paid", "video", "tenure", "PaymentMethod", "idle", "nose", "job"]
)
def test_names_of_others(name: str) -> None:
    assert judge_name(name) is None


TEXTS = {
    "e-mail": [f"p{i % 5}@example.org" for i in range(ROWS)],
    "uuid": [f"{i % 5:08x}-0000-4000-8000-000000000000" for i in range(ROWS)],
    "phone": [f"+49 30 12345{i % 5}" for i in range(ROWS)],
    "us phone": [f"(212) 555-01{i % 5:02}" for i in range(ROWS)],
    "ssn": [f"123-45-000{i % 5}" for i in range(ROWS)],
    "web": [f"https://example.org/{i % 5}" for i in range(ROWS)],
    "codes": [f"K{i * 7919 % 10007}" for i in range(ROWS)],
}


@pytest.mark.parametrize("kind", TEXTS)
def test_entries_that_tell_who_somebody_is(kind: str) -> None:
    assert judge_texts("x", TEXTS[kind]) is not None


@pytest.mark.parametrize(
    "texts",
    [
        [f"2020-01-{1 + i % 20:02}" for i in range(ROWS)],
        [("Yes", "No", "No phone service")[i % 3] for i in range(ROWS)],
        ["0-10", "10-20", "20-30"] * 20,
        ["1,234.50", "2,000.00"] * 30,
        ["2020-01-01", "1.5", "+1"] * 20,
        [f"city {i % 30}" for i in range(ROWS)],  # half as many values as rows
    ],
)
def test_entries_that_recur_may_stay(texts: list[str]) -> None:
    assert judge_texts("x", texts) is None


@pytest.mark.parametrize(
    ("name", "numbers", "told"),
    [
        ("x", np.arange(ROWS) * 3 + 100, "rise"),
        ("x", np.arange(ROWS)[::-1], "fall"),
        ("x", RNG.permutation(ROWS), "numbers the rows"),
        ("x", RNG.integers(10**12, 10**13, ROWS), "long"),
        ("PatientId", RNG.integers(10**4, 10**6, ROWS), "'id'"),
        ("phone", np.array([5551234, 5551235]), "telephone"),
    ],
)
def test_numbers_that_number_the_rows(name: str, numbers: np.ndarray, told: str) -> None:
    assert re.search(told, judge_numbers(name, numbers.astype(float)) or "")


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("income", RNG.integers(10**4, 10**6, ROWS)),  # most are different, and still amounts
        ("age", RNG.integers(18, 90, ROWS)),
        ("ward_id", np.arange(ROWS) % 5),  # recurs
        ("day", np.sort(RNG.integers(0, 30, ROWS))),  # sorted, but not one each
        ("share", np.arange(ROWS) / 7),
        ("x", np.arange(5)),  # too few rows to tell
    ],
)
def test_numbers_that_measure_something_stay(name: str, numbers: np.ndarray) -> None:
    assert judge_numbers(name, numbers.astype(float)) is None


def sample() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "customerID": [f"{i * 7919 % 10007:04}-ABCDE" for i in range(ROWS)],
            "row": range(1000, 1000 + ROWS),
            "contact": TEXTS["e-mail"],
            "country": ["Utopia"] * ROWS,
            "nothing": [None] * ROWS,
            "plan": ["basic", "pro", "team"] * (ROWS // 3),
            "fee": [20.5 + i * 7 % 30 for i in range(ROWS)],
            "ward": [i % 4 for i in range(ROWS)],
            "left": ["no", "yes"] * (ROWS // 2),
        }
    )


def test_every_column_that_is_left_out_has_its_reason() -> None:
    draft = draft_sample(sample())
    assert set(draft.schema.attributes) == {"plan", "fee", "ward"}
    assert set(draft.left_out) == {"customerID", "row", "contact", "country", "nothing"}
    assert "e-mail" in draft.left_out["contact"]
    assert "same value" in draft.left_out["country"]
    assert "empty" in draft.left_out["nothing"]
    written = str(draft.schema.to_json())
    assert "ABCDE" not in written
    assert "example.org" not in written


def test_include_keeps_and_exclude_and_person_leave_out() -> None:
    draft = draft_sample(sample(), include=["row"], exclude=["plan"], person="customerID")
    assert set(draft.schema.attributes) == {"row", "fee", "ward"}
    assert draft.schema.person == "customerID"
    assert draft.left_out["plan"] == "you excluded it"
    assert draft.left_out["customerID"] == "it says whose row it is"


def test_an_included_constant_stays() -> None:
    draft = draft_sample(sample(), include=["country"])
    assert draft.schema.attributes["country"] == Categorical(["Utopia"])


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        draft_sample(sample(), "lef", exclude=["plann", "fee"], include=["fee"], person="nobody")
    for told in ("'lef'", "did you mean 'left'", "'plann'", "'plan'", "'nobody'", "both excluded"):
        assert told in str(caught.value)


def test_the_target_is_the_last_column_that_may_be_one() -> None:
    assert draft_sample(sample(), exclude=["left"]).schema.target == "ward"


def test_of_many_texts_the_frequent_ones_are_listed() -> None:
    common = [f"job {i % 3}" for i in range(OFTEN * 60)]
    rare = [f"rare {i}" for i in range(MANY_VALUES)]
    jobs = [*common, *rare]
    frame = pd.DataFrame({"job": jobs, "y": [i % 2 for i in range(len(jobs))]})
    expected = Categorical(["job 0", "job 1", "job 2"], other="other")
    assert draft_sample(frame).schema.attributes["job"] == expected


def test_a_forgiving_draft_has_room_for_what_a_sample_does_not_show() -> None:
    with pytest.warns(DraftWarning, match="customerID: most rows"):
        schema = Schema.draft(sample())
    assert schema.attributes["plan"].labels == ("basic", "pro", "team", "other", "missing")
    assert isinstance(schema.attributes["fee"], Numeric)
    assert schema.attributes["fee"].missing == "missing"
    frame = pd.DataFrame({"plan": ["missing", "other", "none"] * 20, "y": [0, 1] * 30})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        taken = Schema.draft(frame).attributes["plan"]
    assert (taken.missing, taken.size) == ("no entry", 5)
