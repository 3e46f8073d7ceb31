"""Tables in Spark: types, text that spells numbers, names, people, snapshots, and what goes wrong
on a cluster.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import privet as pv
from privet.domain import Boolean, Categorical, Date, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.encode.scalars import ISO_MOMENT
from privet.domain.questions import Question
from privet.errors import SchemaMismatch, TableError
from privet.tables.open import open_table
from privet.tables.spark import table as module
from tests.conformance.tables import SCHEMA as MIXED
from tests.conformance.tables import forest, oracle, random_table
from tests.domain.test_boolean import FALSE, TRUE
from tests.spark import ABOUT_PANDAS, classic_session, connect_session
from tests.tables.test_postgres import NUMBERS
from tests.tables.test_sql import HOSTILE

pytest.importorskip("pyspark", reason="needs pip install 'privet[spark]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(ABOUT_PANDAS)]

SCHEMA = Schema({"a": Categorical(["x", "y"]), "n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"])
EVERYTHING = Question.of(Cells.everything(SCHEMA))
KINDS = {"classic": classic_session, "connect": connect_session}


@pytest.fixture
def session():
    return classic_session()


def stored(table, folder, session=None):
    """A DataFrame of Spark that reads an Arrow table from a file."""
    path = folder / f"table{len(list(folder.iterdir()))}.parquet"
    pq.write_table(table, path)
    return (session or classic_session()).read.parquet(str(path))


def people(folder, rows=10, **columns):
    table = {
        "a": ["x"] * rows,
        "n": [1.0 + i % 9 for i in range(rows)],
        "c": ["no"] * rows,
        **columns,
    }
    return stored(pa.table(table), folder)


def total_of(source) -> int:
    return int(source.count(Question.of(Cells.everything(source._schema)))[0].sum())


def total(table, schema=SCHEMA) -> int:
    return total_of(table.source(schema))


# -- codes -----------------------------------------------------------------------------------------


def same_codes(attributes, values, folder):
    """Row by row the same codes in Spark as in memory. One attribute, or several that drop no
    row.
    """
    names = [f"v{i}" for i in range(len(attributes))]
    schema = Schema(
        {"id": Categorical(list(range(len(values)))), **dict(zip(names, attributes, strict=True))},
        "c",
        ["no", "yes"],
    )
    columns = {
        "id": pa.array(range(len(values)), pa.int32()),
        **dict.fromkeys(names, values),
        "c": ["no"] * len(values),
    }
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "id")})
    question = Question.level(cells, names)
    answers = open_table(stored(pa.table(columns), folder)).source(schema).count(question)
    truths = open_table(pa.table(columns)).source(schema).count(question)
    for answer, truth in zip(answers, truths, strict=True):
        for i in np.flatnonzero((answer != truth).any(axis=(1, 2))):
            raise AssertionError(
                f"{values[int(i)]!r}: {answer[i, :, 0].tolist()} instead of "
                f"{truth[i, :, 0].tolist()}"
            )
    if len(attributes) > 1:
        assert (truths[0].sum(axis=(1, 2)) == 1).all()


BINS = Numeric(-5, 5, bins=10, missing="?")
TEXTS = [
    *NUMBERS,
    *[
        "\u0661",
        "\u0661.\u0665e\u0661",
        "\uff11",
        "\U0001d7d9",
        "\xa01",
        "1\u2003",
        "\u3000\u0661\x85",
        "\x851",
        "\x1c1",
        "1\x1f",
    ],
    *[
        "1\x00",
        "\x001",
        "\u22121",
        "\xbd",
        "\xb2",
        "\u0661_\u0661",
        "inf\u2003",
        "\u017fnan",
        "\u0130nf",
        "1\u200b",
        "\ufeff1",
        "\u0661x",
    ],
    *[
        "0x1p3",
        "1D",
        "1f",
        "NaN",
        "+NaN",
        "1e+5d",
        "Infinity",
        "-INF",
        "\x1c\u0661",
        "1" * 200_000,
        "1e" + "9" * 200_000,
        None,
    ],
]


@pytest.mark.parametrize(
    "attribute",
    [
        BINS,
        Numeric(-5, 5, bins=10, on_unknown="drop"),
        Numeric(-5, 5, bins=300, missing="?", on_unknown="drop"),
        Numeric(0, 1, bins=1, missing="?"),
        Categorical(
            ["1", " 1", "x", "\x00", "1\x00", "\u0661", "\U0001d7d9", "'1'", "NULL", ""],
            missing="?",
        ),
        Categorical([1, 2, 0.5, True, "nan"], other="rest", missing="?"),
        Categorical(
            [*(f"s{i}" for i in range(300)), "1", "\u0661", "\U0001d7d9", "\xbd"],
            other="rest",
            on_unknown="drop",
            missing="?",
        ),
    ],
    ids=["clipped", "dropped", "many bins", "one bin", "texts", "numbers as text", "many texts"],
)
def test_text_gets_the_code_that_it_gets_in_memory(attribute, tmp_path):
    same_codes([attribute], pa.array(TEXTS, pa.string()), tmp_path)


@given(
    st.lists(
        st.text(st.sampled_from("0123456789+-.eE_ \t\xa0\u0661\uff10infINFatyx\x00\x1c\x85")),
        min_size=300,
        max_size=300,
    )
)
@settings(max_examples=3, suppress_health_check=list(HealthCheck))
def test_any_text_gets_the_code_that_it_gets_in_memory(tmp_path_factory, texts):
    same_codes([BINS], pa.array(texts, pa.string()), tmp_path_factory.mktemp("any"))


FLOATS = [
    0.0,
    -0.0,
    0.1,
    0.5,
    1.0,
    1.0000000000000002,
    2.0,
    5.0,
    5.000000000000001,
    -5.0,
    -5.000000000000001,
    math.nan,
    math.inf,
]
FLOATS += [-math.inf, 5e-324, 1.7976931348623157e308, None, 9007199254740992.0, 1e22, 1e23]
WHOLE = [0, 1, 2, 3, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), None]
LISTED = Categorical(
    [0, 0.1, 0.5, 1, 2, 2**53, 2**53 + 1, 10**22, 2**63 - 1, -(2**63), 2**63, True],
    other="rest",
    missing="?",
)
COLUMNS = {
    "float64": pa.array(FLOATS, pa.float64()),
    "float32": pa.array([0.1, 0.5, 1.0, -0.0, 5.0, None], pa.float32()),
    "int64": pa.array(WHOLE, pa.int64()),
    "int8": pa.array([0, 1, -128, 127, None], pa.int8()),
    "decimal": pa.array(
        [Decimal("0.1"), Decimal("0.5"), Decimal("1"), Decimal("9007199254740993"), None],
        pa.decimal128(38, 18),
    ),
    "bool": pa.array([True, False, None]),
    "null": pa.nulls(3, pa.string()),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_numbers_and_truths_get_the_codes_that_they_get_in_memory(column, tmp_path):
    many = Categorical([*range(100), 0.1, 0.5, 2**53 + 1], other="rest", missing="?")
    truths = Categorical([True, False], other="rest", missing="?")
    largest = Numeric(0, sys.float_info.max, bins=1, on_unknown="drop")
    for attributes in (
        [LISTED, many, BINS, truths],
        [Categorical([0, 0.5, 2**53])],
        [Numeric(-5, 5, bins=3, on_unknown="drop")],
        [largest],
        [Boolean(missing="?")],
        [Boolean(missing="?", on_unknown="drop")],
        [Boolean()],
        *([] if column == "bool" else [[Date(part="weekday", missing="?")]]),
    ):
        same_codes(attributes, COLUMNS[column], tmp_path)


def test_every_spelling_of_a_boolean_gets_the_code_that_it_gets_in_memory(tmp_path):
    spellings = [*TRUE, *FALSE, "maybe", "tRUE", " true", "2", "-1", "", "?", None]
    for attribute in (Boolean(), Boolean(missing="?"), Boolean(missing="?", on_unknown="drop")):
        same_codes([attribute], pa.array(spellings), tmp_path)


# -- dates -----------------------------------------------------------------------------------------

#: Sessions whose clocks, errors and literals differ. The clock of New York skips and repeats hours.
SESSIONS = {
    "strict in New York": {
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.ansi.enabled": "true",
    },
    "lax in Nepal": {
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
    },
}


@pytest.fixture(params=SESSIONS)
def any_session(request):
    """The session, with settings that should change nothing."""
    session, settings = classic_session(), SESSIONS[request.param]
    before = {name: session.conf.get(name) for name in settings}
    for name, value in settings.items():
        session.conf.set(name, value)
    yield session
    for name, value in before.items():
        session.conf.set(name, value)


PARTS = [
    Date("1969-12-25", "1970-01-07", missing="?"),
    Date("2024-02-25", "2024-03-12", missing="?"),
    Date("1000-01-01", "9999-12-31", bins=400, missing="?"),
    Date(1, 9999, part="year", bins=500, missing="?"),
    Date(2018, 2030, part="year", missing="?"),
    Date(part="month", missing="?"),
    Date(part="weekday", missing="?"),
    Date(part="hour", missing="?"),
    Date(-200, 1000, part="age", at="2024-02-29", bins=1201, missing="?"),
    Date(0, 30, part="age", at="2023-02-28", missing="?"),
]
utc = partial(dt.datetime, tzinfo=dt.UTC)
MICROSECOND, HOUR = dt.timedelta(microseconds=1), dt.timedelta(hours=1)
CLOCKS = [
    *(utc(2024, 3, 10, 0, 30) + i * HOUR for i in range(24)),  # New York skips an hour
    *(utc(2024, 11, 3, 4, 30) + i * HOUR for i in range(4)),  # and repeats one
    *(
        utc(*first) + step
        for first in [
            (1970, 1, 1),
            (1582, 10, 15),  # when the calendar changed, which it does not here
            (1883, 11, 18, 17),  # New York had a clock of its own until then
            (1969, 7, 20, 20),
            (2000, 2, 29),
            (2000, 3, 1),
            (2024, 2, 29),
            (2024, 1, 1),
            (2024, 1, 1, 5),
            (9999, 12, 31),
            (1, 1, 2),
        ]
        for step in (-MICROSECOND, 0 * HOUR, 5 * HOUR)
    ),
    utc(1, 1, 1),
    utc(9999, 12, 31, 23, 59, 59, 999_999),
    None,
]
EXTREMES = pa.array([2**63 - 1, 2 * 24 * 3_600_000_000 - 2**63], pa.int64())  # microseconds
MOMENTS = {
    "date": pa.array([clock and clock.date() for clock in CLOCKS], pa.date32()),
    "timestamp": pa.concat_arrays(
        [
            pa.array(CLOCKS, pa.timestamp("us", "UTC")),
            EXTREMES.cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC")),
        ]
    ),
    "timestamp_ntz": pa.concat_arrays(
        [pa.array(CLOCKS, pa.timestamp("us")), EXTREMES.cast(pa.timestamp("us"))]
    ),
}


@pytest.mark.parametrize("column", MOMENTS)
def test_dates_get_the_codes_that_they_get_in_memory(column, any_session, tmp_path):
    frame = stored(pa.table({"v": MOMENTS[column]}), tmp_path)
    assert frame.schema["v"].dataType.typeName() == column
    same_codes(PARTS, MOMENTS[column], tmp_path)
    same_codes([Date("1970-01-01", "2024-01-01", on_unknown="drop")], MOMENTS[column], tmp_path)


DATE_TEXTS = [
    *("2024-02-29", "2023-02-29", "2000-02-29", "1900-02-29", "2024-02-30", "2024-04-31"),
    *("2024-12-31", "2024-13-01", "2024-00-10", "2024-01-00", "1000-01-01", "0999-12-31"),
    *("9999-12-31T23:59:59.999999999-14:59", "1000-01-01T00:00+14:59", "1969-12-31T23:59Z"),
    *("2024-03-10T09:30", "2024-03-10 09:30", "2024-03-10t09:30", "2024-03-10  09:30"),
    *("2024-03-10T09:30:59", "2024-03-10T09:30:59.9", "2024-03-10T09:30:59.1234567890"),
    *("2024-03-10T09:30:59.", "2024-03-10T09", "2024-03-10T", "2024-03-10Z", "2024-03-10T24:00"),
    *("2024-03-10T23:30-00:30", "2024-03-10T00:29+00:30", "2024-03-10T00:30+00:30"),
    *("2024-03-10T01:00:00+02:00", "2024-03-10T23:00:00.5-05:00", "2024-03-10T00:00+0200"),
    *("2024-03-10T00:00+02", "2024-03-10T00:00+15:00", "2024-03-10T00:00 +02:00"),
    *("2024-03-10T00:00z", "2024-03-10T12:60", "2024-03-10T12:00:60", "+2024-03-10"),
    *("2024-03-10\n", "2024-03-10\r", "2024-03-10\r\n", "2024-03-10\u2028", "2024-03-10\x85"),
    *("2024-03-10\x00", " 2024-03-10", "2024-03-10 ", "\u0662024-03-10", "2024\u221203-10"),
    *("20240310", "2024-3-1", "2024", "2024.0", " 2e3 ", "-5", "23", "7", "7.5", "1e400", "nan"),
    *("-inf", "", "today", "now", "epoch", "2024-W10", "2024-070", "1" * 200_000, None),
]


def test_text_gets_the_date_that_it_gets_in_memory(any_session, tmp_path):
    same_codes(PARTS, pa.array(DATE_TEXTS, pa.string()), tmp_path)
    same_codes([Date(part="month")], pa.array(DATE_TEXTS, pa.string()), tmp_path)


@given(
    st.lists(
        st.one_of(
            st.from_regex(ISO_MOMENT),
            st.text(st.sampled_from("0123456789-:TZ+. \n"), max_size=25),
        ),
        min_size=300,
        max_size=300,
    )
)
@settings(max_examples=3, suppress_health_check=list(HealthCheck))
def test_any_text_gets_the_date_that_it_gets_in_memory(tmp_path_factory, texts):
    same_codes(PARTS[2:], pa.array(texts, pa.string()), tmp_path_factory.mktemp("dates"))


@pytest.mark.parametrize("least", [True, False])
def test_dates_beyond_all_calendars_raise_no_error(least, any_session):
    days, micros = (-(2**31), -(2**63)) if least else (2**31 - 1, 2**63 - 1)
    frame = any_session.range(10).selectExpr(
        f"date_from_unix_date(CAST({days}L AS INT)) AS d",
        f"timestamp_micros(CAST('{micros}' AS BIGINT)) AS t",
        "'no' AS c",
    )
    names = ("date", "year", "month", "weekday", "hour")
    bounds = {"date": ("2000-01-01", "2001-01-01"), "year": (1, 9999)}
    schema = Schema(
        {
            f"{column}_{part}": Date(*bounds.get(part, ()), part=part, column=column)
            for column in "dt"
            for part in names
        },
        "c",
        ["no", "yes"],
    )
    question = Question.level(Cells.everything(schema), schema.names)
    answers = dict(zip(schema.names, open_table(frame).source(schema).count(question), strict=True))
    for name in ("d_date", "d_year", "t_date", "t_year"):
        assert answers[name][0, :, 0].nonzero()[0].tolist() == [0 if least else 15], name
    assert all(answer.sum() == 10 for answer in answers.values())


def test_several_attributes_read_one_column(tmp_path):
    schema = Schema(
        {
            "month": Date(part="month", column="born", missing="?"),
            "age": Date(0, 99, part="age", at="2024-12-31", bins=10, column="born", missing="?"),
            "day": Date("1950-01-01", "2024-12-31", missing="?", column="born"),
            "smokes": Boolean(column="a b", missing="?"),
        },
        "c",
        ["no", "yes"],
    )
    born = [f"{1950 + i % 70}-0{1 + i % 9}-17T23:30-0{i % 5}:00" for i in range(200)]
    table = pa.table(
        {
            "c": ["no", "yes"] * 101,
            "a b": [None, *(["yes", "n", "maybe"] * 67)],
            "born": [None, "x", *born],
        }
    )
    question = Question.level(Cells.everything(schema), schema.names)
    opened = open_table(stored(table, tmp_path))
    for answer, truth in zip(
        opened.source(schema).count(question),
        open_table(table).source(schema).count(question),
        strict=True,
    ):
        np.testing.assert_array_equal(answer, truth)
    assert opened.problems(schema) == []
    assert opened.problems(replace(schema, classes=["no", "never"])) == [("c", "unlisted")]


# -- text and what does not fit --------------------------------------------------------------------


def test_text_is_compared_as_it_is_whatever_its_collation(session, tmp_path):
    table = pa.table(
        {
            "v": ["x", "X", "X", "\xe9", "1e0", "1E0"],
            "c": ["no"] * 5 + ["NO"],
            "who": ["p", "P", "q", "Q", "r", "s"],
        }
    )
    frame = stored(table, tmp_path).selectExpr(
        *(f"{name} COLLATE UTF8_LCASE AS {name}" for name in ("v", "c", "who"))
    )
    schema = Schema({"v": Categorical(["x", "X"], other="rest")}, "c", ["no", "yes"])
    question = Question.level(Cells.everything(schema), ["v"])
    assert open_table(frame).source(schema).count(question)[0][0, :, 0].tolist() == [1, 2, 2]
    assert total(open_table(frame), replace(schema, person="who")) == 5
    assert open_table(frame).problems(schema) == [("c", "unlisted")]
    many = Schema(
        {"v": Categorical([*(f"s{i}" for i in range(100)), "x", "X"], other="rest")},
        "c",
        ["no", "yes"],
    )
    assert open_table(frame).source(many).count(Question.level(Cells.everything(many), ["v"]))[0][
        0, 100:, 0
    ].tolist() == [1, 2, 2]


YEAR_2024 = Date("2024-01-01", "2024-12-31")


@pytest.mark.parametrize(
    ("attribute", "values", "found"),
    [
        (Categorical(["a"]), pa.array(["b", None]), ["unlisted", "null"]),
        (Categorical(["a"], other="rest"), pa.array(["b", None]), []),
        (Categorical([1]), pa.array([math.nan, 2.0]), ["unlisted", "null"]),
        (Categorical([True]), pa.array([False, None]), ["unlisted", "null"]),
        (Numeric(0, 1), pa.array(["abc", "1e400", None]), ["not a number", "out of range", "null"]),
        (Numeric(0, 1), pa.array(["nan"]), ["not a number"]),
        (Numeric(0, 1, missing="?"), pa.array(["abc", None]), []),
        (Numeric(0, 1), pa.array([math.nan, math.inf]), ["out of range", "null"]),
        (Numeric(0, 1, on_unknown="drop"), pa.array([5.0, None]), []),
        (YEAR_2024, pa.array(["x", "2023-12-31", None]), ["not a date", "out of range", "null"]),
        (YEAR_2024, pa.array(["2024-12-31T23:00-02:00"]), ["out of range"]),
        (YEAR_2024, pa.array([dt.date(2025, 1, 1), None]), ["out of range", "null"]),
        (YEAR_2024, pa.array([utc(2024, 12, 31, 23), None]), ["null"]),
        (Date(part="hour"), pa.array(["24", "2024-01-01"]), ["not a date"]),
        (Boolean(), pa.array(["yes", "maybe", None]), ["unlisted", "null"]),
        (Boolean(), pa.array([1, 2]), ["unlisted"]),
        (Boolean(missing="?"), pa.array(["maybe", None]), []),
    ],
)
def test_the_owner_learns_what_does_not_fit(attribute, values, found, tmp_path):
    frame = stored(pa.table({"v": values, "c": ["no"] * len(values)}), tmp_path)
    assert [
        what for _, what in open_table(frame).problems(Schema({"v": attribute}, "c", ["no", "yes"]))
    ] == found


# -- names and questions ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_and_values_are_just_names_and_values(kind):
    names = [
        *HOSTILE,
        "a`b``",
        "a.b",
        "{x}",
        ":y",
        "?",
        "*",
        "v0",
        "x_c0",
        "who",
        "y",
        "`",
        " ",
        "A",
        "a",
    ]
    schema = Schema(
        {name: Categorical([name, "b"]) for name in names}, "class", names[:2], person="{person}"
    )
    table = pa.table(
        {
            **{name: [name, "b", name] for name in names},
            "class": [names[0], names[1], names[1]],
            "{person}": [1, 2, 3],
        }
    )
    opened = open_table(KINDS[kind]().createDataFrame(table))
    opened.check_structure(schema)
    for answer in opened.source(schema).count(Question.level(Cells.everything(schema), names)):
        np.testing.assert_array_equal(answer, [[[1, 1], [0, 1]]])
    assert opened.problems(schema) == []


def test_two_columns_of_one_name_are_refused(tmp_path):
    with pytest.raises(TableError, match="two columns"):
        open_table(people(tmp_path).selectExpr("*", "n AS a")).check_structure(SCHEMA)


def actions(session) -> int:
    """How many actions the session has run so far."""
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return session._jsparkSession.sharedState().statusStore().executionsCount()


def jobs(session, group) -> int:
    session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    return len(session.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_a_question_is_one_action(session, tmp_path):
    frame = stored(pa.Table.from_pandas(random_table(300, 1), preserve_index=False), tmp_path)
    source, ran = open_table(frame).source(MIXED), []
    questions = [
        Question.of(Cells.everything(MIXED)),
        forest(MIXED, 10, 3),
        Question.level(Cells.everything(MIXED), MIXED.names),
    ]
    for i, question in enumerate(questions):
        session.sparkContext.setJobGroup(f"question {i}", "a question")
        before = actions(session)
        source.count(question)
        assert actions(session) - before == 1
        ran.append(jobs(session, f"question {i}"))
    assert set(ran) == {2}  # one for each side of the only exchange
    before = actions(session)
    with source.snapshot():
        for question in questions:
            source.count(question)
    assert actions(session) - before <= 1 + len(questions)


@pytest.mark.parametrize("most", ["_MAX_SPARK_NODES", "_MAX_SPARK_DEPTH"])
def test_a_large_question_is_counted_like_a_small_one(most, tmp_path, monkeypatch):
    frame, question = random_table(500, 21), forest(MIXED)
    source = open_table(stored(pa.Table.from_pandas(frame, preserve_index=False), tmp_path)).source(
        MIXED
    )
    monkeypatch.setattr(module, most, 1)
    for answer, truth in zip(source.count(question), oracle(question, frame), strict=True):
        np.testing.assert_array_equal(answer, truth)


@pytest.mark.parametrize("depth", [16, 17])
def test_deep_trees(depth, tmp_path):
    schema = Schema({"n": Numeric(0, 40, bins=40)}, "c", ["no", "yes"])
    cells = Cells.everything(schema)
    for level in range(depth):
        cells = cells.refine({len(cells) - 1: Split.threshold(schema, "n", code=level + 1)})
    table = pa.table({"n": [i % 40 + 0.5 for i in range(400)], "c": ["no"] * 400})
    answer = open_table(stored(table, tmp_path)).source(schema).count(Question.of(cells))[0]
    np.testing.assert_array_equal(
        answer, open_table(table).source(schema).count(Question.of(cells))[0]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_in_the_session(kind, tmp_path):
    session = KINDS[kind]()
    before = session.sql("SET").toArrow()
    source = open_table(
        people(tmp_path)
        if kind == "classic"
        else session.createDataFrame(people(tmp_path).toArrow())
    ).source(SCHEMA)
    with source.snapshot():
        source.count(EVERYTHING)
        list(source.rows())
        source.parts(2, b"k" * 32)[0].count(EVERYTHING)
    source._table.problems(SCHEMA)
    assert session.catalog.listTables() == []
    assert session.sql("SET").toArrow() == before


# -- people and parts ------------------------------------------------------------------------------

# and an hour later, the clock in Berlin shows the same time
AUTUMN = dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC)
IDENTITIES = {
    "int64": pa.array([2**60, 2**60 + 1, 2**60 + 2]),
    "decimal": pa.array([Decimal("1.00"), Decimal("1.01"), Decimal("1.10")], pa.decimal128(38, 2)),
    "text": pa.array(["p", "P", "p "]),
    "date": pa.array([dt.date(2026, 1, day) for day in (1, 2, 3)]),
    "time": pa.array(
        [AUTUMN, AUTUMN + dt.timedelta(hours=1), AUTUMN + dt.timedelta(microseconds=1)],
        pa.timestamp("us", "UTC"),
    ),
    "bytes": pa.array([b"\xff", b"\xfe", b"\xff\x00"]),
}


def test_people_are_told_apart_and_stay_together(session, tmp_path):
    zone = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        for name, who in IDENTITIES.items():
            three = pa.chunked_array([who, who, who, pa.nulls(1, who.type)])
            table = open_table(people(tmp_path, who=three))
            named = replace(SCHEMA, person="who", rows_per_person=1)
            assert total(table, named) == 3, name
            source = table.source(replace(named, rows_per_person=100))
            with source.snapshot():
                counts = [
                    int(part.count(EVERYTHING)[0].sum()) for part in source.parts(3, b"k" * 32)
                ]
            assert sum(counts) == 9, name
            assert all(count % 3 == 0 for count in counts), name
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)


def test_what_cannot_tell_people_apart_is_refused(tmp_path):
    named = replace(SCHEMA, person="who")
    with pytest.raises(SchemaMismatch, match="'who' says whose row it is"):
        open_table(people(tmp_path, who=[1.0] * 10)).check_structure(named)
    with pytest.raises(SchemaMismatch, match="column 'who' has a type"):
        open_table(people(tmp_path, who=[[1]] * 10)).check_structure(named)


def test_rows_without_a_person_fall_into_one_part_each(tmp_path):
    table = pa.table({"a": ["x", "y"] * 1000, "n": [1.0] * 2000, "c": ["no"] * 2000})
    by_a = Question.level(Cells.everything(SCHEMA), ["a"])
    source = open_table(stored(table, tmp_path).repartition(3)).source(SCHEMA)
    drawn = []
    for key in (b"k" * 32, b"l" * 32):
        with source.snapshot():
            parts = source.parts(4, key)
            counts = np.array([part.count(by_a)[0][0, :, 0] for part in parts])
            rows = [sum(int(weights.sum()) for _, _, weights in part.rows()) for part in parts]
        assert counts.sum(axis=0).tolist() == [1000, 1000]
        assert ((counts > 190) & (counts < 310)).all()
        assert rows == counts.sum(axis=1).tolist()
        drawn.append(counts.tolist())
    assert drawn[0] != drawn[1]


@pytest.mark.parametrize("kind", KINDS)
def test_parts_end_with_their_snapshot_and_with_a_new_division(kind, tmp_path):
    frame = (
        people(tmp_path)
        if kind == "classic"
        else connect_session().createDataFrame(people(tmp_path).toArrow())
    )
    source = open_table(frame).source(SCHEMA)
    with pytest.raises(TableError, match="within a snapshot"):
        source.parts(2, b"k" * 32)
    with source.snapshot():
        first = source.parts(2, b"k" * 32)
        with first[0].snapshot():
            seen = first[0].count(EVERYTHING)[0].sum() + first[1].count(EVERYTHING)[0].sum()
        assert seen == 10
        with pytest.raises(TableError, match="divided further"):
            first[0].parts(2, b"k" * 32)
        second = source.parts(2, b"k" * 32)
        with pytest.raises(TableError, match="is gone"):
            first[0].count(EVERYTHING)
        second[0].count(EVERYTHING)
    with pytest.raises(TableError, match="is gone"):
        second[0].count(EVERYTHING)
    with source.snapshot(), pytest.raises(TableError, match="is gone"):
        list(second[0].rows())


# -- snapshots, threads, errors --------------------------------------------------------------------


def kept(session) -> int:
    return session.sparkContext._jsc.getPersistentRDDs().size()


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_keeps_its_rows_and_frees_them(kind, tmp_path):
    session = KINDS[kind]()
    path = str(tmp_path / "people")
    pq.write_table(pa.table({"a": ["x"] * 10, "n": [1.0] * 10, "c": ["no"] * 10}), path)
    source = open_table(session.read.parquet(path)).source(SCHEMA)
    held = kept(classic_session())
    with source.snapshot():
        assert kept(classic_session()) == held  # nothing is read before the first question
        assert source.count(EVERYTHING)[0].sum() == 10
        assert kind == "connect" or kept(session) == held + 1
        Path(path).unlink()
        with source.snapshot():  # the same one
            assert source.count(EVERYTHING)[0].sum() == 10
        assert sum(int(weights.sum()) for _, _, weights in source.rows()) == 10
        assert (
            sum(int(part.count(EVERYTHING)[0].sum()) for part in source.parts(2, b"k" * 32)) == 10
        )
    assert kept(classic_session()) == held
    assert source._own.kept is None
    with pytest.raises(TableError, match="withheld"):
        source.count(EVERYTHING)


def test_rows_that_are_lost_are_not_read_again(tmp_path):
    source = open_table(people(tmp_path)).source(SCHEMA)
    with source.snapshot():
        source.count(EVERYTHING)
        module._release(source._own.kept)  # as if the executors were gone
        with pytest.raises(TableError, match="could not read"):
            source.count(EVERYTHING)
    assert source.count(EVERYTHING)[0].sum() == 10


def test_other_threads_count_beside_a_snapshot(tmp_path):
    path = tmp_path / "growing"
    path.mkdir()
    table = pa.table({"a": ["x"] * 10, "n": [1.0] * 10, "c": ["no"] * 10})
    pq.write_table(table, path / "1.parquet")
    session, seen = classic_session(), []
    first = open_table(session.read.parquet(str(path))).source(SCHEMA)
    with first.snapshot():
        first.count(EVERYTHING)
        threads = [
            threading.Thread(
                target=lambda: seen.append(
                    (int(first.count(EVERYTHING)[0].sum()), first._own.inside)
                )
            )
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert seen == [(10, False)] * 3


def failing(kind, folder):
    """A DataFrame whose rows raise an error that quotes them."""
    broken = "CAST(a AS DOUBLE) AS n" if kind == "cast" else "double(raise_error(a)) AS n"
    return people(folder, a=["SECRET-VALUE"] * 10).selectExpr("a", "c", broken)


@pytest.mark.parametrize("inside", [False, True], ids=["by itself", "snapshot"])
@pytest.mark.parametrize("kind", ["cast", "raised", "udf", "connect"])
def test_what_spark_says_about_rows_is_not_passed_on(kind, inside, tmp_path, capfd):
    if kind == "udf":
        from pyspark.sql.functions import udf

        def fail(value):
            raise ValueError(value)

        frame = people(tmp_path, a=["SECRET-VALUE"] * 10)
        frame = frame.select("a", "c", udf(fail, "double")("a").alias("n"))
    elif kind == "connect":
        rows = connect_session().createDataFrame(
            people(tmp_path, a=["SECRET-VALUE"] * 10).toArrow()
        )
        frame = rows.selectExpr("a", "c", "CAST(a AS DOUBLE) AS n")
    else:
        frame = failing(kind, tmp_path)
    schema = Schema({"n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"])
    table = open_table(frame)
    source = table.source(schema)
    question = Question.level(Cells.everything(schema), ["n"])
    for ask in (
        lambda: source.count(question),
        lambda: list(source.rows()),
        lambda: table.problems(schema),
    ):
        with (
            source.snapshot() if inside else nullcontext(),
            pytest.raises(TableError, match="withheld") as caught,
        ):
            ask()
        assert "SECRET-VALUE" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None
    assert "SECRET-VALUE" not in "".join(capfd.readouterr())
    with pytest.raises(Exception, match="SECRET-VALUE"):  # which Spark does say to others
        frame.selectExpr("sum(n)").toArrow()


def test_a_session_that_has_ended_says_so(tmp_path):
    session = connect_session().newSession()
    table = open_table(session.createDataFrame(pa.table({"a": ["x"], "n": [1.0], "c": ["no"]})))
    table.check_reachable()
    assert total(table) == 1
    session.stop()
    with pytest.raises(TableError, match="does not answer") as caught:
        table.check_reachable()
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(TableError):
        total(table)


# -- from end to end -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_learners_train_on_spark(kind, tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    a, b = rng.integers(0, 3, n), rng.random(n) * 10
    label = np.where((a == 1) ^ (b > 5), "yes", "no")
    table = pa.table({"a": np.array(["x", "y", "z"])[a], "b": b, "c": label})
    schema = pv.Schema(
        {"a": pv.Categorical(["x", "y", "z"]), "b": pv.Numeric(0, 10, bins=4)}, "c", ["no", "yes"]
    )
    frame = KINDS[kind]().createDataFrame(table)
    test = pd.DataFrame({"a": table["a"].to_pylist(), "b": b})
    for learner in (pv.GreedyTreeClassifier(5), pv.RandomTreesClassifier(5, height=2)):
        curator = pv.Curator(frame, schema, pv.Budget(5))
        model = learner.fit_from(curator)
        assert (model.predict(test) == label).mean() > 0.9
