"""Date: what may be declared, which part an entry has, and the bin that it falls in."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Attribute, Categorical, Date, Numeric, Schema
from privet.domain.attributes import attribute_from_json
from privet.domain.cells import Split
from privet.domain.encode.encoding import DatePart
from privet.domain.encode.rows import encode, encode_entries, find_problems
from privet.domain.encode.scalars import ISO_MOMENT, moment_of, parts_of, read_numbers
from privet.domain.labels import find_code
from privet.errors import QuestionError, SchemaError, SchemaMismatch
from privet.mechanisms.randomness import SystemBits
from privet.synthetic.rows import frame_of

AT = date(2024, 2, 29)
PARTS = [DatePart(part) for part in ("date", "year", "month", "weekday", "hour")]
PARTS.append(DatePart("age", AT))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "give the public bounds"),
        ({"low": "2024-01-01"}, "give the public bounds"),
        ({"low": "2024-13-01", "high": "2025-01-01"}, "low must be a date .*got '2024-13-01'"),
        ({"low": "20240101", "high": "2025-01-01"}, "low must be a date"),
        ({"low": "2024-01-01", "high": datetime(2025, 1, 1)}, "high must be a date"),
        ({"low": "0999-12-31", "high": "2024-01-01"}, "low must be 1000-01-01 or later"),
        ({"low": "2024-W01-1", "high": "2025-01-01"}, "low must be a date"),
        ({"low": "2025-01-01", "high": "2024-01-01"}, "low must be before high"),
        ({"low": "2024-01-01", "high": "2024-01-01"}, "low must be before high"),
        ({"part": "year"}, "part='year' needs public bounds"),
        ({"part": "year", "low": 1990, "high": 2020.5}, "high must be an integer"),
        ({"part": "month", "low": 0}, "low must be"),
        ({"part": "weekday", "high": 8}, "high must be"),
        ({"part": "hour", "bins": 25}, "bins must be"),
        ({"part": "decade"}, "part must be"),
        ({"part": "age", "low": 0, "high": 99}, "part='age' needs the date"),
        ({"part": "month", "at": "2024-01-01"}, "at goes with part='age'"),
        ({"low": "2024-01-01", "high": "2024-01-05", "bins": 6}, "bins must be"),
        ({"part": "month", "missing": 3}, "missing must be a label"),
        ({"part": "month", "on_unknown": "other"}, "on_unknown must be"),
        ({"part": "month", "column": ""}, "column must be the name"),
    ],
)
def test_a_bad_parameter_is_named(arguments: dict, said: str) -> None:
    with pytest.raises(SchemaError, match=f"Date: {said}"):
        Date(**arguments)


@pytest.mark.parametrize(
    ("attribute", "first", "last", "size"),
    [
        (Date("2024-01-01", "2024-01-03"), "2024-01-01", "2024-01-03", 3),
        (Date("2023-01-01", "2024-12-31", bins=2), "2023-01-01 to 2023-12-31", None, 2),
        (Date(1990, 2024, part="year", bins=35), "1990", "2024", 35),
        (Date(part="month"), "January", "December", 12),
        (Date(part="weekday", missing="?"), "Monday", "?", 8),
        (Date(8, 17, part="hour"), "8", "17", 10),
        (Date(0, 99, part="age", at=AT, bins=10), "0 to 9", "90 to 99", 10),
    ],
)
def test_bins_are_labelled_as_people_say_them(attribute, first, last, size) -> None:
    assert attribute.labels[0] == first
    assert attribute.size == len(attribute.labels) == size
    assert last is None or attribute.labels[-1] == last


@pytest.mark.parametrize(
    "attribute",
    [
        Date("2015-01-01", "2024-12-31", missing="?", on_unknown="drop", column="admitted"),
        Date(1990, 2024, part="year", bins=7),
        Date(part="hour"),
        Date(6, 20, part="hour"),
        Date(0, 99, part="age", at="2024-02-29"),
    ],
)
def test_a_schema_file_says_the_same(attribute: Date) -> None:
    again = attribute_from_json(attribute.to_json())
    assert again == attribute
    assert again.labels == attribute.labels
    assert hash(again) == hash(attribute)
    assert attribute != Categorical(["x"])


def slow_part(moment: datetime, part: DatePart) -> int:
    """The part by Python's calendar."""
    if part.part == "date":
        return moment.toordinal() - date(1970, 1, 1).toordinal()
    if part.part == "weekday":
        return moment.isoweekday()
    if part.at is not None:
        return part.at.year - moment.year - ((moment.month, moment.day) > (AT.month, AT.day))
    return getattr(moment, part.part)


@given(st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9999, 12, 30)))
def test_parts_are_those_of_the_calendar(moment: datetime) -> None:
    for part in PARTS:
        for entry in (moment, np.datetime64(moment, "us"), moment.isoformat(), str(moment)):
            assert read_numbers(part, [entry])[0] == slow_part(moment, part)


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(1000, 1, 3), datetime(9999, 12, 29), timezones=offsets))
def test_a_time_zone_is_taken_to_utc(moment: datetime) -> None:
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    for part in PARTS:
        assert read_numbers(part, [moment])[0] == slow_part(utc, part)
        assert read_numbers(part, [moment.isoformat()])[0] == slow_part(utc, part)


@given(st.integers(1000, 9999), st.integers(0, 13), st.integers(0, 32))
def test_text_is_a_date_exactly_where_the_calendar_has_the_day(y: int, m: int, d: int) -> None:
    try:
        date(y, m, d)
    except ValueError:
        there = False
    else:
        there = True
    assert np.isnat(moment_of(f"{y:04}-{m:02}-{d:02}")) != there


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "2024-1-1",
        "20240101",
        "2024-01-01T",
        "2024-01-01T24:00",
        "2024-01-01T10",
        "2024-01-01T10:60",
        "2024-01-01T10:00:60",
        "2024-01-01 10:00+15:00",
        "2024-01-01+01:00",
        " 2024-01-01",
        "2024-01-01 ",
        "2024-01-01\n",
        "0999-01-01",
        "\u0662\u0660\u0662\u0664-01-01",
        "01/02/2024",
    ],
)
def test_other_text_is_no_date(text: str) -> None:
    assert np.isnat(moment_of(text))
    assert "\\" not in ISO_MOMENT  # which engines read in different ways
    assert "(?" not in ISO_MOMENT


SCHEMA = Schema(
    {
        "day": Date("2020-01-01", "2020-12-31", bins=12, missing="?", column="when"),
        "month": Date(part="month", missing="?", column="when"),
        "weekday": Date(part="weekday", missing="?", column="when"),
        "hour": Date(part="hour", missing="?", column="when"),
        "age": Date(0, 120, part="age", at="2024-02-29", missing="?", column="when"),
    },
    "class",
    ["no", "yes"],
)
WHEN = [datetime(2020, 2, 29, 13, 5), None, datetime(1904, 2, 29), datetime(2031, 1, 1, 23, 59)]
CODES = [[1, 12, 0, 11], [1, 12, 1, 0], [5, 7, 0, 2], [13, 24, 0, 23]]


def codes_of(column: object) -> list[list[int]]:
    table = {"when": column, "class": ["no"] * 4}
    if isinstance(column, pl.Series):
        table = pl.DataFrame(table)
    elif isinstance(column, pa.ChunkedArray | pa.Array):
        table = pa.table(table)
    elif isinstance(column, pd.Series):
        table = pd.DataFrame(table)
    return [codes.tolist() for codes in encode(SCHEMA, table).codes]


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(WHEN, id="list"),
        pytest.param(np.array(WHEN, dtype="datetime64[m]"), id="numpy"),
        pytest.param(pd.Series(WHEN), id="pandas"),
        pytest.param(pd.Series(WHEN, dtype="datetime64[s]"), id="pandas, seconds"),
        pytest.param(pd.Series(WHEN).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"), id="zone"),
        pytest.param(pd.Series(WHEN, dtype=object), id="objects"),
        pytest.param(
            pd.Series([None if m is None else m.isoformat() for m in WHEN], dtype=object), id="text"
        ),
        pytest.param(pd.Series(WHEN, dtype="timestamp[us][pyarrow]"), id="pandas by Arrow"),
        pytest.param(pd.Series(WHEN).astype("category"), id="categories"),
        pytest.param(pa.array(WHEN), id="Arrow"),
        pytest.param(pa.array(WHEN, type=pa.timestamp("s", tz="Asia/Tokyo")), id="Arrow, zone"),
        pytest.param(pa.array(WHEN).dictionary_encode(), id="Arrow, dictionary"),
        pytest.param(pl.Series(WHEN), id="Polars"),
        pytest.param(pl.Series(WHEN, dtype=pl.Datetime("ms", "Asia/Tokyo")), id="Polars, zone"),
    ],
)
def test_every_kind_of_column_has_the_same_codes(column: object) -> None:
    *codes, ages = codes_of(column)
    assert codes == CODES
    edges = SCHEMA.attributes["age"].cuts
    expected = [int(np.searchsorted(edges[1:-1], age, side="right")) for age in (4, 120, 0)]
    assert ages == [expected[0], 16, expected[1], expected[2]]


@pytest.mark.parametrize(
    "column",
    [pa.array([d and d.date() for d in WHEN]), pl.Series([d and d.date() for d in WHEN])],
)
def test_a_column_of_dates_has_hours_of_midnight(column: object) -> None:
    assert codes_of(column)[:3] == CODES[:3]
    assert codes_of(column)[3] == [0, 24, 0, 0]


def test_numbers_stand_for_the_part_itself() -> None:
    schema = Schema({"year": Date(1990, 1999, part="year", missing="?")}, "class", ["no", "yes"])
    for column in ([1990, 1995, 1999, 2005], ["1990", "1995", "1999", "2005"]):
        table = {"year": column, "class": ["no"] * 4}
        assert encode(schema, table).codes[0].tolist() == [0, 5, 9, 9]
    numbers = pd.DataFrame({"year": [1990.0, np.nan], "class": "no"})
    assert encode(schema, numbers).codes[0].tolist() == [0, 10]


@pytest.mark.parametrize("entry", [20240331, "20240331", 1711872000, "inf", "infinity", 13, -1])
def test_numbers_that_are_no_part_are_missing(entry: object) -> None:
    """Where 20240331 was clipped to Sunday, a wrong format would pass for a table of Sundays."""
    for part in ("month", "weekday"):
        schema = Schema({"x": Date(part=part, missing="?")}, "class", ["no", "yes"])
        columns = [[entry], [str(entry)]]
        columns += [] if isinstance(entry, str) else [np.array([entry]), np.array([entry / 1.0])]
        for column in columns:
            codes = encode(schema, {"x": column, "class": ["no"]}).codes[0]
            assert codes.tolist() == [schema.attributes["x"].missing_code]
    strict = Schema({"x": Date(part="month")}, "class", ["no", "yes"])
    assert find_problems(strict, {"x": [entry], "class": ["no"]}) == [("x", "not a date")]


@pytest.mark.parametrize(
    ("attribute", "integer", "label"),
    [
        (Date(part="month"), 3, "March"),
        (Date(part="weekday"), 1, "Monday"),
        (Date(part="hour", bins=6), 3, "0 to 3"),
        (Numeric(0, 24, bins=12), 4, "[4, 6)"),
    ],
)
def test_an_integer_is_no_code_of_what_is_ordered(attribute, integer, label) -> None:
    schema = Schema({"x": attribute}, "class", ["no", "yes"])
    with pytest.raises(QuestionError, match=f"{integer} could be a value or a code of 'x'") as said:
        find_code(schema, "x", integer)
    assert f"{integer} is in {label!r}" in str(said.value)
    assert find_code(schema, "x", label) == attribute.labels.index(label)


def test_a_date_is_cut_at_a_date() -> None:
    schema = Schema({"x": Date("2023-01-01", "2024-12-31", bins=2)}, "class", ["no", "yes"])
    for at in ("2024-01-01", date(2024, 1, 1), datetime(2024, 1, 1)):
        assert Split.threshold(schema, "x", at=at).branch == (0, 1)
    with pytest.raises(QuestionError, match="'x' can be cut at 2024-01-01, got '2024-02-01'"):
        Split.threshold(schema, "x", at="2024-02-01")
    weekdays = Schema({"x": Date(part="weekday")}, "class", ["no", "yes"])
    assert Split.threshold(weekdays, "x", at="Saturday").branch == (0, 0, 0, 0, 0, 1, 1)


@pytest.mark.parametrize(
    ("attribute", "column"),
    [
        (Date("2020-01-01", "2020-12-31"), np.arange(3)),
        (Date("2020-01-01", "2020-12-31"), np.arange(3) / 2),
        (Date(part="month"), np.array([True, False, True])),
        (Categorical(["2020-01-01"]), np.array(["2020-01-01"] * 3, dtype="datetime64[D]")),
        (Numeric(0, 1), np.array(["2020-01-01"] * 3, dtype="datetime64[ns]")),
    ],
)
def test_a_column_of_another_kind_is_refused(attribute: Attribute, column: object) -> None:
    schema = Schema({"x": attribute}, "class", ["no", "yes"])
    with pytest.raises(SchemaMismatch, match="column 'x' has a type"):
        encode(schema, {"x": column, "class": ["no"] * 3})


@pytest.mark.parametrize(
    ("options", "entries", "problems"),
    [
        ({}, ["2020-05-05"], []),
        ({}, ["2020-05-05", "soon"], ["not a date"]),
        ({}, ["2019-12-31", None], ["out of range", "null"]),
        ({"missing": "?"}, ["soon", None], []),
        ({"on_unknown": "clip"}, ["2019-12-31"], []),
        ({"on_unknown": "drop"}, ["2019-12-31", None, "soon"], ["not a date"]),
    ],
)
def test_the_owner_learns_what_does_not_fit(options, entries, problems) -> None:
    schema = Schema({"x": Date("2020-01-01", "2020-12-31", **options)}, "class", ["no", "yes"])
    table = {"x": entries, "class": ["no"] * len(entries)}
    assert find_problems(schema, table) == [("x", problem) for problem in problems]


def test_a_table_may_have_the_attribute_instead_of_its_column() -> None:
    schema = Schema({"month": Date(part="month", column="when")}, "class", ["no", "yes"])
    assert encode(schema, {"month": [3], "class": ["no"]}).codes[0].tolist() == [2]
    both = {"month": [3], "when": ["2020-07-01"], "class": ["no"]}
    assert encode(schema, both).codes[0].tolist() == [6]
    with pytest.raises(SchemaMismatch, match="column 'when' is not in the table"):
        encode(schema, {"class": ["no"]})


def test_no_attribute_reads_the_column_of_another() -> None:
    when = Date("2020-01-01", "2020-12-31")
    with pytest.raises(SchemaError, match=r"'month' must not read column 'when', .*"):
        Schema({"when": when, "month": Date(part="month", column="when")}, "class", ["no", "yes"])
    Schema({"when": Date(part="month", column="when")}, "class", ["no", "yes"])


def test_a_column_that_is_named_is_read() -> None:
    """Another column of the attribute's name is not, nor where one of several is misspelt."""
    year, month = Date(1900, 2030, part="year", column="a"), Date(part="month", column="b")
    schema = Schema({"year": year, "month": month}, "class", ["no", "yes"])
    raw = {"a": ["2024-01-01"], "b": ["2024-03-01"], "year": [1950], "class": ["no"]}
    assert schema.find_columns(raw) == {"year": "a", "month": "b"}
    assert schema.find_columns(["a", "month"]) == {"year": "a", "month": "b"}
    assert schema.find_columns(["year", "month"]) == {"year": "year", "month": "month"}
    assert schema.find_columns(["month"]) == {"year": "a", "month": "b"}
    drawn = frame_of(schema, [np.array([3]), np.array([2])], np.array([0]), SystemBits())
    assert [column.tolist() for column in encode(schema, drawn).codes] == [[3], [2]]


def test_far_dates_are_out_of_bounds_and_do_not_wrap_around() -> None:
    schema = Schema({"x": Date("2020-01-01", "2020-12-31", bins=2)}, "class", ["no", "yes"])
    days = np.array([120_000_000, 213_523_706, -120_000_000], dtype="datetime64[D]")
    for column in (days, pa.array(days.astype("int32"), type=pa.int32()).cast(pa.date32())):
        codes = encode(schema, {"x": column, "class": ["no"] * 3}).codes[0]
        assert codes.tolist() == [1, 1, 0]
    far = np.array([10**16, -(10**16)], dtype="datetime64[ms]")
    assert encode(schema, {"x": far, "class": ["no"] * 2}).codes[0].tolist() == [1, 0]


def test_a_cell_keeps_its_code_when_it_is_spelled_canonically() -> None:
    attribute = Date("2020-01-01", "2020-12-31", bins=2)
    assert attribute.canonical("9999-12-31T23:59-14:00") == "9999-12-31"
    assert attribute.canonical("1000-01-01T00:00+14:00") == "1000-01-01"
    assert Numeric(0, 1, missing="?").canonical("1e400") == "inf"
    assert Numeric(0, 1, missing="?").canonical("nan") == "?"


@pytest.mark.parametrize(
    ("attribute", "cell", "spelled"),
    [
        (Date("2020-01-01", "2020-12-31"), "2020-05-01T23:30:00-02:00", "2020-05-02"),
        (Date("2020-01-01", "2020-12-31", missing="?"), "soon", "?"),
        (Date("2020-01-01", "2020-12-31", missing="2020-01-01"), None, "missing"),
        (Date("2020-01-01", "2020-12-31"), "soon", None),
        (Date(part="hour"), "2020-05-01 07:59", "7"),
        (Date(-5, 5, part="age", at="2020-01-01"), "-0.5", "-0.5"),  # which is younger than 0
        (Date(1990, 1999, part="year", missing="1990"), None, "missing"),
    ],
)
def test_the_spelling_of_the_schema_has_the_same_code(attribute, cell, spelled) -> None:
    assert attribute.canonical(cell) == spelled
    codes = encode_entries([attribute], [[cell, spelled]])[0].tolist()
    assert codes[0] == codes[1]


@pytest.mark.parametrize("column", ["class", "id"])
def test_no_attribute_reads_the_class_or_the_person(column: str) -> None:
    with pytest.raises(SchemaError, match=f"must not read column '{column}'"):
        Schema({"x": Date(part="month", column=column)}, "class", ["no", "yes"], person="id")


@pytest.mark.parametrize(
    ("attribute", "codes", "text"),
    [
        (Date(part="weekday"), [5, 6], ">= Saturday"),
        (Date(part="weekday"), [0], "= Monday"),
        (Date(part="weekday"), [2], "= Wednesday"),
        (Date(part="weekday", missing="?"), [1, 2, 7], "from Tuesday to Wednesday or = ?"),
        (Date("2023-01-01", "2024-12-31", bins=4), [0, 1], "<= 2023-12-31"),
        (Date("2023-01-01", "2024-12-31", bins=4), [2, 3], ">= 2024-01-01"),
        (Date(1990, 1999, part="year"), [0], "<= 1990"),
        (Date(1990, 1999, part="year"), range(10), "is any date"),
    ],
)
def test_a_branch_is_written_in_dates(attribute: Date, codes, text: str) -> None:
    assert attribute.describe_branch(list(codes)) == text


def test_a_moment_that_is_none_has_no_part() -> None:
    for part in PARTS:
        assert np.isnan(parts_of(np.array(["NaT"], dtype="datetime64[us]"), part)).all()
