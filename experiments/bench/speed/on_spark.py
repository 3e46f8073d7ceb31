"""Draws on a Spark cluster of this machine: python -m experiments.bench.speed.on_spark

For each number of workers (a core each) and of rows: seconds of the first question of a snapshot,
which encodes and keeps the rows, and of those after it (the best of three draws of depth 3, weighed
by 20 trees); CPU seconds of all processes of Spark for these; and bytes that come to the driver.
A cluster has a process of its own. Needs PySpark and Java.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import privet as pv
from experiments.bench.speed.contestants import MULTIWAY
from experiments.bench.speed.ours import schema_of
from experiments.bench.speed.processes import cpu_seconds
from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import ATTRIBUTES, Store
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.learners.random_trees.drawing import draw_forest
from privet.mechanisms.randomness import SystemBits
from privet.queries import DrawTree
from privet.queries.base import check_query
from privet.tables.spark import sums

ROWS, WORKERS, TREES = (100_000, 1_000_000, 10_000_000), (1, 2, 4), 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    parser.add_argument("--rows", type=lambda text: int(float(text)), nargs="*", default=ROWS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(Path(options.measure[0]), int(options.measure[1]), options.rows)
        return
    head = ("workers", "rows", "first (s)", "each (s)", "CPU s", "bytes to the driver")
    print("| " + " | ".join(head) + " |", "|" + "---:|" * len(head), sep="\n")
    with tempfile.TemporaryDirectory(prefix="privet-spark-") as folder:
        store = Store(Path(folder))
        store.make(max(options.rows), ATTRIBUTES)
        for rows in options.rows:
            store.parquet(rows, ATTRIBUTES)
        for workers in options.workers:
            command = [sys.executable, "-m", "experiments.bench.speed.on_spark", "--rows"]
            sizes = map(str, options.rows)
            place = ["--measure", folder, str(workers)]
            subprocess.run([*command, *sizes, *place], check=True, stderr=subprocess.DEVNULL)


def measure(folder: Path, workers: int, sizes: list[int]) -> None:
    """Print a line for each number of rows."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,1024]")
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session, store, came = builder.getOrCreate(), Store(folder), [0]
    read = sums._read_pieces

    def count(batches: Any) -> Any:
        batches = list(batches)
        came[0] += sum(batch.nbytes for batch in batches)
        return read(batches)

    sums._read_pieces = count  # of the driver alone
    for rows in sizes:
        schema = schema_of(Task("spark", "frame", MULTIWAY, rows, ATTRIBUTES))
        frame = session.read.parquet(str(store.parquet(rows, ATTRIBUTES))).repartition(4)
        source: Any = pv.open_table(frame).source(schema)
        query = check_query(DrawTree(TreeSpace(schema, 3), _trees(schema)), schema)
        with source.snapshot():
            begun = time.perf_counter()
            query.exact(source)
            first, each = time.perf_counter() - begun, []
            before, came[0] = cpu_seconds(), 0
            for _ in range(3):
                begun = time.perf_counter()
                query.exact(source)
                each.append(time.perf_counter() - begun)
            used, bytes_each = (cpu_seconds() - before) / 3, came[0] // 3
        cells = f"{workers}", f"{rows:,}", f"{first:.2f}", f"{min(each):.2f}", f"{used:.2f}"
        print("| " + " | ".join([*cells, f"{bytes_each:,}"]) + " |", flush=True)
    session.stop()


def _trees(schema: pv.Schema) -> list[Tree]:
    rng = np.random.default_rng(0)
    return [
        Tree(cells, rng.normal(0, 0.2, (len(cells.attribute), 2)))
        for cells in draw_forest(schema, TREES, 3, SystemBits())
    ]


if __name__ == "__main__":
    main()
