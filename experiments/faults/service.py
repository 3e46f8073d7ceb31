"""``privet curator serve`` is killed under load, and started again on the same home."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

from experiments.faults.tally import Tally
from tests.service.running import PATIENCE, Service, house
from tests.service.test_kill import QUICK, check_after_a_kill, check_after_the_restart
from tests.service.traffic import Analyst


def service_killed(folder: Path, rounds: int, seed: int = 0) -> Tally:
    """Six analysts ask, hang up, send again and ask for groups of people; kill -9; every open
    request is sent again, and some old ones.

    What an open request gets is for the charge that stands, and what was answered before comes
    again, byte for byte.
    """
    tally, rng, there = (
        Tally("the service is killed under load (HTTP, SQLite)"),
        random.Random(seed),
        house(folder, 100_000),
    )
    for number in range(6):
        there.add(f"analyst-{number}", 100_000)
    service = Service(there.path, folder / "serve.log")
    try:
        for turn in range(rounds):
            analysts = [
                Analyst(name, token, service.port, str(turn), QUICK)
                for name, token in there.tokens.items()
            ]
            _work_until_killed(analysts, service, rng)
            service_again = None
            try:
                check_after_a_kill(there, analysts)
                service_again = Service(there.path, folder / "serve.log")
                for analyst in analysts:
                    check_after_the_restart(there, service_again, analyst, turn)
            except AssertionError as error:
                tally.odd[f"{type(error).__name__}: {error}"[:300]] += 1
            service = service_again or Service(there.path, folder / "serve.log")
            tally.rounds += 1
            receipts = [receipt for analyst in analysts for receipt in analyst.receipts]
            tally.check_told(
                there.state.ledger, [(receipt.number, receipt.hash) for receipt in receipts]
            )
        tally.check_books(there.state.ledger)
        service.stop()
    finally:
        if service.process.poll() is None:
            service.kill()
    left = [path.name for path in there.path.iterdir() if path.name.startswith("witness.")]
    tally.remark = f"{len(left)} notes of the witness lay unfinished beside it, under other names"
    return tally


def _work_until_killed(analysts: list[Analyst], service: Service, rng: random.Random) -> None:
    steps: list[float] = []
    threads = [threading.Thread(target=analyst.work, args=(None, steps)) for analyst in analysts]
    for thread in threads:
        thread.start()
    enough, until = rng.randrange(10, 60), time.monotonic() + PATIENCE
    while len(steps) < enough and time.monotonic() < until:
        time.sleep(0.001)
    time.sleep(rng.random() * 0.02)
    service.kill()
    for thread in threads:
        thread.join(PATIENCE)
