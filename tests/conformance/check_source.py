"""What every source of exact counts must do. A new source is one more entry in
``test_sources.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd

from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.tables.base import Table
from privet.tables.counting.passes import Counting
from privet.tables.memory import MemoryTable
from tests.conformance.tables import (
    SCHEMA,
    forest,
    mixed,
    oracle,
    random_table,
    random_tree,
    wide_schema,
    wide_table,
)

#: Puts a data frame where the source reads it.
Place = Callable[[pd.DataFrame], Table]
#: The one check that a source may fail: rows need not leave a cluster.
READS_ROWS = "gives its rows to those who may see them"


def check_source(place: Place) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks of a source; each raises AssertionError when it fails."""
    yield "counts random tables exactly", lambda: random_tables(place)
    yield "counts a table without rows", lambda: small_tables(place, 0)
    yield "counts a table of one row", lambda: small_tables(place, 1)
    yield "gives zero for values that never occur", lambda: absent_values(place)
    yield "counts attributes of more than 256 values", lambda: wide_attributes(place)
    yield "counts 1000 cells", lambda: many_cells(place, 1000)
    yield "counts 20000 cells", lambda: many_cells(place, 20_000)
    yield "keeps at most so many rows of each person", lambda: rows_per_person(place)
    yield "sees the same rows throughout a snapshot", lambda: snapshots(place)
    yield "gives its rows block by block", lambda: blocks_of_rows(place)
    yield READS_ROWS, lambda: readable_rows(place)
    yield "divides people at random", lambda: random_parts(place)
    yield "finds how a table fails to fit", lambda: problems(place)


def assert_counts(place: Place, frame: pd.DataFrame, question: Question) -> None:
    expected = oracle(question, frame)
    source = place(frame).source(question.schema)
    for again in ("first time", "second time"):
        for answer, truth in zip(source.count(question), expected, strict=True):
            assert answer.dtype == np.int64, again
            np.testing.assert_array_equal(answer, truth, err_msg=again)
    with source.snapshot():
        for answer, truth in zip(source.count(question), expected, strict=True):
            np.testing.assert_array_equal(answer, truth)


def random_tables(place: Place) -> None:
    for seed, rows in ((0, 50), (1, 400), (2, 3000)):
        assert_counts(place, random_table(rows, seed), forest(SCHEMA))
    assert_counts(place, random_table(500, 3), mixed(SCHEMA))
    assert_counts(
        place, random_table(500, 4), Question.level(random_tree(SCHEMA, 2, 1), SCHEMA.names)
    )


def small_tables(place: Place, rows: int) -> None:
    frame = random_table(200, 5)
    known = frame[
        (frame.label != "never") & (frame.rooms != "5") & frame.height.between(140, 210)
    ].iloc[:rows]
    for question in (forest(SCHEMA), mixed(SCHEMA), Question.of(Cells.everything(SCHEMA))):
        assert_counts(place, known, question)
    total = place(known).source(SCHEMA).count(Question.of(Cells.everything(SCHEMA)))[0].sum()
    assert total == rows


def absent_values(place: Place) -> None:
    frame = random_table(300, 6).assign(colour="red", label="yes")
    question = Question.level(Cells.everything(SCHEMA), ["colour"])
    assert_counts(place, frame, question)
    table = place(frame).source(SCHEMA).count(question)[0]
    assert table[0, 1:].sum() == 0
    assert table[0, 0, 1] > 0


def wide_attributes(place: Place) -> None:
    schema = wide_schema()
    frame = wide_table(2000, 0)
    everything = Cells.everything(schema)
    assert_counts(place, frame, Question.level(everything, schema.names))
    assert_counts(
        place, frame, Question.of(everything.refine({0: Split.multiway(schema, "street")}))
    )


def many_cells(place: Place, n_cells: int) -> None:
    assert_counts(place, wide_table(3000, 1, n_cells // 2), question_of(n_cells))


@cache
def question_of(n_cells: int) -> Question:
    """A question with this many cells."""
    schema = wide_schema(n_cells // 2)
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "street")})
    cells = cells.refine({cell: Split.multiway(schema, "side") for cell in range(len(cells))})
    assert len(cells) == n_cells
    return Question.of(cells)


def rows_per_person(place: Place) -> None:
    rng = np.random.default_rng(0)
    frame = random_table(600, 8)
    frame["who"] = pd.Series(
        [f"p{i}" if i else None for i in rng.integers(0, 90, 600)], dtype=object
    )
    for most in (1, 3):
        schema = replace(SCHEMA, person="who", rows_per_person=most)
        assert_counts(place, frame, forest(schema))
        total = int(
            place(frame).source(schema).count(Question.of(Cells.everything(schema)))[0].sum()
        )
        assert total <= most * 90
    unlimited = int(
        place(frame).source(SCHEMA).count(Question.of(Cells.everything(SCHEMA)))[0].sum()
    )
    assert total < unlimited


def snapshots(place: Place) -> None:
    question = Question.of(Cells.everything(SCHEMA))
    table = place(random_table(300, 9))
    source = table.source(SCHEMA)
    with source.snapshot():
        first = source.count(question)[0]
        # Sources that read a file see another table there from now on; memory has its rows already.
        if hasattr(table, "parameters") and "path" in table.parameters:
            place(random_table(30, 10))
        np.testing.assert_array_equal(source.count(question)[0], first)


def readable_rows(place: Place) -> None:
    for rows in (0, 5000):
        frame, question = random_table(rows, 14), forest(SCHEMA)
        blocks = list(place(frame).read_blocks(2048))
        assert [len(block) for block in blocks] == ([2048, 2048, 904] if rows else [0])
        read = MemoryTable(pd.concat(blocks, ignore_index=True)).source(SCHEMA)
        for answer, truth in zip(read.count(question), oracle(question, frame), strict=True):
            np.testing.assert_array_equal(answer, truth)


def blocks_of_rows(place: Place) -> None:
    frame, question = random_table(700, 13), forest(SCHEMA)
    counting = Counting(question)
    for rows in place(frame).source(SCHEMA).rows():
        counting.add(*rows)
    for answer, truth in zip(counting.tables(), oracle(question, frame), strict=True):
        np.testing.assert_array_equal(answer, truth)


def random_parts(place: Place) -> None:
    rng = np.random.default_rng(0)
    frame = random_table(900, 14)
    # so many that a part has 15 to 55 percent but for a chance of 1e-9
    frame["who"] = [f"p{i}" for i in rng.integers(0, 600, 900)]
    question = Question.of(random_tree(SCHEMA, 2, 3))
    for schema in (SCHEMA, replace(SCHEMA, person="who", rows_per_person=50)):
        source = place(frame).source(schema)
        seen = []
        for key in (b"a" * 32, b"b" * 32):
            with source.snapshot():
                if key == b"b" * 32:
                    source.count(question)  # the rows are kept already when they are divided
                tables = [part.count(question)[0] for part in source.parts(3, key)]
            np.testing.assert_array_equal(
                sum(tables), oracle(replace_schema(question, schema), frame)[0]
            )
            assert all(0.15 < table.sum() / sum(tables).sum() < 0.55 for table in tables)
            seen.append(tables[0])
        assert (seen[0] != seen[1]).any(), "another key must divide otherwise"
    # All rows of a person are in the same part.
    single = frame.assign(who="only one")
    source = place(single).source(replace(SCHEMA, person="who", rows_per_person=1000))
    with source.snapshot():
        totals = [int(part.count(question)[0].sum()) for part in source.parts(4, b"c" * 32)]
    assert sorted(totals)[:3] == [0, 0, 0]
    assert max(totals) > 0


def replace_schema(question: Question, schema: Schema) -> Question:
    """The same question about a schema with other owner-side facts."""
    return Question(
        tuple(
            Partition(replace(partition.cells, schema=schema), by=partition.by)
            for partition in question.partitions
        )
    )


def problems(place: Place) -> None:
    good = random_table(200, 11)
    good = good[
        (good.label != "never")
        & (good.rooms != "5")
        & good.age.between(0, 100)
        & (good.income <= 100_000)
    ]
    assert place(good).problems(SCHEMA) == []
    bad = random_table(400, 12)
    assert sorted(place(bad).problems(SCHEMA)) == [
        ("age", "out of range"),
        ("income", "out of range"),
        ("label", "unlisted"),
        ("rooms", "unlisted"),
    ]
    nulls = good.assign(rooms=None)
    assert ("rooms", "null") in place(nulls.astype({"rooms": object})).problems(SCHEMA)
    absent = place(good.drop(columns=["colour", "label"]))
    assert sorted(absent.problems(SCHEMA)) == [("colour", "absent"), ("label", "absent")]
