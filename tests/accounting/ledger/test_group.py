"""Several charges in one transaction: each is durable when it returns, or is not there at all."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger, verify
from privet.accounting.ledger.group import GroupCommit
from privet.errors import BudgetExceeded, ParameterError


class Book:
    """A list that is written in transactions, which fail when they are told to."""

    def __init__(self) -> None:
        self.durable: list[int] = []
        self.transactions: list[int] = []
        self.begun, self.go = threading.Event(), threading.Event()
        self.fails: BaseException | None = None

    @contextmanager
    def transaction(self, several: bool):
        self.begun.set()
        self.go.wait(60)
        draft: list[int] = []
        yield draft
        if self.fails is not None:
            raise self.fails
        self.durable += draft
        self.transactions.append(len(draft))

    @contextmanager
    def alone(self, draft: list[int]):
        size = len(draft)
        try:
            yield
        except Exception:
            del draft[size:]
            raise


def write(number: int):
    def work(draft: list[int]) -> int:
        draft.append(number)
        if number < 0:
            raise ValueError(str(number))
        return number

    return work


def together(book: Book, numbers: list[int]) -> list[object]:
    """What becomes of numbers that wait while a first transaction is under way."""
    group: GroupCommit[list[int]] = GroupCommit(book.transaction, book.alone)

    def outcome(number: int) -> object:
        try:
            result = group.run(write(number))
        except Exception as error:  # noqa: BLE001
            return error
        assert result in book.durable  # before it is told
        return result

    with ThreadPoolExecutor(len(numbers) + 1) as threads:
        first = threads.submit(outcome, 0)
        assert book.begun.wait(60)
        later = [threads.submit(outcome, number) for number in numbers]
        while len(group._waiting) < len(numbers):
            pass
        book.go.set()
        return [first.result(60), *(one.result(60) for one in later)]


def test_what_waits_is_written_in_one_transaction_and_in_order():
    book = Book()
    assert together(book, [3, 1, 2]) == [0, 3, 1, 2]
    assert book.transactions == [1, 3]
    assert sorted(book.durable[1:]) == [1, 2, 3]


def test_what_fails_is_undone_alone():
    book = Book()
    first, *later = together(book, [1, -5, 2])
    assert (first, later[0], later[2]) == (0, 1, 2)
    assert str(later[1]) == "-5"
    assert sorted(book.durable) == [0, 1, 2]


def test_a_transaction_that_fails_fails_for_all_of_it():
    book = Book()
    book.fails = OSError("disk full")
    outcomes = together(book, [1, -5])
    assert [str(one) for one in outcomes] == ["disk full", "disk full", "-5"]
    assert book.durable == []


def test_charges_at_once_are_durable_and_never_overspend(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(10))

    def charge(number: int) -> bool:
        try:
            entry = ledger.charge("people", "ada", Cost.pure("1/2"), "w", key=f"key-{number}")
            assert ledger.record(entry.number, b"answer") == b"answer"
        except BudgetExceeded:
            return False
        other = SQLiteLedger(tmp_path / "ledger.sqlite")  # durable when it returns
        assert other.charged("ada", f"key-{number}") == entry
        other.close()
        return True

    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(charge, range(40)))
    assert sum(outcomes) == 20
    assert ledger.spent("people").epsilon == 10
    assert verify(ledger) == []
    with pytest.raises(ParameterError, match="UTF-8") as refused:
        ledger.charge("people", "ada", Cost.pure("1/2"), "w", key="\ud800")
    assert "nothing is charged" in str(refused.value)


#: Kills the process at the end of a transaction of several charges: before it is durable, or after.
KILLED = """
import os, signal, sys, threading
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
from privet.accounting.ledger.group import GroupCommit
path, when = sys.argv[1:]
ledger = SQLiteLedger(path)
ledger.set_cap("people", Budget(100))
group, n_charges = ledger._group, 6
waiting = threading.Event()
inner, write = group._transaction, group._write_next
from contextlib import contextmanager
@contextmanager
def killed(several):
    with inner(several) as connection:
        yield connection
        if several and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
    if several and when == "after":
        os.kill(os.getpid(), signal.SIGKILL)
group._transaction = killed
def charge(number):
    ledger.charge("people", "ada", Cost.pure(1), "w", key=f"key-{number}")
    print(number, flush=True)  # rows may be read from here on
with group.turn:
    threads = [threading.Thread(target=charge, args=(number,)) for number in range(n_charges)]
    for thread in threads:
        thread.start()
    while len(group._waiting) < n_charges:
        pass
for thread in threads:
    thread.join()
"""


@pytest.mark.parametrize(("when", "durable"), [("before", 0), ("after", 6)])
def test_nothing_is_read_for_a_charge_that_a_kill_undid(tmp_path: Path, when: str, durable: int):
    path = tmp_path / "ledger.sqlite"
    command = [sys.executable, "-c", KILLED, str(path), when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (-9, "")
    assert done.stdout == ""  # nobody was told
    ledger = SQLiteLedger(path)
    assert len(ledger.entries()) == durable
    assert ledger.spent("people").epsilon == durable
    assert verify(ledger) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_others_write_leaves_a_ledger_that_can_be_used(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(1000))
    over = threading.Event()

    def busily() -> None:
        while not over.is_set():
            ledger.charge("people", "ada", Cost.pure("1/100"), "w")

    threads = [threading.Thread(target=busily) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if not child:
                ledger.charge("people", "child", Cost.pure(1), "w")
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert ledger.spent("people", "child").epsilon == 3
    assert verify(ledger) == []
