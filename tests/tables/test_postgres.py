"""Tables in PostgreSQL: types, text that spells numbers, people, snapshots, threads, and what goes
wrong with a server.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import nullcontext
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pandas as pd
import psycopg
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.domain.space import TreeSpace
from privet.errors import (
    MissingDependency,
    ParameterError,
    QuestionError,
    SchemaMismatch,
    TableError,
)
from privet.tables.counting.row_sums import WeightedTables
from privet.tables.counting.scoring import Scoring
from privet.tables.open import open_table, read_blocks, read_public
from tests.postgres import put_table

SCHEMA = Schema({"a": Categorical(["x", "y"]), "n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"])
EVERYTHING = Question.of(Cells.everything(SCHEMA))


@pytest.fixture
def database(postgres):
    return postgres.database()


def run(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def opened(url, name="people"):
    return open_table(f"{url}&table={quote(name)}")


def total(table, schema=SCHEMA) -> int:
    return int(table.source(schema).count(Question.of(Cells.everything(schema)))[0].sum())


def people(url, rows=10):
    run(
        url,
        "CREATE TABLE people (a text, n float8, c text)",
        f"INSERT INTO people SELECT 'x', i, 'no' FROM generate_series(1, {rows}) AS i",
    )
    return opened(url)


def codes(url, attribute, sql_type, entries, collation=""):
    """How many rows each code of the only attribute has, and how many rows are not counted."""
    schema = Schema({"v": attribute}, "c", ["no", "yes"])
    run(url, "DROP TABLE IF EXISTS typed", f"CREATE TABLE typed (v {sql_type} {collation}, c text)")
    with psycopg.connect(url, autocommit=True) as connection:
        for entry in entries:
            connection.execute(f"INSERT INTO typed VALUES (%s::text::{sql_type}, 'no')", [entry])
    answer = (
        opened(url, "typed")
        .source(schema)
        .count(Question.level(Cells.everything(schema), ["v"]))[0][0, :, 0]
    )
    return [*answer.tolist(), len(entries) - int(answer.sum())]


BINS = Numeric(-5, 5, bins=10, missing="?")
DROP = Numeric(-5, 5, bins=10, on_unknown="drop")
NUMBERS = [
    *[
        "1",
        "+1",
        "-1",
        " 1",
        "1 ",
        "\t1",
        "1\n",
        "\v1",
        "1\f",
        "1\r",
        "01",
        "1.",
        "1.e0",
        ".5",
        "-.5",
        "+.5",
        "1e0",
        "1E0",
        "1e+0",
        "1e-0",
    ],
    *[
        "1_000",
        "1__0",
        "_1",
        "1_",
        "0x1F",
        "0X1f",
        "0b1",
        "0o7",
        "1e",
        "e5",
        ".",
        "++1",
        "1,000",
        "1d",
        "1f",
        "1L",
        "",
        "  ",
        "0x",
    ],
    *["1e0.5", "1e 5"],
    *[
        "1 e5",
        "- 1",
        "true",
        "0x1p3",
        "five",
        "1;",
        "'1'",
        "1\\n",
        "NULL",
        "\N{NO-BREAK SPACE}1 x",
        "1e5e5",
        "--1",
        "1-",
        "$1",
    ],
    *[
        "inf",
        "Inf",
        "+inf",
        "-inf",
        "infinity",
        "-Infinity",
        "INFINITY",
        "infinit",
        "  inf ",
        "nan",
        "NaN",
        "-nan",
        "+nan",
        " nan",
        "nan1",
    ],
    *[
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "1e-330",
        "4.9e-324",
        "1.7976931348623159e308",
        "1e99999999999",
        "-1e0099999",
        "1e-99999999",
    ],
    *["0.0e9999999", "3.5e000000", "3.5e-000000", "1.5e+002", "0.00015e+004"],
    *["1" * 400, "0." + "0" * 400 + "1", "2." + "0" * 300, "0" * 99 + "2"],
]


def spelt(attribute):
    """A table with one text in each row, each in a class of its own, so that one count tells them
    apart.
    """
    classes = [f"number {number}" for number in range(len(NUMBERS))]
    frame = pd.DataFrame({"v": pd.Series(NUMBERS, dtype=object), "c": classes})
    return frame, Schema({"v": attribute}, "c", classes)


def check_read_alike(table, frame, schema):
    question = Question.level(Cells.everything(schema), ["v"])
    counted, memory = (one.source(schema).count(question)[0] for one in (table, open_table(frame)))
    for number, text in enumerate(NUMBERS):
        np.testing.assert_array_equal(counted[..., number], memory[..., number], err_msg=repr(text))


@pytest.mark.parametrize(
    "attribute",
    [BINS, DROP, Numeric(0, 1, bins=1, missing="?")],
    ids=["clipped", "dropped", "one bin"],
)
def test_text_that_spells_a_number_or_not_is_read_as_in_memory(attribute, database):
    frame, schema = spelt(attribute)
    put_table(database, frame, "typed")
    check_read_alike(opened(database, "typed"), frame, schema)


@pytest.mark.parametrize("attribute", [BINS, DROP], ids=["clipped", "dropped"])
def test_duckdb_reads_it_as_in_memory_too(attribute, tmp_path):
    frame, schema = spelt(attribute)
    path = tmp_path / "typed.parquet"
    frame.astype({"v": "string"}).to_parquet(path)
    check_read_alike(open_table(path), frame, schema)


def test_an_endless_number_is_no_number(database):
    assert codes(database, BINS, "text", ["1" * 200_000, "1e" + "9" * 200_000, "1"]) == [0] * 6 + [
        1
    ] + [0] * 3 + [2, 0]


HALVES = Categorical([0.5, 1, 2], missing="?")


@pytest.mark.parametrize(
    ("attribute", "sql_type", "entries", "expected"),
    [
        (HALVES, "int2", ["1", "2", "3", None], [0, 1, 1, 1, 1]),
        (HALVES, "int4", ["1", "2", "3", None], [0, 1, 1, 1, 1]),
        (HALVES, "int8", ["1", str(2**62), None], [0, 1, 0, 1, 1]),
        (HALVES, "float4", ["0.5", "1", "0.1", "NaN", None, "Infinity"], [1, 1, 0, 2, 2]),
        (HALVES, "float8", ["0.5", "1", "1.0000000000000002", "NaN", "-0"], [1, 1, 0, 1, 2]),
        (
            HALVES,
            "numeric",
            ["0.5", "1.00", "2", "NaN", "1e500", "-1e500", "1e-500", "Infinity"],
            [1, 1, 1, 1, 4],
        ),
        (HALVES, "numeric(5, 2)", ["0.50", "1", "2.01", "NaN", None], [1, 1, 0, 2, 1]),
        (Categorical([0, 0.1]), "float4", ["0.1", "0"], [1, 0, 1]),
        (Categorical([0, 0.1]), "numeric", ["0.1", "0", "-0.0", "1e-400"], [3, 1, 0]),
        (Categorical(["a", "b "], missing="?"), "char(3)", ["a", "a  ", "b", None], [2, 0, 1, 1]),
        (Categorical(["a", "b"]), "varchar(3)", ["a", "a ", "A", "b"], [1, 1, 2]),
        (Categorical(["a", "b"]), "name", ["a", "b", "c"], [1, 1, 1]),
        (Categorical([True, False], missing="?"), "boolean", ["true", "f", None], [1, 1, 1, 0]),
        (Categorical([1, 0]), "boolean", ["true", "f", None], [0, 0, 3]),
        (
            Categorical([True, 2]),
            "text",
            ["true", "True", "TRUE", "t", "2", "2.0", "2.00"],
            [3, 2, 2],
        ),
        (Numeric(0, 2, bins=2, missing="?"), "boolean", ["true", "f", None], [1, 1, 1, 0]),
        (
            BINS,
            "numeric",
            ["NaN", "1e500", "-1e500", "1e-500", "-Infinity", "4.999", None],
            [2, 0, 0, 0, 0, 1, 0, 0, 0, 2, 2, 0],
        ),
        (
            DROP,
            "numeric",
            ["NaN", "1e500", "-1e500", "1e-500", "5", "-5", "5.000000000000001"],
            [1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 4],
        ),
        (
            DROP,
            "float8",
            ["NaN", "Infinity", "-Infinity", "5", "5.000000000000001", "-5", "-5.000000000000001"],
            [1] + [0] * 8 + [1, 5],
        ),
        (
            Numeric(0, sys.float_info.max, bins=1, on_unknown="drop"),
            "float8",
            ["1.7976931348623157e308", "Infinity", "0"],
            [2, 1],
        ),
        (Numeric(0, 10, bins=1, missing="?"), "int2", ["-1", "5", "11", None], [3, 1, 0]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_columns_of_every_type_are_encoded(attribute, sql_type, entries, expected, database):
    assert codes(database, attribute, sql_type, entries) == expected


def test_enumerations_and_domains(database):
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad', 'glad')",
        "CREATE DOMAIN feeling AS mood",
        "CREATE DOMAIN deep AS feeling",
    )
    run(database, "CREATE DOMAIN percent AS numeric(4, 1) CHECK (VALUE >= 0)")
    assert codes(database, Categorical(["glad", "sad"]), "deep", ["sad", "glad", "sad"]) == [
        1,
        2,
        0,
    ]
    assert codes(database, Numeric(0, 100, bins=2), "percent", ["50", "49.9", "100"]) == [1, 2, 0]


@pytest.mark.parametrize(
    "sql_type", ["date", "json", "int4[]", "uuid", "bytea", "interval", "oid", "money", "point"]
)
def test_columns_of_other_types_are_refused_by_name(sql_type, database):
    run(database, f"CREATE TABLE people (a {sql_type}, n int, c text)")
    with pytest.raises(SchemaMismatch, match="column 'a' has a type"):
        opened(database).check_structure(SCHEMA)


def test_a_type_of_ones_own_is_not_taken_for_that_of_the_server(database):
    run(
        database,
        "CREATE SCHEMA mine",
        'CREATE TYPE mine."int4" AS (x text)',
        'CREATE TABLE people (a mine."int4", n int, c text)',
    )
    with pytest.raises(SchemaMismatch, match="column 'a' has a type"):
        opened(database).check_structure(SCHEMA)


@pytest.mark.parametrize("deterministic", [True, False])
def test_text_is_compared_as_it_is_whatever_its_collation(database, deterministic):
    try:
        run(
            database,
            (
                "CREATE COLLATION caseless (provider = icu, locale = 'und-u-ks-level2', "
                f"deterministic = {deterministic})"
            ),
        )
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("this build of PostgreSQL has no ICU")
    assert codes(
        database, Categorical(["x", "X"]), "text", ["x", "X", "X", "\u00e9"], "COLLATE caseless"
    ) == [1, 2, 1]
    assert codes(database, BINS, "text", ["1e0", "1E0", "x"], "COLLATE caseless") == [0] * 6 + [
        2
    ] + [0] * 3 + [1, 0]
    run(
        database,
        (
            "CREATE TABLE people (a text COLLATE caseless, n int, c text COLLATE caseless, who "
            "text COLLATE caseless)"
        ),
        (
            "INSERT INTO people VALUES ('x', 1, 'no', 'p'), ('x', 1, 'no', 'P'), ('x', 1, 'NO', "
            "'q'), ('X', 1, 'no', 'r')"
        ),
    )
    assert total(opened(database), replace(SCHEMA, person="who")) == 2
    assert ("a", "unlisted") in opened(database).problems(SCHEMA)


def problems(url, attribute, sql_type, entries):
    codes(url, attribute, sql_type, entries)
    return [
        what
        for _, what in opened(url, "typed").problems(Schema({"v": attribute}, "c", ["no", "yes"]))
    ]


@pytest.mark.parametrize(
    ("attribute", "sql_type", "entries", "found"),
    [
        (Categorical(["a"]), "text", ["a"], []),
        (Categorical(["a"]), "text", ["b", None], ["unlisted", "null"]),
        (Categorical(["a"], missing="?"), "text", ["a", None], []),
        (Categorical(["a"], other="rest"), "text", ["b", None], []),
        (Categorical([1]), "float8", ["NaN"], ["null"]),
        (Categorical([1]), "numeric", ["NaN", "2"], ["unlisted", "null"]),
        (Categorical([True]), "boolean", ["f", None], ["unlisted", "null"]),
        (Numeric(0, 1), "text", ["0.5", "1"], []),
        (Numeric(0, 1), "text", ["abc"], ["not a number"]),
        (Numeric(0, 1), "text", ["abc", "1e400", None], ["not a number", "out of range", "null"]),
        (Numeric(0, 1), "text", ["nan"], ["not a number"]),
        (Numeric(0, 1, missing="?"), "text", ["abc", None], []),
        (Numeric(0, 1), "float8", ["NaN", "Infinity"], ["out of range", "null"]),
        (Numeric(0, 1), "numeric", ["NaN", "1e500"], ["out of range", "null"]),
        (Numeric(0, 1, on_unknown="drop"), "float8", ["5", None], []),
        (Numeric(0, 1, on_unknown="clip"), "int4", ["5", None], ["null"]),
    ],
)
def test_the_owner_learns_what_does_not_fit(attribute, sql_type, entries, found, database):
    assert problems(database, attribute, sql_type, entries) == found


# -- people and parts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql_type", "same", "different"),
    [
        ("int8", [str(2**60)] * 2, [str(2**60 + i) for i in range(5)]),
        ("numeric", ["1", "1.0", "1.00"], [f"1.{i:020}" for i in range(5)]),
        (
            "uuid",
            ["00000000-0000-0000-0000-000000000000"] * 2,
            [f"00000000-0000-0000-0000-00000000000{i}" for i in range(5)],
        ),
        ("text", ["p", "p"], ["p", "P", "p ", " p", "\u00e9"]),
        ("char(4)", ["p", "p "], ["p", "q", "r", "s", "t"]),
        ("date", ["2026-01-01"] * 2, [f"2026-01-0{i}" for i in range(1, 6)]),
        ("bytea", ["\\x00"] * 2, [f"\\x0{i}" for i in range(5)]),
    ],
)
def test_people_are_told_apart_and_stay_together(sql_type, same, different, database):
    schema = replace(SCHEMA, person="who", rows_per_person=1)
    for entries, n_people in ((same, 1), (different, 5)):
        run(
            database,
            "DROP TABLE IF EXISTS people",
            f"CREATE TABLE people (a text, n int, c text, who {sql_type})",
        )
        with psycopg.connect(database, autocommit=True) as connection:
            for entry in entries * 3:
                connection.execute(
                    f"INSERT INTO people VALUES ('x', 1, 'no', %s::text::{sql_type})", [entry]
                )
            connection.execute("INSERT INTO people VALUES ('x', 1, 'no', NULL)")
        assert total(opened(database), schema) == n_people
        all_rows = replace(schema, rows_per_person=100)
        source = opened(database).source(all_rows)
        with source.snapshot():
            counts = [
                int(part.count(Question.of(Cells.everything(all_rows)))[0].sum())
                for part in source.parts(7, b"k" * 32)
            ]
        assert sum(counts) == len(entries) * 3
        assert all(count % (len(entries) * 3 // n_people) == 0 for count in counts)


@pytest.mark.parametrize("sql_type", ["float4", "float8"])
def test_fractions_do_not_tell_people_apart(sql_type, database):
    run(
        database,
        f"CREATE DOMAIN number AS {sql_type}",
        "CREATE TABLE people (a text, n int, c text, who number)",
    )
    with pytest.raises(SchemaMismatch, match="'who' says whose row it is"):
        opened(database).check_structure(replace(SCHEMA, person="who"))


def test_rows_of_a_partitioned_table_fall_into_one_part_each(database):
    run(
        database,
        "CREATE TABLE people (a text, n int, c text) PARTITION BY LIST (a)",
        "CREATE TABLE people_x PARTITION OF people FOR VALUES IN ('x')",
        "CREATE TABLE people_y PARTITION OF people FOR VALUES IN ('y')",
        (
            "INSERT INTO people SELECT CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' END, 1, 'no' FROM "
            "generate_series(1, 2000) AS i"
        ),
    )
    source = opened(database).source(SCHEMA)
    by_a = Question.level(Cells.everything(SCHEMA), ["a"])
    with source.snapshot():
        parts = source.parts(4, b"k" * 32)
        counts = np.array([part.count(by_a)[0][0, :, 0] for part in parts])
        rows = [int(weights.sum()) for part in parts for _, _, weights in part.rows()]
    assert counts.sum(axis=0).tolist() == [1000, 1000]
    assert ((counts > 200) & (counts < 300)).all()
    # rows at the same place of two partitions are not the same
    assert (counts[:, 0] != counts[:, 1]).any()
    assert rows == counts.sum(axis=1).tolist()


def test_a_view_is_counted_but_divided_only_by_people(database):
    people(database)
    run(
        database,
        "CREATE VIEW seen AS SELECT *, n::int AS who FROM people",
        "CREATE MATERIALIZED VIEW kept AS SELECT * FROM people",
    )
    assert total(opened(database, "seen")) == 10
    source = opened(database, "seen").source(SCHEMA)
    with source.snapshot(), pytest.raises(QuestionError, match="rows cannot be told apart"):
        source.parts(2, b"k" * 32)
    named = replace(SCHEMA, person="who")
    for name, schema in (("seen", named), ("kept", SCHEMA)):
        source = opened(database, name).source(schema)
        with source.snapshot():
            counts = [
                part.count(Question.of(Cells.everything(schema)))[0].sum()
                for part in source.parts(2, b"k" * 32)
            ]
        assert sum(counts) == 10


def test_parts_end_with_their_snapshot_and_with_a_new_division(database):
    source = people(database).source(SCHEMA)
    with pytest.raises(TableError, match="within a snapshot"):
        source.parts(2, b"k" * 32)
    with source.snapshot():
        first = source.parts(2, b"k" * 32)
        with first[0].snapshot():
            first[0].count(EVERYTHING)
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


# -- snapshots and threads -------------------------------------------------------------------------


def test_a_snapshot_does_not_see_what_others_write(database):
    source = people(database).source(SCHEMA)
    with source.snapshot():
        assert source.count(EVERYTHING)[0].sum() == 10
        run(database, "INSERT INTO people VALUES ('x', 1, 'no')")
        with source.snapshot():  # the same one
            assert source.count(EVERYTHING)[0].sum() == 10
        assert sum(int(weights.sum()) for _, _, weights in source.rows()) == 10
    assert source.count(EVERYTHING)[0].sum() == 11


def test_a_snapshot_fetches_its_rows_once(monkeypatch, database):
    """However many draws ask for them; those of the next one are read anew."""
    source, fetched = people(database).source(SCHEMA), []
    fetch = source._fetch_groups
    monkeypatch.setattr(source, "_fetch_groups", lambda: fetched.append(0) or fetch())
    sums = WeightedTables(Scoring(SCHEMA, []), TreeSpace(SCHEMA, 1).atoms, [(), (0,), (1,)])
    seen = []
    for added in (0, 1):
        with source.snapshot():
            seen += [source.sum_rows(sums).tolist() for _ in range(3)]
            assert sum(int(weights.sum()) for _, _, weights in source.rows()) == 10 + added
        assert len(fetched) == added + 1
        run(database, "INSERT INTO people VALUES ('x', 1, 'no')")
    assert seen[0] == seen[1] == seen[2]
    assert seen[3] == seen[4] == seen[5]
    assert sum(seen[3]) == sum(seen[0]) * 11 // 10 > 0


def test_other_threads_count_beside_a_snapshot(database):
    table = people(database)
    source, seen = table.source(SCHEMA), []
    with source.snapshot():
        source.count(EVERYTHING)
        run(database, "INSERT INTO people VALUES ('x', 1, 'no')")
        threads = [
            threading.Thread(
                target=lambda: seen.append(int(source.count(EVERYTHING)[0].sum())), daemon=True
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert seen == [11] * 8
        assert source.count(EVERYTHING)[0].sum() == 10
    (idle,) = table.connections._idle.values()
    assert 1 <= len(idle) <= 4


def test_threads_count_at_once(database):
    """Each waits in the server until all are there."""
    run(
        database,
        "CREATE TABLE people (a text, n int, c text)",
        "INSERT INTO people VALUES ('x', 1, 'no')",
    )
    run(
        database,
        (
            "CREATE FUNCTION wait() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM "
            "pg_advisory_xact_lock_shared(7); RETURN true; END $$"
        ),
        "CREATE VIEW slow AS SELECT * FROM people WHERE wait()",
    )
    source, seen = opened(database, "slow").source(SCHEMA), []
    threads = [
        threading.Thread(
            target=lambda: seen.append(int(source.count(EVERYTHING)[0].sum())), daemon=True
        )
        for _ in range(3)
    ]
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted"
    )
    with psycopg.connect(database, autocommit=True) as gate:
        gate.execute("SELECT pg_advisory_lock(7)")
        for thread in threads:
            thread.start()
        until = time.monotonic() + 120
        while gate.execute(waiting).fetchone()[0] < 3:
            assert time.monotonic() < until, "they count one after the other"
            time.sleep(0.01)
    for thread in threads:
        thread.join(120)
    assert seen == [1, 1, 1]


def test_a_snapshot_that_is_busy_says_so(database):
    schema = Schema(
        {"a": Categorical(["x"]), "n": Numeric(0, 60_000, bins=60_000)}, "c", ["no", "yes"]
    )
    source = people(database, 60_000).source(schema)
    question = Question.of(Cells.everything(schema))
    with source.snapshot():
        rows = source._fetch_groups()
        next(rows)
        with pytest.raises(TableError, match="still being read"):
            source.count(question)
        assert sum(int(weights.sum()) for _, _, weights in rows) > 0
        assert source.count(question)[0].sum() == 60_000
    with source.snapshot():
        rows = source._fetch_groups()
        next(rows)
    # rows that are left half read do not keep the snapshot from ending
    with pytest.raises(TableError):
        list(rows)
    assert source.count(question)[0].sum() == 60_000
    rows = source.rows()
    next(rows)
    rows.close()
    assert source.count(question)[0].sum() == 60_000


def test_rows_come_in_blocks(database):
    schema = Schema(
        {"a": Categorical(["x"]), "n": Numeric(0, 65_000, bins=65_000)}, "c", ["no", "yes"]
    )
    blocks = list(people(database, 65_000).source(schema).rows())
    assert len(blocks) >= 2
    assert all(
        classes.shape == weights.shape == codes.shape[1:] for codes, classes, weights in blocks
    )
    expected = schema.attributes["n"].codes_of(np.arange(1.0, 65_001.0))
    assert (
        sorted(np.concatenate([codes[1] for codes, _, _ in blocks]).tolist())
        == np.unique(expected).tolist()
    )
    assert sum(int(weights.sum()) for _, _, weights in blocks) == 65_000


# -- servers, errors, passwords --------------------------------------------------------------------


def test_a_server_that_was_restarted_is_found_again(own_postgres):
    table = people(own_postgres.database())
    source = table.source(SCHEMA)
    assert source.count(EVERYTHING)[0].sum() == 10
    own_postgres.crash()
    with pytest.raises(TableError, match="cannot reach the PostgreSQL server") as caught:
        source.count(EVERYTHING)
    assert caught.value.__cause__ is caught.value.__context__ is None
    with pytest.raises(TableError):
        table.check_reachable()
    own_postgres.start()
    table.check_reachable()
    assert source.count(EVERYTHING)[0].sum() == 10
    with source.snapshot():
        source.count(EVERYTHING)
        own_postgres.crash()
        with pytest.raises(TableError):
            source.count(EVERYTHING)
        own_postgres.start()
        with pytest.raises(TableError):  # other rows may be there now
            source.count(EVERYTHING)
    assert source.count(EVERYTHING)[0].sum() == 10


@pytest.mark.parametrize("inside", [False, True], ids=["by itself", "snapshot"])
def test_what_the_server_says_about_rows_is_not_passed_on(inside, database):
    run(
        database,
        "CREATE TABLE raw (n text)",
        "INSERT INTO raw VALUES ('SECRET-VALUE')",
        "CREATE VIEW people AS SELECT 'x' AS a, n::float8 AS n, 'no' AS c FROM raw",
    )
    table = opened(database)
    source = table.source(SCHEMA)
    for ask in (
        lambda: source.count(EVERYTHING),
        lambda: list(source.rows()),
        lambda: table.problems(SCHEMA),
        lambda: list(table.read_blocks(9)),
    ):
        with (
            source.snapshot() if inside else nullcontext(),
            pytest.raises(TableError, match="withheld") as caught,
        ):
            ask()
        assert "SECRET-VALUE" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_nothing_can_be_written(database):
    table = people(database)
    for context in (table.connections.connection, table.connections.transaction):
        for statement in (
            "DELETE FROM public.people",
            "CREATE TABLE other (a int)",
            "SELECT setval('public.s', 1)",
        ):
            run(database, "CREATE SEQUENCE IF NOT EXISTS s")
            with context() as connection, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute(statement)
    assert total(table) == 10


def test_functions_of_others_are_not_called(database):
    """Somebody who may create functions in the schema public could otherwise answer in the server's
    place.
    """
    table = people(database)
    run(
        database,
        (
            "CREATE FUNCTION public.width_bucket(float8, float8[]) RETURNS int LANGUAGE sql AS "
            "'SELECT 0'"
        ),
        "ALTER ROLE postgres SET search_path = public, pg_catalog",
    )
    try:
        answer = (
            opened(database)
            .source(SCHEMA)
            .count(Question.level(Cells.everything(SCHEMA), ["n"]))[0]
        )
    finally:
        run(database, "ALTER ROLE postgres RESET search_path")
    assert answer[0, :, 0].tolist() == [4, 6]
    assert total(table) == 10


SECRET = "SECRET-PASSWORD"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            f"postgresql://me:{SECRET}@127.0.0.1:1/db?table=people",
            r"cannot reach the PostgreSQL server 127.0.0.1/db: .*refused",
        ),
        (
            f"postgres://me:{SECRET}@/db?host=/nowhere&table=people",
            "cannot reach the PostgreSQL server /nowhere/db",
        ),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db", r"table=SCHEMA\.TABLE"),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db?table=a&table=b", r"table=SCHEMA\.TABLE"),
        (f"postgresql://me:50%{SECRET}@127.0.0.1:1/db?table=people", "percent-encoded"),
        (f"postgresql://me:@{SECRET}@127.0.0.1:1/db?table=people", "percent-encoded"),
        (f"postgresql://me:x/{SECRET}@127.0.0.1:1/db?table=people", "percent-encoded"),
        (
            f"postgresql://me:x?{SECRET}@127.0.0.1:1/db?table=people",
            r"percent-encoded|table=SCHEMA\.TABLE",
        ),
        (f"postgresql://me:{SECRET}@127.0.0.1:1/db?sslmod=x&table=people", "percent-encoded"),
        (f"postgresql:/me:{SECRET}@127.0.0.1:1/db?table=people", "no file"),
    ],
)
def test_a_password_is_never_said(url, message):
    begun = time.monotonic()
    with pytest.raises(TableError, match=message) as caught:
        open_table(url)
    assert time.monotonic() - begun < 25  # a pool of connections would try again and again, for 30
    assert SECRET not in f"{caught.value!r}"
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_password_is_in_no_name(database):
    people(database)
    table = open_table(database.replace("postgres:@", f"postgres:{SECRET}@") + "&table=people")
    assert table.name == "public.people"
    assert SECRET not in repr(table) + repr(table.connections) + table.connections.place
    assert "public.people" in repr(table)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = (
            f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/db?connect_timeout=2&table=people"
        )
        begun = time.monotonic()
        with pytest.raises(TableError, match="cannot reach"):
            open_table(url)
        assert time.monotonic() - begun > 1


def test_psycopg_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependency, match=r"privet\[postgres\]"):
        open_table("postgresql://me@127.0.0.1:1/db?table=people")


def test_the_open_connections_are_closed_with_their_table(database):
    table = people(database)
    total(table)
    (idle,) = table.connections._idle.values()
    (connection,) = idle
    assert not connection.closed
    del table
    assert connection.closed


# -- names, rights, reading ------------------------------------------------------------------------


def test_one_table_has_one_name(database):
    run(
        database,
        'CREATE SCHEMA "Clinic"',
        'CREATE TABLE "Clinic"."People" (a text)',
        "CREATE TABLE visits (a text)",
    )
    names = {
        opened(database, name).name
        for name in ("People", "people", "PEOPLE", "Clinic.People", "clinic.people")
    }
    assert names == {"Clinic.People"}
    assert {opened(database, name).name for name in ("visits", "VISITS", "public.visits")} == {
        "public.visits"
    }
    run(database, "CREATE TABLE people (a text)")
    assert opened(database, "people").name == "public.people"
    assert opened(database, "People").name == "Clinic.People"  # as it is written
    assert opened(database, "PEOPLE").name == "public.people"
    run(database, 'CREATE TABLE "PEople" (a text)')
    with pytest.raises(TableError, match="more than one"):
        opened(database, "PEOPLE")
    assert opened(database, "PEople").name == "public.PEople"
    with pytest.raises(TableError, match="no table"):
        opened(database, "pg_class")


def test_who_could_write(database):
    people(database)
    run(
        database,
        "CREATE ROLE reader LOGIN",
        "CREATE ROLE writer LOGIN",
        "CREATE ROLE owning LOGIN",
        "CREATE ROLE partly LOGIN",
    )
    try:
        run(
            database,
            "GRANT SELECT ON people TO reader, writer, partly",
            "GRANT TRUNCATE ON people TO writer",
        )
        run(
            database,
            "GRANT UPDATE (n) ON people TO partly",
            "ALTER TABLE people OWNER TO owning",
            "REVOKE ALL ON people FROM owning",
        )
        can = {
            role: opened(database.replace("postgres:@", f"{role}:@")).writable()
            for role in ("postgres", "reader", "writer", "owning", "partly")
        }
        assert can == {
            "postgres": True,
            "reader": False,
            "writer": True,
            "owning": True,
            "partly": True,
        }
        table = opened(database.replace("postgres:@", "reader:@"))
        table.check_reachable()
        assert total(table) == 10
        run(database, "REVOKE SELECT ON people FROM reader")
        with pytest.raises(
            TableError, match=r"could not read public\.people \(InsufficientPrivilege\)"
        ):
            table.check_reachable()
    finally:
        run(
            database,
            "DROP OWNED BY reader, writer, owning, partly",
            "DROP ROLE reader, writer, owning, partly",
        )


def test_a_table_that_is_gone_is_not_reachable(database):
    table = people(database)
    table.check_reachable()
    run(database, "DROP TABLE people")
    with pytest.raises(TableError, match="UndefinedTable"):
        table.check_reachable()


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_rows_are_read_block_by_block(rows, database):
    run(
        database,
        "CREATE TYPE mood AS ENUM ('sad')",
        (
            "CREATE TABLE people (t text, i int, f float8, d numeric, b boolean, e mood, h "
            "char(3), w date)"
        ),
        (
            "INSERT INTO people SELECT 'x', i, i, i, true, 'sad', 'a', '2026-01-01' FROM "
            f"generate_series(1, {rows}) AS i"
        ),
        (
            "UPDATE people SET t = NULL, f = NULL, d = NULL, b = NULL, e = NULL, h = NULL, w = "
            "NULL, i = NULL WHERE i = 2"
        ),
        "UPDATE people SET d = 1e500 WHERE i = 3",
    )
    blocks = list(read_blocks(f"{database}&table=people", size=2048))
    assert len(blocks) == max(1, -(-rows // 2048))
    assert sum(map(len, blocks)) == rows
    types = {tuple(map(str, block.dtypes)) for block in blocks}
    assert len(types) == 1
    assert list(blocks[0].columns) == list("tifdbehw")
    if rows:
        whole = read_public(f"{database}&table=people")
        assert whole.loc[whole.i == 1, ["t", "i", "f", "d", "b", "e", "h"]].to_numpy().tolist() == [
            ["x", 1, 1.0, 1.0, True, "sad", "a"]
        ]
    if rows > 1:
        assert int(whole.isna().all(axis=1).sum()) == 1


def test_the_same_rows_from_a_frame_and_from_the_server_get_the_same_codes(database):
    frame = pd.DataFrame(
        {"a": ["x", "y", None, "z"], "n": [1.0, np.nan, 7.0, 11.0], "c": ["no", "yes", "no", "no"]}
    ).astype({"a": object})
    place = put_table(database, frame)
    schema = Schema(
        {
            "a": Categorical(["x"], other="rest", missing="?"),
            "n": Numeric(0, 10, bins=2, missing="?"),
        },
        "c",
        ["no", "yes"],
    )
    question = Question.level(Cells.everything(schema), ["a", "n"])
    read = open_table(read_public(place)).source(schema).count(question)
    for answer, truth in zip(open_table(place).source(schema).count(question), read, strict=True):
        np.testing.assert_array_equal(answer, truth)


def test_a_ledger_cannot_lie_beside_a_server():
    from privet.cli.options import ledger_beside

    for scheme in ("postgres", "postgresql"):
        with pytest.raises(ParameterError, match="--ledger") as caught:
            ledger_beside(f"{scheme}://me:{SECRET}@host/db?table=people")
        assert SECRET not in str(caught.value)
