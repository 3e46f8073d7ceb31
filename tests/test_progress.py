"""Whoever watches is told shares, never numbers of rows."""

from __future__ import annotations

import threading

import pandas as pd
import pytest

from privet._progress import is_watched, polled, tell, watched
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.tables.duckdb import table
from privet.tables.open import open_table

SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])


def test_nobody_is_told_where_nobody_watches():
    assert not is_watched()
    tell("counting", 0.5)
    with polled("counting", lambda: pytest.fail("nobody watches")):
        pass


def test_shares_stay_between_nothing_and_everything():
    told = []
    with watched(lambda what, share: told.append((what, share))):
        for share in (-0.5, 0.25, 1.5, None):
            tell("counting", share)
    tell("counting", 0.9)
    assert told == [("counting", 0.0), ("counting", 0.25), ("counting", 1.0), ("counting", None)]


def test_a_watcher_is_told_while_it_waits():
    came, told = threading.Event(), []

    def watcher(what, share):
        told.append((what, share))
        came.set()

    shares = iter([-1.0, 0.5])
    with watched(watcher), polled("reading", lambda: next(shares, 2.0)):
        while len(told) < 3:
            assert came.wait(10)
            came.clear()
    assert told[:3] == [("reading", None), ("reading", 0.5), ("reading", 1.0)]


def test_reading_a_file_tells_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "_CHUNK_BYTES", 1)
    pd.DataFrame({"a": ["x", "y"] * 5000, "c": ["no", "yes"] * 5000}).to_parquet(
        tmp_path / "t.parquet"
    )
    source = open_table(tmp_path / "t.parquet").source(SCHEMA)
    told = []
    with watched(lambda what, share: told.append((what, share))), source.snapshot():
        source.count(Question.of(Cells.everything(SCHEMA)))
    reading = [share for what, share in told if what == "reading the table" and share is not None]
    assert reading == sorted(reading)
    assert reading[-1] == 1
    assert len(reading) >= 4
    assert ("counting", 1.0) in told
    assert all(share is None or 0 <= share <= 1 for _, share in told)
