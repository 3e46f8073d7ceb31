"""Processes that race for the last units of a budget, over and over."""

from __future__ import annotations

import multiprocessing
from fractions import Fraction
from pathlib import Path

from experiments.faults.kill import opened
from experiments.faults.tally import Tally, spent_in, unit_cost
from experiments.faults.victims import Tell, Victim, answered
from privet.accounting.cost import Budget
from privet.errors import BudgetExceeded

UNITS = 7


def two_race(folder: Path, rounds: int) -> Tally:
    """With a ledger in a file."""
    return raced(folder / "race.sqlite", 2, rounds)


def eight_race(folder: Path, rounds: int) -> Tally:
    """With a ledger in a file."""
    return raced(folder / "race.sqlite", 8, rounds)


def raced(place: str | Path, processes: int, rounds: int) -> Tally:
    """In each round there is a budget with fewer units than processes, and each process asks for
    one, all at once.

    In every third round all of them send one request, under one key: it must be paid once, and
    everybody gets the same line.
    """
    where = "PostgreSQL" if str(place).startswith("postgresql:") else "SQLite"
    tally = Tally(f"{processes} processes race for the last unit ({where})", rounds)
    ledger = opened(place)
    for turn in range(rounds):
        ledger.open_cap(f"people {turn}", Budget(Fraction(_units(turn, processes), UNITS)))
    gate = multiprocessing.get_context("fork").Barrier(processes)

    def work(tell: Tell) -> None:
        mine = opened(place)
        for turn in range(rounds):
            gate.wait(120)
            keyed = {"key": f"one {turn}", "request": "the same"} if turn % 3 == 2 else {}
            try:
                entry = mine.charge(f"people {turn}", "everybody", unit_cost(UNITS), "x", **keyed)
                tell(f"{answered(entry)} {turn}")
            except BudgetExceeded:
                tell(f"refused BudgetExceeded {turn}")

    victims = [Victim(work) for _ in range(processes)]
    for victim in victims:
        victim.end()
        tally.odd.update(victim.crashes)
        tally.refused += len(victim.refusals)
    answers = [
        line.split() for victim in victims for line in victim.lines if line.startswith("answer ")
    ]
    for turn in range(rounds):
        won = [(number, hashed) for _, number, hashed, when in answers if int(when) == turn]
        keyed = turn % 3 == 2
        if len(won) != (processes if keyed else _units(turn, processes)):
            tally.odd["not as many got an answer as there were units"] += 1
        if len(set(won)) != (1 if keyed else len(won)):
            tally.odd["one key got two lines, or two charges one"] += 1
        if spent_in(ledger.entries(f"people {turn}")) != Fraction(
            1 if keyed else _units(turn, processes), UNITS
        ):
            tally.odd["the account does not hold what was handed out"] += 1
    tally.check(ledger, [(int(number), hashed) for _, number, hashed, _ in answers])
    return tally


def _units(turn: int, processes: int) -> int:
    return 1 + turn % (processes - 1)
