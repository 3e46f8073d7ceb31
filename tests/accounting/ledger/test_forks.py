"""A ledger that was open when the process forked: what the child charges is charged."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger, sqlite_files, verify
from privet.errors import LedgerError

COMMON = """
import os, sys, threading
from privet.accounting.cost import Cost
from privet.accounting.ledger import SQLiteLedger
ledger = SQLiteLedger(sys.argv[1])
def charge(analyst):
    ledger.charge("people", analyst, Cost.pure("1/100"), "x")
"""

#: The child charges, its parent closes the ledger and so removes the log, the child charges on.
PARENT_CLOSES = """
charge("parent")
turns = [os.pipe(), os.pipe()]
child = os.fork()
if child == 0:
    charge("child")
    os.write(turns[0][1], b".")
    os.read(turns[1][0], 1)
    for _ in range(5):
        charge("child")
    os._exit(0)
os.read(turns[0][0], 1)
ledger.close()
os.write(turns[1][1], b".")
assert os.waitpid(child, 0)[1] == 0
"""

#: Forks while another thread charges all the time. Each child charges once.
WHILE_CHARGING = """
done = threading.Event()
def work():
    for _ in range(40):
        charge("thread")
    done.set()
threading.Thread(target=work).start()
children = []
while len(children) < 20 or not done.is_set():
    child = os.fork()
    if child == 0:
        charge("child")
        os._exit(0)
    children.append(child)
    assert os.waitpid(child, 0)[1] == 0
    if len(children) == 20:
        done.wait()
"""


def run(code: str, path) -> None:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMMON + code, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("code", "charges"),
    [(PARENT_CLOSES, {"parent": 1, "child": 6}), (WHILE_CHARGING, {"thread": 40, "child": 20})],
    ids=["its parent closes the ledger", "another thread was charging"],
)
def test_no_charge_of_a_forked_child_is_lost(tmp_path, code, charges):
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    ledger.close()
    run(code, path)
    found = [entry.analyst for entry in ledger.entries("people")]
    assert {analyst: found.count(analyst) for analyst in set(found)} == charges
    assert verify(ledger) == []


def test_a_fork_that_python_was_not_told_of_takes_no_charge(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(1))
    ledger._connections._hold_connection().process = -1  # as the child sees it
    with pytest.raises(LedgerError, match="open ledgers after the fork"):
        ledger.charge("people", "ada", Cost.pure("0.5"), "x")
    ledger._connections._hold_connection().process = os.getpid()
    assert ledger.entries() == []


def test_another_ledger_with_the_number_of_one_that_was_removed_is_noticed(tmp_path):
    """A file system gives the number of a removed file to the next one."""
    path = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    ledger.close()
    path.unlink()
    other = SQLiteLedger(path)
    other.set_cap("people", Budget(1))
    ledger._file = path.stat().st_ino
    with pytest.raises(LedgerError, match="replaced"):
        ledger.charge("people", "ada", Cost.pure("0.5"), "x")
    assert other.entries() == []


def test_a_fork_that_is_interrupted_while_it_waits_leaves_no_lock_behind(tmp_path, monkeypatch):
    class Busy:
        class lock:
            def acquire() -> None:
                raise KeyboardInterrupt

            def release() -> None:
                raise AssertionError("this one was never taken")

    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(1))
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_files, "_all", [ledger._connections._hold_connection(), Busy])
        with pytest.raises(KeyboardInterrupt):
            sqlite_files._before_fork()
    sqlite_files._after_fork()  # Python goes on with the fork
    assert not sqlite_files._gate.locked()
    charging = threading.Thread(
        target=ledger.charge, args=("people", "ada", Cost.pure("0.5"), "x"), daemon=True
    )
    charging.start()
    charging.join(60)
    assert len(ledger.entries()) == 1
