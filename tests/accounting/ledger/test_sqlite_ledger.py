"""The durable ledger under concurrency, crashes and tampering."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction as F

import numpy as np
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger, left, verify
from privet.errors import BudgetExceeded, LedgerError
from tests.accounting.ledger.spending import Spender

SPENDER = """
import sys
from privet.accounting.cost import Cost
from privet.errors import BudgetExceeded
from privet.accounting.ledger import SQLiteLedger
ledger = SQLiteLedger(sys.argv[1])
answered = 0
try:
    while True:
        ledger.charge("people", sys.argv[2], Cost.pure(sys.argv[3]), "x")
        answered += 1
        print(answered, flush=True)
except BudgetExceeded:
    print("refused", flush=True)
"""


def spend(path, analyst, unit):
    return Spender(SPENDER, [str(path), analyst, unit], path.parent)


def test_eight_processes_never_overspend_by_one_unit(tmp_path):
    path = tmp_path / "ledger.sqlite"
    SQLiteLedger(path).set_cap("people", Budget(1))
    processes = [spend(path, f"analyst {i}", "1/600") for i in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    outputs = [process.told for process in processes]
    assert all(output[-1] == "refused" for output in outputs)
    ledger = SQLiteLedger(path)
    assert ledger.spent("people").epsilon == 1
    assert len(ledger.entries()) == sum(len(output) - 1 for output in outputs) == 600
    for i, output in enumerate(outputs):
        assert ledger.spent("people", f"analyst {i}").epsilon == F(len(output) - 1, 600)


def test_every_charge_waits_for_the_disk(tmp_path):
    """A commit returns when its log is flushed (2: FULL). No test can pull the plug, so this looks
    at what SQLite was told.
    """
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    with ledger._connected() as connection:
        told = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "journal_mode")
        ]
    assert told == [2, "wal"]


def test_threads_share_one_ledger(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(1))
    refused = []

    def work():
        try:
            while True:
                ledger.charge("people", "ada", Cost.pure("1/100"), "x")
        except BudgetExceeded:
            refused.append(True)
        finally:
            ledger.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(refused) == 6
    assert len(ledger.entries()) == 100


def test_kill_9_at_random_moments_never_loses_an_answered_charge(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1_000_000))
    rng = np.random.default_rng(9)
    answered = 0
    for at_least in rng.integers(1, 9, size=20):
        before = len(ledger.entries())
        process = spend(path, "ada", "1/7")
        process.wait_until_it_told(at_least)  # it is at work
        time.sleep(float(rng.random()) * 0.005)
        process.kill()
        told = int(process.told[-1])
        recorded = len(ledger.entries()) - before
        # At most one charge may be on disk whose answer was not given any more.
        assert told <= recorded <= told + 1
        answered += told
    entries = ledger.entries()
    assert len(entries) >= answered
    assert ledger.spent("people").epsilon == F(len(entries), 7)
    # line 1 set the cap
    assert [entry.number for entry in entries] == list(range(2, len(entries) + 2))
    assert verify(ledger) == []


def test_a_charge_is_on_disk_before_charge_returns(tmp_path):
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    ledger.charge("people", "ada", Cost.pure("1/3"), "x")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT epsilon FROM journal WHERE kind = 'charge'").fetchall() == [
            ("1/3",)
        ]
    other.close()
    with ledger._connected() as connection:
        # FULL: the log is flushed at every commit
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


def test_it_is_the_same_ledger_after_a_restart(tmp_path):
    path = tmp_path / "ledger.sqlite"
    first = SQLiteLedger(path)
    first.set_cap("people", Budget("1/3"))
    first.set_cap("people", Budget("1/4"), "ada")
    entry = first.charge("people", "ada", Cost.bounded_range("1/5"), "split")
    first.close()
    again = SQLiteLedger(path)
    assert again.entries() == [entry]
    assert again.cap("people") == Budget("1/3")
    assert left(again, "people", "ada") == F(1, 20)


@pytest.mark.parametrize("statement", ["DELETE FROM journal", "UPDATE journal SET epsilon = '0'"])
def test_entries_are_append_only(tmp_path, statement):
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    ledger.charge("people", "ada", Cost.pure(1), "x")
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()
    assert ledger.spent("people").epsilon == 1


def test_what_is_no_ledger_is_refused_and_left_as_it_is(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at" * 20)
    with pytest.raises(LedgerError, match=r"notes\.txt"):
        SQLiteLedger(text)
    assert text.read_text().startswith("not a database")
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(LedgerError, match="not a Privet ledger"):
        SQLiteLedger(other)
    assert other.read_bytes() == before
    with pytest.raises(LedgerError):
        SQLiteLedger(tmp_path / "no such folder" / "ledger.sqlite")


def test_a_newer_ledger_is_refused(tmp_path):
    path = tmp_path / "ledger.sqlite"
    SQLiteLedger(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(LedgerError, match="version 99"):
        SQLiteLedger(path)


@pytest.mark.parametrize("replace", [False, True], ids=["removed", "replaced"])
def test_a_ledger_that_is_gone_takes_no_charge(tmp_path, replace):
    """Charges to a file that nobody will find again would be lost."""
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    path.rename(tmp_path / "elsewhere")
    if replace:
        SQLiteLedger(path).set_cap("people", Budget(1))
    with pytest.raises(LedgerError, match="removed or replaced"):
        ledger.charge("people", "ada", Cost.pure("0.1"), "x")
    # A thread that never used it before would open whatever is there, or make a new file.
    with ThreadPoolExecutor(1) as thread, pytest.raises(LedgerError, match="removed or replaced"):
        thread.submit(ledger.charge, "people", "ada", Cost.pure("0.1"), "x").result()
    assert path.exists() == replace


def test_openers_at_once_agree_on_one_cap(tmp_path):
    first, second = (SQLiteLedger(tmp_path / "ledger.sqlite") for _ in range(2))
    assert first.open_cap("people", Budget(1)) == second.open_cap("people", Budget(10)) == Budget(1)


def test_odd_fractions_of_one_analyst_do_not_choke_the_account(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(1))
    spent = F(0)
    for i in range(150):
        odd = F(10**25 + 2 * i + 1, 10**29 + 7919 * i + 1)
        ledger.charge("people", "eve", Cost.pure(odd), "x")
        spent += odd
    ledger.charge("people", "bob", Cost.pure("0.1"), "x")
    recorded = ledger.spent("people").epsilon
    assert spent + F(1, 10) <= recorded <= spent + F(1, 10) + F(1, 10**250)
    left_over = 1 - recorded
    with pytest.raises(BudgetExceeded):
        ledger.charge(
            "people",
            "bob",
            Cost.pure(F(math.floor(left_over * 10**50) + 1, 10**50)),
            "a hair too much",
        )
    ledger.charge(
        "people", "bob", Cost.pure(F(math.floor(left_over * 10**50), 10**50)), "all but a hair"
    )
