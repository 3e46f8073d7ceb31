"""A long table takes little more memory than its matrix of codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

N_ROWS, N_ATTRIBUTES = 2_000_000, 14
MATRIX = N_ROWS * N_ATTRIBUTES / 2**20
# MB beside the matrix, whatever the number of rows: blocks, and a class and a mark for each row
ALLOWED = 20
#: What was freed before must not serve again: it would not be seen.
GIVE_BACK = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
}

MEASURE = """
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from privet.domain.cells import Cells
from privet.tables.memory import MemoryTable
from privet.domain.questions import Question
from privet.domain import Categorical, Numeric, Schema

kind, n_rows, n_attributes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
draw = np.random.default_rng(0)
texts = np.array([f"value {number}" for number in range(12)], dtype=object)
library, kind = kind.split()
attribute = Numeric(0, 100) if kind == "numbers" else Categorical(list(texts))


def column(n):
    if kind == "numbers":
        return draw.random(n) * 110
    codes = pa.DictionaryArray.from_arrays(pa.array(draw.integers(0, 12, n), pa.int8()), pa.array(texts))
    return codes if kind == "dictionary" else codes.dictionary_decode()


def table(n):
    columns = {f"a{number}": column(n) for number in range(n_attributes)}
    columns["c"] = draw.integers(0, 2 + (kind == "numbers"), n, dtype=np.uint8)  # some rows are not counted
    if library == "pandas":
        return pd.DataFrame({name: column.to_pandas() if isinstance(column, pa.Array) else column for name, column in columns.items()})
    return pl.DataFrame(columns) if library == "polars" else pa.table(columns)


def memory(what):
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[what].split()[0]) / 1024


def count(table):
    return MemoryTable(table).source(schema).count(Question.of(Cells.everything(schema)))[0].sum()


schema = Schema({f"a{number}": attribute for number in range(n_attributes)}, "c", [0, 1])
count(table(200_000))  # what is loaded and compiled
rows = table(n_rows)
Path("/proc/self/clear_refs").write_text("5")  # the peak is what is used now
before = memory("VmRSS")
assert 0 < count(rows) <= n_rows
print(memory("VmHWM") - before)
"""  # noqa: E501


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak can be reset on Linux only"
)
@pytest.mark.parametrize(
    "kind",
    [
        "pandas numbers",
        "pandas text",
        "pandas dictionary",
        "polars numbers",
        "polars text",
        "polars dictionary",
        "arrow numbers",
        "arrow text",
        "arrow dictionary",
    ],
)
def test_little_more_than_the_matrix(kind: str) -> None:
    command = [sys.executable, "-c", MEASURE, kind, str(N_ROWS), str(N_ATTRIBUTES)]
    said = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **GIVE_BACK}
    ).stdout
    assert MATRIX * 0.9 < float(said) < MATRIX + ALLOWED
