"""The command that breaks things: a slice of it, and that it would notice."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from experiments.faults.report import Run, read, write
from experiments.faults.tally import Tally, unit_cost
from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger

ROOT = Path(__file__).parents[3]
SLICE = "kill-charging,race-8,forks,disk-charging,read-only-charging"


def broken(out: Path, *options: str) -> dict[str, dict[str, str]]:
    """What the command says of each fault. It forks, so it has a process of its own."""
    command = [sys.executable, "-m", "experiments.faults", "--out", str(out), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=3000, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with out.with_suffix(".csv").open(newline="") as file:
        return {row["name"]: row for row in csv.DictReader(file)}


def test_a_slice_of_all_faults(tmp_path):
    found = broken(tmp_path / "faults.md", "--rounds", "0.005", "--only", SLICE)
    assert {"kill-charging", "race-8", "forks"} <= set(found)  # disks cannot be mounted everywhere
    for row in found.values():
        assert (row["lost"], row["overspent"], row["half"], row["odd"]) == ("0", "0", "0", ""), row
        assert int(row["answers"]) > 0
    assert "| killed while charging (SQLite) | 10 |" in (tmp_path / "faults.md").read_text()


@pytest.mark.slow
def test_all_faults(tmp_path):
    found = broken(tmp_path / "faults.md", "--rounds", "0.1")
    assert all(row["lost"] == row["overspent"] == row["half"] == "0" for row in found.values())


def charged(cap: str, charges: int) -> tuple[MemoryLedger, list[tuple[int, str]]]:
    ledger = MemoryLedger()
    ledger.set_cap("people", Budget(1))
    entries = [ledger.charge("people", "ada", unit_cost(4), "x") for _ in range(charges)]
    ledger.set_cap("people", Budget(cap))
    return ledger, [(entry.number, entry.hash) for entry in entries]


def test_a_lost_charge_is_noticed():
    ledger, told = charged("1", 3)
    tally = Tally("x", rounds=1)
    tally.check(ledger, told)
    assert tally.holds
    assert tally.answers == 3
    tally.check(ledger, [*told, (99, "0" * 64)])
    assert tally.lost == 1
    assert not tally.holds
    tally = Tally("x", rounds=1)
    tally.check(ledger, [(told[0][0], told[1][1])])  # the line is there, but it is another
    assert tally.lost == 1


def test_overspending_is_noticed_whatever_the_total_says():
    ledger, told = charged("1/2", 3)
    ledger._spent.clear()
    tally = Tally("x", rounds=1)
    tally.check(ledger, told)
    assert tally.overspent == 1
    assert any("verify" in problem for problem in tally.odd)


def test_nothing_that_was_not_run_holds():
    assert not Tally("x").holds
    assert not Tally("x", rounds=1, half=1).holds
    assert not Tally("x", rounds=1, odd=Counter({"it hung": 1})).holds


def test_figures_are_kept_beside_the_page(tmp_path):
    run = Run(
        "kill", Tally("killed", 2, 3, 1, 0, 0, 0, Counter({"odd, very": 2}), "seen"), 12.0, 0.5
    )
    write(tmp_path / "faults.md", {"kill": run})
    assert read(tmp_path / "faults.md") == {"kill": run}
    page = (tmp_path / "faults.md").read_text()
    assert "| killed | 2 | 3 | 1 | 0 | 0 | 0 | 2 | FAILS |" in page
    assert "{" not in page
    assert unit_cost(3).epsilon == Fraction(1, 3)
