"""A process forks with a ledger open, and its parent closes the ledger, or opens it again, or
ends.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

from experiments.faults.tally import Tally, unit_cost
from experiments.faults.victims import Tell, Victim, answered
from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger


def forked_while_open(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """The ledger is used, forked, used by the child, closed by the parent, and used by the child
    again, in random order.
    """
    tally, rng = Tally("forked with a ledger open (SQLite)"), random.Random(seed)
    for turn in range(rounds):
        path = folder / f"forked {turn}.sqlite"
        ledger = SQLiteLedger(path)
        ledger.open_cap("people", Budget(1))
        plan = [
            rng.choice(("child", "child", "parent", "close")) for _ in range(rng.randrange(3, 10))
        ]
        told = _follow(plan, ledger)
        fresh = SQLiteLedger(path)
        tally.rounds += 1
        tally.check(fresh, told)
        fresh.close()
    return tally


def _follow(plan: list[str], ledger: SQLiteLedger) -> list[tuple[int, str]]:
    reader, writer = os.pipe()

    def work(tell: Tell) -> None:
        os.close(writer)
        while os.read(reader, 1):
            tell(answered(ledger.charge("people", "child", unit_cost(100), "x")))

    told = []
    ledger.charge("people", "parent", unit_cost(100), "x")
    victim = Victim(work)
    for step in plan:
        if step == "child":
            heard = len(victim.lines)
            os.write(writer, b".")
            while len(victim.lines) == heard and victim.hear():
                pass
        elif step == "parent":
            entry = ledger.charge("people", "parent", unit_cost(100), "x")
            told.append((entry.number, entry.hash))
        else:
            ledger.close()
    ledger.close()
    os.close(writer)
    os.close(reader)
    victim.end()
    assert not victim.crashes, victim.crashes
    return told + victim.receipts
