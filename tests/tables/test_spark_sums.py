"""Sums over rows in Spark's executors: those of a data frame, bit by bit."""

from __future__ import annotations

import os
import signal
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.domain.space import TreeSpace
from privet.errors import TableError
from privet.queries import DrawTree, Gradients
from privet.queries.base import check_query
from privet.tables.open import open_table
from tests.spark import ABOUT_PANDAS, classic_session, connect_session
from tests.tables.test_scoring import random_trees

pytest.importorskip("pyspark", reason="needs pip install 'privet[spark]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(ABOUT_PANDAS)]

#: One attribute has more values than a byte tells apart, and unknown labels are not counted.
SCHEMA = Schema(
    {"a": Categorical(list("xyz")), "b": Categorical(list("pq")), "n": Numeric(0, 1, bins=300)},
    "c",
    ["no", "yes", "maybe"],
)
TREES = random_trees(SCHEMA, 4)
SPLIT = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
QUESTIONS = [
    check_query(DrawTree(TreeSpace(SCHEMA, 2), TREES), SCHEMA),
    check_query(Gradients(SPLIT, TREES), SCHEMA),
    check_query(Gradients(SPLIT, TREES, "even"), SCHEMA),
]
KINDS = {"classic": classic_session, "connect": connect_session}


def table(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.choice(list("xyz"), rows),
            "b": rng.choice(list("pq"), rows),
            "n": rng.random(rows),
            "c": rng.choice(["no", "yes", "maybe", "other"], rows),
        }
    )


def source_of(frame: pd.DataFrame, folder: Path, session, partitions: int = 3):
    path = folder / f"{len(frame)}.parquet"
    frame.to_parquet(path)
    rows = session.read.parquet(str(path)).repartition(partitions)
    return open_table(rows).source(SCHEMA)


def numbers(query, source) -> list[int]:
    exact = query.exact(source)
    flat = exact.flat if isinstance(query, DrawTree) else exact[0]
    return flat.reshape(-1).tolist()


def truth(frame: pd.DataFrame) -> list[list[int]]:
    return [numbers(query, open_table(frame).source(SCHEMA)) for query in QUESTIONS]


@pytest.mark.parametrize("kind", KINDS)
def test_sums_are_those_of_a_data_frame(kind, tmp_path):
    frame = table(10_000)
    source = source_of(frame, tmp_path, KINDS[kind]())
    assert source._table.can_sum
    right = truth(frame)
    for inside in (False, True):
        with source.snapshot() if inside else nullcontext():
            assert [numbers(query, source) for query in QUESTIONS] == right
    with source.snapshot():
        source.count(Question.of(SPLIT))
        parts = source.parts(2, b"k" * 32)
        halves = np.array([[numbers(query, part) for query in QUESTIONS[1:]] for part in parts])
        assert halves.sum(axis=0).tolist() == right[1:]
        assert halves.any(axis=(1, 2)).all()


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows, tmp_path):
    frame = table(20)[:rows].assign(c="yes")
    source = source_of(frame, tmp_path, classic_session())
    assert [numbers(query, source) for query in QUESTIONS] == truth(frame)


def test_what_comes_to_the_driver_does_not_grow_with_rows_and_partitions(monkeypatch, tmp_path):
    from privet.tables.spark import sums

    came, read = [0], sums._read_pieces

    def count(batches):
        batches = list(batches)
        came[0] += sum(batch.nbytes for batch in batches)
        return read(batches)

    monkeypatch.setattr(sums, "_read_pieces", count)  # here; not in the executors
    sizes = []
    for rows, partitions in ((500, 1), (50_000, 8)):
        came[0] = 0
        source = source_of(table(rows), tmp_path, classic_session(), partitions)
        entries = len(numbers(QUESTIONS[0], source))
        sizes.append(came[0])
    assert 8 * entries <= sizes[0] == sizes[1] < 10 * entries


def test_executors_without_privet_send_groups(monkeypatch, tmp_path):
    from privet.tables.spark import sums

    frame = table(2000)
    right = truth(frame)
    source = source_of(frame, tmp_path, classic_session())
    monkeypatch.setattr(sums, "_find_version", lambda: "another one")
    assert not source._table.can_sum
    assert [numbers(query, source) for query in QUESTIONS] == right

    def fail(_):
        raise ImportError("no module named privet")

    monkeypatch.setattr(sums, "_say_version", fail)
    assert not source_of(frame, tmp_path, classic_session())._table.can_sum


def find_executors(session) -> list[int]:
    """Processes of this session's executors."""
    port = session.sparkContext.getConf().get("spark.driver.port").encode()
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        ours = any(word.endswith(b":" + port) for word in words)
        if ours and b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in words:
            found.append(int(place.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs /proc")
def test_an_executor_that_is_killed_brings_the_same_rows_or_an_error(tmp_path):
    """Its kept rows are gone with it; they are not read again, which might give others."""
    session, frame = classic_session(), table(5000)
    source, right = source_of(frame, tmp_path, session, 4), truth(frame)
    with source.snapshot():
        assert numbers(QUESTIONS[1], source) == right[1]
        executors = find_executors(session)
        assert executors
        os.kill(executors[0], signal.SIGKILL)
        failed = 0
        for _ in range(3):
            try:
                assert numbers(QUESTIONS[1], source) == right[1]
            except TableError:
                failed += 1
        assert failed or len(executors) == 1
    deadline = time.monotonic() + 60
    while not find_executors(session) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert numbers(QUESTIONS[1], source) == right[1]  # a new one, and the table read anew
