"""Run fits that were not run before, for a bounded time: one line of JSON each, added at once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from experiments.bench.accuracy.results import Results
from experiments.recipe.cells import Cell, list_different
from experiments.recipe.fitting import fit
from experiments.recipe.menu import Variant
from experiments.recipe.tables import load
from privet.domain import Schema

KEY = ("table", "rows", "epsilon", "repeat", "recipe")


def run(
    cells: Sequence[Cell],
    results: Results,
    cache: Path,
    *,
    minutes: float,
    jobs: int,
    console: Console,
) -> None:
    """Run what is missing, so many at once, and start nothing after the minutes are over."""
    end = time.monotonic() + 60 * minutes
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn(f"of at most {minutes:g} minutes"),
    )
    with (
        Progress(*columns, console=console) as progress,
        ProcessPoolExecutor(jobs, get_context("spawn"), _ignore_warnings) as pool,
    ):
        bar = progress.add_task("", total=len(cells))
        running: set[Future[dict[str, Any]]] = set()

        def finish(most: int) -> None:
            nonlocal running
            while len(running) > most:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    results.add(future.result())

        for cell in cells:
            progress.update(bar, description=f"{cell.table}, {cell.rows} rows, {cell.epsilon}")
            for variant in list_missing(cell, load(cell.table, cache).schema, results):
                if time.monotonic() > end:
                    break
                running.add(pool.submit(fit, cell, variant, cache))
                finish(jobs)
            if time.monotonic() > end:
                break
            progress.advance(bar)
        finish(0)


def list_missing(cell: Cell, schema: Schema, results: Results) -> list[Variant]:
    """Return the recipes that were not tried in a cell yet."""
    return [
        variant
        for variant in list_different(cell, schema)
        if results.find({**cell._asdict(), "recipe": variant.name}) is None
    ]


def _ignore_warnings() -> None:
    warnings.simplefilter("ignore")
