"""The suite of mutants: each fits the source and names tests that are there; some are tried here,
and all with ``make mutants``.
"""

from __future__ import annotations

import ast
import multiprocessing
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.mutants.listed import MUTANTS
from bench.mutants.mutant import Audited, Moved, Mutant
from bench.mutants.report import lines
from bench.mutants.run import Broken, Copy, Outcome
from privet.audit import SUBJECTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "mutants.md"
QUICK = next(mutant for mutant in MUTANTS if mutant.name == "questions cost the largest of them")


def copied_to(folder: Path) -> Copy:
    """A copy that is tried in new processes: the server of forks that other tests share has loaded
    the package.
    """
    return Copy(folder, multiprocessing.get_context("spawn"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_source_and_names_what_is_there(mutant):
    ast.parse(mutant.applied((ROOT / "src" / "privet" / mutant.file).read_text(encoding="utf-8")))
    for test in mutant.tests:
        file, *names = test.partition("[")[0].split("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert all(re.search(rf"\b(def|class) {name}\b", text) for name in names), test
    assert {audit.subject for audit in mutant.audits} <= set(SUBJECTS)


def test_mutants_are_many_and_everywhere():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 30
    rooms = {mutant.room for mutant in MUTANTS}
    assert rooms >= {
        "budget",
        "counts",
        "curator",
        "federation",
        "learners",
        "ledger",
        "mechanisms",
        "outsource",
        "privacy",
        "publish",
    }
    assert rooms >= {"release", "remote", "resume", "schema", "service", "trees"}


def test_the_page_has_every_mutant_and_all_are_caught():
    """Where this fails, ``make mutants`` writes the page anew."""
    assert PAGE.read_text(encoding="utf-8") == lines(
        [Outcome(mutant, {}, ()) for mutant in MUTANTS]
    )


@pytest.mark.parametrize("text", ["nothing of it", f"{QUICK.before}\n{QUICK.before}"])
def test_code_that_has_moved_is_named(text):
    with pytest.raises(Moved, match=r"questions cost the largest of them.*src/privet/budget\.py"):
        QUICK.applied(text)


@pytest.mark.parametrize("wrong", [{"after": QUICK.before}, {"tests": ()}])
def test_a_mutant_changes_something_that_somebody_notices(wrong):
    with pytest.raises(ValueError, match="nothing"):
        replace(QUICK, **wrong)


def test_what_is_missed_is_in_the_table():
    page = lines([Outcome(QUICK, {}, ("tests/x",)), Outcome(MUTANTS[0], {}, ())])
    assert "1 of 2 mutants" in page
    assert "**missed** by tests/x" in page


def test_a_fault_is_noticed_one_that_is_none_is_not_and_a_copy_is_left_as_it_was(tmp_path):
    copy = copied_to(tmp_path)
    outcome = copy.tried(QUICK)
    assert outcome.caught
    assert all("assert" in why for why in outcome.why.values())
    harmless = replace(QUICK, after=f"{QUICK.before}  # as before")
    assert copy.tried(harmless).missed == tuple(f"tests/{test}" for test in QUICK.tests)
    copied, source = (folder / "src" / "privet" / QUICK.file for folder in (tmp_path, ROOT))
    assert copied.read_bytes() == source.read_bytes()


def test_a_fault_that_does_not_run_proves_nothing(tmp_path):
    copy = copied_to(tmp_path)
    with pytest.raises(Broken, match="does not run"):
        copy.tried(replace(QUICK, after="    return nothing_of_that_name(costs)"))


@pytest.mark.slow
def test_what_fails_without_a_fault_or_is_not_there_proves_nothing(tmp_path):
    copy = copied_to(tmp_path)
    copied = tmp_path / "src" / "privet" / QUICK.file
    copied.write_text(QUICK.applied(copied.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(Broken, match="without any fault"):
        copy.check([QUICK])
    with pytest.raises(Broken, match="pytest ended with 4"):
        copy.check([replace(QUICK, tests=("budget/test_cost.py::test_that_is_not_there",))])


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
