"""Fits that were interrupted under 0.1 go on, and pay for nothing twice."""

from __future__ import annotations

import shutil

import pytest

import privet as pv
from tests.golden.facts import ledger_facts
from tests.golden.files import expected
from tests.golden.reach import privet

EXPECTED = expected("unfinished")


@pytest.fixture
def work(copied, tmp_path):
    """A folder as it was when the process was killed."""

    def placed(name):
        golden = copied("unfinished")
        work = tmp_path / "work"
        work.mkdir()
        for file in ("t.csv", "s.json"):
            shutil.copy(golden / file, work)
        for path in (golden / name).iterdir():
            own = "t.csv.ledger.sqlite" if path.name == "ledger.sqlite" else path.name
            shutil.copy(path, work / own)
        return work

    return placed


def kind_of(what):
    """What a charge is for, without the number of cells, which follows from noisy answers."""
    return what.partition(":")[0]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_fit_goes_on(name, work):
    """The cap is what one fit costs: whatever was paid again would be refused."""
    kept, folder = EXPECTED[name], work(name)
    output = folder / kept["command"][-1]
    before = ledger_facts(folder / "t.csv.ledger.sqlite")
    assert before["entries"] == kept["entries"]
    assert before["unanswered"] == kept["unanswered"]
    assert before["accounts"][0]["spent"] == kept["spent"]
    ran = privet(*kept["command"], folder=folder)
    assert ran.code == 0, ran
    after = ledger_facts(folder / "t.csv.ledger.sqlite")
    assert after["entries"][: len(kept["entries"])] == kept["entries"]
    assert after["accounts"][0]["spent"] == kept["spent at the end"]
    charges = [(kind_of(entry["what"]), entry["cost"]) for entry in after["entries"]]
    assert charges == [(kind_of(what), cost) for what, cost in kept["charges at the end"]]
    assert len({entry["key"].partition(".")[0] for entry in after["entries"]}) == 1
    assert after["unanswered"] == []
    assert output.exists()
    assert not output.with_name(f"{output.name}.unfinished").exists()
    if output.suffix == ".json":
        assert pv.load(output).privacy_.private


def test_another_fit_does_not_take_its_place(work):
    folder = work("greedy-tree")
    other = [*EXPECTED["greedy-tree"]["command"], "--set", "max_depth=2"]
    ran = privet(*other, folder=folder)
    assert ran.code == 2, ran
    assert (folder / "m.json.unfinished").exists()
    entries = ledger_facts(folder / "t.csv.ledger.sqlite")["entries"]
    assert entries == EXPECTED["greedy-tree"]["entries"]
