"""Folders, files and disks that may be read only, from the beginning or from a random moment on."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

from experiments.faults.disk import look, place, run
from experiments.faults.small_disk import make_read_only, mount_disk
from experiments.faults.tally import Tally, unit_cost
from experiments.faults.victims import Tell
from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger
from privet.errors import LedgerError, PrivetError

NOBODY = 65534


def read_only_while_charging(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """A ledger whose file, folder or disk turns read-only while it is charged, and is opened again
    then; later it may be written again.
    """
    tally, rng = (
        Tally("read-only file, folder or disk while charging (SQLite)"),
        random.Random(seed),
    )
    disk = place(folder)
    for turn in range(rounds):
        kind, seeds = ("file", "folder", "closed folder", "disk")[turn % 4], rng.random()

        def work(tell: Tell, kind: str = kind, seeds: float = seeds) -> None:
            home = _begun(disk, kind)
            path, mine = home / "ledger.sqlite", random.Random(seeds)
            ledger = SQLiteLedger(path)
            ledger.open_cap("people", Budget(1))
            told = [
                ledger.charge("people", "ada", unit_cost(1000), "x")
                for _ in range(mine.randrange(5))
            ]
            if kind == "disk":  # one that is being written cannot turn
                ledger.close()
            _turn(kind, home, path, yes=True)
            for _ in range(6):
                try:
                    if mine.random() < 0.4:
                        ledger.close()
                    if mine.random() < 0.3:
                        SQLiteLedger(path)
                    told.append(ledger.charge("people", "ada", unit_cost(1000), "x"))
                except LedgerError as error:
                    tell(f"refused LedgerError {error}")
            _turn(kind, home, path, yes=False)
            ledger.close()
            ledger = SQLiteLedger(path)
            told.append(ledger.charge("people", "ada", unit_cost(1000), "it may be written again"))
            look(tell, ledger, [(entry.number, entry.hash) for entry in told])

        run(tally, work)
    return tally


def read_only_while_writing(folder: Path, rounds: int) -> Tally:
    """Each kind of file is written into a folder or to a disk that is read-only, over an old one or
    not: nothing changes.
    """
    from experiments.faults.outputs import outputs, warm_outputs

    tally, disk = Tally("read-only folder or disk while a file is written"), place(folder)
    (folder / "warm").mkdir()
    warm_outputs(folder / "warm")
    for turn in range(rounds):
        name, write, _ = list(outputs().values())[turn // 2 % len(outputs())]
        kind, old = (
            ("folder", "disk")[turn % 2],
            name != "home" and turn // 2 // len(outputs()) % 2 == 0,
        )

        def work(
            tell: Tell,
            name: str = name,
            write: Callable[[Path], object] = write,
            kind: str = kind,
            old: bool = old,
        ) -> None:
            home = _begun(disk, kind, 1 << 23)
            if old:
                write(home / name)
            before = {path.name: path.read_bytes() for path in home.iterdir()}
            _turn(kind, home, home / name, yes=True)
            try:
                write(home / name)
                tell(f"half {name} was written where nothing may be")
            except PrivetError as error:
                tell(f"refused {type(error).__name__} {error}")
            if before != {path.name: path.read_bytes() for path in home.iterdir()}:
                tell(f"half {name}: the folder changed")

        run(tally, work)
    return tally


def _begun(disk: Path, kind: str, size: int = 1 << 20) -> Path:
    """A folder on a disk of our own; of somebody whom modes bind, where modes are what is tried."""
    mount_disk(disk, size)
    home = disk / "home"
    home.mkdir()
    if kind != "disk" and os.getuid() == 0:
        disk.chmod(0o755)
        os.chown(home, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return home


def _turn(kind: str, home: Path, path: Path, *, yes: bool) -> None:
    if kind == "disk":
        make_read_only(home.parent, yes)
    elif kind == "file":
        path.chmod(0o400 if yes else 0o600)
    else:
        home.chmod((0o500 if kind == "folder" else 0o000) if yes else 0o700)
