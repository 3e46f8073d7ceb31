"""What a fit would compile one loop after the other is compiled before, beside its first steps."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest

from privet import _numba
from privet.cli import compiling
from privet.domain.space import TreeSpace
from privet.mechanisms.gibbs import draw, kernels
from tests.mechanisms.gibbs_oracle import gibbs_of, random_rows, small_schema

LOOPS = (
    "sum_class_weights",
    "solve_last_level",
    "solve_inner_level",
    "fill_inner_terms",
    "fill_end_terms",
    "narrow_table",
)


def test_the_example_has_the_types_of_a_fit(monkeypatch):
    """A loop that is compiled for other types is compiled again by the fit."""
    seen = dict.fromkeys(LOOPS, frozenset[tuple]())

    def record(name, loop):
        def call(*args):
            seen[name] |= {tuple(map(str, map(numba.typeof, args)))}
            return loop(*args)

        return call

    def fit():
        space = TreeSpace(small_schema(3, "4"), 3)
        gibbs = gibbs_of(space, random_rows(space, 30, seed=1), 0.1)
        for left in (3, 1):
            gibbs.choices(draw.Node(np.zeros(2, dtype=np.int64), left, -1))

    fit()  # loops call each other, and find no recorder once they are compiled
    for name in LOOPS:
        call = record(name, getattr(kernels, name))
        monkeypatch.setattr(draw, name, call)
        monkeypatch.setattr(kernels, name, call)
    fit()
    fitted = seen
    assert all(fitted.values())
    seen = dict.fromkeys(LOOPS, frozenset[tuple]())
    for part in ("solve", "draw"):
        compiling.compile_loops(part)
    compiled = {**seen, "fill_inner_terms": fitted["fill_inner_terms"]}
    assert compiled == fitted


def test_nothing_is_started_where_something_is_compiled(monkeypatch):
    monkeypatch.setattr(_numba, "is_cold", lambda: False)
    monkeypatch.setattr(subprocess, "Popen", None)
    assert compiling.start_compiling() == []


def test_a_process_for_each_part_is_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr(_numba, "is_cold", lambda: True)
    stand_in = tmp_path / "python"
    stand_in.write_text(f'#!/bin/sh\necho "$*" > {tmp_path}/"$4"\nexit 1\n')
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    compiling.wait_for(compiling.start_compiling())  # a part that fails is no error
    for part in ("solve", "draw"):
        assert (tmp_path / part).read_text() == f"-P -m privet.cli.compiling {part}\n"


def test_a_machine_that_starts_no_process_compiles_by_itself(monkeypatch):
    monkeypatch.setattr(_numba, "is_cold", lambda: True)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert compiling.start_compiling() == []


@pytest.mark.slow
def test_what_is_compiled_is_found_by_the_next_process(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    for part in ("solve", "draw"):
        words = [sys.executable, "-P", "-m", "privet.cli.compiling", part]
        assert subprocess.run(words, check=False).returncode == 0
    kept = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert kept == {f"kernels.{name}" for name in LOOPS}
