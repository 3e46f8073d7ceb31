"""A disk that is full at a random moment: while a ledger is charged, and while files are
written.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

from experiments.faults.small_disk import fill, mount_disk
from experiments.faults.tally import Tally, unit_cost
from experiments.faults.victims import Tell, Victim
from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger
from privet.errors import LedgerError, PrivetError

UNITS = 1000


def full_while_charging(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """Charges go on until the disk is full, and some more are tried; then there is room again, and
    they go on.
    """
    tally, rng = Tally("disk full while charging (SQLite)"), random.Random(seed)
    disk = place(folder)
    for _ in range(rounds):
        leave, seeds = rng.randrange(0, 160_000), rng.random()

        def work(tell: Tell, leave: int = leave, seeds: float = seeds) -> None:
            mount_disk(disk, 1_500_000)
            path, mine = disk / "ledger.sqlite", random.Random(seeds)
            ledger = SQLiteLedger(path)
            ledger.open_cap("people", Budget(1))
            told = [
                ledger.charge("people", "ada", unit_cost(UNITS), "x")
                for _ in range(mine.randrange(20))
            ]
            filler, tries = fill(disk, leave), 0
            while tries < 3:
                try:
                    told.append(
                        ledger.charge("people", "ada", unit_cost(UNITS), "x" * mine.randrange(400))
                    )
                except LedgerError as error:
                    tell(f"refused LedgerError {error}")
                    tries += 1
                    # somebody else opens it, or this one again, while the disk is full
                    if mine.random() < 0.3:
                        ledger.close()
            filler.unlink()
            ledger.close()
            ledger = SQLiteLedger(path)
            told.append(ledger.charge("people", "ada", unit_cost(UNITS), "there is room again"))
            look(tell, ledger, [(entry.number, entry.hash) for entry in told])

        run(tally, work)
    return tally


def full_while_writing(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """Each kind of file is written where less room is left than it needs, over an old one or not:
    then there is the old one or the new.
    """
    from experiments.faults.outputs import outputs, warm_outputs

    tally, rng = Tally("disk full while a file is written"), random.Random(seed)
    disk = place(folder)
    (folder / "warm").mkdir()
    warm_outputs(folder / "warm")
    sizes = {name: _size(folder / "warm" / name) for name, _, _ in outputs().values()}
    for turn in range(rounds):
        kind = list(outputs())[turn % len(outputs())]
        name, write, read = outputs()[kind]
        leave, old = rng.randrange(int(1.1 * sizes[name])), name != "home" and rng.random() < 0.5

        def work(
            tell: Tell,
            name: str = name,
            write=write,
            read=read,
            leave: int = leave,
            old: bool = old,
            kind: str = kind,
        ) -> None:
            mount_disk(disk, 4 * max(sizes.values()))
            target = disk / name
            if old:
                write(target)
            before = {path.name: path.read_bytes() for path in disk.iterdir()}
            filler = fill(disk, leave)
            done = False
            try:
                write(target)
                done = True
            except PrivetError as error:
                tell(f"refused {type(error).__name__} {error}")
            filler.unlink()
            left = {
                path.name: b"" if path.is_dir() else path.read_bytes() for path in disk.iterdir()
            }
            if done:
                tell("written")
                read(target)
            elif left != before:
                tell(f"half {kind}: {sorted(left)} instead of {sorted(before)}")

        run(tally, work)
    return tally


def place(folder: Path) -> Path:
    """Where a disk will be."""
    disk = folder / "disk"
    disk.mkdir()
    return disk


def _size(path: Path) -> int:
    return (
        sum(file.stat().st_size for file in path.iterdir())
        if path.is_dir()
        else path.stat().st_size
    )


def look(tell: Tell, ledger: SQLiteLedger, told: list[tuple[int, str]]) -> None:
    """The disk ends with the process, so it is looked at there."""
    found = Tally("")
    found.check(ledger, told)
    tell(f"counts {found.answers} {found.lost} {found.overspent}")
    for problem in found.odd:
        tell(f"crash {problem}")


def run(tally: Tally, work: Callable[[Tell], None]) -> None:
    """One round in a process of its own, whose disk ends with it."""
    victim = Victim(work)
    victim.end()
    tally.rounds += 1
    tally.refused += len(victim.refusals)
    tally.odd.update(victim.crashes)
    tally.half += sum(1 for line in victim.lines if line.startswith("half "))
    tally.odd.update(line for line in victim.lines if line.startswith("half "))
    tally.answers += sum(1 for line in victim.lines if line == "written")
    for line in (line for line in victim.lines if line.startswith("counts ")):
        answers, lost, overspent = map(int, line.split()[1:])
        tally.answers, tally.lost, tally.overspent = (
            tally.answers + answers,
            tally.lost + lost,
            tally.overspent + overspent,
        )


def mounting_is_allowed(folder: Path) -> bool:
    """Whether a disk can be mounted here, in a process of its own."""
    place = folder / "probe"
    place.mkdir()

    def work(tell: Tell) -> None:
        mount_disk(place, 1 << 16)
        tell("yes")

    victim = Victim(work)
    victim.end()
    shutil.rmtree(place)
    return "yes" in victim.lines
