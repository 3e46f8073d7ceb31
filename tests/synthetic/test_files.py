"""A synthetic table as a file: whole or not at all, with its promise, and nothing that could not be
read again.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import duckdb
import numpy as np
import pytest

from privet.accounting.cost import Budget
from privet.domain import Categorical, Numeric, Schema
from privet.errors import ParameterError, TableError
from privet.synthetic import files
from privet.synthetic.files import card_path, check_file, write_table
from privet.synthetic.synthesize import synthesize
from tests.synthetic.small import SCHEMA, curator, table


@pytest.fixture(scope="module")
def drawn():
    return synthesize(curator(budget=Budget(1)), 1, rows=50)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_card_lies_beside(drawn, tmp_path):
    for name in ("t.parquet", "t.CSV"):
        write_table(drawn, tmp_path / name)
    assert names(tmp_path) == ["t.CSV", "t.CSV.card.md", "t.parquet", "t.parquet.card.md"]
    card = card_path(tmp_path / "t.parquet").read_text(encoding="utf-8")
    assert drawn.privacy.describe() in card
    assert "50 rows" in card


def test_parquet_says_what_it_is_and_no_more(drawn, tmp_path):
    write_table(drawn, tmp_path / "t.parquet")
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT key, value FROM parquet_kv_metadata($path)",
            {"path": str(tmp_path / "t.parquet")},
        ).fetchall()
    assert [key for key, _ in found] == [b"privet"]
    said = json.loads(found[0][1])
    assert said["promise"] == "1-differentially private with one row added or removed"
    assert set(said) == {"synthetic", "promise", "privacy"}
    assert said["privacy"] == drawn.privacy.to_json()
    assert not re.search(r"\b600\b", found[0][1].decode())  # how many rows there were


def broken(*_, **__):
    raise OSError(28, "No space left on device")


FAULTS = {
    "the card": ("pathlib.Path.write_text", broken),
    "the rows": ("privet.synthetic.files._copy", broken),
    "the disk": ("os.fsync", broken),
    "the names": ("pathlib.Path.replace", broken),
}


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_left_where_writing_fails(drawn, tmp_path, monkeypatch, fault, suffix):
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(TableError, match=rf"cannot write .*t\.{suffix}: No space left on device"):
        write_table(drawn, tmp_path / f"t.{suffix}")
    assert names(tmp_path) == []


def test_nothing_is_left_where_the_engine_fails_halfway(drawn, tmp_path, monkeypatch):
    class Connection:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def register(self, *_):
            return None

        def execute(self, statement):
            Path(statement.split("'")[1]).write_bytes(b"half")
            raise duckdb.IOException("could not write all bytes")

    monkeypatch.setattr(duckdb, "connect", Connection)
    with pytest.raises(TableError, match="could not write all bytes"):
        write_table(drawn, tmp_path / "t.parquet")
    assert names(tmp_path) == []


def test_what_lay_there_before_stays_where_writing_fails(drawn, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("before")
    card_path(tmp_path / "t.csv").write_text("its card")
    monkeypatch.setattr(files, "_copy", broken)
    with pytest.raises(TableError):
        write_table(drawn, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "before"
    assert card_path(tmp_path / "t.csv").read_text() == "its card"


def test_no_card_is_left_for_a_table_that_could_not_be_put_in_its_place(drawn, tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(TableError, match="cannot write"):
        write_table(drawn, tmp_path / "t.csv")
    assert names(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("place", ["nowhere/t.csv", "file/t.csv", "x" * 300 + ".csv"])
def test_impossible_places_are_named(drawn, tmp_path, place):
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match="cannot write"):
        write_table(drawn, tmp_path / place)
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder(drawn, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(TableError, match="Permission denied"):
        write_table(drawn, tmp_path / "t.csv")
    tmp_path.chmod(0o700)
    assert names(tmp_path) == []


class TestWhatCannotBeReadAgain:
    @pytest.mark.parametrize("name", ["t.json", "t", "t.csv.gz", ".csv"])
    def test_other_kinds_of_files(self, drawn, tmp_path, name):
        with pytest.raises(ParameterError, match=r"\.parquet or \.csv"):
            write_table(drawn, tmp_path / name)
        assert names(tmp_path) == []

    @pytest.mark.parametrize(
        "schema",
        [
            Schema({"a": Categorical(["x", "two\nlines"])}, "c", ["no", "yes"]),
            Schema({"a": Categorical(["x", "y"])}, "c", ["no\r", "yes"]),
            Schema({"two\nlines": Numeric(0, 1)}, "c", ["no", "yes"]),
        ],
    )
    def test_line_breaks_in_csv(self, schema, tmp_path):
        with pytest.raises(ParameterError, match="line break"):
            check_file(tmp_path / "t.CSV", schema)
        check_file(tmp_path / "t.parquet", schema)

    @pytest.mark.parametrize("suffix", ["csv", "parquet"])
    def test_names_that_differ_in_case_only(self, suffix, tmp_path):
        schema = Schema({"age": Numeric(0, 1), "Age": Numeric(0, 1)}, "c", ["no", "yes"])
        with pytest.raises(ParameterError, match="upper and lower case"):
            check_file(tmp_path / f"t.{suffix}", schema)

    def test_line_breaks_in_parquet_are_kept(self, tmp_path):
        from privet.mechanisms.randomness import SystemBits
        from privet.synthetic.rows import frame_of
        from privet.synthetic.synthesize import SyntheticTable
        from privet.tables.open import read_public

        schema = Schema(
            {"two\nlines": Categorical(["a\nb", "c\r", "it's", "nul\x00"])}, "c", ["no", "yes"]
        )
        frame = frame_of(schema, [np.arange(4)], np.array([0, 1, 0, 1]), SystemBits())
        privacy = synthesize(curator(), 1, rows=1).privacy
        write_table(SyntheticTable(frame, schema, privacy, (), 1.0), tmp_path / "it's.parquet")
        assert read_public(str(tmp_path / "it's.parquet"))["two\nlines"].tolist() == [
            "a\nb",
            "c\r",
            "it's",
            "nul\x00",
        ]


def test_the_person_is_not_in_it(tmp_path):
    frame = table()
    frame["who"] = np.arange(len(frame))
    made = synthesize(curator(frame, SCHEMA.declare(person="who"), Budget(1)), 1, rows=20)
    assert list(made.frame.columns) == ["a", "b", "age", "c"]
    write_table(made, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[0] == '"a",b,age,"c"'
