"""kill -9 at random moments, while processes charge, answer and fit."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pandas as pd

from experiments.faults.tally import Tally, spent_in, unit_cost
from experiments.faults.victims import Tell, Victim, answered
from privet.accounting.cost import Budget
from privet.accounting.ledger import Ledger, PostgresLedger, SQLiteLedger
from privet.curator import Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split

UNITS = 30
SCHEMA = Schema(
    {"colour": Categorical(["red", "green", "blue"]), "smokes": Categorical(["no", "yes"])},
    "ill",
    ["no", "yes"],
)
PEOPLE = pd.DataFrame(
    {
        "colour": ["red", "green", "blue", "red"] * 25,
        "smokes": ["no", "yes"] * 50,
        "ill": ["no", "no", "yes", "no"] * 25,
    }
)


def warm() -> None:
    """What is compiled and loaded here, children need not load."""
    Curator(PEOPLE, SCHEMA, Budget(1)).count(
        Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "colour")}), 1
    )
    Curator(PEOPLE, SCHEMA, Budget(1)).count(Cells.everything(SCHEMA), 1)


def opened(place: str | Path) -> Ledger:
    """A ledger at a URL or in a file."""
    return (
        PostgresLedger(str(place)) if str(place).startswith("postgresql:") else SQLiteLedger(place)
    )


def charging(place: str | Path, dataset: str, analyst: str) -> Victim:
    """Charges until the budget is spent."""

    def work(tell: Tell) -> None:
        ledger = opened(place)
        while True:
            tell(answered(ledger.charge(dataset, analyst, unit_cost(UNITS), "x")))

    return Victim(work)


def killed_while_charging(folder: Path, rounds: int) -> Tally:
    """With a ledger in a file."""
    return killed_at(folder / "0.sqlite", rounds)


def killed_at(place: str | Path, rounds: int, seed: int = 0) -> Tally:
    """Two processes charge; one or both are killed. Every few rounds a budget is spent to its end,
    and there is a new one.
    """
    where = "PostgreSQL" if str(place).startswith("postgresql:") else "SQLite"
    tally, rng, ledger = (
        Tally(f"killed while charging ({where})"),
        random.Random(seed),
        opened(place),
    )
    told: list[tuple[int, str]] = []
    number = 0
    ledger.open_cap("people 0", Budget(1))
    for _ in range(rounds):
        victims = [charging(place, f"people {number}", analyst) for analyst in ("ada", "bob")]
        for victim in victims:
            _let_work(victim, rng)
            if rng.random() < 0.9:  # else it goes on, to the end of the budget
                victim.kill()
        for victim in victims:
            victim.end()
            told += victim.receipts
            tally.refused += len(victim.refusals)
            tally.odd.update(victim.crashes)
        tally.rounds += 1
        spent = any(victim.refusals for victim in victims)
        if spent or tally.rounds == rounds:
            tally.check(ledger, told)
            if spent and spent_in(ledger.entries(f"people {number}")) != 1:
                tally.odd["a budget was refused before it was spent"] += 1
            told = []
            number += 1
            # lines are looked at whenever a ledger is opened: a long one would take its time
            if isinstance(ledger, SQLiteLedger):
                ledger.close()
                place = Path(place).with_name(f"{tally.rounds}.sqlite")
                ledger = opened(place)
            ledger.open_cap(f"people {number}", Budget(1))
    tally.remark = (
        f"{2 * rounds - tally.refused:,} of {2 * rounds:,} processes were killed at work, the "
        "others had spent the budget to its end"
    )
    return tally


def killed_while_answering(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """A curator answers noisy counts in a process that is killed."""
    tally, rng = Tally("killed while a curator answers"), random.Random(seed)
    path = folder / "answering.sqlite"
    ledger = SQLiteLedger(path)
    ledger.open_cap("people", Budget(10_000))
    told: list[tuple[int, str]] = []
    warm()

    def work(tell: Tell) -> None:
        curator = Curator(PEOPLE, SCHEMA, ledger=SQLiteLedger(path), dataset="people")
        cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "colour")})
        tell("ready")
        while True:
            entry = curator.count(cells, "1/7").entry
            assert entry is not None
            tell(answered(entry))

    for _ in range(rounds):
        victim = Victim(work)
        while victim.hear() and not victim.lines:
            pass
        _let_work(victim, rng)
        victim.kill()
        told += victim.receipts
        tally.odd.update(victim.crashes)
        tally.rounds += 1
    tally.check(ledger, told)
    return tally


def killed_while_fitting(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """Work of six questions is killed again and again, and goes on until it is done: it pays once,
    and no answer changes.
    """
    tally, rng = Tally("killed while a fit goes on, then resumed"), random.Random(seed)
    path = folder / "fits.sqlite"
    ledger = SQLiteLedger(path)
    warm()
    for number in range(rounds):
        dataset, seen = f"people {number}", {}
        ledger.open_cap(dataset, Budget(1))

        def work(tell: Tell, dataset: str = dataset, number: int = number) -> None:
            curator = Curator(PEOPLE, SCHEMA, ledger=SQLiteLedger(path), dataset=dataset)
            asked = ResumableCurator(
                curator,
                Unfinished.begin(folder / f"{number}.unfinished", curator, "six questions"),
                lambda _: None,
            )
            everyone = Cells.everything(SCHEMA)
            asked.bits.words(3)  # structure, which must be the same when it goes on
            for question in range(6):
                answer = asked.count(everyone, "1/6")
                assert answer.entry is not None
                tell(answered(answer.entry))
                tell(f"said {question} {answer.tables[0].tolist()}")
            tell("done")

        told: set[tuple[int, str]] = set()
        while True:
            victim = Victim(work)
            _let_work(victim, rng, most=4)
            if rng.random() < 0.7:
                victim.kill()
            else:
                victim.end()
            told |= set(victim.receipts)
            tally.odd.update(
                victim.crashes + [f"a resumed fit was refused: {kind}" for kind in victim.refusals]
            )
            tally.rounds += 1
            for line in (line for line in victim.lines if line.startswith("said ")):
                _, question, said = line.split(" ", 2)
                if seen.setdefault(question, said) != said:
                    tally.odd["another answer for the same charge"] += 1
            if "done" in victim.lines or victim.crashes or victim.refusals:
                break
        tally.check_told(ledger, told)
        if spent_in(ledger.entries(dataset)) != 1:
            tally.odd["a fit that was resumed did not pay exactly once"] += 1
    tally.check_books(ledger)
    return tally


def _let_work(victim: Victim, rng: random.Random, most: int = 4) -> None:
    """Until it told a few things, and a moment longer."""
    enough = len(victim.lines) + rng.randrange(most)
    while len(victim.lines) < enough and victim.hear():
        pass
    time.sleep(rng.random() * 0.012)
