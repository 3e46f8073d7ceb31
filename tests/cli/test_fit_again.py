"""``privet fit`` that was killed goes on when the same command is given again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from privet.accounting.ledger import SQLiteLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.errors import TableError

KILLED = """
import os, signal, sys
from privet.accounting.ledger import SQLiteLedger
record = SQLiteLedger.record
def dies(self, number, answer):
    kept = record(self, number, answer)
    if len(self.entries()) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept
SQLiteLedger.record = dies
from privet.cli import main
sys.argv = ["privet", *sys.argv[1:]]
main()
"""


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.choice(list("xyz"), 300), rng.choice(list("pqrs"), 300)
    frame = pd.DataFrame({"a": a, "b": b, "c": np.where(a == "x", "yes", "no")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    Schema(
        {"a": Categorical(list("xyz")), "b": Categorical(list("pqrs"))},
        "c",
        ["no", "yes"],
        n_rows=300,
    ).write(tmp_path / "s.json")
    return tmp_path


def command(files, *more):
    fit = [
        "fit",
        str(files / "t.csv"),
        "--schema",
        str(files / "s.json"),
        "--epsilon",
        "1",
        "-o",
        str(files / "m.json"),
    ]
    return [*fit, "-l", "gibbs-boost", "--set", "rounds=4", *more]


def entries(files):
    ledger = SQLiteLedger(files / "t.csv.ledger.sqlite")
    found = ledger.entries("t.csv")
    ledger.close()
    return found


def kill(files):
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *command(files)],
        capture_output=True,
        env=os.environ,
        timeout=120,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert not (files / "m.json").exists()
    assert (files / "m.json.unfinished").exists()


def test_a_killed_fit_goes_on(files, privet):
    kill(files)
    paid = entries(files)
    assert len(paid) == 2
    ran = privet(*command(files))
    assert ran.code == 0, ran.err
    assert "going on with what was interrupted; 2 answer(s) are paid for" in ran.err
    lines = entries(files)
    assert lines[:2] == paid
    assert sum(line.cost.epsilon for line in lines) == 1
    assert (files / "m.json").exists()
    assert not (files / "m.json.unfinished").exists()


def test_other_options_are_refused_unless_begun_anew(files, privet):
    kill(files)
    other = command(files, "--set", "rounds=3")
    ran = privet(*other)
    assert ran.code == 2
    assert "m.json.unfinished belongs to a fit that was interrupted" in ran.err
    assert len(entries(files)) == 2
    ran = privet(*other, "--anew")
    assert ran.code == 0, ran.err
    assert "going on" not in ran.err
    assert len(entries(files)) == 2 + 3


def test_a_release_keeps_its_name(files, privet, monkeypatch):
    """Killed after the model was written: the same answers are the same release, and would
    otherwise count twice.
    """
    from privet.curator.resumed import Unfinished

    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "finish", lambda self: None)
        assert privet(*command(files)).code == 0
    first = (files / "m.json").read_bytes()
    assert privet(*command(files)).code == 0
    assert (files / "m.json").read_bytes() == first
    assert len(entries(files)) == 4


def test_a_fit_that_was_finished_is_finished(files, privet):
    assert privet(*command(files)).code == 0
    before = (files / "m.json").read_bytes()
    ran = privet(*command(files))
    assert ran.code == 2
    assert "m.json exists already; write elsewhere, or add --force to replace it" in ran.err
    assert (files / "m.json").read_bytes() == before
    assert len(entries(files)) == 4
    ran = privet(*command(files, "--force"))
    assert ran.code == 0
    assert "going on" not in ran.err
    assert len(entries(files)) == 8


def test_what_was_refused_before_it_cost_anything_blocks_nothing(files, privet):
    ran = privet(*command(files, "--analyst", ""))
    assert ran.code == 2
    assert "analyst must be" in ran.err
    assert not (files / "m.json.unfinished").exists()
    assert privet(*command(files, "--set", "rounds=3")).code == 0
    assert len(entries(files)) == 3


def test_what_failed_after_it_had_cost_something_can_go_on(files, privet, monkeypatch):
    def fails(self, work):
        raise TableError("the table is gone")

    with monkeypatch.context() as patch:
        patch.setattr(Curator, "_inside", fails)
        assert privet(*command(files)).code == 2
    assert len(entries(files)) == 1
    assert privet(*command(files)).code == 0
    assert len(entries(files)) == 4
