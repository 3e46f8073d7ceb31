"""Take recorded answers out of a ledger, and leave in the place of each what says where it is.

A recorded answer is there so that the same request, sent again, gets the same answer for the same
charge. Without it, a ledger would take the question for one that was charged and never answered,
and it would be answered anew: two draws of noise for one charge. So an answer is not deleted. It is
replaced, in one transaction with the writing of the archive, by a note that names the archive and
has the answer's SHA-256. The charge stands, the key stays used, receipts can still be verified, and
whoever sends the request again is told which archive has the answer. Versions that know no archives
find an answer that they cannot read, and never a question without one.

Answers stay that an open reservation may ask for again, and those of groups of people and of SQL
clients.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from privet.accounting.ledger.base import LedgerReader
from privet.accounting.ledger.journal import Entry, JournalEntry, Receipt
from privet.accounting.ledger.reservations import Reservation
from privet.errors import AnswerArchived

#: What a note begins with; no answer does.
_NOTE = b'{"privet_archived_answer":'

#: Bytes of each answer of the SQL functions of 0.1; what they answer now never begins like JSON.
_SQL_ANSWER = 24


@dataclass(frozen=True)
class ArchivedAnswer:
    """An answer that is taken out, and the line that paid for it."""

    line: JournalEntry
    answer: bytes


#: Keeps the answers that are taken out, durably, before the ledger lets go of them.
Keep = Callable[[list[ArchivedAnswer]], None]


def make_note(archive: str, answer: bytes) -> bytes:
    """Return what stands in the ledger in place of an answer."""
    digest = hashlib.sha256(answer).hexdigest()
    return _NOTE + json.dumps([archive, digest]).encode() + b"}"


def require_answer(number: int, stored: bytes | None) -> bytes | None:
    """Return what is stored, if it is an answer; raise where it is a note."""
    if stored is None or not stored.startswith(_NOTE):
        return stored
    archive, digest = "?", ""
    with suppress(ValueError, UnicodeDecodeError):
        archive, digest = json.loads(stored[len(_NOTE) : -1])
    raise AnswerArchived(
        f"line {number} of the ledger charged this, and its answer was moved to the archive "
        f"{archive!r}: ask the owner for it, or ask under a new key, which is charged anew",
        archive,
        digest,
    )


def choose_answers(
    stored: Iterable[tuple[JournalEntry, bytes]], open_ones: Iterable[Reservation], before: str
) -> Iterator[ArchivedAnswer]:
    """Choose the answers that can be taken out: those charged before a time, under a key that no
    open reservation needs.
    """
    needed = {one.number for one in open_ones}
    for line, answer in stored:
        within = line.particulars.get("reservation")
        is_answer = answer.startswith(b'{"') and len(answer) > _SQL_ANSWER
        is_answer = is_answer and not answer.startswith(_NOTE)
        if line.key and line.time < before and within not in needed and is_answer:
            yield ArchivedAnswer(line, answer)


def is_answered(ledger: LedgerReader, number: int) -> bool:
    """Return whether a charge was answered, wherever the answer is now."""
    try:
        return ledger.answer(number) is not None
    except AnswerArchived:
        return True


def make_receipt(ledger: LedgerReader, entry: Entry) -> Receipt:
    """Return the receipt of a charge and its answer, which may be in an archive."""
    try:
        return Receipt.of(ledger.identity, entry, ledger.answer(entry.number))
    except AnswerArchived as kept:
        receipt = Receipt.of(ledger.identity, entry, None)
        return Receipt(receipt.ledger, receipt.number, receipt.hash, kept.digest)
