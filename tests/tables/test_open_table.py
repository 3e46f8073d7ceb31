"""Opening tables, and files that are not what they seem."""

from __future__ import annotations

import gzip

import duckdb
import numpy as np
import pandas as pd
import pytest

from privet.cli.options import ledger_beside
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import ParameterError, SchemaMismatch, TableError
from privet.tables.open import open_table, read_blocks

SCHEMA = Schema({"a": Categorical(["x", "y"]), "n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"])
EVERYTHING = Question.of(Cells.everything(SCHEMA))


def total(place) -> int:
    return int(open_table(place).source(SCHEMA).count(EVERYTHING)[0].sum())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,n,c\nx,1,no\ny,2,yes\n"),
        ("t.csv", "a;n;c\nx;1;no\ny;2;yes\n"),
        ("t.tsv", "a\tn\tc\nx\t1\tno\ny\t2\tyes\n"),
        ("t.csv", '"a","n","c"\r\n"x",1,"no"\r\n"y",2,"yes"\r\n'),
        ("t.csv", "extra,c,n,a\n7,no,1,x\n8,yes,2,y\n"),
    ],
    ids=["comma", "semicolon", "tab", "quoted", "other order"],
)
def test_csv_dialects(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    np.testing.assert_array_equal(open_table(path).source(SCHEMA).count(EVERYTHING)[0], [[1, 1]])


def test_compressed_csv(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,n,c\nx,1,no\n"))
    assert total(path) == 1


@pytest.mark.parametrize("name", ["\ud800.csv", "a\0b.csv", "a" * 300 + ".csv"])
def test_a_name_that_no_file_can_have(name):
    with pytest.raises(TableError, match="no file"):
        open_table(name)


@pytest.mark.parametrize("at", [10, 12, 15])
def test_a_damaged_archive_is_refused(tmp_path, at):
    data = bytearray(gzip.compress(b"a,n,c\n" + b"x,1,no\n" * 50, mtime=0))
    data[at:] = b"\xff" * (len(data) - at)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(data)
    with pytest.raises(TableError):
        open_table(path).columns  # noqa: B018


def test_a_broken_line_is_left_out_for_analysts_and_said_to_the_owner(tmp_path):
    """Behind the boundary no failure depends on a row; the owner's check does fail, without quoting
    it.
    """
    path = tmp_path / "t.csv"
    path.write_text("a,n,c\nx,1,no\ny,2,yes,SECRET-VALUE\nx,3,no\n")
    assert total(path) == 2
    with pytest.raises(TableError) as caught:
        open_table(path).problems(SCHEMA)
    assert "SECRET-VALUE" not in str(caught.value)
    assert "no complete record" in str(caught.value)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("nothing.csv", "no file nothing.csv"),
        ("duckdb:///nothing.db?table=t", "no DuckDB file"),
        ("duckdb:///nothing.db", "table=NAME"),
        ("mysql://host/db?table=t", "cannot open a mysql"),
    ],
)
def test_what_is_not_there_is_said(place, message):
    with pytest.raises(TableError, match=message):
        open_table(place)


def test_what_cannot_be_read_is_said(tmp_path):
    binary = tmp_path / "t.parquet"
    binary.write_bytes(b"\x00\x01 not parquet")
    with pytest.raises(TableError, match=r"cannot read t\.parquet"):
        open_table(binary).check_structure(SCHEMA)
    unknown = tmp_path / "t.xlsx"
    unknown.write_bytes(b"PK")
    with pytest.raises(TableError, match="cannot tell what"):
        open_table(unknown)
    with pytest.raises(TableError, match="y goes with a data frame"):
        open_table(binary, y=[1])


def test_labels_beside_a_data_frame():
    table = open_table(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), y=np.array(["no", "yes"]))
    np.testing.assert_array_equal(table.source(SCHEMA).count(EVERYTHING)[0], [[1, 1]])


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ParameterError, match="length"):
        open_table(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), y=["no"]).check_structure(SCHEMA)


@pytest.mark.parametrize(
    "text", ["", "a,a,c\n", "\xff\xfe,b\n"], ids=["empty", "a name twice", "not UTF-8"]
)
def test_a_bad_header_is_said(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TableError, match="as CSV"):
        open_table(path)


def test_a_path_is_never_a_pattern(tmp_path):
    for name in ("g[12].parquet", "g1.parquet"):
        pd.DataFrame({"a": ["x"], "n": [1], "c": ["no"]}).to_parquet(tmp_path / name)
    with pytest.raises(TableError, match="pattern"):
        open_table(tmp_path / "g[12].parquet")


def test_folder_names_are_not_columns(tmp_path):
    folder = tmp_path / "secret=7"
    folder.mkdir()
    for name in ("t.parquet", "t.csv"):
        frame = pd.DataFrame({"a": ["x"], "n": [1], "c": ["no"]})
        frame.to_parquet(folder / name) if name == "t.parquet" else frame.to_csv(
            folder / name, index=False
        )
        assert list(open_table(folder / name).columns) == ["a", "n", "c"]


def test_one_table_has_one_name(tmp_path):
    """However a table is reached, the ledger must know it by the same name."""
    path = tmp_path / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE People (a VARCHAR, n DOUBLE, c VARCHAR)")
    names = {
        open_table(f"duckdb:///{path}?table={name}").name
        for name in ("people", "People", "PEOPLE", "main.people", "Main.People")
    }
    assert names == {"main.People"}
    real, link = tmp_path / "p.csv", tmp_path / "q.csv"
    real.write_text("a,n,c\nx,1,no\n")
    link.symlink_to(real)
    assert open_table(link).name == open_table(real).name == "p.csv"
    assert ledger_beside(str(link)) == ledger_beside(str(real)) == tmp_path / "p.csv.ledger.sqlite"


def test_an_owners_table_of_the_snapshots_name_is_left_alone(tmp_path):
    path = tmp_path / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE privet_snapshot AS SELECT 'x' AS a, 1.0 AS n, 'no' AS c")
    source = open_table(f"duckdb:///{path}?table=privet_snapshot").source(SCHEMA)
    with source.snapshot():
        assert int(source.count(EVERYTHING)[0].sum()) == 1
    with source.snapshot():
        pass
    assert int(source.count(EVERYTHING)[0].sum()) == 1


def test_what_the_engine_says_about_rows_is_not_passed_on(tmp_path):
    path = tmp_path / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE raw AS SELECT 'SECRET-VALUE' AS n")
        connection.execute(
            "CREATE VIEW people AS SELECT 'x' AS a, CAST(n AS DOUBLE) AS n, 'no' AS c FROM raw"
        )
    with pytest.raises(TableError) as caught:
        open_table(f"duckdb:///{path}?table=people").source(SCHEMA).count(EVERYTHING)
    assert "SECRET-VALUE" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("rows", [0, 1, 5000])
def test_rows_are_read_block_by_block(tmp_path, rows):
    path = tmp_path / "t.csv"
    path.write_text("a,n,c\n" + "".join(f"x,{i},no\n" for i in range(rows)))
    blocks = list(read_blocks(str(path), size=2048))
    assert all(list(block.columns) == ["a", "n", "c"] for block in blocks)
    assert [int(n) for block in blocks for n in block.n] == list(range(rows))
    assert len(blocks) == max(1, -(-rows // 2048))


@pytest.mark.parametrize("kind", ["BIGINT", "UBIGINT"])
@pytest.mark.parametrize("null", [False, True], ids=["no null", "a null beside it"])
def test_whole_numbers_of_64_bits_are_exact(kind, null, tmp_path):
    """As fractions, 2**53 + 1 would be 2**53; whether a null stands beside them must not matter."""
    path = tmp_path / "t.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            f"CREATE TABLE t AS SELECT CAST(a AS {kind}) AS a, 'no' AS c FROM (VALUES "
            "(9007199254740993), (9007199254740992)) AS v(a)"
        )
        if null:
            connection.execute("INSERT INTO t VALUES (NULL, 'no')")
    schema = Schema(
        {"a": Categorical([9007199254740993, 1], other="other", missing="?")}, "c", ["no", "yes"]
    )
    table = (
        open_table(f"duckdb:///{path}?table=t")
        .source(schema)
        .count(Question.level(Cells.everything(schema), ["a"]))[0]
    )
    assert table[0, :, 0].tolist() == [1, 0, 1, int(null)]


@pytest.mark.parametrize("kind", ["INTERVAL", "DOUBLE[]", "STRUCT(a DOUBLE)"])
def test_people_are_told_apart_by_what_is_equal_in_one_way_only(kind, tmp_path):
    path = tmp_path / "t.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t (a VARCHAR, c VARCHAR, who {kind})")
    schema = Schema({"a": Categorical(["x"])}, "c", ["no", "yes"], person="who")
    with pytest.raises(SchemaMismatch, match="who"):
        open_table(f"duckdb:///{path}?table=t").check_structure(schema)
