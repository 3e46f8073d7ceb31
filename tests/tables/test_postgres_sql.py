"""The SQL that PostgreSQL gets: reviewed snapshots, plans, and names and values that try to be
code.
"""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import psycopg
import pytest

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.errors import TableError
from privet.tables import grouping
from privet.tables.dialect import quote_identifier
from privet.tables.grouping import Cases, MixedRadix
from privet.tables.open import open_table
from privet.tables.postgres.codes import encode_postgres_rows
from privet.tables.postgres.table import PostgresTable
from tests.conformance.tables import SCHEMA as MIXED
from tests.conformance.tables import forest, oracle, random_table, random_tree, wide_schema
from tests.postgres import put_table
from tests.tables.test_sql import HOSTILE, SCHEMA, SNAPSHOTS

TYPES = {
    "form": "text",
    "rooms": "int8",
    "age": "text",
    "height": "float8",
    "owner": "bool",
    "class": "enum",
    "id": "numeric",
}


def level() -> Question:
    cells = (
        Cells.everything(SCHEMA)
        .refine({0: Split.value(SCHEMA, "form", code=1)})
        .refine({1: Split.threshold(SCHEMA, "age", code=2)})
    )
    return Question.level(cells, ["rooms", "age"])


def sql_of(name: str, monkeypatch) -> tuple[str, list]:
    table = PostgresTable("public.people", '"public"."people"', 1, None)
    bound, encoded = encode_postgres_rows(table.relation, TYPES, SCHEMA)
    if name == "encoded":
        return encoded, bound
    if name == "grouped":
        sent = []
        monkeypatch.setattr(
            "privet.tables.postgres.table.fetch_blocks",
            lambda _, sql, values, *rest: sent.append((sql, values)) or [],
        )
        list(table.source(SCHEMA)._groups(["c0", "c2"], None, bound, encoded))
        return sent[0]
    question = (
        level()
        if name == "level"
        else Question.forest([level().partitions[0].cells, Cells.everything(SCHEMA)])
    )
    return Cases(question).statement(encoded), bound


@pytest.mark.parametrize("name", ["encoded", "level", "forest", "grouped"])
def test_the_sql_for_postgresql_is_the_reviewed_one(name, monkeypatch):
    sql, values = sql_of(name, monkeypatch)
    text = (
        sql.replace(" FROM ", "\n  FROM ")
        .replace(" WHERE ", "\n  WHERE ")
        .replace(", c", ",\n  c")
        .replace(", CASE", ",\n  CASE")
        + "\n"
    )
    text += "".join(f"-- ${number} = {value}\n" for number, value in enumerate(values, start=1))
    path = SNAPSHOTS / "postgres" / f"{name}.sql"
    if os.environ.get("PRIVET_UPDATE_SNAPSHOTS"):
        path.write_text(text)
    assert path.read_text() == text, (
        f"review the change, then run with PRIVET_UPDATE_SNAPSHOTS=1 to accept {path.name}"
    )


def test_no_value_of_the_schema_stands_in_the_text(monkeypatch):
    for name in ("encoded", "level", "forest", "grouped"):
        sql, _ = sql_of(name, monkeypatch)
        for value in ("complete", "foster", "other", "1.7", "22.5", "unknown"):
            assert value not in sql.replace('"', " ").replace("1.7976931348623157e308", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_or_value_is_just_a_name_or_value(name, postgres):
    schema = Schema(
        {name: Categorical([name, "b"])}, "class of " + name, ["no", name], person="who is " + name
    )
    frame = pd.DataFrame(
        {
            name: [name, "b", name],
            "class of " + name: ["no", name, name],
            "who is " + name: [1, 2, 3],
        }
    )
    url = postgres.database()
    place = put_table(url, frame, "table of " + name)
    opened = open_table(place)
    assert opened.name == "public.table of " + name
    answer = opened.source(schema).count(Question.level(Cells.everything(schema), [name]))[0]
    np.testing.assert_array_equal(answer, [[[1, 1], [0, 1]]])
    assert opened.problems(schema) == []
    with opened.source(schema).snapshot():
        assert opened.answer(
            "SELECT count(*) FROM "
            f"{quote_identifier('public')}.{quote_identifier('table of ' + name)}"
        ) == [(3,)]


@pytest.mark.parametrize(
    "name",
    [
        "people; DROP TABLE people",
        'people" --',
        "nothing",
        "public.people.x.y",
        "public",
        "public.",
    ],
)
def test_a_hostile_table_name_opens_nothing(name, postgres):
    place = put_table(postgres.database(), pd.DataFrame({"a": ["x"]}))
    with pytest.raises(TableError, match="no table"):
        open_table(place.replace("table=people", f"table={name}"))
    open_table(place).check_reachable()


@pytest.mark.parametrize("value", ["a\x00b", "\U0001f333", "\\u0000", '"', "\x7f"])
def test_listed_values_of_any_text(value, postgres):
    schema = Schema({"a": Categorical([value, "b"])}, "c", ["no", "yes"])
    frame = pd.DataFrame({"a": [value.replace("\x00", "?"), "b"], "c": ["no", "yes"]})
    answer = (
        open_table(put_table(postgres.database(), frame))
        .source(schema)
        .count(Question.level(Cells.everything(schema), ["a"]))[0]
    )
    np.testing.assert_array_equal(answer, [[[0 if "\x00" in value else 1, 0], [0, 1]]])


@pytest.fixture
def statements(monkeypatch):
    """What is sent to a server, except for the question whether it is there."""
    sent = []
    stream, execute = psycopg.RawCursor.stream, psycopg.Connection.execute
    monkeypatch.setattr(
        psycopg.RawCursor,
        "stream",
        lambda self, sql, *rest, **more: sent.append(sql) or stream(self, sql, *rest, **more),
    )
    monkeypatch.setattr(
        psycopg.Connection,
        "execute",
        lambda self, sql, *rest, **more: sent.append(sql) or execute(self, sql, *rest, **more),
    )
    return sent


@pytest.mark.parametrize("question", ["level", "forest", "grouped"])
def test_a_question_is_one_statement(question, postgres, statements):
    frame = pd.DataFrame(
        {"street": ["s1", "s2"] * 50, "side": ["left"] * 100, "label": ["no", "yes"] * 50}
    )
    schema = wide_schema(20_000 if question == "grouped" else 300)
    streets = Cells.everything(schema).refine({0: Split.multiway(schema, "street")})
    asked = {
        "level": Question.level(Cells.everything(schema), schema.names),
        "forest": Question.forest([random_tree(schema, 1, seed) for seed in range(3)]),
        "grouped": Question.of(streets),
    }[question]
    source = open_table(put_table(postgres.database(), frame)).source(schema)
    source.count(asked)  # columns are described once
    statements.clear()
    source.count(asked)
    assert statements[0] == b""
    assert len(statements) == 2
    statements.clear()
    with source.snapshot():
        source.count(asked)
        source.count(asked)
    assert [str(sql)[:7] for sql in (statements[1], statements[-1])] == ["BEGIN I", "ROLLBAC"]
    assert len(statements) == 3 + 2


def test_a_large_question_is_counted_like_a_small_one(postgres, monkeypatch):
    frame, question = random_table(800, 21), forest(MIXED)
    source = open_table(put_table(postgres.database(), frame)).source(MIXED)
    for most in ("_MAX_CASE_NODES", "_MAX_CASE_DEPTH"):
        with monkeypatch.context() as patched:
            patched.setattr(grouping, most, 1)
            assert not Cases(question).fits
            for answer, truth in zip(source.count(question), oracle(question, frame), strict=True):
                np.testing.assert_array_equal(answer, truth)


def test_plans_are_parallel_and_compute_only_what_is_asked(postgres):
    schema = Schema(
        {name: Categorical(["x", "y"], other="rest") for name in ("used", "unused")},
        "c",
        ["no", "yes"],
    )
    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'x' AS used, 'y' AS unused, 'no' AS c FROM "
            "generate_series(1, 50000)"
        )
        connection.execute("ANALYZE people")
    table = open_table(f"{url}&table=people")
    bound, encoded = encode_postgres_rows(table.relation, table.columns, schema)
    sql = Cases(Question.level(Cells.everything(schema), ["used"])).statement(encoded)
    with table.connections.connection() as connection:
        for setting in ("parallel_setup_cost", "min_parallel_table_scan_size"):
            connection.execute(f"SET {setting} = 0")
        plan = "\n".join(row[0] for row in connection.execute(f"EXPLAIN VERBOSE {sql}", bound))
    assert "Partial" in plan  # each worker counts, rather than sends its rows
    assert "used" in plan
    assert "unused" not in plan


def test_numbers_in_a_mixed_radix():
    sizes = {f"c{a}": size for a, size in enumerate([65_535] * 5 + [1, 2, 3])}
    radix = MixedRadix(sizes)
    assert len(radix.expressions()) == 2
    rng = np.random.default_rng(0)
    codes = {name: rng.integers(0, size, 1000) for name, size in sizes.items()}
    numbers = [
        np.array([eval(text.replace("::int8", ""), {}, row) for row in rows(codes)])
        for text in radix.expressions()
    ]
    assert all(number.dtype == np.int64 for number in numbers)
    for name, column in radix.columns(numbers).items():
        np.testing.assert_array_equal(column, codes[name])


def rows(codes):
    return [
        dict(zip(codes, map(int, row), strict=True)) for row in zip(*codes.values(), strict=True)
    ]


def test_rows_of_many_attributes_are_grouped(postgres):
    """More codes than one number holds."""
    schema = Schema(
        {f"a{i}": Categorical([f"v{j}" for j in range(300)]) for i in range(20)}, "c", ["no", "yes"]
    )
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {f"a{i}": [f"v{j}" for j in rng.integers(0, 300, 100)] for i in range(20)}
        | {"c": ["no", "yes"] * 50}
    )
    ((codes, classes, weights),) = (
        open_table(put_table(postgres.database(), frame)).source(schema).rows()
    )
    seen = sorted(
        [
            (*(f"v{code}" for code in row), ["no", "yes"][c])
            for row, c in zip(codes.T, classes, strict=True)
        ]
    )
    assert seen == sorted(frame.itertuples(index=False, name=None))
    assert weights.tolist() == [1] * 100
