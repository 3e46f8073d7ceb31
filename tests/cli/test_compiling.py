"""What a fit would compile one loop after the other is compiled before, beside its first steps."""

from __future__ import annotations

import subprocess
import sys
import threading

import numba
import numpy as np
import pytest

from privet import _numba
from privet.cli import compiling
from privet.cli.compiling import compile_ahead
from privet.domain import Categorical, Numeric, Schema
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


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """A folder in which nothing has been compiled yet."""
    folder = tmp_path / "compiled"
    folder.mkdir()
    monkeypatch.setattr(_numba, "find_cache_folder", lambda: str(folder))
    return folder


def stand_in(monkeypatch, cache, then: str) -> None:
    """Let a script be the interpreter, which notes what it was called with."""
    python = cache.parent / "python"
    python.write_text(f'#!/bin/sh\necho "$*" > {cache}/"$4"\n{then}\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


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


def test_nothing_is_started_where_something_is_compiled(monkeypatch, cache):
    (cache / "loop.nbi").touch()
    monkeypatch.setattr(subprocess, "Popen", None)
    compile_ahead()
    compiling.start_compiling()()


def test_nothing_is_started_where_nothing_can_be_kept(monkeypatch, tmp_path):
    """An empty name is no folder, least of all the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_numba, "find_cache_folder", lambda: "")
    monkeypatch.setattr(subprocess, "Popen", None)
    compile_ahead()
    compiling.start_compiling()()
    assert not list(tmp_path.iterdir())


def test_a_process_for_each_part_is_waited_for(monkeypatch, cache):
    stand_in(monkeypatch, cache, "exit 1")  # a part that fails is no error
    compiling.start_compiling()()
    for part in ("solve", "draw"):
        assert (cache / part).read_text() == f"-P -m privet.cli.compiling {part}\n"


def test_a_machine_that_starts_no_process_compiles_by_itself(monkeypatch, cache):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    compile_ahead()
    compiling.start_compiling()()
    assert [path.name for path in cache.iterdir()] == ["ahead.lock"]


def test_what_compiles_ahead_is_alone_and_waited_for(monkeypatch, cache):
    go, done = cache / "go", cache / "done"
    stand_in(monkeypatch, cache, f"while [ ! -e {go} ]; do sleep 0.02; done; touch {done}")
    compile_ahead()
    monkeypatch.setattr(subprocess, "Popen", None)
    compile_ahead()  # one is enough
    (cache / "loop.nbi").touch()  # it has kept some loops, but not all
    wait = compiling.start_compiling()
    threading.Timer(0.2, go.touch).start()
    assert not done.exists()
    wait()
    assert done.exists()
    assert (cache / "all").read_text() == "-P -m privet.cli.compiling all\n"
    compiling.start_compiling()()  # the lock is left behind, and held by nobody
    assert compiling._left_behind.pop().wait() == 0


def test_compiling_begins_while_a_table_is_described(monkeypatch, privet):
    begun = []
    monkeypatch.setattr(compiling, "compile_ahead", lambda: begun.append(1))
    assert privet("datasets", "get", "car").code == 0
    assert len(begun) == 1
    assert privet("init", "cat.csv", "--yes").code == 2
    assert len(begun) == 1
    answers = "--classes", "unacc|acc", "--column", "safety=low|med|high", "--output", "s.json"
    assert privet("init", "car.csv", "--yes", *answers).code == 0
    assert len(begun) == 2


@pytest.mark.slow
def test_a_fit_finds_all_that_was_compiled_ahead(tmp_path, monkeypatch):
    loops = tmp_path / "loops"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(loops))
    ahead = [sys.executable, "-P", "-m", "privet.cli.compiling", "all"]
    subprocess.run(ahead, check=True, stderr=subprocess.DEVNULL)
    kept = {path.name for path in loops.rglob("*.nbc")}
    assert {f"kernels.{name}" for name in LOOPS} <= {name.partition("-")[0] for name in kept}
    rows = [f"{i * 37 % 101},{'xyz'[i % 3]},{'no' if i % 7 < 3 else 'yes'}" for i in range(3000)]
    (tmp_path / "rows.csv").write_text("\n".join(["age,plan,left", *rows]))
    schema = Schema(
        {"age": Numeric(0, 120, bins="auto"), "plan": Categorical(["x", "y"], other="other")},
        "left",
        ["no", "yes"],
    )
    schema.write(tmp_path / "rows.schema.json")
    words = ["fit", "rows.csv", "--schema", "rows.schema.json", "--epsilon", "1", "--output", "m"]
    command = [sys.executable, "-P", "-c", "from privet.cli import main; main()"]
    subprocess.run([*command, *words], cwd=tmp_path, check=True)
    more = {path.name.partition("-")[0] for path in loops.rglob("*.nbc") if path.name not in kept}
    # these depend on the trees that were drawn: few rows are looked up without them
    assert more <= {"routing_loops.find_nodes", "routing_loops.add_values"}
