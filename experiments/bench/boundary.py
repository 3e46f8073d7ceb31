"""How fast the trust boundary is, as ratios within one run: noise beside OpenDP and NumPy, counting
beside memory bandwidth.

make bench            or            python -m experiments.bench.boundary [rows]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from privet.accounting.ledger import SQLiteLedger
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.mechanisms.gaussian import discrete_gaussian
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.randomness import SystemBits
from privet.tables.open import open_table

ATTRIBUTES = 14


def best(run: Callable[[], object], times: int = 3) -> float:
    """The shortest of a few runs, in seconds."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def noise() -> Table:
    table = Table(title="A million noisy numbers", title_justify="left")
    for column in ("route", "seconds", "ratio"):
        table.add_column(column, justify="left" if column == "route" else "right")
    bits = SystemBits()
    ours = best(lambda: discrete_laplace(bits, 1_000_000, Fraction(10)))
    rows = [
        ("discrete Laplace, exact (Privet)", ours, 1_000_000),
        (
            "discrete Gaussian, exact (Privet)",
            best(lambda: discrete_gaussian(bits, 200_000, Fraction(100))),
            200_000,
        ),
        ("discrete Laplace, exact (OpenDP)", best(opendp_laplace(100_000)), 100_000),
        (
            "NumPy laplace (floating point, unsafe)",
            best(lambda: np.random.default_rng().laplace(size=1_000_000)),
            1_000_000,
        ),
    ]
    for name, seconds, count in rows:
        table.add_row(name, f"{seconds / count * 1e6:.2f}", f"{seconds / count / (ours / 1e6):.2f}")
    return table


def opendp_laplace(count: int) -> Callable[[], object]:
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    mechanism = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=10.0)
    zeros = [0] * count
    return lambda: mechanism(zeros)


def random_tree(schema: Schema, height: int, rng: np.random.Generator) -> Cells:
    cells = Cells.everything(schema)
    for _ in range(height):
        splits = {}
        for cell in range(len(cells)):
            name = schema.names[rng.integers(ATTRIBUTES)]
            splits[cell] = Split.threshold(
                schema, name, code=int(rng.integers(1, schema.attributes[name].size))
            )
        cells = cells.refine(splits)
    return cells


def counting(rows: int) -> Table:
    rng = np.random.default_rng(0)
    sizes = [4 if i % 2 else 8 for i in range(ATTRIBUTES)]
    schema = Schema(
        {f"a{i}": Categorical([str(v) for v in range(size)]) for i, size in enumerate(sizes)},
        "y",
        ["0", "1"],
    )
    columns = {
        f"a{i}": rng.integers(0, size, rows).astype(np.uint8) for i, size in enumerate(sizes)
    }
    frame = pd.DataFrame({**columns, "y": rng.integers(0, 2, rows).astype(np.uint8)})
    bandwidth_probe = np.ones(1 << 28, dtype=np.uint8)
    bandwidth = bandwidth_probe.nbytes / best(lambda: bandwidth_probe.view(np.uint64).sum())
    limit = rows * (ATTRIBUTES + 1) / bandwidth
    questions = {
        "10 trees of height 4": Question.forest([random_tree(schema, 4, rng) for _ in range(10)]),
        "10 trees of height 6": Question.forest([random_tree(schema, 6, rng) for _ in range(10)]),
        "a level: 32 cells x 14 attributes": Question.level(
            random_tree(schema, 5, rng), schema.names
        ),
    }
    bound = f"limit: reading once at {bandwidth / 1e9:.1f} GB/s, {limit * 1e3:.1f} ms"
    table = Table(title=f"{rows:,} rows x {ATTRIBUTES} attributes ({bound})", title_justify="left")
    for column in (
        "question",
        "memory (s)",
        "x limit",
        "DuckDB snapshot (s)",
        "x memory",
        "Parquet file (s)",
    ):
        table.add_column(column, justify="left" if column == "question" else "right")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        frame.to_parquet(path)
        memory, parquet = open_table(frame).source(schema), open_table(path).source(schema)
        for name, question in questions.items():
            expected = memory.count(question)
            in_memory = best(lambda q=question: memory.count(q))
            from_file = best(lambda q=question: parquet.count(q))
            with parquet.snapshot():
                assert all(
                    (a == b).all() for a, b in zip(parquet.count(question), expected, strict=True)
                )
                kept = best(lambda q=question: parquet.count(q))
            table.add_row(
                name,
                f"{in_memory:.3f}",
                f"{in_memory / limit:.0f}",
                f"{kept:.3f}",
                f"{kept / in_memory:.1f}",
                f"{from_file:.3f}",
            )
    return table


def ledger() -> Table:
    from privet.accounting.cost import Budget, Cost

    table = Table(title="Durable charges", title_justify="left")
    table.add_column("ledger")
    table.add_column("charges per second", justify="right")
    with tempfile.TemporaryDirectory() as folder:
        book = SQLiteLedger(Path(folder) / "ledger.sqlite")
        book.set_cap("people", Budget(10**6))
        seconds = best(
            lambda: [book.charge("people", "ada", Cost.pure("1/7"), "x") for _ in range(200)]
        )
        book.close()
    table.add_row("SQLite, WAL, synchronous=FULL", f"{200 / seconds:.0f}")
    return table


def main() -> None:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    console = Console()
    for table in (noise(), counting(rows), ledger()):
        console.print(table)


if __name__ == "__main__":
    main()
