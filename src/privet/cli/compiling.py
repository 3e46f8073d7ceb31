"""Compile the loops that most fits need, before the first fit waits for them.

Numba compiles a loop when it is first called, one after the other. In an environment where nothing
is compiled yet, ``privet init`` and ``privet datasets get`` leave a process behind that does it
while their user reads on. A fit that comes first starts two, for the loops that take longest, while
it looks at its table. Loops are called on examples that are generated, and kept on disk; which ones
does not depend on any row. Whatever goes wrong here costs time only: a fit compiles what it does
not find.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

if sys.platform != "win32":  # there, nothing is compiled ahead
    import fcntl

_left_behind: list[subprocess.Popen[bytes]] = []  # Python warns of one that nobody holds


def compile_ahead() -> None:
    """Leave a process behind that compiles for the fits to come, where nothing is compiled yet.

    It holds a lock as long as it lives, and goes on when the terminal is closed.
    """
    from privet._numba import is_cold

    if is_cold() and (lock := _lock_ahead()) is not None:
        _left_behind.extend(_start("all", pass_fds=(lock,), start_new_session=True))
        os.close(lock)


def start_compiling() -> Callable[[], None]:
    """Begin to compile, where nothing is compiled yet; return what waits until it is done.

    Where a process compiles ahead, it waits for that one. What is not compiled, the caller does.
    """
    from privet._numba import is_cold

    ahead = _is_compiling_ahead()
    if not ahead and not is_cold():
        return lambda: None
    if sys.stderr.isatty():
        typer.echo("privet: compiling loops for this machine, once; up to ten seconds", err=True)
    if ahead:
        return _wait_for_ahead
    processes = [*_start("solve"), *_start("draw")]

    def wait() -> None:
        for process in processes:
            process.wait()

    return wait


def _start(part: str, **options: Any) -> list[subprocess.Popen[bytes]]:
    """Start a process of :func:`compile_loops`, if this machine starts one."""
    # -P: a file in the current folder is no module of ours
    words = [sys.executable, "-P", "-m", "privet.cli.compiling", part]
    silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    with suppress(OSError):
        return [subprocess.Popen(words, **silent, **options)]  # noqa: S603
    return []


# -- the lock of what compiles ahead --


def _lock_ahead(*, wait: bool = False) -> int | None:
    """Return the open file that holds the lock; None where there is no lock to have."""
    from privet._numba import find_cache_folder

    folder = find_cache_folder()
    if sys.platform == "win32" or not folder:
        return None
    with suppress(OSError):
        opened = os.open(Path(folder) / "ahead.lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            os.close(opened)
            raise
        return opened
    return None


def _is_compiling_ahead() -> bool:
    from privet._numba import find_cache_folder

    if not (Path(find_cache_folder()) / "ahead.lock").is_file():
        return False
    lock = _lock_ahead()
    if lock is not None:
        os.close(lock)
    return lock is None


def _wait_for_ahead() -> None:
    lock = _lock_ahead(wait=True)
    if lock is not None:
        os.close(lock)


# -- what is compiled --


def compile_all() -> None:
    """Compile what fits of two generated tables need: one of texts, and one of numbers, too.

    A fit of few rows may draw less than all, so that the loops of drawing are called by themselves.
    """
    import pandas as pd

    import privet as pv
    from privet._scratch import ScratchFolder

    for part in ("solve", "draw"):
        compile_loops(part)
    rows = range(2000)
    texts = {name: [f"v{i * k % 7 % 3}" for i in rows] for k, name in enumerate("abcd", 3)}
    numbers = {name: [i * k % 1009 for i in rows] for k, name in enumerate("abc", 5)}
    text, number = pv.Categorical(["v0", "v1", "v2"]), pv.Numeric(0, 1009, bins="auto")
    of_texts, of_numbers = dict.fromkeys("abcd", text), dict.fromkeys("abc", number)
    for columns, attributes in (
        (texts, of_texts),
        ({**texts, **numbers}, {**of_texts, **of_numbers}),
    ):
        schema = pv.Schema(attributes, "left", ["no", "yes"])
        table = pd.DataFrame({**columns, "left": ["no" if i % 5 < 2 else "yes" for i in rows]})
        with ScratchFolder() as folder:
            table.to_csv(folder / "rows.csv", index=False)
            curator = pv.Curator(
                folder / "rows.csv", schema, pv.Budget(1), ledger=pv.MemoryLedger()
            )
            pv.PrivetClassifier(1).fit_from(curator)


def compile_loops(part: str) -> None:
    """Call the loops of the dynamic program that solve it, or those that draw from it."""
    import numpy as np

    from privet.domain import Categorical, Schema
    from privet.domain.space import TreeSpace
    from privet.mechanisms.gibbs import kernels
    from privet.mechanisms.gibbs.plan import SpaceArrays
    from privet.tables.counting.marginals import Marginals

    schema = Schema({name: Categorical(["x", "y"]) for name in "ab"}, "c", ["no", "yes"])
    plan = SpaceArrays(TreeSpace(schema, 3))
    nobody = Marginals(plan.sets, schema.sizes, 2)
    arrays, tables = plan.arrays, kernels.ContingencyTables(nobody.flat, nobody.base)
    law, most = kernels.Law(1.0, 0.5, 0.5), max(plan.most_inner, plan.most_last)
    counts = np.zeros((plan.n_states, 2), dtype=np.int64)
    states = np.zeros(plan.n_states, dtype=np.int64), np.zeros((plan.n_states, 2))
    if part == "solve":
        kernels.sum_class_weights(0, 2, tables, arrays, counts)
        kernels.solve_last_level(0, 2, most, tables, arrays, law, counts, *states)
        return
    whole = np.zeros(2, dtype=np.int64)
    terms = np.empty(most, dtype=np.int64), np.empty((most, 2)), np.empty(most, dtype=np.int64)
    kernels.narrow_table(0, -1, whole, tables, arrays)
    kernels.fill_end_terms(0, whole, 2, tables, arrays, law, *terms)
    # calls fill_inner_terms, which is kept, too
    kernels.solve_inner_level(0, 1, most, arrays, law, counts, *states, *states)


if __name__ == "__main__":
    compile_all() if sys.argv[1] == "all" else compile_loops(sys.argv[1])
