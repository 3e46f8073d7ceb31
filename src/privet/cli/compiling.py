"""Compile the loops that most fits need in two processes, while the command looks at its table.

Numba compiles a loop when it is first called, one after the other. In an environment where nothing
is compiled yet, the loops that take longest are called here on an example that nobody is in, by
processes that keep what they have compiled on disk. Which loops these are does not depend on any
row. Whatever goes wrong here costs time only: a fit compiles what it does not find.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import typer


def start_compiling() -> list[subprocess.Popen[bytes]]:
    """Begin to compile, unless something is compiled already, and say so where somebody looks.

    The processes end by themselves; what they have compiled serves the next command, too.
    """
    from privet._numba import is_cold

    if not is_cold():
        return []
    if sys.stderr.isatty():
        typer.echo("privet: compiling loops for this machine, once; up to ten seconds", err=True)
    # -P: a file in the current folder is no module of ours
    words = [sys.executable, "-P", "-m", "privet.cli.compiling"]
    silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    try:
        return [
            subprocess.Popen([*words, part], **silent)  # noqa: S603
            for part in ("solve", "draw")
        ]
    except OSError:
        return []


def wait_for(processes: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all is compiled; what is not, the caller compiles."""
    for process in processes:
        process.wait()


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
    compile_loops(sys.argv[1])
