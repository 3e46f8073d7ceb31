"""Cells are done in several processes at once; each is kept as soon as it is done."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import NoReturn

from experiments.papers.experiment import Cell, Row
from experiments.papers.keeping import Kept
from privet._progress import tell


def run_cells(cells: Sequence[Cell], kept: Kept, jobs: int) -> dict[str, list[Row]]:
    """The lines of all cells, by key. Those that are kept are not done again; of the others the
    heaviest come first.

    Whoever watches is told the share of the work that is done. With one job everything is done in
    this process.
    """
    different = {cell.key: cell for cell in cells}
    found = {key: rows for key, cell in different.items() if (rows := kept.get(cell)) is not None}
    todo = sorted(
        (cell for key, cell in different.items() if key not in found), key=lambda cell: -cell.weight
    )
    total, done = sum(cell.weight for cell in todo), 0.0
    for cell, rows, seconds in (
        _here(todo) if jobs == 1 or len(todo) < 2 else _in_processes(todo, jobs)
    ):
        kept.put(cell, rows, seconds)
        found[cell.key] = rows
        done += cell.weight
        tell(cell.name, done / total)
    return found


def _timed(cell: Cell) -> tuple[list[Row], float]:
    started = time.process_time()  # of the processor: what else runs on the machine does not count
    return cell.run(), time.process_time() - started


def _here(cells: Sequence[Cell]) -> Iterator[tuple[Cell, list[Row], float]]:
    for cell in cells:
        rows, seconds = _timed(cell)
        yield cell, rows, seconds


def _in_processes(cells: Sequence[Cell], jobs: int) -> Iterator[tuple[Cell, list[Row], float]]:
    # Fresh processes: one that is forked off a process with threads may hang.
    pool = ProcessPoolExecutor(
        min(jobs, len(cells)), mp_context=get_context("spawn"), initializer=_begin
    )
    with ended_by_exceptions():
        try:
            working = {pool.submit(_timed, cell): cell for cell in cells}
            for future in as_completed(working):
                rows, seconds = future.result()
                yield working[future], rows, seconds
            pool.shutdown()
        except BaseException:
            _end(pool)
            raise


def _begin() -> None:
    """A worker ends with the run, even when that is killed; Ctrl-C is for the run alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    assert parent is not None

    def watch(wait: Callable[[], object]) -> None:
        wait()
        os._exit(1)

    threading.Thread(target=watch, args=(parent.join,), name="privet-parent", daemon=True).start()


def _end(pool: ProcessPoolExecutor) -> None:
    """End the workers at once: what they are at is done again by the next run."""
    workers = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()


@contextmanager
def ended_by_exceptions() -> Iterator[None]:
    """Being told to stop ends other processes on the way out, as Ctrl-C does."""

    def stop(*_: object) -> NoReturn:
        raise SystemExit(128 + signal.SIGTERM)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
