"""The audit log: chained, append-only, bounded, the same in SQLite and in PostgreSQL."""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path

import pytest

from privet.accounting.ledger import PostgresLedger, Witness
from privet.errors import LedgerError
from privet.service.audit_log import (
    Person,
    PostgresAuditLog,
    Refusals,
    SQLiteAuditLog,
    verify_log,
)
from privet.service.audit_log.events import make_event
from privet.service.audit_log.refusals import IN_FULL
from privet.service.audit_log.store import verify_stored
from tests.postgres import postgres  # noqa: F401 - a fixture

EVA = Person("eva", "owner")


@pytest.fixture(params=["sqlite", "postgres"])
def log(request, tmp_path):
    if request.param == "sqlite":
        yield SQLiteAuditLog(tmp_path / "audit-log.sqlite")
        return
    ledger = PostgresLedger(request.getfixturevalue("postgres").database())
    yield PostgresAuditLog(ledger)
    ledger.close()


def put(log, *kinds: str, **more):
    return [log.append(make_event(EVA, kind, f"did {kind}", **more)) for kind in kinds]


def test_events_are_chained_from_the_identity_on(log, tmp_path):
    assert log.events() == []
    written = put(log, "grant", "revoke") + put(log, "cap", dataset="people", analyst="ada")
    assert [event.number for event in written] == [1, 2, 3]
    assert log.events() == written
    assert log.line(2) == written[1]
    assert log.line(4) is None
    assert verify_log(log.identity, written) == []
    assert written[0].hash == written[0].hashed(log.identity)
    witness = Witness(tmp_path / "seen", "audit log")
    assert verify_stored(log, witness) == []
    assert witness.seen().number == 3


def test_events_are_found_by_what_they_are_about_and_by_days(log, monkeypatch):
    for day in ("2025-12-31", "2026-01-01", "2026-01-02"):
        monkeypatch.setattr(
            "privet.service.audit_log.events.now", lambda day=day: f"{day}T23:59:59.999+00:00"
        )
        put(log, day, dataset="people", analyst="ada")
    put(log, "other", dataset="cars")
    kinds = lambda **wanted: [event.kind for event in log.events(**wanted)]  # noqa: E731
    assert kinds(dataset="people", since="2026-01-01", until="2026-01-01") == ["2026-01-01"]
    assert kinds(analyst="ada", until="2026-01-01") == ["2025-12-31", "2026-01-01"]
    assert kinds(dataset="cars") == ["other"]


def test_the_log_is_append_only_and_anything_else_is_noticed(tmp_path):
    path = tmp_path / "audit-log.sqlite"
    log, witness = SQLiteAuditLog(path), Witness(tmp_path / "seen", "audit log")
    put(log, "grant", "revoke", "cap")
    assert verify_stored(log, witness) == []
    with sqlite3.connect(path) as connection:
        for change in ("DELETE FROM events", "UPDATE events SET what = 'nothing'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(change)
        connection.execute("DROP TRIGGER events_keep")
        connection.execute("UPDATE events SET what = 'nothing' WHERE number = 2")
    assert any("line 2 is not what was written" in one for one in verify_stored(log, witness))
    path.unlink()  # one that was removed, and begun anew
    assert "another audit log" in verify_stored(SQLiteAuditLog(path), witness)[0]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_log_that_was_cut_is_noticed(tmp_path):
    path = tmp_path / "audit-log.sqlite"
    log, witness = SQLiteAuditLog(path), Witness(tmp_path / "seen", "audit log")
    put(log, "grant")
    copy = path.read_bytes()
    put(log, "revoke")
    assert verify_stored(log, witness) == []
    path.write_bytes(copy)
    assert "has seen line 2, but the audit log ends at line 1" in verify_stored(log, witness)[0]
    put(log, "another")
    with pytest.raises(LedgerError, match="the audit log is not the one that the witness"):
        witness.note(log, put(log, "one more")[0])


def test_several_threads_and_processes_make_one_chain(log):
    def write():
        put(log, *["grant"] * 5)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.number for event in log.events()] == list(range(1, 21))
    assert verify_log(log.identity, log.events()) == []


def test_what_no_store_takes_is_written_as_its_escape(log):
    event = log.append(make_event(Person("a\x00b", "owner"), "grant", "half \ud800 and \x00"))
    assert log.events() == [event]
    assert (event.who, event.what) == ("a\\x00b", "half \\ud800 and \\x00")


def test_a_log_of_another_version_or_kind_is_not_used(tmp_path: Path):
    path = tmp_path / "audit-log.sqlite"
    put(SQLiteAuditLog(path), "grant")
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=9")
    with pytest.raises(LedgerError, match="version 9, this Privet reads version 1"):
        SQLiteAuditLog(path).events()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(LedgerError, match="cannot use the audit log"):
        put(SQLiteAuditLog(path), "grant")


# -- refusals --------------------------------------------------------------------------------------


def test_a_flood_of_wrong_tokens_is_two_lines_for_each_span(tmp_path):
    now = [0.0]
    log = SQLiteAuditLog(tmp_path / "audit-log.sqlite")
    refusals = Refusals(log, span=600, clock=lambda: now[0])
    for number in range(5000):
        refusals.refuse_sign_in(f"10.{number // 250}.0.{number % 250}")
    refusals.flush()  # the span is not over
    assert [event.what for event in log.events()] == ["a token that is not valid, from 10.0.0.0"]
    now[0] = 600
    refusals.flush()
    _, rest = log.events()
    assert rest.what.startswith("4999 tokens that are not valid, from further addresses (3999), ")
    assert rest.particulars["count"] == 4999
    assert len(rest.particulars["addresses"]) == 10
    assert (rest.kind, rest.who, rest.is_refusal) == ("sign-in refused", "somebody", True)
    refusals.flush(all_of_them=True)
    assert len(log.events()) == 2, "what was recorded is not recorded again"
    refusals.refuse_sign_in("::1")
    assert len(log.events()) == 3, "the next span begins with a line at once"


def test_refused_questions_are_kept_in_words_and_then_counted(tmp_path):
    log = SQLiteAuditLog(tmp_path / "audit-log.sqlite")
    refusals = Refusals(log)
    for number in range(IN_FULL + 30):
        refusals.refuse_question("ada", "people", f"count of {number}", "no budget is left")
    refusals.refuse_question("bob", "people", "size", "no budget is left")
    refusals.flush(all_of_them=True)
    events = log.events(analyst="ada")
    assert len(events) == IN_FULL + 1
    assert events[0].what == "count of 0: no budget is left"
    assert events[0].particulars == {"asked": "count of 0", "why": "no budget is left"}
    assert events[-1].particulars == {"count": 30}
    assert [event.who for event in log.events(analyst="bob")] == ["bob"]


def test_a_refusal_stays_one_when_it_cannot_be_recorded(tmp_path, caplog, monkeypatch):
    # servers and fuzzers of other tests in this process configure logging
    log = logging.getLogger("privet.service.audit_log.refusals")
    caplog.set_level(logging.ERROR, logger=log.name)
    monkeypatch.setattr(log, "disabled", False)
    monkeypatch.setattr(log, "handlers", [caplog.handler])
    path = tmp_path / "audit-log.sqlite"
    path.write_bytes(b"no database at all" * 100)
    Refusals(SQLiteAuditLog(path)).refuse_question("ada", "people", "size", "no budget is left")
    assert "cannot record in the audit log" in caplog.text
