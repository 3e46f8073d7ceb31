"""A PostgreSQL server that stops at once, or is killed, and starts again, while it is charged and
while it counts.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from experiments.faults.kill import PEOPLE, SCHEMA, UNITS, killed_at
from experiments.faults.race import raced
from experiments.faults.tally import Tally, unit_cost
from experiments.faults.victims import Tell, Victim, answered
from privet.accounting.cost import Budget
from privet.accounting.ledger import PostgresLedger, SQLiteLedger
from privet.curator import Curator
from privet.domain.cells import Cells
from privet.errors import LedgerError, TableError
from privet.tables.open import open_table
from tests.postgres import Server, put_table


class DurableServer(Server):
    """A server with the settings that it comes with: what was committed is flushed."""

    def _hurry(self) -> None:
        pass

    def kill(self) -> None:
        """All of it, as the kernel does when memory runs out; it recovers from its log at the next
        start.
        """
        parent = self._server.get_pid()
        os.kill(parent, signal.SIGKILL)
        until = time.monotonic() + 60
        # its children end by themselves
        while (
            Path(f"/proc/{parent}").exists() or _in(self._server.pgdata)
        ) and time.monotonic() < until:
            time.sleep(0.02)
        (Path(self._server.pgdata) / "postmaster.pid").unlink(missing_ok=True)


@contextmanager
def serving() -> Iterator[DurableServer]:
    """A server that lives as long as this block."""
    server = DurableServer()
    try:
        yield server
    finally:
        server.stop()


def killed_while_charging(_: Path, rounds: int) -> Tally:
    """The processes, not the server."""
    with serving() as server:
        return killed_at(server.database(), rounds)


def eight_race(_: Path, rounds: int) -> Tally:
    """With a ledger in a server."""
    with serving() as server:
        return raced(server.database(), 8, rounds)


def restarted_while_charging(_: Path, rounds: int, seed: int = 0) -> Tally:
    """Three processes charge through one server restart after another, each with the ledger that it
    opened once.
    """
    tally, rng = Tally("database restarted while charging (PostgreSQL)"), random.Random(seed)
    with serving() as server:
        url = server.database()
        ledger = PostgresLedger(url)
        ledger.open_cap("people", Budget(1000))

        def work(tell: Tell) -> None:
            mine = PostgresLedger(url)
            tell("ready")
            while True:
                try:
                    tell(
                        answered(
                            mine.charge("people", f"process {os.getpid()}", unit_cost(UNITS), "x")
                        )
                    )
                except LedgerError as error:
                    tell(f"refused LedgerError {error}")
                    time.sleep(0.05)

        victims = [Victim(work) for _ in range(3)]
        for _ in range(rounds):
            _through_a_restart(server, victims, rng, tally)
        _gather(victims, tally, ledger)
    return tally


def restarted_while_counting(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """A curator whose table is in the server, with a ledger in a file: an answer that does not come
    was charged, or nothing was.
    """
    tally, rng = Tally("database restarted while counting (PostgreSQL)"), random.Random(seed)
    with serving() as server:
        place = put_table(server.database(), PEOPLE.loc[PEOPLE.index.repeat(400)])
        ledger = SQLiteLedger(folder / "counting.sqlite")
        ledger.open_cap("people", Budget(100_000))

        def work(tell: Tell) -> None:
            curator = Curator(
                open_table(place), SCHEMA, ledger=SQLiteLedger(ledger.path), dataset="people"
            )
            tell("ready")
            while True:
                try:
                    entry = curator.count(Cells.everything(SCHEMA), "1/7").entry
                    assert entry is not None
                    tell(answered(entry))
                except (LedgerError, TableError) as error:
                    tell(f"refused {type(error).__name__} {error}")
                    time.sleep(0.05)

        victims = [Victim(work) for _ in range(2)]
        for _ in range(rounds):
            _through_a_restart(server, victims, rng, tally)
        _gather(victims, tally, ledger)
    return tally


def _through_a_restart(
    server: DurableServer, victims: list[Victim], rng: random.Random, tally: Tally
) -> None:
    """Everybody gets an answer, the server goes, everybody hears so; it comes back, and everybody
    gets an answer again.
    """
    for victim in victims:
        _hear(victim, "answer ")
    time.sleep(rng.random() * 0.1)
    server.crash() if rng.random() < 0.5 else server.kill()
    for victim in victims:
        _hear(victim, "refused ")
    _start(server)
    for victim in victims:
        _hear(victim, "answer ")
    tally.rounds += 1


def _hear(victim: Victim, begin: str) -> None:
    """Until it tells this, from now on."""
    heard = len(victim.lines)
    while not any(line.startswith(begin) for line in victim.lines[heard:]):
        if not victim.hear():
            return


def _gather(victims: list[Victim], tally: Tally, ledger: PostgresLedger | SQLiteLedger) -> None:
    told = []
    for victim in victims:
        victim.kill()
        told += victim.receipts
        tally.refused += len(victim.refusals)
        tally.odd.update(victim.crashes)
    tally.check(ledger, told)
    tally.remark = (
        f"{len(ledger.entries()) - len(told)} charges stand whose answer was not handed out"
    )


def _start(server: DurableServer) -> None:
    until = time.monotonic() + 120
    while True:
        try:
            server.start()
            return
        except Exception:  # memory of a killed server may not be free yet
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


def _in(data: Path) -> bool:
    """Whether processes of a killed server are still there: they work in its folder."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if (process / "cwd").readlink() == Path(data):
                    return True
            except OSError:
                continue
    return False
