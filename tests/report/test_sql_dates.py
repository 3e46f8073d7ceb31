"""SQL that predicts inside a database reads dates and their parts as Python does."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.report.sql import to_sql
from privet.report.sql_dialects import DIALECTS
from privet.testing import unlock_test_seeds
from tests.postgres import put_table

PARTS = {
    "day": pv.Date("1969-06-01", "2020-01-01", bins=7, column="when", missing="unknown"),
    "dropped": pv.Date("1990-01-01", "2010-12-31", bins=4, column="when", on_unknown="drop"),
    "year": pv.Date(1960, 2020, part="year", bins=6, column="when", missing="unknown"),
    "month": pv.Date(part="month", column="when"),
    "weekday": pv.Date(part="weekday", column="when", missing="unknown"),
    "hour": pv.Date(part="hour", column="when"),
    "age": pv.Date(0, 99, part="age", at="2024-02-29", bins=9, column="when", missing="?"),
}
TEXTS = [
    *("1969-12-31", "2000-02-29", "2019-02-28", "2019-03-01", "2024-12-31T23:59:59.999999999Z"),
    *("1969-12-31T23:30-05:00", "2000-03-01 00:15:00+05:30", "1999-12-31T23:59:30.5+14:00"),
    *("2005-07-04 12:30", "2005-07-04T12:30:59", "1000-01-01", "9999-12-31"),
    # out of bounds, a part itself, and what is no date
    *("1850-01-01", "2090-06-15T08:00:00", "1995", "7", " 3 ", "22", "0", "2500", "150"),
    *("", "NaN", "nan", "soon", "2019-02-29", "2023-02-30", "2019-13-01", "19-01-01"),
    *("0999-12-31", "2019-01-01 24:00", "2019-01-01T12", "2019-01-01T12:60", "2019-01-01Z"),
    *("2019-01-01T12:30:00.", "2019-01-01T12:30:00.1234567890", "2019-01-01T12:30+15:00"),
    *("2019-01-01T12:30:0x", "2019-01-01T12:30+0200", "2019-01-01 ", "2019-01-01\n", "20190101"),
    *("2019-01-01x12:30", "2019-01-01T12:30:00.1x5", "12:30", "+02:00", "Z", "2019-1-1", "-"),
]
ZONE = timezone(timedelta(hours=5, minutes=30))
DAYS = [date(1950, 5, 5), date(1969, 12, 31), date(2000, 2, 29), date(2019, 3, 1), date(2090, 1, 1)]
CLOCKS = [
    datetime(day.year, day.month, day.day, h, 29, 59, 999999) for day in DAYS for h in (0, 23)
]
ENTRIES = {
    "text": [*TEXTS, None],
    "day": [*DAYS, None],
    "clock": [*CLOCKS, None],
    "instant": [*(clock.replace(tzinfo=ZONE) for clock in CLOCKS), None],
}


@pytest.fixture(scope="module")
def models() -> dict[str, pv.Model]:
    """A model for each part, that tells its bins apart."""
    made, random = {}, np.random.default_rng(1)
    for name, attribute in PARTS.items():
        schema = pv.Schema({name: attribute}, "y", ["a", "b"])
        table = pd.DataFrame({"when": random.choice(np.array([*TEXTS, None], dtype=object), 4000)})
        codes = schema.encode(table)[:, 0].astype(int)
        table["y"] = np.where(codes % 2 == random.integers(0, 12, 4000) // 11, "a", "b")
        with unlock_test_seeds():
            learner = pv.GreedyTreeClassifier(1000, schema, max_depth=6, random_state=1)
            made[name] = learner.fit(table).model_
        assert len(made[name].trees[0].cells.attribute) > 4
    return made


def fetch(run: Callable[[str], Any], sql: str) -> pd.DataFrame:
    """Return the probabilities, in the order of k; a client may not read the dates themselves."""
    chances = ["probability of a", "probability of b"]
    selected = ", ".join(f'"{name}"' for name in chances)
    found = run(f"SELECT {selected} FROM ({sql.rstrip().rstrip(';')}) AS q ORDER BY k")
    return pd.DataFrame(found.fetchall(), columns=chances)


def check(model: pv.Model, entries: list, found: pd.DataFrame) -> None:
    released = pv.ReleasedClassifier(model)
    frame = pd.DataFrame({"when": pd.Series(entries, dtype=object)})
    stated = found[["probability of a", "probability of b"]].to_numpy(float)
    wanted = released.predict_proba(frame)
    wrong = [e for e, s, w in zip(entries, stated, wanted, strict=True) if abs(s - w).max() > 1e-12]
    assert not wrong


@pytest.mark.parametrize("kind", ENTRIES)
def test_duckdb(models, kind):
    types = {"text": "VARCHAR", "day": "DATE", "clock": "TIMESTAMP", "instant": "TIMESTAMPTZ"}
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE people (k INTEGER, "when" {types[kind]})')
        connection.executemany("INSERT INTO people VALUES (?, ?)", [*enumerate(ENTRIES[kind])])
        for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
            connection.execute(f"SET TimeZone = '{zone}'")
            for model in models.values():
                check(model, ENTRIES[kind], fetch(connection.execute, to_sql(model)))


def test_duckdb_reads_nanoseconds(models):
    when = pd.to_datetime(["1969-12-31T23:59:59.999999999", None])
    people = pd.DataFrame({"k": [0, 1], "when": when})
    with duckdb.connect() as connection:
        connection.register("people", people)
        for model in models.values():
            found = fetch(connection.execute, to_sql(model))
            check(model, [datetime(1969, 12, 31, 23, 59, 59, 999999), None], found)


def test_sqlite(models):
    """Entries have types, not columns: a number is the part itself."""
    entries = [text for text in TEXTS if text not in ("NaN", "nan")] + [None, 1995, 7, 3.0, 2500]
    with sqlite3.connect(":memory:") as connection:
        connection.execute('CREATE TABLE people ("when")')
        connection.executemany("INSERT INTO people VALUES (?)", [(entry,) for entry in entries])
        for model in models.values():
            check(model, entries, pd.read_sql(to_sql(model, "sqlite"), connection))


@pytest.mark.parametrize("kind", ENTRIES)
def test_postgres(models, kind, postgres):
    psycopg = pytest.importorskip("psycopg")
    types = {"text": "text", "day": "date", "clock": "timestamp", "instant": "timestamptz"}
    with psycopg.connect(postgres.database()) as connection, connection.cursor() as cursor:
        cursor.execute(f'CREATE TABLE people (k int, "when" {types[kind]})')
        cursor.executemany("INSERT INTO people VALUES (%s, %s)", [*enumerate(ENTRIES[kind])])
        cursor.execute("SET DateStyle = 'German, DMY'")
        for zone in ("UTC", "America/New_York"):
            cursor.execute(f"SET TimeZone = '{zone}'")
            for model in models.values():
                check(model, ENTRIES[kind], fetch(cursor.execute, to_sql(model, "postgres")))


def test_numbers_stand_for_parts(models, postgres):
    years = pd.DataFrame({"when": [1850.0, 1961.0, 1995.0, 2019.5, 2500.0, 12345.0, np.nan]})
    years["k"] = range(len(years))
    url = postgres.database()
    put_table(url, years)
    psycopg = pytest.importorskip("psycopg")
    with duckdb.connect() as quick, psycopg.connect(url) as connection:
        quick.register("people", years)
        for name in ("year", "age", "month"):
            model, entries = models[name], years["when"].tolist()
            check(model, entries, fetch(quick.execute, to_sql(model)))
            check(model, entries, fetch(connection.execute, to_sql(model, "postgres")))


def test_every_dialect_writes_every_part(models):
    for name, model in models.items():
        for dialect in DIALECTS:
            sql = to_sql(model, dialect)
            assert "privet_dated_1" in sql, name
            assert sql.count("(") == sql.count(")")
