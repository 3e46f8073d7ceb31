"""Verify that a ledger is still what it was.

The chain finds a line that was edited, removed, inserted or moved. A tail that was cut off, or a
backup that was restored, leaves a chain that is whole but short. It is found by what lies outside
of the ledger: the receipts that analysts hold, and the witness, which remembers the last line that
was seen.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from privet.accounting.cost import NOTHING, Cost
from privet.accounting.ledger.base import Ledger, add, amount_in
from privet.accounting.ledger.journal import Books, JournalEntry, Receipt, format_cost
from privet.accounting.ledger.relation import Relation, is_same, settle
from privet.accounting.ledger.reservations import REASONS, Reservation
from privet.errors import AnswerArchived, LedgerError, PrivetError

AccountKey = tuple[str, str]


class ChainLine(Protocol):
    """A line of a chain: of a ledger, or of an audit log."""

    @property
    def number(self) -> int: ...

    @property
    def hash(self) -> str: ...

    def hashed(self, before: str) -> str:
        """Return the hash that it must have after a line with the hash ``before``."""
        ...


class NumberedLine(Protocol):
    """What a witness remembers of a line."""

    @property
    def number(self) -> int: ...

    @property
    def hash(self) -> str: ...


class Chain(Protocol):
    """Lines that are chained by their hashes, from the identity on."""

    @property
    def identity(self) -> str: ...

    def line(self, number: int) -> NumberedLine | None:
        """Return the line of this number, or None."""
        ...


def verify(
    ledger: Ledger, witness: Witness | None = None, receipts: Sequence[Receipt] = ()
) -> list[str]:
    """Return what is wrong with a ledger, in words; empty where nothing is.

    A ledger that is whole is noted in the witness.
    """
    # before the lines are read: what was seen then must be among them
    seen = None if witness is None else witness.seen()
    books = ledger.books()
    problems = problems_of(ledger.identity, books)
    by_number = {line.number: line for line in books.lines}
    if seen is not None:
        problems += check_receipt("the witness", seen, ledger.identity, by_number)
    for receipt in receipts:
        problems += check_receipt(
            f"the receipt of line {receipt.number}", receipt, ledger.identity, by_number
        )
        if receipt.answer:
            problems += _check_answer(ledger, receipt)
    if not problems and books.lines and witness is not None:
        witness.note(ledger, books.lines[-1])
    return problems


def problems_of(identity: str, books: Books) -> list[str]:
    """Return what is wrong with the books of a ledger by themselves.

    Checks the chain of lines, and what must follow from them.
    """
    return [
        *check_chain(identity, books.lines),
        *_check_accounts(books),
        *_check_reservations(books),
    ]


def check_chain(identity: str, lines: Sequence[ChainLine]) -> Iterator[str]:
    """Say where the chain of these lines is broken."""
    before, expected = identity, 1
    for line in lines:
        if line.number != expected:
            yield (
                f"line {line.number} stands where line {expected} should: a line was removed or "
                "moved"
            )
        elif line.hash != line.hashed(before):
            yield (
                f"line {line.number} is not what was written after line {expected - 1}: one of "
                "them was edited, inserted or moved"
            )
        # In a damaged file anything may stand for a number.
        before, expected = (
            line.hash,
            (line.number if isinstance(line.number, int) else expected) + 1,
        )


def _check_accounts(books: Books) -> Iterator[str]:
    """Check that caps and totals are what the lines say."""
    caps: dict[AccountKey, str] = {}
    spent: dict[AccountKey, Cost] = {}
    for line in books.lines:
        try:
            if line.kind == "cap":
                caps[line.dataset, line.analyst] = f"{line.budget.unit} {line.budget.amount}"
            elif line.kind == "charge":
                for who in ("", line.analyst):
                    spent[line.dataset, who] = add(
                        spent.get((line.dataset, who), NOTHING), line.entry.cost
                    )
        except (ValueError, TypeError):
            yield f"line {line.number} holds an amount that is none, or particulars that are none"
    for account in sorted({*caps, *books.caps}, key=repr):  # what is damaged may be no text
        if account not in caps:
            yield f"{_name_account(account)} has a cap that no line set"
        elif books.caps.get(account) != caps[account]:
            yield f"the cap of {_name_account(account)} is not the one that was set last"
    for account in sorted({*spent, *books.spent}, key=repr):
        if books.spent.get(account) != format_cost(spent.get(account, NOTHING)):
            yield (
                f"what {_name_account(account)} is said to have spent is not the sum of its charges"
            )


def _check_reservations(books: Books) -> Iterator[str]:
    """Replay the lines: each must be allowed after those before it, and reservations and relations
    must be what they say.
    """
    replayed: dict[int, Reservation] = {}
    relations: dict[str, Relation] = {}
    latest = ""
    for line in books.lines:
        try:
            latest = max(latest, line.time)
            more = line.particulars
            stated = Relation.read(more) if line.kind in ("charge", "reserve") else None
            if stated is not None:
                known = relations.get(line.dataset)
                # older versions, which state no person, charged under any
                if stated.person is not None and known and not is_same(known, stated):
                    yield f"line {line.number} is for other neighbours than its account"
                settled = settle(known, Relation.check(*stated))
                assert settled is not None
                relations[line.dataset] = settled
            if line.kind == "reserve":
                replayed[line.number] = Reservation.opened(line, latest)
            elif line.kind == "close" or "reservation" in more:
                yield from _replay(line, more, replayed, latest)
            elif line.kind not in ("charge", "cap"):
                yield f"line {line.number} is of no kind that a ledger writes"
        except (ValueError, TypeError, KeyError, PrivetError):
            yield f"line {line.number} is not a {line.kind} that a ledger writes"
    rows = {number: reservation.row for number, reservation in replayed.items()}
    for number in sorted({*rows, *books.reservations}, key=repr):
        if number not in rows:
            yield f"there is a reservation {number} that no line made"
        elif number not in books.reservations:
            yield f"the reservation of line {number} is gone"
        elif books.reservations[number] != rows[number]:
            yield f"the reservation of line {number} is not what its charges and its end make it"
    for dataset in sorted({*relations, *books.relations}, key=repr):
        if books.relations.get(dataset) != relations.get(dataset):
            yield (
                f"the neighbours or rows per person of data set {dataset!r} are not those that its "
                "lines state"
            )


def _replay(
    line: JournalEntry, more: dict[str, Any], replayed: dict[int, Reservation], latest: str
) -> Iterator[str]:
    """Replay a charge to a reservation, or the end of one, and say what is wrong with it."""
    number = more["reservation"]
    reservation = replayed.get(number)
    if reservation is None:
        yield f"line {line.number} is about a reservation {number} that no line before it made"
        return
    if (reservation.dataset, reservation.analyst) != (line.dataset, line.analyst):
        yield f"line {line.number} is about the reservation {number} of somebody else"
        return
    if not reservation.is_open:
        yield f"line {line.number} is about the reservation {number}, which was closed before"
        return
    if line.kind == "close":
        if more["why"] not in REASONS:
            yield f"line {line.number} closes reservation {number} for no reason that there is"
        replayed[number] = reservation.after_closing(line)
    else:
        replayed[number] = reservation.after_charge(line.entry.cost, latest)
        if amount_in(line.entry.cost, reservation.unit, reservation.dataset) > reservation.left:
            yield f"line {line.number} charges more to reservation {number} than it had left"


def check_receipt(
    name: str,
    seen: Receipt,
    identity: str,
    lines: Mapping[int, NumberedLine],
    of: str = "ledger",
) -> Iterator[str]:
    """Say how these lines contradict one that was seen before."""
    if seen.ledger != identity:
        yield f"{name} is from another {of}"
    elif seen.number not in lines:
        last = max(lines, default=0)
        yield (
            f"{name} has seen line {seen.number}, but the {of} ends at line {last}: it was cut, "
            "or restored from a backup"
        )
    elif lines[seen.number].hash != seen.hash:
        yield (
            f"{name} has seen another line {seen.number}: the {of} was changed, or restored from "
            "a backup and continued"
        )


def _check_answer(ledger: Ledger, receipt: Receipt) -> Iterator[str]:
    try:
        answer = ledger.answer(receipt.number)
        digest = "" if answer is None else hashlib.sha256(answer).hexdigest()
    except AnswerArchived as kept:
        digest = kept.digest
    if digest == "":
        yield f"the answer of line {receipt.number} was removed"
    elif digest != receipt.answer:
        yield f"the answer of line {receipt.number} was changed"


def _name_account(account: AccountKey) -> str:
    dataset, analyst = account
    return f"analyst {analyst!r} on data set {dataset!r}" if analyst else f"data set {dataset!r}"


class Witness:
    """A small file with the last line that was seen of a ledger, or of an audit log.

    It should lie on another disk than the ledger.
    """

    def __init__(self, path: str | PathLike[str], of: str = "ledger") -> None:
        self.path, self._of = Path(path), of
        self._lock = threading.Lock()
        self._gate = threading.Lock()
        # by this process: the latest line to be noted, and the last that was, of which ledger
        self._latest: tuple[str, NumberedLine | None] = ("", None)
        self._noted, self._noted_number = "", 0

    def seen(self) -> Receipt | None:
        """Return the last line that was seen, if any was."""
        try:
            text = self.path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise LedgerError(f"cannot read the witness {self.path}: {error}") from None
        if not text:  # a power cut may leave it so; nobody gains by emptying what could be removed
            return None
        if not re.match(r"privet-receipt-1\.", text):
            raise LedgerError(f"the witness {self.path} is damaged")
        return Receipt.read(text)

    def check_writable(self) -> None:
        """Raise if a line could not be noted: the file, or the disk that it is on, is away."""
        if self._noted and not self.path.is_file():
            raise LedgerError(f"the witness {self.path} is not there any more")
        if not os.access(self.path.parent, os.W_OK | os.X_OK):
            raise LedgerError(f"cannot write the witness {self.path}: its folder cannot be written")

    def note(self, ledger: Chain, line: NumberedLine) -> None:
        """Remember a line, unless a later one was seen already.

        What was seen before must still be there, or it is not forgotten.

        Processes may lose each other's note: then an earlier line is kept. Threads that come at the
        same time are served by one note, of the latest of their lines.
        """
        number = line.number
        with self._gate:
            wanted, latest = self._latest
            if wanted != ledger.identity or latest is None or latest.number < number:
                self._latest = (ledger.identity, line)
            earlier = self._noted != ledger.identity or self._noted_number < number
        with self._lock:
            # While this thread waited, another one noted a later line, and looked at what was seen
            # before. A later line that was noted earlier than that may be gone by now.
            if earlier and self._noted == ledger.identity and self._noted_number >= number:
                return
            with self._gate:
                line = self._latest[1] or line
            before = self.seen()
            if before is not None:
                self._check(before, ledger)
                if before.number >= line.number:
                    return
            beside = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
            try:
                beside.write_text(
                    f"{Receipt(ledger.identity, line.number, line.hash)}\n", encoding="ascii"
                )
                beside.replace(self.path)
                self._noted, self._noted_number = ledger.identity, line.number
            except OSError as error:
                beside.unlink(missing_ok=True)
                raise LedgerError(f"cannot write the witness {self.path}: {error}") from None

    def _check(self, before: Receipt, ledger: Chain) -> None:
        there = ledger.line(before.number) if before.ledger == ledger.identity else None
        if there is None or there.hash != before.hash:
            raise LedgerError(
                f"the {self._of} is not the one that the witness {self.path} has seen: line "
                f"{before.number} is gone or another. "
                "It was cut or replaced, perhaps by a backup, while it was in use"
            )
