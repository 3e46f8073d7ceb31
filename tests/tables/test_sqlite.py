"""What is special about tables in SQLite files."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.domain import Boolean, Categorical, Date, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import QuestionError, SchemaMismatch, TableError
from privet.tables.memory import MemoryTable
from privet.tables.open import open_table
from privet.tables.sqlite.codes import SQLiteDialect
from tests.sqlite import put_rows

CLASSES = ["no", "yes"]


def counts(table, schema):
    """How many rows have each value of each attribute, and each class."""
    question = Question.level(Cells.everything(schema), schema.names)
    return table.source(schema).count(question)


def schema_of(attribute, **facts) -> Schema:
    return Schema({"x": attribute}, "label", CLASSES, **facts)


def counted(table, attribute) -> list[int]:
    """How many rows have each value of the attribute x."""
    return counts(table, schema_of(attribute))[0].sum(axis=(0, 2)).tolist()


def put(path, kind: str, entries, label: str = "yes"):
    """Open a table with the entries in column x."""
    return open_table(put_rows(path, {"x": kind, "label": "TEXT"}, [(e, label) for e in entries]))


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ("INTEGER", "integer"),
        ("bigint unsigned", "integer"),
        ("REAL", "number"),
        ("DOUBLE PRECISION", "number"),
        ("float", "number"),
        ("NUMERIC", "number"),
        ("DECIMAL(10, 2)", "number"),
        ("VARCHAR(20)", "text"),
        ("CLOB", "text"),
        ("BOOLEAN", "bool"),
        ("bool", "bool"),
        ("DATE", "text"),
        ("TIMESTAMP", "text"),
        ("BLOB", "text"),
        ("", "text"),
        ("UUID", "text"),
    ],
)
def test_a_column_is_what_it_is_declared_as(declared, kind, tmp_path):
    assert SQLiteDialect.kind_of(declared) == kind
    # whatever it holds
    assert put(tmp_path / "t.db", declared, ["abc", 1, None]).columns["x"] == declared


def test_a_date_cannot_be_read_from_numbers(tmp_path):
    """Unix times and Julian days would be guesses."""
    table = put(tmp_path / "t.db", "INTEGER", [1_700_000_000])
    with pytest.raises(SchemaMismatch, match="'x'"):
        table.check_structure(schema_of(Date("2020-01-01", "2024-12-31")))


#: Entries of every storage class, some of which look alike.
entries = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, 2, 2**53, 2**53 + 1, 2**53 + 3, 13, 1990]),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, 1.0, 0.5, 13.0, 1e300, float("inf"), -float("inf")]),
    st.sampled_from(
        ["1", "1.0", "01", " 1 ", "1_0", "x", "X", "true", "TRUE", "yes", "inf", "nan", "", "x\x00"]
    ),
    st.sampled_from(
        ["2020-02-29", "2021-02-29", "2020-12-31T23:30:00-02:00", "9999-12-31T23:59-14:00"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.binary(max_size=3),
)
ATTRIBUTES = [
    Categorical([1, 2, 0.5, "x", "x\x00", ""], other="other", missing="?"),
    Categorical(["13.0", "X", True, False], on_unknown="drop"),
    Numeric(0, 2**53 + 4, bins=5, missing="unknown"),
    Numeric(edges=[-1, 0, 1, 2**53 + 2, 2**53 + 4], on_unknown="drop"),
    Boolean(missing="?"),
    Date("2020-01-01", "2020-12-31", missing="?", on_unknown="drop"),
    Date(1990, 2030, part="year", missing="?"),
    Date(part="hour", missing="?"),
    Date(0, 120, part="age", at="2024-02-29", missing="?"),
]


@pytest.mark.parametrize("declared", ["INTEGER", "REAL", "NUMERIC", "TEXT", "DATE", "", "BOOLEAN"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(entries, max_size=30))
def test_every_entry_is_read_by_its_own_type(declared, rows, tmp_path):
    """As in memory, a column of objects; whatever the column is declared as, and beside whatever
    other entries.
    """
    table = put(tmp_path / "t.db", declared, rows)
    (block,) = table.read_blocks(100)
    assert block.x.dtype == object
    for attribute in ATTRIBUTES:
        schema = schema_of(attribute)
        if ("x", "dtype") in table.problems(schema):
            continue
        memory = MemoryTable(block)
        for answer, truth in zip(counts(table, schema), counts(memory, schema), strict=True):
            np.testing.assert_array_equal(answer, truth)
        assert table.problems(schema) == memory.problems(schema)


def test_a_boolean_column_holds_zeros_and_ones(tmp_path):
    table = put(tmp_path / "t.db", "BOOLEAN", [1, 0, "true", "no", 2, None, 1])
    assert counted(table, Categorical([True, False], other="?")) == [3, 1, 3]
    assert counted(table, Boolean(missing="?")) == [2, 3, 2]
    (block,) = table.read_blocks(10)
    assert block.x.tolist() == [True, False, "true", "no", 2, None, True]


def test_collations_do_not_make_one_row_match_two_values(tmp_path):
    table = put(tmp_path / "t.db", "TEXT COLLATE NOCASE", ["a", "A", "A", "a "])
    assert counted(table, Categorical(["a", "A"])) == [1, 2]
    table = put(tmp_path / "u.db", "TEXT COLLATE RTRIM", ["a", "a ", "a  "])
    assert counted(table, Categorical(["a", "a "])) == [1, 1]


def test_collations_do_not_make_two_people_one(tmp_path):
    rows = [("a", "x", "yes"), ("A", "x", "yes"), ("A", "x", "yes")]
    url = put_rows(
        tmp_path / "t.db", {"who": "TEXT COLLATE NOCASE", "x": "TEXT", "label": "TEXT"}, rows
    )
    schema = schema_of(Categorical(["x", "y"]), person="who")
    assert counts(open_table(url), schema)[0].sum() == 2


def test_a_large_fraction_says_not_whose_row_it_is(tmp_path):
    """It may be what is left of several integers."""
    people = [2**63 + 1, 2**63 + 5, 1.5, 7, 7, b"\x07", "7", None]
    url = put_rows(
        tmp_path / "t.db",
        {"who": "", "x": "TEXT", "label": "TEXT"},
        [(float(p) if isinstance(p, int) and p > 2**63 else p, "x", "yes") for p in people],
    )
    schema = schema_of(Categorical(["x", "y"]), person="who")
    assert counts(open_table(url), schema)[0].sum() == 4  # 1.5, 7, a blob, and the text
    declared = put_rows(
        tmp_path / "u.db", {"who": "REAL", "x": "TEXT", "label": "TEXT"}, [(1, "x", "yes")]
    )
    assert open_table(declared).problems(schema) == [("who", "identity")]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_text_matches_by_its_bytes_in_every_encoding(encoding, tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA encoding = '{encoding}'")
        connection.execute("CREATE TABLE people (x, label TEXT)")
        rows = ["é", "é", "e\x00", "e", "13", "2020-03-01"]
        connection.executemany("INSERT INTO people VALUES (?, 'yes')", [(x,) for x in rows])
        connection.commit()
    table = open_table(f"sqlite:///{path}?table=people")
    assert counted(table, Categorical(["é", "e", "e\x00"], other="?")) == [2, 1, 1, 2]
    assert counted(table, Numeric(0, 20, bins=2, missing="?")) == [0, 1, 5]
    assert counted(table, Date("2020-01-01", "2020-12-31", bins=1, missing="?")) == [1, 5]


def test_text_that_is_no_text_matches_nothing(tmp_path):
    path = tmp_path / "t.db"
    put_rows(path, {"x": "", "label": "TEXT"}, [("a", "yes"), ("�a", "yes")])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO people VALUES (CAST(x'FF61' AS TEXT), 'yes')")
        connection.execute("INSERT INTO people VALUES (x'61', 'yes')")
        connection.commit()
    table = open_table(f"sqlite:///{path}?table=people")
    for attribute, expected in [
        (Categorical(["a", "�a"], other="other", missing="?"), [1, 1, 2, 0]),
        (Numeric(0, 1, bins=1, missing="?"), [0, 4]),
        (Date(part="hour", bins=1, missing="?"), [0, 4]),
    ]:
        assert counted(table, attribute) == expected
    schema = Schema({"label": Categorical(["yes"])}, "z", CLASSES, person="x")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE people ADD COLUMN z DEFAULT 'no'")
    with (source := open_table(f"sqlite:///{path}?table=people").source(schema)).snapshot():
        parts = [
            part.count(Question.of(Cells.everything(schema))) for part in source.parts(2, b"k")
        ]
    assert sum(tables[0].sum() for tables in parts) == 4
    (block,) = table.read_blocks(10)
    assert block.x.tolist()[2:] == [b"\xffa", b"a"]


def test_views_are_tables_that_cannot_be_divided_without_people(tmp_path):
    path = tmp_path / "t.db"
    columns = {"who": "TEXT", "x": "TEXT", "label": "TEXT"}
    put_rows(path, columns, [("p", "a", "yes"), ("q", "b", "no")])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW some AS SELECT *, upper(x) AS u FROM people")
        connection.execute(
            "CREATE TABLE keyed (who TEXT PRIMARY KEY, x TEXT, label TEXT) WITHOUT ROWID"
        )
        connection.execute("INSERT INTO keyed SELECT * FROM people")
        connection.commit()
    attribute = Categorical(["a", "b"])
    for name in ("some", "keyed"):
        table = open_table(f"sqlite:///{path}?table={name}")
        assert counted(table, attribute) == [1, 1]
        source = table.source(schema_of(attribute))
        with source.snapshot(), pytest.raises(QuestionError, match="cannot be divided"):
            source.parts(2, b"key")
        schema = schema_of(attribute, person="who")
        by_person = table.source(schema)
        with by_person.snapshot():
            question = Question.of(Cells.everything(schema))
            parts = by_person.parts(2, b"key")
            assert sum(part.count(question)[0].sum() for part in parts) == 2


def test_a_column_that_is_called_rowid_is_not_a_rows_place(tmp_path):
    columns = {"rowid": "TEXT", "x": "TEXT", "label": "TEXT"}
    table = open_table(put_rows(tmp_path / "t.db", columns, [("same", "a", "yes")] * 200))
    source = table.source(schema := schema_of(Categorical(["a"])))
    with source.snapshot():
        question = Question.of(Cells.everything(schema))
        sizes = [int(part.count(question)[0].sum()) for part in source.parts(2, b"k" * 32)]
    assert sum(sizes) == 200
    assert min(sizes) > 0
    columns |= {"OID": "TEXT", "_rowid_": "TEXT"}
    table = open_table(put_rows(tmp_path / "u.db", columns, []))
    assert table.place is None


def test_names_with_quotes_and_other_signs(tmp_path):
    name, column = 'the "table"; DROP TABLE people; --', "a \"b\" 'c' ; \\ é"
    path = tmp_path / "it's a #50% file?.db"
    path.touch()
    path.unlink()
    put_rows(path, {column: "TEXT", "la`[b]el": "TEXT"}, [("x", "yes"), ("y", "no")], name)
    from urllib.parse import quote

    table = open_table(f"sqlite:///{quote(str(path))}?table={quote(name)}")
    assert table.name == name
    schema = Schema({column: Categorical(["x", "y"])}, "la`[b]el", CLASSES)
    np.testing.assert_array_equal(counts(table, schema)[0][0], [[0, 1], [1, 0]])


def test_a_column_that_is_absent_is_no_text(tmp_path):
    """SQLite would take a quoted name that it does not know for a text."""
    table = put(tmp_path / "t.db", "TEXT", ["x"])
    schema = Schema({"y": Categorical(["y"])}, "label", CLASSES)
    with pytest.raises(SchemaMismatch, match="'y' is not in the table"):
        table.check_structure(schema)


def test_a_table_has_one_name_whatever_its_case(tmp_path):
    url = put_rows(tmp_path / "t.db", {"x": "TEXT", "label": "TEXT"}, [], "People")
    assert open_table(url.replace("People", "pEOPLE")).name == "People"


def test_a_table_that_is_not_there(tmp_path):
    url = put_rows(tmp_path / "t.db", {"x": "TEXT"}, [], "people")
    with pytest.raises(TableError, match=r"no table 'peple' in t.db; did you mean 'people'\?"):
        open_table(url.replace("people", "peple"))
    with pytest.raises(TableError, match="no table 'sqlite_master'"):
        open_table(url.replace("people", "sqlite_master"))
    with pytest.raises(TableError, match=r"sqlite:///FILE\?table=NAME"):
        open_table(url.partition("?")[0])


def test_a_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(TableError, match="no SQLite file"):
        open_table(f"sqlite:///{tmp_path}/absent.db?table=people")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "t.db").write_text("colour,label\nred,yes\n" * 100)
    with pytest.raises(TableError, match="no SQLite database") as caught:
        open_table(f"sqlite:///{tmp_path}/t.db?table=people")
    assert "red" not in str(caught.value)


def test_duckdb_leads_to_the_right_place(tmp_path):
    url = put_rows(tmp_path / "t.db", {"x": "TEXT"}, [])
    with pytest.raises(TableError, match=r"write sqlite:///t.db\?table=people"):
        open_table(url.replace("sqlite:", "duckdb:"))


def test_a_file_is_opened_to_be_read_only(tmp_path):
    table = put(tmp_path / "t.db", "TEXT", ["a"])
    assert not table.writable()
    with table.connection() as connection:
        for sql in ("DELETE FROM people", "CREATE TABLE u (x)", "PRAGMA user_version = 7"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute(sql)


def test_a_file_that_is_gone_or_replaced_is_noticed(tmp_path):
    path = tmp_path / "t.db"
    table = put(path, "TEXT", ["a"])
    table.check_reachable()
    path.rename(tmp_path / "old.db")
    with pytest.raises(TableError, match="is gone"):
        table.check_reachable()
    put(path, "TEXT", ["b"])
    with pytest.raises(TableError, match="was replaced"):
        table.check_reachable()


def test_a_table_that_was_dropped_is_noticed(tmp_path):
    table = put(tmp_path / "t.db", "TEXT", ["a"])
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("DROP TABLE people")
    with pytest.raises(TableError, match="withheld"):
        table.check_reachable()


def test_what_sqlite_says_about_rows_is_withheld(tmp_path):
    path = tmp_path / "t.db"
    put_rows(path, {"x": "TEXT", "label": "TEXT"}, [("{secret", "yes")])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE VIEW broken AS SELECT json_extract(x, '$') AS x, label FROM people"
        )
    table = open_table(f"sqlite:///{path}?table=broken")
    with pytest.raises(TableError, match="withheld") as caught:
        counted(table, Categorical(["a"]))
    assert caught.value.__cause__ is None
    assert "secret" not in repr(caught.value)


def test_a_snapshot_keeps_its_rows_while_another_writes(tmp_path):
    path = tmp_path / "t.db"
    table = put(path, "TEXT", ["a", "a", "b"])
    schema = schema_of(Categorical(["a", "b"]))
    question = Question.of(Cells.everything(schema))
    source = table.source(schema)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with source.snapshot():
            assert source.count(question)[0].sum() == 3
            writer.execute("INSERT INTO people VALUES ('b', 'no')")
            writer.commit()
            assert source.count(question)[0].sum() == 3
            seen: list[int] = []
            other = threading.Thread(
                target=lambda: seen.append(int(source.count(question)[0].sum()))
            )
            other.start()
            other.join()
            assert seen == [4], "a snapshot belongs to its thread"
        assert source.count(question)[0].sum() == 4


def test_a_writer_that_locks_the_file_is_named(tmp_path, monkeypatch):
    table = put(tmp_path / "t.db", "TEXT", ["a"])
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **{**k, "timeout": 0}))
    with closing(real(tmp_path / "t.db", isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TableError, match="another program is writing"):
            counted(table, Categorical(["a"]))
        writer.execute("ROLLBACK")
    assert counted(table, Categorical(["a"])) == [1]


def test_rows_can_be_read_while_a_snapshot_counts(tmp_path):
    table = put(tmp_path / "t.db", "TEXT", ["a"] * 70_000)
    schema = schema_of(Categorical(["a"]))
    source, question = table.source(schema), Question.of(Cells.everything(schema))
    with source.snapshot():
        blocks = source.rows()
        assert len(next(blocks)[2]) < 70_000
        assert source.count(question)[0].sum() == 70_000


def test_parts_end_with_their_snapshot(tmp_path):
    table = put(tmp_path / "t.db", "TEXT", ["a"] * 10)
    schema = schema_of(Categorical(["a"]))
    source, question = table.source(schema), Question.of(Cells.everything(schema))
    with pytest.raises(TableError, match="within a snapshot"):
        source.parts(2, b"k")
    with source.snapshot():
        old = source.parts(2, b"k")
        source.parts(2, b"l")
        with pytest.raises(TableError, match="gone"):
            old[0].count(question)
        with pytest.raises(TableError, match="divided further"):
            old[0].parts(2, b"k")


def test_many_values_and_many_bins(tmp_path):
    values = [f"v{i}" for i in range(60_000)]
    url = put_rows(
        tmp_path / "t.db",
        {"x": "TEXT", "z": "INTEGER", "label": "TEXT"},
        [("v59999", 59_998, "yes"), ("v3", 2, "no"), ("w", 1, "no")],
    )
    schema = Schema(
        {"x": Categorical(values), "z": Numeric(0, 60_000, bins=60_000)}, "label", CLASSES
    )
    by_value, by_bin = counts(open_table(url), schema)
    assert [by_value[0, 59_999, 1], by_value[0, 3, 0], by_value.sum()] == [1, 1, 2]
    assert [by_bin[0, 59_998, 1], by_bin[0, 2, 0]] == [1, 1]


def test_generated_columns_are_columns(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (a TEXT, x TEXT AS (upper(a)), label TEXT)")
        connection.execute("INSERT INTO people (a, label) VALUES ('q', 'yes')")
        connection.commit()
    assert counted(open_table(f"sqlite:///{path}?table=people"), Categorical(["Q"])) == [1]


def test_one_file_has_one_name(tmp_path, monkeypatch):
    from privet.tables.sources.registry import file_of, make_absolute

    put(tmp_path / "t.db", "TEXT", ["a"])
    (tmp_path / "link.db").symlink_to(tmp_path / "t.db")
    monkeypatch.chdir(tmp_path)
    for place in ("sqlite:///t.db?table=people", "sqlite:///./link.db?table=people"):
        assert file_of(place) == tmp_path / "t.db"
        assert open_table(make_absolute(place)).path == tmp_path / "t.db"


def test_a_frame_does_not_depend_on_its_rows(tmp_path):
    table = put(tmp_path / "t.db", "INTEGER", [])
    (block,) = table.read_blocks(10)
    assert isinstance(block, pd.DataFrame)
    assert list(block.dtypes) == [object, object]


def test_a_view_reads_the_rows_of_its_tables(tmp_path):
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE People (a TEXT)")
        connection.execute("CREATE TABLE other (a TEXT)")
        connection.execute("CREATE VIEW seen AS SELECT a FROM (SELECT a FROM people)")
    relations = {
        name: set(open_table(f"sqlite:///{path}?table={name}").list_relations())
        for name in ("people", "other", "seen")
    }
    assert relations["people"] & relations["seen"] == {"people"}
    assert not relations["other"] & (relations["people"] | relations["seen"])
