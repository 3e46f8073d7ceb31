"""The service is killed at any moment, and started again: every answer was charged, no charge is
lost or made twice.
"""

from __future__ import annotations

import json
import random
import threading
import time

import pytest

from privet.accounting.ledger import Receipt, verify
from tests.service.running import PATIENCE, Lost, Service, house, serving
from tests.service.traffic import QUESTIONS, Analyst

#: Without what each new process first has to compile.
QUICK = tuple(question for question in QUESTIONS if question != "draw-tree")


def charges(there, analyst: str) -> dict[str, int]:
    """The lines of an analyst's charges, by key."""
    return {entry.key: entry.number for entry in there.state.ledger.entries("people", analyst)}


def check_after_a_kill(there, analysts: list[Analyst]) -> None:
    ledger = there.state.ledger
    assert (
        verify(
            ledger,
            there.state.witness,
            [receipt for analyst in analysts for receipt in analyst.receipts],
        )
        == []
    )
    last = max(entry.number for entry in ledger.entries())
    assert there.state.witness.seen().number <= last
    unanswered = ledger.unanswered()
    for analyst in analysts:
        assert analyst.odd == []
        assert analyst.changed == []
        charged = charges(there, analyst.name)
        assert set(analyst.answers) <= set(charged)
        mine = {key for key, number in charged.items() if number in unanswered}
        assert not mine & set(analyst.answers)


def check_after_the_restart(there, service: Service, analyst: Analyst, seed: int) -> None:
    """What got no answer gets one now, for the charge that stands; what got one gets it again."""
    before = charges(there, analyst.name)
    unanswered = there.state.ledger.unanswered()
    with service.client(analyst.token) as client:
        for key in sorted(analyst.open_keys):
            sent = analyst.sent[key]
            answer = client.ask(sent.question, sent.body, key)
            gone = "snapshot" in json.loads(sent.body) and (
                key not in before or before[key] in unanswered
            )
            assert answer.status == (410 if gone else 200), answer
            if not gone:
                assert charges(there, analyst.name)[key] == before.get(
                    key, Receipt.read(answer.json()["receipt"]).number
                )
                analyst.answers.setdefault(key, []).append(answer.body)
        for key in random.Random(seed).sample(
            sorted(analyst.answers), min(6, len(analyst.answers))
        ):
            answer = client.ask(analyst.sent[key].question, analyst.sent[key].body, key)
            assert answer.headers["privet-replayed"] == "true"
            assert answer.body == analyst.answers[key][0]
    after = charges(there, analyst.name)
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) <= analyst.open_keys
    analyst.open_keys.clear()


@pytest.mark.parametrize("rounds", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_kill_9_under_load(tmp_path, rounds):
    there = house(tmp_path, 100_000)
    for number in range(6):
        there.add(f"analyst-{number}", 100_000)
    rng = random.Random(rounds)
    everybody: list[Analyst] = []
    service = Service(there.path, tmp_path / "serve.log")
    try:
        for turn in range(rounds):
            analysts = [
                Analyst(name, token, service.port, str(turn), QUICK)
                for name, token in there.tokens.items()
            ]
            steps: list[float] = []
            threads = [
                threading.Thread(target=analyst.work, args=(None, steps)) for analyst in analysts
            ]
            for thread in threads:
                thread.start()
            enough, until = rng.randrange(10, 60), time.monotonic() + PATIENCE
            while len(steps) < enough and time.monotonic() < until:
                time.sleep(0.001)
            assert len(steps) >= enough
            time.sleep(rng.random() * 0.02)
            service.kill()
            for thread in threads:
                thread.join(PATIENCE)
            everybody += analysts
            check_after_a_kill(there, everybody)
            service = Service(there.path, tmp_path / "serve.log")
            for analyst in analysts:
                check_after_the_restart(there, service, analyst, turn)
        assert service.stop() == 0
        assert service.complaints == ""
    finally:
        if service.process.poll() is None:
            service.kill()


#: Ends the service as kill -9 does, at the moment that a file names.
CRASHES = """
import os, signal
from pathlib import Path
from privet.tables.duckdb.table import DuckDBSource
from privet.accounting.ledger import SQLiteLedger, Witness
def crash_at(owner, name, moment, before=True):
    inner = getattr(owner, name)
    def outer(*given, **named):
        armed = Path({flag!r}).read_text() == moment
        answer = None if armed and before else inner(*given, **named)
        if armed:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer
    setattr(owner, name, staticmethod(outer) if isinstance(vars(owner)[name], staticmethod) else outer)
crash_at(SQLiteLedger, "_append", "within the charge", before=False)
crash_at(Witness, "note", "between the charge and the witness")
crash_at(DuckDBSource, "count", "between the charge and the count")
crash_at(DuckDBSource, "count", "after the count", before=False)
crash_at(SQLiteLedger, "record", "after the record", before=False)
"""  # noqa: E501


#: What each moment leaves: the number of charges, and of recorded answers.
MOMENTS = {
    "within the charge": (0, 0),
    "between the charge and the witness": (1, 0),
    "between the charge and the count": (1, 0),
    "after the count": (1, 0),
    "after the record": (1, 1),
}


def test_a_crash_at_each_moment_of_an_answer(tmp_path):
    there = house(tmp_path)
    there.add("ada", 100)
    ledger, flag, body = there.state.ledger, tmp_path / "moment", {"epsilon": "1/3"}
    answers: dict[str, bytes] = {}
    crashed: str | None = None
    for moment in (*MOMENTS, None):
        flag.write_text("none")
        with (
            serving(there.path, before=CRASHES.format(flag=str(flag))) as service,
            service.client(there.tokens["ada"]) as client,
        ):
            if crashed is not None:
                left_behind, key = charges(there, "ada"), crashed.replace(" ", "-")
                answer = client.ask("size", body, key)
                assert answer.status == 200
                assert answer.headers.get("privet-replayed", "false") == (
                    "true" if MOMENTS[crashed][1] else "false"
                ), crashed
                answers[key] = answer.body
                assert charges(there, "ada").items() >= left_behind.items()
                assert set(charges(there, "ada")) == set(answers)
                assert ledger.unanswered() == set()
            for key, answer_before in answers.items():
                assert client.ask("size", body, key).body == answer_before
            assert (
                verify(
                    ledger,
                    there.state.witness,
                    [Receipt.read(json.loads(one)["receipt"]) for one in answers.values()],
                )
                == []
            )
            if moment is not None:
                flag.write_text(moment)
                with pytest.raises(Lost):
                    client.ask("size", body, moment.replace(" ", "-"))
                assert service.process.wait(PATIENCE) == -9
                n_charges, n_answers = MOMENTS[moment]
                assert len(ledger.entries()) - len(answers) == n_charges, moment
                assert (
                    len(ledger.entries()) - len(ledger.unanswered()) - len(answers) == n_answers
                ), moment
                assert verify(ledger, there.state.witness) == []
        crashed = moment


#: Slow counts, and a note when a snapshot ends.
SLOW = """
import time
from contextlib import contextmanager
from pathlib import Path
from privet.tables.duckdb.table import DuckDBSource
count, snapshot = DuckDBSource.count, DuckDBSource.snapshot
def slowly(self, question):
    Path({folder!r}, "counting").touch()
    time.sleep(1)
    return count(self, question)
@contextmanager
def noted(self):
    with snapshot(self):
        yield
    Path({folder!r}, "ended").touch()
DuckDBSource.count, DuckDBSource.snapshot = slowly, noted
"""


def test_it_ends_gracefully_when_told_to(tmp_path):
    """What is under way is answered, snapshots end, and the exit code says that all is well."""
    there = house(tmp_path)
    there.add("ada", 1)
    with (
        serving(there.path, before=SLOW.format(folder=str(tmp_path))) as service,
        service.client(there.tokens["ada"]) as client,
    ):
        assert client.ask("snapshots", b"").status == 201
        client.send("POST", "datasets/people/size", b'{"epsilon": 1}', Idempotency_Key="last")
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "counting").exists() and time.monotonic() < until:
            time.sleep(0.005)
        service.process.terminate()
        assert client.receive().status == 200
        assert service.process.wait(PATIENCE) == 0
        assert (tmp_path / "ended").exists()
        assert service.complaints == ""
    assert there.state.ledger.unanswered() == set()
    assert verify(there.state.ledger, there.state.witness) == []
