"""Opening tables, and files that are not what they seem."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest

from privet.cells import Cells, Question
from privet.counts.open import open_table
from privet.errors import TableError
from privet.schema import Categorical, Numeric, Schema

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


def test_a_broken_line_is_left_out_for_analysts_and_said_to_the_owner(tmp_path):
    """Behind the boundary no failure depends on a row; the owner's check does fail, without quoting it."""
    path = tmp_path / "t.csv"
    path.write_text("a,n,c\nx,1,no\ny,2,yes,SECRET-VALUE\nx,3,no\n")
    assert total(path) == 2
    with pytest.raises(TableError) as caught:
        open_table(path).problems(SCHEMA)
    assert "SECRET-VALUE" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


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
    from privet.errors import ParameterError

    with pytest.raises(ParameterError, match="length"):
        open_table(pd.DataFrame({"a": ["x", "y"], "n": [1, 2]}), y=["no"]).check_structure(SCHEMA)
