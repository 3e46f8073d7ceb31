"""Tables and ledgers that fail while they are used: every answer says whether a charge stands, and
a charge that stands gets its answer.
"""

from __future__ import annotations

import json
import os
import resource
import threading
import time
from pathlib import Path

import duckdb
import psycopg
import pytest

from privet.accounting.ledger import Receipt, verify
from tests import commands
from tests.postgres import put_table
from tests.service.running import PATIENCE, Answer, House, house, serving

ASKED = {"epsilon": "1/4"}
#: What a file names fails, with an error that quotes a row.
FAULTS = """
from pathlib import Path
import duckdb
from privet.tables.duckdb.table import DuckDBSource
from privet.errors import LedgerError
from privet.accounting.ledger import SQLiteLedger, Witness
def fail(owner, name, error):
    inner = getattr(owner, name)
    def outer(*given, **named):
        if name in Path({flag!r}).read_text():
            raise error("p17 is ill, /secret/place")
        return inner(*given, **named)
    setattr(owner, name, outer)
fail(DuckDBSource, "count", duckdb.IOException)
fail(DuckDBSource, "parts", RuntimeError)
fail(Witness, "note", LedgerError)
fail(SQLiteLedger, "record", LedgerError)
fail(SQLiteLedger, "charge", LedgerError)
"""


def not_charged(there: House, answer: Answer, lines: int) -> None:
    told = answer.problem
    assert answer.status == 503
    assert "nothing was charged" in told["title"]
    assert told["charged"] is False
    assert answer.headers["retry-after"] == "1"
    assert b"/" not in told["detail"].encode()  # no place of the owner's
    assert len(there.state.ledger.entries()) == lines


def charged(there: House, answer: Answer) -> int:
    """The line of a charge that has no answer."""
    told = answer.problem
    assert answer.status == 503
    assert told["title"] == "Charged, but not answered"
    assert told["charged"] is True
    assert answer.headers["retry-after"] == "1"
    assert b"p17" not in answer.body
    assert b"/secret" not in answer.body
    assert told["number"] in there.state.ledger.unanswered()
    return told["number"]


def privet(*words: str) -> str:
    done = commands.run(words, Path.cwd(), {**os.environ, "COLUMNS": "200"}, PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def there(tmp_path):
    made = house(tmp_path)
    made.add("ada", 100)
    made.flag = tmp_path / "fault"
    made.flag.write_text("")
    with serving(made.path, before=FAULTS.format(flag=str(made.flag))) as service:
        made.service = service
        yield made
    assert verify(made.state.ledger, made.state.witness) == []


@pytest.fixture
def client(there):
    with there.service.client(there.tokens["ada"]) as client:
        yield client


def test_a_table_that_is_gone_before_and_after_it_was_opened(there, client):
    away = there.table.with_name("away.db")
    for opened in (False, True):
        lines = len(there.state.ledger.entries())
        there.table.rename(away)
        for question, body in (("size", ASKED), ("count", ASKED), ("snapshots", b"")):
            not_charged(there, client.ask(question, body), lines)
        away.rename(there.table)
        answer = client.ask("size", ASKED, f"there-again-{opened}")
        assert answer.status == 200
        assert "privet-replayed" not in answer.headers
    assert there.state.ledger.unanswered() == set()


@pytest.mark.parametrize("fault", ["count", "note", "record"])
def test_a_fault_after_the_charge(there, client, fault):
    assert client.ask("size", ASKED, "before").status == 200
    there.flag.write_text(fault)
    number = charged(there, client.ask("size", ASKED, "key"))
    # still, and not charged again
    assert charged(there, client.ask("size", ASKED, "key")) == number
    assert [entry.key for entry in there.state.ledger.entries()] == ["before", "key"]

    # Everybody who may know does.
    told = {
        entry["key"]: entry for entry in client.get("datasets/people/history").json()["entries"]
    }
    assert {key: entry["answered"] for key, entry in told.items()} == {"before": True, "key": False}
    assert told["key"]["receipt"].endswith(".")  # of no answer
    listed = [
        json.loads(line)
        for line in privet("curator", "ledger", "--json", "--home", str(there.path)).splitlines()
    ]
    assert [(entry["key"], entry["answered"]) for entry in listed] == [
        ("before", True),
        ("key", False),
    ]
    assert privet("curator", "ledger", "--home", str(there.path)).count("UNANSWERED") == 1

    # Another body under the key is another question, whatever became of the first.
    assert client.ask("size", {"epsilon": "1/5"}, "key").status == 409
    there.flag.write_text("")
    answer = client.ask("size", ASKED, "key")
    assert answer.status == 200
    assert Receipt.read(answer.json()["receipt"]).number == number
    assert client.ask("size", ASKED, "key").body == answer.body
    assert len(there.state.ledger.entries()) == 2
    assert client.get("datasets/people/history").json()["entries"][1]["answered"] is True
    assert "UNANSWERED" not in privet("curator", "ledger", "--home", str(there.path))


def test_a_fault_before_the_charge(there, client):
    there.flag.write_text("charge")
    not_charged(there, client.ask("size", ASKED, "key"), 0)
    there.flag.write_text("")
    assert client.ask("size", ASKED, "key").status == 200


def test_faults_within_a_snapshot_and_its_groups(there, client):
    snapshot = client.ask("snapshots", b"").json()["snapshot"]
    inside = {**ASKED, "snapshot": snapshot}
    there.flag.write_text("count")
    number = charged(there, client.ask("size", inside, "inside"))
    # The snapshot may be dead: there nothing more is charged, until the question is answered.
    assert client.ask("size", inside, "more").status == 410
    assert charged(there, client.ask("size", inside, "inside")) == number
    there.flag.write_text("")
    assert Receipt.read(client.ask("size", inside, "inside").json()["receipt"]).number == number
    there.flag.write_text("record")
    groups = {**inside, "n_parts": 2}
    division = charged(there, client.ask("divide", groups, "divide"))
    there.flag.write_text("")
    assert client.ask("divide", groups, "divide").json()["answer"]["division"] == division
    asked = {**inside, "part": {"division": division, "number": 1}}
    there.flag.write_text("count")
    failed = client.ask("size", asked, "group")
    assert (failed.status, failed.problem["charged"]) == (503, True)
    there.flag.write_text("")
    answer = client.ask("size", asked, "group")
    assert answer.status == 200
    assert client.ask("size", asked, "group").body == answer.body
    # the group's budget was spent once, and is
    assert client.ask("size", asked, "another").status == 403
    assert len(there.state.ledger.entries()) == 2


@pytest.mark.parametrize("file", ["ledger.sqlite", "accounts.sqlite"])
def test_a_ledger_or_accounts_that_are_gone(there, client, file):
    assert client.ask("size", ASKED, "before").status == 200
    path = there.path / file
    away = path.with_name("away")
    path.rename(away)
    for question, body in (("size", ASKED), ("preview", {"plan": []})):
        answer = client.ask(question, body, "key")
        assert answer.status == 503
        assert answer.problem["charged"] is False
        assert str(there.path) not in answer.body.decode()
    assert not path.exists()  # nothing was made in its place
    away.rename(path)
    assert client.ask("size", ASKED, "key").status == 200
    assert [entry.key for entry in there.state.ledger.entries()] == ["before", "key"]


@pytest.mark.skipif(
    not hasattr(resource, "prlimit"), reason="limits of other processes can be set on Linux only"
)
def test_a_disk_that_is_full(there, client):
    """Files can no longer grow: at first there is no room for a charge, then for a charge, but not
    for its large answer.
    """
    assert client.ask("size", ASKED, "before").status == 200
    log = Path(f"{there.path / 'ledger.sqlite'}-wal")
    process, no_limit = there.service.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)

    def room(more: int) -> None:
        resource.prlimit(
            process, resource.RLIMIT_FSIZE, (log.stat().st_size + more, resource.RLIM_INFINITY)
        )

    room(0)
    for turn in range(12):  # more often than there are workers: each has a connection of its own
        not_charged(there, client.ask("size", ASKED, f"full-{turn}"), 1)
    large = {
        "epsilon": "1/4",
        "cells": [{"attribute": [-1], "branch": [], "cell": [0], "n_cells": 1 << 17}],
    }
    room(200_000)
    number = charged(there, client.ask("count", large, "large"))
    resource.prlimit(process, resource.RLIMIT_FSIZE, no_limit)
    for turn in range(12):
        assert client.ask("size", ASKED, f"full-{turn}").status == 200
    answer = client.ask("count", large, "large")
    assert Receipt.read(answer.json()["receipt"]).number == number
    assert len(there.state.ledger.entries()) == 14
    assert there.state.ledger.unanswered() == set()


# -- a database that dies --------------------------------------------------------------------------


def test_postgresql_is_shut_down_in_the_middle_of_a_count(own_postgres, tmp_path):
    url = own_postgres.database()
    made = house(tmp_path)
    with duckdb.connect(made.table, read_only=True) as connection:
        put_table(url, connection.execute("SELECT * FROM people").df())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE pause AS SELECT 60.0::float8 AS seconds")
        connection.execute(
            "CREATE VIEW slow AS SELECT people.* FROM people, (SELECT pg_sleep(seconds) FROM "
            "pause) AS s"
        )
    made.state.accounts.remove_dataset("people")
    made.state.accounts.add_dataset("people", f"{url}&table=slow", made.schema)
    made.add("ada", 100)
    with (
        serving(made.path) as service,
        service.client(made.tokens["ada"]) as client,
        service.client(made.tokens["ada"]) as other,
    ):
        snapshot = other.ask("snapshots", b"").json()["snapshot"]
        answers: list[Answer] = []
        asking = threading.Thread(target=lambda: answers.append(client.ask("size", ASKED, "key")))
        asking.start()
        until = time.monotonic() + PATIENCE
        while not made.state.ledger.entries() and time.monotonic() < until:
            time.sleep(0.01)
        with psycopg.connect(url, autocommit=True) as connection:
            running = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
            while not connection.execute(running).fetchone()[0] and time.monotonic() < until:
                time.sleep(0.01)
        own_postgres.crash()
        asking.join(PATIENCE)
        number = charged(made, answers[0])
        not_charged(made, other.ask("size", ASKED, "down"), 1)
        not_charged(made, other.ask("snapshots", b""), 1)
        lost = {**ASKED, "snapshot": snapshot}
        assert other.ask("size", lost, "lost").status == 503
        # before, and the charge stands
        assert charged(made, client.ask("size", ASKED, "key")) == number
        own_postgres.start()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE pause SET seconds = 0")
        answer = client.ask("size", ASKED, "key")
        assert answer.status == 200
        assert Receipt.read(answer.json()["receipt"]).number == number
        assert client.ask("size", ASKED, "key").body == answer.body
        assert len(made.state.ledger.entries()) == 1
        assert made.state.ledger.unanswered() == set()
        assert other.ask("size", ASKED, "down").status == 200
        # The snapshot went with the server. That is noticed before a charge.
        for key in ("lost", "lost-1"):
            assert other.ask("size", lost, key).status == 410
        assert len(made.state.ledger.entries()) == 2
    assert verify(made.state.ledger, made.state.witness) == []
