"""Whether a ledger is still what it was.

The chain finds a line that was edited, removed, inserted or moved. A tail that was cut off, or a
backup that was restored, leaves a chain that is whole but short: what lies outside of the ledger
finds it, the witness and the receipts that analysts hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from privet.budget import NOTHING, Cost
from privet.ledger.base import Ledger, add
from privet.ledger.journal import Books, Line, Receipt, written
from privet.ledger.witness import Witness

Account = tuple[str, str]


def verify(
    ledger: Ledger, witness: Witness | None = None, receipts: Sequence[Receipt] = ()
) -> list[str]:
    """What is wrong with a ledger, in words; empty where nothing is. A ledger that is whole is
    noted in the witness.
    """
    # before the lines are read: what was seen then must be among them
    seen = None if witness is None else witness.seen()
    books = ledger.books()
    found = problems_of(ledger.identity, books)
    by_number = {line.number: line for line in books.lines}
    if seen is not None:
        found += _against("the witness", seen, ledger.identity, by_number)
    for receipt in receipts:
        found += _against(
            f"the receipt of line {receipt.number}", receipt, ledger.identity, by_number
        )
        if receipt.answer:
            found += _answered(ledger, receipt)
    if not found and books.lines and witness is not None:
        witness.note(ledger, books.lines[-1])
    return found


def problems_of(identity: str, books: Books) -> list[str]:
    """What is wrong with the books of a ledger by themselves: the chain of lines, and what must
    follow from them.
    """
    return [*_chain(identity, books.lines), *_accounts(books)]


def _chain(identity: str, lines: list[Line]) -> Iterator[str]:
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


def _accounts(books: Books) -> Iterator[str]:
    """Caps and totals must be what the lines say."""
    caps: dict[Account, str] = {}
    spent: dict[Account, Cost] = {}
    for line in books.lines:
        try:
            if line.kind == "cap":
                caps[line.dataset, line.analyst] = f"{line.budget.unit} {line.budget.amount}"
            else:
                for who in ("", line.analyst):
                    spent[line.dataset, who] = add(
                        spent.get((line.dataset, who), NOTHING), line.entry.cost
                    )
        except (ValueError, TypeError):
            yield f"line {line.number} holds an amount that is none"
    for account in sorted({*caps, *books.caps}, key=repr):  # what is damaged may be no text
        if account not in caps:
            yield f"{_named(account)} has a cap that no line set"
        elif books.caps.get(account) != caps[account]:
            yield f"the cap of {_named(account)} is not the one that was set last"
    for account in sorted({*spent, *books.spent}, key=repr):
        if books.spent.get(account) != written(spent.get(account, NOTHING)):
            yield f"what {_named(account)} is said to have spent is not the sum of its charges"


def _against(name: str, seen: Receipt, identity: str, lines: dict[int, Line]) -> Iterator[str]:
    if seen.ledger != identity:
        yield f"{name} is from another ledger"
    elif seen.number not in lines:
        last = max(lines, default=0)
        yield (
            f"{name} has seen line {seen.number}, but the ledger ends at line {last}: it was cut, "
            "or restored from a backup"
        )
    elif lines[seen.number].hash != seen.hash:
        yield (
            f"{name} has seen another line {seen.number}: the ledger was changed, or restored from "
            "a backup and continued"
        )


def _answered(ledger: Ledger, receipt: Receipt) -> Iterator[str]:
    answer = ledger.answer(receipt.number)
    if answer is None:
        yield f"the answer of line {receipt.number} was removed"
    elif hashlib.sha256(answer).hexdigest() != receipt.answer:
        yield f"the answer of line {receipt.number} was changed"


def _named(account: Account) -> str:
    dataset, analyst = account
    return f"analyst {analyst!r} on data set {dataset!r}" if analyst else f"data set {dataset!r}"
