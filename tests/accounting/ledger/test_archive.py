"""Answers that are moved to an archive: never charged again, and never answered anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger, PostgresLedger, Receipt, SQLiteLedger, verify
from privet.accounting.ledger.archive import make_receipt
from privet.errors import AnswerArchived, LedgerError

LATER = "2999-01-01"
ANSWER = b'{"numbers": [1, 2, 3], "cost": "1/4"}'


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "memory":
        made = MemoryLedger()
    elif request.param == "sqlite":
        made = SQLiteLedger(tmp_path / "book.sqlite")
    else:
        made = PostgresLedger(request.getfixturevalue("postgres").database())
    made.open_cap("people", Budget(3))
    return made


def charge(ledger, key, **more):
    cost = Cost.pure("1/4")
    return ledger.charge(
        "people", "ada", cost, "counts", key=key, request=f"digest of {key}", **more
    )


def test_an_answer_that_is_archived_is_neither_charged_nor_drawn_again(ledger):
    entry, unanswered = charge(ledger, "k1"), charge(ledger, "k2")
    assert ledger.record(entry.number, ANSWER) == ANSWER
    receipt, hashes = make_receipt(ledger, entry), [line.hash for line in ledger.journal()]
    kept = []
    assert ledger.archive(LATER, "old.json", kept.extend) == 1
    assert [(one.line.number, one.answer) for one in kept] == [(entry.number, ANSWER)]
    with pytest.raises(AnswerArchived, match=r"moved to the archive 'old\.json'") as raised:
        ledger.answer(entry.number)
    assert raised.value.archive == "old.json"
    with pytest.raises(AnswerArchived):
        ledger.record(entry.number, b'{"another draw": "of noise"}')
    assert charge(ledger, "k1") == entry, "the key stays used, and pays once"
    assert ledger.spent("people").epsilon * 2 == 1
    assert ledger.unanswered() == {unanswered.number}, "it was answered"
    assert [line.hash for line in ledger.journal()] == hashes
    assert make_receipt(ledger, entry) == receipt == Receipt.of(ledger.identity, entry, ANSWER)
    assert verify(ledger, receipts=[receipt]) == []
    assert ledger.archive(LATER, "again.json", kept.extend) == 0
    assert ledger.answer(unanswered.number) is None
    if not isinstance(ledger, MemoryLedger):
        assert ledger.recorded("ada") < 1000


def test_answers_stay_that_are_new_or_that_a_fit_may_ask_for(ledger):
    facts = {"schema": "s" * 64, "neighbours": "add-remove", "rows_per_person": 1}
    ledger.reserve("people", "ada", Budget(1), "a fit", key="fit", request="r", **facts)
    within, new = charge(ledger, "k1", reservation="fit", schema="s" * 64), charge(ledger, "k2")
    for entry in (within, new):
        ledger.record(entry.number, ANSWER)
    assert ledger.archive("2000-01-01", "old.json", pytest.fail) == 0
    assert ledger.archive(LATER, "new.json", lambda _: None) == 1
    assert ledger.answer(within.number) == ANSWER
    ledger.close_reservation("ada", "fit")
    assert ledger.archive(LATER, "fit.json", lambda _: None) == 1
    with pytest.raises(AnswerArchived, match=r"fit\.json"):
        ledger.answer(within.number)


def test_a_file_that_cannot_be_written_takes_nothing_out(ledger):
    entry = charge(ledger, "k1")
    ledger.record(entry.number, ANSWER)

    def fail(_):
        raise LedgerError("the disk is full")

    with pytest.raises(LedgerError, match="disk is full"):
        ledger.archive(LATER, "old.json", fail)
    assert ledger.answer(entry.number) == ANSWER


def test_answers_cannot_be_changed_afterwards_either(tmp_path):
    ledger = SQLiteLedger(tmp_path / "book.sqlite")
    ledger.open_cap("people", Budget(3))
    ledger.record(charge(ledger, "k1").number, ANSWER)
    assert ledger.archive(LATER, "old.json", lambda _: None) == 1
    with closing(sqlite3.connect(ledger.path)) as connection:
        for statement in ("UPDATE answers SET body = x'00'", "DELETE FROM answers"):
            with pytest.raises(sqlite3.IntegrityError, match="answers are kept"):
                connection.execute(statement)


def test_postgresql_keeps_answers_afterwards_too(postgres):
    import psycopg

    url = postgres.database()
    ledger = PostgresLedger(url)
    ledger.open_cap("people", Budget(3))
    ledger.record(charge(ledger, "k1").number, ANSWER)
    assert ledger.archive(LATER, "old.json", lambda _: None) == 1
    with psycopg.connect(url) as connection, pytest.raises(psycopg.IntegrityError):
        connection.execute("UPDATE privet.answers SET body = 'x'")
