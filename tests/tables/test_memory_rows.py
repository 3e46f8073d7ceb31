"""Which rows of a data frame are counted, and that they stay in the memory where they were
encoded.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.encode import steps
from privet.tables.memory import MemorySource

SIZES = {"a": 2, "b": 3}


def schema_of(**facts) -> Schema:
    return Schema(
        {name: Categorical(range(size)) for name, size in SIZES.items()}, "c", [0, 1], **facts
    )


def rows_of(source: MemorySource) -> list[tuple[int, ...]]:
    return [
        tuple(map(int, row))
        for codes, classes, _ in source.rows()
        for row in np.vstack([codes, classes]).T
    ]


def table(rows: list[tuple]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["a", "b", "c", "who"])


rows = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.integers(0, 2), st.none() | st.integers(0, 4)
    ),
    max_size=60,
)


@settings(max_examples=60)
@given(rows, st.sampled_from([7, 1 << 16]))
def test_rows_with_an_unknown_code_are_left_out(entries: list, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "BLOCK", block)
        source = MemorySource(schema_of(), table(entries))
        matrix = source._matrix
    assert rows_of(source) == [
        row[:3] for row in entries if row[0] < 2 and row[1] < 3 and row[2] < 2
    ]
    assert matrix.codes.flags.c_contiguous


@settings(max_examples=100)
@given(
    rows,
    st.integers(1, 4),
    st.sampled_from([7, 1 << 16]),
    st.sampled_from([pd.DataFrame, pl.from_pandas, pa.Table.from_pandas]),
)
@example([(1, 0, 0, 1), (0, 1, 0, 1), (0, 1, 1, 1)], 2, 7, pd.DataFrame)
def test_the_first_rows_of_each_person_in_the_order_of_their_codes(
    entries: list, most: int, block: int, make
) -> None:
    people = defaultdict(list)
    for *row, who in entries:
        if who is not None and row[0] < 2 and row[1] < 3 and row[2] < 2:
            people[who].append(tuple(row))
    expected = Counter(row for theirs in people.values() for row in sorted(theirs)[:most])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "BLOCK", block)
        frame = table(entries).astype({"who": "Int64"})
        source = MemorySource(schema_of(person="who", rows_per_person=most), make(frame))
        assert Counter(rows_of(source)) == expected
        parts = source.parts(3, b"key")
        assert sum((Counter(rows_of(part)) for part in parts), Counter()) == expected
        found = [set(part._matrix.person.tolist()) for part in parts]
    assert sum(map(len, found)) == len(set().union(*found))


def test_when_every_row_is_known_nothing_is_copied() -> None:
    source = MemorySource(schema_of(), table([(0, 1, 0, None)] * 100))
    assert source._matrix.codes.base is None
    assert source._matrix.codes.flags.owndata


@pytest.mark.parametrize("n_parts", [1, 3])
def test_the_lines_of_a_part_are_contiguous(n_parts: int) -> None:
    source = MemorySource(schema_of(), table([(0, 1, 0, None), (1, 2, 1, None)] * 50))
    parts = source.parts(n_parts, b"key")
    assert all(part._matrix.codes.flags.c_contiguous for part in parts)
    assert sum(len(part._matrix.classes) for part in parts) == 100
