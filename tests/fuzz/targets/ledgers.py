"""Ledgers that were damaged, and what proves their lines."""

from __future__ import annotations

import shutil
from pathlib import Path

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Receipt, SQLiteLedger, Witness, verify
from privet.errors import BudgetExceeded, LedgerError
from tests.fuzz.mutate import mutated_bytes
from tests.fuzz.target import Target

CAP, SPENT = Budget(10), Cost.pure(9)


def _made(path: Path) -> SQLiteLedger:
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", CAP)
    ledger.set_cap("people", Budget(9), "ada")
    for number in range(6):
        analyst = ("ada", "bob")[number % 2]
        entry = ledger.charge(
            "people", analyst, Cost.pure("3/2"), f"question {number}", key=f"k{number}", request="r"
        )
        ledger.record(entry.number, b'{"answer": 1}' * number)
    return ledger


class LedgerFiles(Target):
    """The one thing that a damaged ledger must never do is forget what was spent."""

    name = "ledger"
    what = (
        "damaged SQLite ledgers; one error, or all that was spent is still spent: a charge beyond "
        "the cap is never taken"
    )
    mutate = staticmethod(mutated_bytes)

    def corpus(self) -> list[bytes]:
        ledger = _made(self.folder / "made.sqlite")
        ledger.close()  # the last connection moves everything into the one file
        assert ledger.spent("people").epsilon == SPENT.epsilon
        ledger.close()
        return [(self.folder / "made.sqlite").read_bytes()]

    def run(self, data: bytes) -> None:
        place = self.folder / "damaged"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        (place / "input.sqlite").write_bytes(data)
        ledger = SQLiteLedger(place / "input.sqlite")
        try:
            self._use(ledger)
        finally:
            ledger.close()

    def _use(self, ledger: SQLiteLedger) -> None:
        refused: list[LedgerError] = []
        for read in (
            lambda: ledger.spent("people", "ada"),
            lambda: ledger.cap("people", "ada"),
            ledger.entries,
            ledger.unanswered,
            ledger.datasets,
            lambda: ledger.analysts("people"),
            lambda: list(ledger.journal()),
            lambda: [ledger.answer(number) for number in range(9)],
            lambda: ledger.charged("ada", "k2"),
            lambda: ledger.recorded("ada"),
            lambda: verify(ledger),
        ):
            try:
                read()
            except LedgerError as error:  # every way to read must say so by itself
                refused.append(error)
        try:
            ledger.charge("people", "eve", Cost.pure(2), "beyond the cap")
        except BudgetExceeded:
            pass
        else:
            raise AssertionError("a charge of 2 was taken where 1 was left")
        ledger.charge("people", "eve", Cost.pure(1), "the last unit")
        assert ledger.spent("people").epsilon == CAP.amount
        if refused:
            raise refused[0]


class Receipts(Target):
    """The text that an analyst holds."""

    name = "receipt"
    what = "receipts, checked against a ledger"
    mutate = staticmethod(mutated_bytes)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._ledger = _made(folder / "ledger.sqlite")

    def close(self) -> None:
        self._ledger.close()

    def corpus(self) -> list[bytes]:
        book = self._ledger
        return [
            str(Receipt.of(book.identity, entry, book.answer(entry.number))).encode()
            for entry in book.entries()
        ]

    def run(self, data: bytes) -> None:
        receipt = Receipt.read(data.decode("utf-8", "surrogateescape"))
        found = verify(self._ledger, receipts=[receipt])
        genuine = any(
            str(receipt).encode() == known
            or str(receipt).startswith(known.decode().rpartition(".")[0] + ".")
            for known in self.corpus()
        )
        assert genuine or found, "a receipt that nobody gave out was found to be right"


class Witnesses(Target):
    """The small file that has seen the last line."""

    name = "witness"
    what = "witness files; one error, or what it says of the ledger is checked"
    mutate = staticmethod(mutated_bytes)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._ledger = _made(folder / "ledger.sqlite")

    def close(self) -> None:
        self._ledger.close()

    def corpus(self) -> list[bytes]:
        witness = Witness(self.folder / "seen")
        assert verify(self._ledger, witness) == []
        return [witness.path.read_bytes()]

    def run(self, data: bytes) -> None:
        path = self.folder / "input.witness"
        path.write_bytes(data)
        found = verify(self._ledger, Witness(path))
        seen = Witness(path).seen()
        last = list(self._ledger.journal())[-1]
        told = None if seen is None else (seen.ledger, seen.number, seen.hash)
        assert found or told == (self._ledger.identity, last.number, last.hash), (
            "a witness of something else was found to be right"
        )
