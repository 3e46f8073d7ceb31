"""What is written about columns is read from every source, and no row is."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import duckdb
import numpy as np
import pandas as pd
import pytest

from privet.domain.drafting.facts import ColumnFacts
from privet.errors import ParameterError, TableError
from privet.tables.catalog.read import read_catalog
from privet.tables.catalog.rules import Rule, read_rule
from privet.tables.memory import MemoryTable
from privet.tables.open import open_table


def catalog(place: object) -> dict[str, ColumnFacts]:
    return {column.name: column for column in read_catalog(open_table(place))}


# -- rules --


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ("CHECK (age BETWEEN 0 AND 120)", [Rule("age", low=0, high=120)]),
        ("(((age >= 0) AND (age <= 120)))", [Rule("age", low=0), Rule("age", high=120)]),
        ('0 < "My ""Col"', [Rule('My "Col', low=0)]),
        ("sex IN ('m', 'it''s')", [Rule("sex", values=("m", "it's"))]),
        ("grade in (1, 2.5)", [Rule("grade", values=(1, 2.5))]),
        ("((x = ANY (ARRAY['a'::text, 'b'::text])))", [Rule("x", values=("a", "b"))]),
        (
            "(((s)::text = ANY ((ARRAY['m'::character varying])::text[])))",
            [Rule("s", values=("m",))],
        ),
        ("((x >= '-5'::integer) AND (x < (7)::numeric))", [Rule("x", low=-5), Rule("x", high=7)]),
    ],
)
def test_a_rule_is_read(written: str, rules: list[Rule]) -> None:
    assert read_rule(written) == rules


@pytest.mark.parametrize(
    "written",
    [
        "age > 0 OR member",
        "NOT (age > 120)",
        "length(name) < 10",
        "low < high",
        "age > 0 + 1",
        "x IN ('a') = flag",
        "age BETWEEN low AND 120",
        "age >",
        "x IN (SELECT 1)",
        "",
        "§",
        "a <> 1",
        "age > 0 AND",
        "x = 'a'",
        "x ~ 'a'",
        "(age > 0) IS TRUE",
        "x LIKE 'a'",
        "x IN ()",
    ],
)
def test_a_rule_that_says_no_plain_bound_says_nothing(written: str) -> None:
    assert read_rule(written) == []


# -- sources; whose rows cannot be read --


def test_of_a_csv_file_the_header_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"id;age;city\n" + b"\xff\xfe\x00 no text;\n" * 3)
    facts = catalog(path)
    assert list(facts) == ["id", "age", "city"]
    assert facts["age"] == ColumnFacts("age", "text", "VARCHAR", spelled=True)


def make_parquet(path: Path, rows: int) -> None:
    frame = pd.DataFrame(
        {
            "age": np.arange(rows, dtype="int64"),
            "fee": np.linspace(1, 99, rows),
            "plan": pd.Categorical(["basic", "pro"] * (rows // 2)),
            "seen": pd.to_datetime(["2020-01-01"] * rows),
            "member": [True, False] * (rows // 2),
        }
    )
    frame.to_parquet(path)


def test_of_a_parquet_file_types_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    make_parquet(path, 400)
    content = bytearray(path.read_bytes())
    length = int.from_bytes(content[-8:-4], "little")
    content[4 : len(content) - 8 - length] = b"\xaa" * (len(content) - 12 - length)
    path.write_bytes(bytes(content))  # only the footer is left
    facts = catalog(path)
    kinds = {name: column.kind for name, column in facts.items()}
    assert kinds == {
        "age": "integer",
        "fee": "number",
        "plan": "text",
        "seen": "date",
        "member": "bool",
    }
    # neither the statistics in the footer, nor the dictionary
    for column in facts.values():
        assert (column.low, column.high, column.values) == (None, None, ())


DUCKDB = """
CREATE TYPE sizes AS ENUM ('small', 'it''s big');
CREATE TABLE t (
    id INTEGER PRIMARY KEY, mail VARCHAR UNIQUE, sex VARCHAR CHECK (sex IN ('m', 'f')),
    age INTEGER CHECK (age BETWEEN 0 AND 120), size sizes, own ENUM ('from', 'rows'),
    small TINYINT, code UUID, seen TIMESTAMP, member BOOLEAN
)
"""


def test_of_a_duckdb_table_types_labels_keys_and_rules(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "t.db")) as connection:
        connection.execute(DUCKDB)
        connection.execute("CREATE VIEW trap AS SELECT error('a row was read') AS x, id FROM t")
        connection.execute("INSERT INTO t (id) VALUES (1)")
    facts = catalog(f"duckdb:///{tmp_path}/t.db?table=t")
    assert facts["id"].unique
    assert facts["mail"].unique
    assert facts["sex"].values == ("m", "f")
    assert (facts["age"].low, facts["age"].high) == (0, 120)
    assert facts["size"].values == ("small", "it's big")
    assert facts["own"].values == ()  # as a data frame's categories, which come from rows
    assert (facts["small"].low, facts["small"].high) == (-128, 127)
    assert facts["code"].kind is None
    assert (facts["seen"].kind, facts["member"].kind) == ("date", "bool")
    place = f"duckdb:///{tmp_path}/t.db?table=trap"
    assert list(catalog(place)) == ["x", "id"]
    with pytest.raises(TableError, match="InvalidInput"):
        list(open_table(place).read_blocks(10))  # it is a trap


SQLITE = """
CREATE TABLE t (
    id INTEGER PRIMARY KEY, mail TEXT UNIQUE, sex TEXT CHECK (sex IN ('m', 'f')),
    age INTEGER CHECK (age BETWEEN 0 AND 120), born DATE, photo BLOB,
    note TEXT DEFAULT 'check (note in (''x''))', a INT, b INT, UNIQUE (a, b),
    CONSTRAINT half CHECK ((a >= 0) AND (a < 50))
)
"""


def test_of_an_sqlite_table_types_keys_and_rules(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute(SQLITE)
        connection.execute("INSERT INTO t (id) VALUES (1)")
        # which overflows, if a row is read
        connection.execute("CREATE VIEW trap AS SELECT abs(-9223372036854775807 - id) AS x FROM t")
    facts = catalog(f"sqlite:///{tmp_path}/t.db?table=t")
    assert [name for name, column in facts.items() if column.unique] == ["id", "mail"]
    assert facts["sex"].values == ("m", "f")
    assert (facts["age"].low, facts["age"].high) == (0, 120)
    assert (facts["a"].low, facts["a"].high) == (0, 50)
    assert facts["note"].values == ()
    assert (facts["born"].kind, facts["photo"].kind) == ("date", None)
    place = f"sqlite:///{tmp_path}/t.db?table=trap"
    assert list(catalog(place)) == ["x"]
    with pytest.raises(TableError):
        list(open_table(place).read_blocks(10))


POSTGRES = (
    "CREATE TYPE size AS ENUM ('small', 'it''s big')",
    "CREATE DOMAIN sized AS size",
    "CREATE TABLE people (id int PRIMARY KEY, mail text UNIQUE, sex varchar(1) CHECK (sex IN "
    "('m', 'f')), age int CHECK (age BETWEEN -1 AND 120), size sized, code uuid, seen timestamptz, "
    "member bool, a int, b int, UNIQUE (a, b))",
    "INSERT INTO people (id, age) VALUES (1, 30)",
    "CREATE ROLE clerk LOGIN",
    "GRANT USAGE ON SCHEMA public TO clerk",
)


def test_of_a_postgres_table_types_labels_keys_and_rules(postgres) -> None:
    import psycopg

    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS clerk")
        for statement in POSTGRES:
            connection.execute(statement)
    # a role that may not read a row: whatever is told comes from the catalog
    parts = urlsplit(url)
    clerk = urlunsplit(parts._replace(netloc=f"clerk@{parts.netloc.rpartition('@')[2]}"))
    with psycopg.connect(clerk) as connection, pytest.raises(psycopg.Error, match="permission"):
        connection.execute("SELECT * FROM people")
    facts = catalog(f"{clerk}&table=people")
    assert [name for name, column in facts.items() if column.unique] == ["id", "mail"]
    assert facts["sex"].values == ("m", "f")
    assert (facts["age"].low, facts["age"].high) == (-1, 120)
    assert facts["size"].values == ("small", "it's big")
    assert facts["code"].kind is None
    assert (facts["seen"].kind, facts["member"].kind) == ("date", "bool")


class _Untouched(list):
    """A column whose entries must not be looked at."""

    def __getitem__(self, index):
        raise AssertionError("an entry was read")

    __iter__ = __getitem__


def test_of_a_data_frame_types_alone() -> None:
    frame = pd.DataFrame({"age": [1, 2], "plan": pd.Categorical(["a", "b"])})
    facts = catalog(frame)
    assert {name: column.kind for name, column in facts.items()} == {
        "age": "integer",
        "plan": "text",
    }
    assert facts["plan"].values == ()  # categories of a frame are what its rows hold
    labels = pd.Series([0, 1], name="left")
    assert list(MemoryTable(frame, labels).describe_columns())[-1].name == "left"
    assert catalog({"x": _Untouched([1])})["x"].kind == "text"
    with pytest.raises(ParameterError, match="no names"):
        catalog(np.zeros((2, 2)))
