"""Generated SQL: reviewed snapshots, and names and values that try to be code."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.errors import ParameterError, SchemaMismatch, TableError
from privet.tables.dialect import quote_identifier
from privet.tables.duckdb import table as module
from privet.tables.duckdb.codes import encode_duckdb_people, plan_readings
from privet.tables.duckdb.table import DuckDBTable
from privet.tables.open import open_table
from tests.conformance.tables import random_tree, wide_schema

SNAPSHOTS = Path(__file__).parent.parent / "vectors" / "sql"

SCHEMA = Schema(
    {
        "form": Categorical(["complete", "foster"], other="other", missing="?"),
        "rooms": Categorical([1, 2]),
        "age": Numeric(0, 90, bins=4, missing="unknown"),
        "height": Numeric(edges=[1.5, 1.7, 2.0], on_unknown="drop"),
        "owner": Categorical([True, False]),
    },
    target="class",
    classes=["no", "yes"],
    person="id",
    rows_per_person=2,
)
TYPES = {
    "form": "VARCHAR",
    "rooms": "BIGINT",
    "age": "VARCHAR",
    "height": "DOUBLE",
    "owner": "BOOLEAN",
    "class": "VARCHAR",
    "id": "BIGINT",
}


def table() -> DuckDBTable:
    made = DuckDBTable("people", "read_parquet($path)", {"path": "people.parquet"})
    made.__dict__["columns"] = TYPES  # what DESCRIBE would say
    return made


def sql_of(name: str) -> tuple[str, dict]:
    schema = SCHEMA if name == "people" else replace(SCHEMA, person=None)
    parameters, sql, *_ = (encode_duckdb_people if name == "people" else plan_readings)(
        table(), schema
    )
    secrets = {key: "..." for key, value in parameters.items() if len(str(value)) == 64}
    assert len(secrets) == (name == "people")
    return sql, {**parameters, **secrets}


@pytest.mark.parametrize("name", ["people", "rows"])
def test_the_sql_for_duckdb_is_the_reviewed_one(name):
    sql, parameters = sql_of(name)
    text = (
        sql.replace(" FROM ", "\n  FROM ")
        .replace(" LEFT JOIN ", "\n  LEFT JOIN ")
        .replace("), ", "),\n")
        + "\n"
    )
    text += "".join(f"-- ${key} = {value}\n" for key, value in parameters.items())
    path = SNAPSHOTS / f"{name}.sql"
    if os.environ.get("PRIVET_UPDATE_SNAPSHOTS"):
        path.write_text(text)
    assert path.read_text() == text, (
        f"review the change, then run with PRIVET_UPDATE_SNAPSHOTS=1 to accept {path.name}"
    )


def test_no_value_of_the_schema_stands_in_the_text():
    for name in ("people", "rows"):
        sql, _ = sql_of(name)
        for value in ("complete", "foster", "other", "1.7", "people.parquet", "unknown"):
            assert value not in sql.replace('"', " ").replace("t. class", "")


HOSTILE = [
    'a" FROM t; DROP TABLE people; --',
    "a'; DROP TABLE people; --",
    "$path",
    "a]) AS x, (SELECT 1",
    "ünïcode ☃",
    'quo"ted',
    "back\\slash",
    "new\nline",
    "select",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_or_value_is_just_a_name_or_value(name, tmp_path):
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
    path = tmp_path / "db.duckdb"
    with duckdb.connect(str(path)) as connection:
        columns = ", ".join(
            f"{quote_identifier(column)} {'BIGINT' if 'who' in column else 'VARCHAR'}"
            for column in frame.columns
        )
        connection.execute(f"CREATE TABLE people ({columns})")
        connection.executemany("INSERT INTO people VALUES (?, ?, ?)", frame.values.tolist())
    opened = open_table(f"duckdb:///{path}?table=people")
    answer = opened.source(schema).count(Question.level(Cells.everything(schema), [name]))[0]
    np.testing.assert_array_equal(answer, [[[1, 1], [0, 1]]])
    assert opened.problems(schema) == []
    with opened.cursor() as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (3,)


@pytest.mark.parametrize(
    "name", ["people; DROP TABLE people", 'people" --', "nothing", "main.people.x.y"]
)
def test_a_hostile_table_name_opens_nothing(name, tmp_path):
    path = tmp_path / "db.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (a VARCHAR)")
    with pytest.raises(TableError):
        open_table(f"duckdb:///{path}?table={name}").check_structure(SCHEMA)
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM people").fetchone() == (0,)


@pytest.mark.parametrize("name", ["", "a\x00b"])
def test_a_name_that_cannot_be_quoted_is_refused(name):
    with pytest.raises(ParameterError, match="name"):
        quote_identifier(name)


def test_the_database_is_opened_read_only(tmp_path):
    path = tmp_path / "db.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 'b' AS a, 'no' AS class")
    opened = open_table(f"duckdb:///{path}?table=people")
    with pytest.raises(duckdb.Error, match="read-only"):
        opened.cursor().execute("DELETE FROM people")


def test_columns_of_other_types_are_refused_by_name(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": pd.to_datetime(["2026-01-01"]), "class": ["no"]}).to_parquet(path)
    schema = Schema({"a": Categorical(["x"])}, "class", ["no", "yes"])
    with pytest.raises(SchemaMismatch, match="column 'a' has a type"):
        open_table(path).check_structure(schema)


@pytest.mark.parametrize("question", ["level", "forest", "many cells"])
def test_a_question_is_one_statement(question, tmp_path, monkeypatch):
    frame = pd.DataFrame(
        {"street": ["s1", "s2"] * 50, "side": ["left"] * 100, "label": ["no", "yes"] * 50}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    schema = wide_schema(20_000 if question == "many cells" else 300)
    streets = Cells.everything(schema).refine({0: Split.multiway(schema, "street")})
    asked = {
        "level": Question.level(Cells.everything(schema), schema.names),
        "forest": Question.forest([random_tree(schema, 1, seed) for seed in range(3)]),
        "many cells": Question.of(streets),
    }[question]
    source = open_table(tmp_path / "t.parquet").source(schema)
    source._table.columns  # noqa: B018 - described once, before any question
    statements = []
    original = module.execute
    monkeypatch.setattr(
        module,
        "execute",
        lambda cursor, sql, *rest: statements.append(sql) or original(cursor, sql, *rest),
    )
    source.count(asked)
    assert len(statements) == 1
    with source.snapshot():
        source.count(asked)
        source.count(asked)
    assert len(statements) == 2  # one more to keep the rows, once


def test_what_does_not_fit_into_memory_goes_to_encrypted_files_of_our_own(tmp_path):
    pd.DataFrame({"a": ["x"], "class": ["no"]}).to_parquet(tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")
    with table.cursor() as cursor:
        folder, encrypted, limit = cursor.execute(
            "SELECT current_setting('temp_directory'), current_setting('temp_file_encryption'), "
            "current_setting('memory_limit')"
        ).fetchone()
    assert Path(folder).is_relative_to(tempfile.gettempdir())
    assert Path(folder).stat().st_mode & 0o077 == 0
    assert encrypted is True
    assert limit == "4.0 GiB"
