"""Rows in a file without a name: what is kept comes back, divided or not, and nothing is left
behind.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.errors import TableError
from privet.tables import kept_rows
from privet.tables.base import Division
from privet.tables.duckdb import table
from privet.tables.kept_rows import NOBODY, KeptRows, keep_groups, keep_rows
from privet.tables.open import open_table

SMALL = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(list("abcde"))}, "c", ["no", "yes"]
)
WIDE = Schema(
    {
        "a": Categorical([str(i) for i in range(300)]),
        "b": Categorical([str(i) for i in range(900)]),
    },
    "c",
    ["no", "yes"],
)


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    """Whatever a test keeps is forgotten when it ends."""
    made, begin = [], KeptRows.__init__

    def noted(self, schema):
        begin(self, schema)
        made.append(self._file)

    monkeypatch.setattr(KeptRows, "__init__", noted)
    yield
    for file in made:
        file.close()


def rows_of(schema, n, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in schema.sizes]).astype(np.uint16)
    return codes, rng.integers(0, schema.n_classes, n).astype(np.uint8), NOBODY


def counted(blocks) -> Counter:
    found: Counter = Counter()
    for codes, classes, weights in blocks:
        for i, point in enumerate(zip(*codes.tolist(), classes.tolist(), strict=True)):
            found[point] += int(weights[i]) if len(weights) else 1
    return found


@pytest.mark.parametrize("schema", [SMALL, WIDE], ids=["counts of points", "rows"])
@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 40), max_size=5),
    n_parts=st.integers(1, 5),
    key=st.binary(min_size=32, max_size=32),
)
def test_what_is_kept_comes_back_whole_and_in_parts(schema, sizes, n_parts, key):
    blocks = [rows_of(schema, n, seed) for seed, n in enumerate(sizes)]
    truth = counted((codes, classes, []) for codes, classes, _ in blocks)
    rows = keep_rows(schema, blocks)
    assert counted(rows.blocks()) == truth
    parts = [counted(rows.part(Division(n_parts, key), part)) for part in range(n_parts)]
    assert sum(parts, Counter()) == truth
    assert parts == [counted(rows.part(Division(n_parts, key), part)) for part in range(n_parts)]
    rows.close()


def test_equal_rows_of_a_small_domain_are_kept_once():
    rows = keep_rows(SMALL, [rows_of(SMALL, 5000, seed) for seed in range(3)])
    (block,) = rows.blocks()
    assert block[0].shape == (2, 30)
    assert block[2].sum() == 15_000


@pytest.mark.parametrize("schema", [SMALL, WIDE], ids=["counts of points", "rows"])
def test_every_row_is_drawn_for_itself(schema):
    """30% off would be 3000 instead of about 4000 of one point's 12000 rows; chance stays within 6
    deviations of 52.
    """
    codes, classes = np.zeros((2, 12_000), dtype=np.uint16), np.zeros(12_000, dtype=np.uint8)
    rows = keep_rows(schema, [(codes, classes, NOBODY)])
    taken = [sum(counted(rows.part(Division(3, b"k" * 32), part)).values()) for part in range(3)]
    assert all(abs(n - 4000) < 312 for n in taken)
    assert len({*taken}) > 1, "an even split is not a random one"


def test_a_person_is_in_one_part_whatever_the_block():
    rng = np.random.default_rng(1)
    people = rng.integers(0, 1 << 63, 500, dtype=np.uint64)
    where: dict[int, set[int]] = {}
    schema = Schema(
        {"a": Categorical([str(i) for i in range(500)])}, "c", ["no", "yes"], person="who"
    )
    rows = KeptRows(schema)
    for _ in range(4):
        order = rng.permutation(500)
        rows.add(
            order[None, :].astype(np.uint16),
            np.zeros(500, dtype=np.uint8),
            np.empty(0, dtype=np.int64),
            people[order],
        )
    for part in range(3):
        for codes, _, _ in rows.part(Division(3, b"s" * 32), part):
            for person in codes[0].tolist():
                where.setdefault(person, set()).add(part)
    assert all(len(parts) == 1 for parts in where.values())
    sizes = Counter(part for (part,) in where.values())
    assert all(abs(n - 500 / 3) < 6 * (500 * 2 / 9) ** 0.5 for n in sizes.values())


def test_no_file_can_be_found(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = keep_rows(WIDE, [rows_of(WIDE, 100)])
    assert list(tmp_path.iterdir()) == []
    assert len(list(rows.blocks())) == 1
    rows.close()


def test_rows_that_cannot_be_kept_are_forgotten(monkeypatch):
    closed = []
    monkeypatch.setattr(KeptRows, "close", lambda self: closed.append(self._file.close()))

    def broken():
        yield rows_of(WIDE, 10)
        raise TableError("the table is gone")

    with pytest.raises(TableError, match="gone"):
        keep_rows(WIDE, broken())
    assert len(closed) == 1


def test_the_message_of_a_full_disk_tells_what_to_do():
    rows = KeptRows(WIDE)

    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

    rows._file = Full()
    with pytest.raises(TableError, match=r"No space left on device.*TMPDIR"):
        rows.add(*rows_of(WIDE, 3)[:2], np.empty(0, dtype=np.int64), NOBODY)


def test_threads_read_the_same_rows():
    rows = keep_rows(WIDE, [rows_of(WIDE, 2000, seed) for seed in range(8)])
    truth, found = counted(rows.blocks()), []
    threads = [
        threading.Thread(target=lambda: found.append(counted(rows.blocks()))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [truth] * 4


def test_a_part_is_gone_with_its_snapshot_for_whoever_waits_for_it(tmp_path):
    """Another thread that asks for a part waits for the snapshot's thread, and must not get a part
    of other rows then.
    """
    frame = pd.DataFrame(
        {
            "a": ["x", "y"] * 500,
            "b": ["a"] * 1000,
            "c": ["no", "yes"] * 500,
            "who": np.arange(1000) // 2,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    schema = replace(SMALL, person="who", rows_per_person=2)
    source = open_table(tmp_path / "t.parquet").source(schema)
    asked, found = threading.Event(), []

    def later(part):
        asked.set()
        try:
            found.append(counted(part.rows()))
        except TableError as error:
            found.append(str(error))

    with source.snapshot():
        one, other = source.parts(2, b"k" * 32)
        assert sum(counted(one.rows()).values()) > 0
        thread = threading.Thread(target=later, args=(other,))
        thread.start()
        assert asked.wait(60)
        thread.join(0.2)
    thread.join(60)
    assert len(found) == 1
    assert isinstance(found[0], str)
    assert "gone" in found[0]
    with source.snapshot():
        pd.DataFrame({"a": ["x"], "b": ["a"], "c": ["no"], "who": [1]}).to_parquet(
            tmp_path / "t.parquet"
        )
        assert counted(source.rows()) == {(0, 0, 0): 1}


def test_a_table_of_many_chunks_is_read_whole(tmp_path, monkeypatch):
    """Rows that do not fit are left out of every chunk, whatever their place in it."""
    monkeypatch.setattr(table, "_CHUNK_BYTES", 1)
    monkeypatch.setattr(kept_rows, "_MAX_POINTS", 1)
    frame = pd.DataFrame(
        {"a": ["x", "y", "?"] * 3000, "b": ["a", "b", "c"] * 3000, "c": ["no", "yes", "no"] * 3000}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    source = open_table(tmp_path / "t.parquet").source(SMALL)
    with source.snapshot():
        blocks = list(source.rows())
    assert len(blocks) == 5
    assert counted(blocks) == {(0, 0, 0): 3000, (1, 1, 1): 3000}


def test_groups_are_kept_in_blocks_and_gone_with_the_file(monkeypatch):
    """Small ones together, so that each block is worth a pass over many tables."""
    monkeypatch.setattr(kept_rows, "_BLOCK_ROWS", 100)
    groups = []
    for seed in range(12):
        codes, classes, _ = rows_of(WIDE, 30, seed)
        groups.append((codes, classes, np.arange(1, 31, dtype=np.int64)))
    kept = keep_groups(WIDE, iter(groups))
    blocks = list(kept.blocks())
    assert [len(classes) for _, classes, _ in blocks] == [120, 120, 120]
    assert counted(blocks) == counted(groups)
    reading = kept.blocks()
    next(reading)
    kept.close()
    with pytest.raises(TableError, match="snapshot has ended"):
        next(reading)
    empty = keep_groups(WIDE, iter(()))
    assert list(empty.blocks()) == []
