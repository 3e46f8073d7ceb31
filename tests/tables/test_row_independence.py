"""One person more or less changes at most that person's counts: nothing about other rows may depend
on a row.

All noise is scaled by this. Each case once changed many rows because of one.
"""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.errors import ParameterError, SchemaMismatch
from privet.tables.open import open_table

PEOPLE = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"], person="who", rows_per_person=2)


def counts(table, schema=PEOPLE) -> np.ndarray:
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, schema.names[0])})
    return open_table(table).source(schema).count(Question.of(cells))[0]


def frame(rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["who", "a", "c"]).astype(object)


def everywhere(table: pd.DataFrame, folder) -> list[np.ndarray]:
    """The counts of a table from every source that holds it."""
    table.to_parquet(folder / "t.parquet")
    table.to_csv(folder / "t.csv", index=False)
    sources = [
        table,
        pl.from_pandas(table),
        pa.Table.from_pandas(table),
        folder / "t.parquet",
        folder / "t.csv",
    ]
    return [counts(source) for source in sources]


@pytest.mark.parametrize("newcomer", ["p1", "new", None], ids=["known", "new", "null"])
def test_one_person_more_changes_at_most_their_rows(tmp_path, newcomer):
    rng = np.random.default_rng(0)
    base = [
        (f"p{rng.integers(30)}", rng.choice(["x", "y"]), rng.choice(["no", "yes"]))
        for _ in range(200)
    ]
    base += [(None, "y", "yes")] * 3
    others = [row for row in base if row[0] != newcomer] if newcomer else base
    extra = [(newcomer, a, c) for a in "xy" for c in ("no", "yes")]
    for before, after in zip(
        everywhere(frame(others), tmp_path),
        everywhere(frame(others + extra), tmp_path),
        strict=True,
    ):
        assert np.abs(after - before).sum() == (0 if newcomer is None else 2)


def test_rows_without_a_person_are_not_counted(tmp_path):
    table = frame([(None, "x", "no"), ("p", "x", "no"), (None, "y", "yes")])
    assert [answer.sum() for answer in everywhere(table, tmp_path)] == [1] * 5


@pytest.mark.parametrize(
    "people",
    [
        [uuid.UUID(int=i) for i in range(9)],
        [dt.date(2026, 1, 1 + i) for i in range(9)],
        [Decimal(i) / 7 for i in range(9)],
        [bytes([i]) for i in range(9)],
        [("p", i) for i in range(9)],
        [1, "1", True, 1.0, Decimal(1), b"1", (1,), "true", "1.0"],
        [(1 << 60) + i for i in range(9)],
    ],
    ids=["uuid", "date", "decimal", "bytes", "tuple", "alike", "large"],
)
def test_different_people_are_never_merged(people):
    table = {"who": people, "a": ["x"] * 9, "c": ["no"] * 9}
    assert counts(table).sum() == 9


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
def test_large_identifiers_stay_apart_beside_a_null(make):
    ids = [(1 << 60) + i for i in range(100)]
    table = {"who": [*ids, None], "a": ["x"] * 101, "c": ["no"] * 101}
    assert counts(make(table)).sum() == 100


@pytest.mark.parametrize("place", ["memory", "parquet"])
def test_fractions_do_not_tell_people_apart(place, tmp_path):
    table = pd.DataFrame({"who": [1.0, 2.0], "a": ["x", "x"], "c": ["no", "no"]})
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(SchemaMismatch, match="'who' says whose row it is"):
        open_table(table if place == "memory" else tmp_path / "t.parquet").check_structure(PEOPLE)


@pytest.mark.parametrize(
    ("values", "column", "strange"),
    [
        (["1", "2", "?"], [1.0] * 9, "?"),
        ([1.0, 2.0, "?"], [1.0] * 9, "?"),
        ([True, False, 2], [True] * 9, 2),
        ([1, 2, "u"], [2] * 9, "u"),
        ([1, 2, 2**60], [2**60] * 9, None),
        (["nan", "x"], [float("nan")] * 9, "x"),
    ],
)
def test_a_strange_entry_does_not_change_how_others_are_read(values, column, strange):
    schema = Schema({"a": Categorical(values)}, "c", ["no", "yes"])
    alone = counts({"a": column, "c": ["no"] * 9}, schema)
    beside = counts({"a": [*column, strange], "c": ["no"] * 10}, schema)
    assert np.abs(beside - alone).sum() <= 1
    lines = counts_of_lines([[entry] for entry in [*column, strange]], schema)
    np.testing.assert_array_equal(lines, beside)


def counts_of_lines(lines, schema) -> np.ndarray:
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
    return open_table(lines, y=["no"] * len(lines)).source(schema).count(Question.of(cells))[0]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
def test_large_categories_are_exact_beside_a_null(make):
    schema = Schema({"a": Categorical([2**60, 2**60 + 1])}, "c", ["no", "yes"])
    table = make({"a": [2**60 + 1] * 9 + [None], "c": ["no"] * 10})
    np.testing.assert_array_equal(counts(table, schema), [[0, 0], [9, 0]])


LINES = {
    "unclosed quote": b'"x,5,no\n',
    "text after a quote": b'"x"y,5,no\n',
    "quote inside": b'x"y,5,no\n',
    "other line end": b"x,5,no\r\n",
    "carriage return inside": b"x\ry,5,no\n",
    "not UTF-8": b"x\xff\xfe,5,no\n",
    "NUL": b"x\x00,5,no\n",
    "too many fields": b"x,5,no,no\n",
    "too few fields": b"x\n",
    "empty": b"\n",
    "endless": b"x" * 3_000_000 + b",5,no\n",
    "unit separator": b"x\x1fy,5,no\n",
    "quoted separator": b'"x,y",5,no\n',
    "doubled quotes": b'"a ""b"" c",5,no\n',
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("where", ["first", "middle", "last"])
def test_a_strange_line_does_not_change_how_others_are_read(line, where, tmp_path):
    schema = Schema({"a": Categorical(["x"]), "n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"])
    good = b"x,1,no\n" * 30_000
    parts = {
        "first": [line, good, good],
        "middle": [good, line, good],
        "last": [good, good, line.rstrip(b"\n")],
    }[where]
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,n,c\n" + b"".join(parts))
    counted = int(
        open_table(path).source(schema).count(Question.of(Cells.everything(schema)))[0].sum()
    )
    assert counted in (60_000, 60_001)


def test_fields_are_cut_as_csv_says(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a;c\n"x; ""y""";no\nplain;yes\n;no\n"";yes\n', newline="\r\n")
    schema = Schema({"a": Categorical(['x; "y"', "plain", ""], missing="?")}, "c", ["no", "yes"])
    np.testing.assert_array_equal(counts(path, schema), [[1, 0], [0, 1], [0, 1], [1, 0]])


def test_a_collation_does_not_count_a_row_twice(tmp_path):
    path = tmp_path / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people (a VARCHAR COLLATE NOCASE, c VARCHAR COLLATE NOCASE, who VARCHAR "
            "COLLATE NOCASE)"
        )
        connection.executemany(
            "INSERT INTO people VALUES (?, ?, ?)",
            [["x", "no", "p"], ["X", "no", "P"], ["x", "NO", "q"]],
        )
    schema = Schema(
        {"a": Categorical(["x", "X"])}, "c", ["no", "yes"], person="who", rows_per_person=1
    )
    np.testing.assert_array_equal(
        counts(f"duckdb:///{path}?table=people", schema), [[1, 0], [1, 0]]
    )


def test_a_lazy_frame_is_not_collected_behind_the_owners_back():
    with pytest.raises(ParameterError, match="collect"):
        open_table(pl.LazyFrame({"a": ["x"], "c": ["no"], "who": ["p"]})).check_structure(PEOPLE)


def test_messages_do_not_tell_the_number_of_rows():
    with pytest.raises(ParameterError) as caught:
        open_table(np.zeros((12345, 7)), y=np.zeros(12345)).check_structure(PEOPLE)
    assert "12345" not in str(caught.value)
    assert "7 columns" in str(caught.value)
