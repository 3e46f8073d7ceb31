"""One entry must not make an engine fail, nor move its row: neighbours would be told apart."""

from __future__ import annotations

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privet.domain import Categorical, Date, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.errors import QuestionError
from privet.tables.open import open_table


def codes_of(place, attribute) -> list[int]:
    """How many rows have each code."""
    schema = Schema({"x": attribute}, "class", ["no", "yes"])
    table = open_table(place)
    table.check_structure(schema)
    table.problems(schema)
    counts = table.source(schema).count(Question.level(Cells.everything(schema), ["x"]))[0]
    return counts.sum(axis=(0, 2)).tolist()


FAR = [
    (Date("2020-01-01", "2020-12-31", bins=2), [0, 1]),
    (Date(1990, 2020, part="year", bins=2), [0, 1]),
    (Date(part="hour", bins=2), [1, 0]),
]


@pytest.mark.parametrize(("attribute", "counts"), FAR)
def test_a_far_date_is_counted_by_duckdb(attribute, counts, tmp_path):
    days = pa.array(np.array([120_000_000], dtype=np.int32)).cast(pa.date32())
    pq.write_table(pa.table({"x": days, "class": ["no"]}), tmp_path / "far.parquet")
    assert codes_of(tmp_path / "far.parquet", attribute) == counts


@pytest.mark.parametrize(("attribute", "counts"), FAR)
@pytest.mark.parametrize("day", ["294277-01-01", "5874897-12-31"])
def test_a_far_date_is_counted_by_postgresql(attribute, counts, day, postgres):
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE far AS SELECT %s::date AS x, 'no' AS class", (day,))
    assert codes_of(f"{url}&table=far", attribute) == counts


def test_a_text_keeps_its_minute_in_postgresql(postgres):
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TYPE moment AS ENUM ('2024-12-31T23:59:59.9999999')")
        connection.execute(
            "CREATE TABLE late AS SELECT '2024-12-31T23:59:59.9999999'::moment AS x, 'no' AS class"
        )
    for kind in ("moment", "text"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"ALTER TABLE late ALTER x TYPE {kind} USING x::text::{kind}")
        assert codes_of(f"{url}&table=late", Date(2024, 2025, part="year")) == [1, 0]


def test_large_integers_stay_apart_in_duckdb(tmp_path):
    path = tmp_path / "large.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE large (x HUGEINT, class VARCHAR, who INTEGER)")
        for who, number in enumerate((2**53, 2**53 + 1, 2**64 + 1)):
            connection.execute("INSERT INTO large VALUES (?::HUGEINT, 'no', ?)", (str(number), who))
    listed = Categorical([2**53, 2**64], other="rest")
    for person in (None, "who"):
        schema = Schema({"x": listed}, "class", ["no", "yes"], person=person)
        source = open_table(f"duckdb:///{path}?table=large").source(schema)
        counts = source.count(Question.level(Cells.everything(schema), ["x"]))[0]
        assert counts.sum(axis=(0, 2)).tolist() == [1, 0, 2]


@pytest.mark.parametrize("text", ["+-5", "1_0", "\uff15", "\u0665", "\u00a05", "0" * 1500 + "7"])
def test_a_text_is_a_number_everywhere_or_nowhere(text, tmp_path, postgres):
    attribute = Numeric(0, 10, bins=2, missing="?")
    (tmp_path / "t.csv").write_text(f"x,class\n{text},no\n", encoding="utf-8")
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT %s::text AS x, 'no' AS class", (text,))
    frame = {"x": np.array([text], dtype=object), "class": np.array(["no"], dtype=object)}
    for place in (frame, tmp_path / "t.csv", f"{url}&table=t"):
        assert codes_of(place, attribute) == [0, 0, 1]


def test_what_lies_about_itself_is_copied():
    class Lying(tuple):
        def __iter__(self):
            return iter((0, 1, 1))

    class Name(str):
        def __hash__(self):
            return hash("other")

    split = Split(Name("x"), Lying((0, 0, 1)))
    assert type(split.branch) is tuple
    assert type(split.attribute) is str
    assert split.branch == (0, 1, 1)
    schema = Schema({"x": Categorical(["a", "b"])}, "class", ["no", "yes"])
    assert type(Partition(Cells.everything(schema), by=Name("x")).by) is str
    with pytest.raises(QuestionError):
        Split("x", (0, slice(None)))
