"""A clock that goes back and forth by years while budgets are charged, answers are repeated and
fits go on.

Only the process sees that clock: ``datetime.now`` where lines get their time, and ``time.time``.
"""

from __future__ import annotations

import os
import random
import time
from datetime import UTC, datetime, tzinfo
from itertools import pairwise
from pathlib import Path

from experiments.faults.kill import PEOPLE, SCHEMA, warm
from experiments.faults.tally import Tally, spent_in
from experiments.faults.victims import Tell, Victim, answered
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Receipt, SQLiteLedger, Witness, journal, verify
from privet.accounting.ledger.base import KeyedLedger
from privet.curator import Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.domain.cells import Cells

YEAR = 365 * 24 * 3600


class Clock:
    """Says a time of its own each time."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._true = rng, time.time

    def time(self) -> float:
        return (
            self._true()
            + self._rng.choice((0, -1, 1, -3600, 3600, -20 * YEAR, 50 * YEAR)) * self._rng.random()
        )

    def put_in(self) -> None:
        """In this process, for good."""
        clock = self

        class Jumping(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return datetime.fromtimestamp(clock.time(), tz)

        journal.datetime = Jumping  # type: ignore[misc]
        time.time = self.time


def clock_goes_back(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """A process with such a clock charges, asks under keys, asks again, and is followed by one with
    another clock, which goes on.
    """
    tally, rng = Tally("clock goes back and forth (SQLite)"), random.Random(seed)
    ledger, witness = SQLiteLedger(folder / "clock.sqlite"), Witness(folder / "witness")
    told: set[tuple[int, str]] = set()
    backwards = 0
    warm()
    for turn in range(rounds):
        dataset, said, seeds = f"people {turn}", set(), rng.random()
        ledger.open_cap(dataset, Budget(1))

        def work(
            tell: Tell, dataset: str = dataset, turn: int = turn, seeds: float = seeds
        ) -> None:
            Clock(random.Random(f"{seeds} {os.getpid()}")).put_in()
            mine = SQLiteLedger(ledger.path)
            for number in range(3):  # the same keys in both processes: what they pay, they pay once
                keyed = KeyedLedger(mine, "ada", f"{turn} {number}", "the same")
                entry = keyed.charge(dataset, "ada", Cost.pure("1/12"), "x")
                kept = mine.record(entry.number, f"noise {random.random()}".encode())
                witness.note(mine, entry)
                tell(answered(entry))
                tell(f"said {number} {kept.decode()} {Receipt.of(mine.identity, entry, kept)}")
            curator = Curator(PEOPLE, SCHEMA, ledger=mine, dataset=dataset)
            asked = ResumableCurator(
                curator,
                Unfinished.begin(folder / f"{turn}.unfinished", curator, "x"),
                lambda _: None,
            )
            for number in range(3):
                answer = asked.count(Cells.everything(SCHEMA), "1/4")
                assert answer.entry is not None
                tell(answered(answer.entry))
                tell(f"said fit {number} {answer.tables[0].tolist()}")

        for _ in range(2):
            victim = Victim(work)
            victim.end()
            told |= set(victim.receipts)
            said |= {line for line in victim.lines if line.startswith("said ")}
            tally.odd.update(victim.crashes + victim.refusals)
        tally.rounds += 1
        if len(said) != 6:
            tally.odd["the same request got two answers"] += 1
        if spent_in(ledger.entries(dataset)) != 1:
            tally.odd["something was not paid exactly once"] += 1
        tally.odd.update(
            verify(
                ledger,
                witness,
                [Receipt.read(line.split()[-1]) for line in said if "privet-receipt" in line],
            )
        )
    tally.check(ledger, told)
    times = [datetime.fromisoformat(entry.time).astimezone(UTC) for entry in ledger.entries()]
    backwards = sum(1 for before, after in pairwise(times) if after < before)
    tally.remark = f"the time of {backwards} lines is before that of the line above"
    return tally
