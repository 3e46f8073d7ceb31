"""Whether a ledger is still what it was.

The chain finds a line that was edited, removed, inserted or moved. A tail that was cut off, or a backup that was restored, leaves a
chain that is whole but short: what lies outside of the ledger finds it, the witness and the receipts that analysts hold.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from privet.budget import NOTHING, Budget, Cost
from privet.errors import LedgerError
from privet.ledger.base import Ledger, add
from privet.ledger.journal import Line, Receipt
from privet.ledger.witness import Witness

Account = tuple[str, str | None]


def verify(ledger: Ledger, witness: Witness | None = None, receipts: Sequence[Receipt] = ()) -> list[str]:
    """What is wrong with a ledger, in words; empty where nothing is. A ledger that is whole is noted in the witness."""
    lines = list(ledger.journal())
    found = [*_chain(ledger.identity, lines), *_accounts(ledger, lines)]
    by_number = {line.number: line for line in lines}
    seen = None if witness is None else witness.seen()
    if seen is not None:
        found += _against("the witness", seen, ledger.identity, by_number)
    for receipt in receipts:
        found += _against(f"the receipt of line {receipt.number}", receipt, ledger.identity, by_number)
        if receipt.answer:
            found += _answered(ledger, receipt)
    if not found and lines and witness is not None:
        witness.note(ledger.identity, lines[-1])
    return found


def _chain(identity: str, lines: list[Line]) -> Iterator[str]:
    before, expected = identity, 1
    for line in lines:
        if line.number != expected:
            yield f"line {line.number} stands where line {expected} should: a line was removed or moved"
        elif line.hash != line.hashed(before):
            yield f"line {line.number} is not what was written after line {expected - 1}: one of them was edited, inserted or moved"
        before, expected = line.hash, line.number + 1


def _accounts(ledger: Ledger, lines: list[Line]) -> Iterator[str]:
    """Caps and totals must be what the lines say."""
    caps: dict[Account, Budget] = {}
    spent: dict[Account, Cost] = {}
    for line in lines:
        try:
            if line.kind == "cap":
                caps[line.dataset, line.analyst or None] = line.budget
            else:
                for who in (None, line.analyst):
                    spent[line.dataset, who] = add(spent.get((line.dataset, who), NOTHING), line.entry.cost)
        except (ValueError, ZeroDivisionError, TypeError):
            yield f"line {line.number} holds an amount that is none"
    try:
        for dataset in ledger.datasets():
            listed: list[Account] = [(dataset, None), *((dataset, analyst) for analyst in ledger.analysts(dataset))]
            for account in listed:
                if account not in caps:
                    yield f"{_named(account)} has a cap that no line set"
        for account, budget in caps.items():
            if ledger.cap(*account) != budget:
                yield f"the cap of {_named(account)} is not the one that was set last"
        for account, cost in spent.items():
            if ledger.spent(*account) != cost:
                yield f"what {_named(account)} is said to have spent is not the sum of its charges"
    except (ValueError, ZeroDivisionError, TypeError, LedgerError):
        yield "caps or totals hold an amount that is none"


def _against(name: str, seen: Receipt, identity: str, lines: dict[int, Line]) -> Iterator[str]:
    if seen.ledger != identity:
        yield f"{name} is from another ledger"
    elif seen.number not in lines:
        last = max(lines, default=0)
        yield f"{name} has seen line {seen.number}, but the ledger ends at line {last}: it was cut, or restored from a backup"
    elif lines[seen.number].hash != seen.hash:
        yield f"{name} has seen another line {seen.number}: the ledger was changed, or restored from a backup and continued"


def _answered(ledger: Ledger, receipt: Receipt) -> Iterator[str]:
    answer = ledger.answer(receipt.number)
    if answer is None:
        yield f"the answer of line {receipt.number} was removed"
    elif hashlib.sha256(answer).hexdigest() != receipt.answer:
        yield f"the answer of line {receipt.number} was changed"


def _named(account: Account) -> str:
    dataset, analyst = account
    return f"data set {dataset!r}" if analyst is None else f"analyst {analyst!r} on data set {dataset!r}"
