"""Charge once, keep the answer, give it again.

A query is charged under a key, and its answer is recorded in the ledger before anybody sees it. So
whoever asks again under the same key gets the recorded answer. Where the process died between
charge and answer, nothing had been told to anybody: the query is answered then, for the charge that
stands. In no order of events do two different answers leave for one charge, and none is paid for
twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from privet.ledger import Entry
from privet.ledger.base import key_reused_error
from privet.ledger.keyed import KeyedLedger


@dataclass(frozen=True)
class Recorded:
    """An answer as the ledger keeps it, the entry that paid for it, and whether it had been
    recorded before.
    """

    entry: Entry
    answer: bytes
    replayed: bool


def replay_answer(keyed: KeyedLedger) -> Recorded | None:
    """The answer that was recorded under this key before, if there is one.

    Raises :class:`~privet.errors.KeyReused` where the key paid for another request.
    """
    entry = keyed.before
    if entry is None:
        return None
    if entry.request != keyed.request:
        raise key_reused_error(entry)
    answer = keyed.answer(entry.number)
    return None if answer is None else Recorded(entry, answer, replayed=True)


def answer_and_record(keyed: KeyedLedger, work: Callable[[], bytes]) -> Recorded | None:
    """A new answer, which is recorded before it is returned. What leaves is what is kept, even if
    somebody else was faster.

    ``work`` asks a curator that charges ``keyed``. None where it charged nothing: then there is
    nothing to keep.
    """
    answer = work()
    if keyed.entry is None:
        return None
    kept = keyed.record(keyed.entry.number, answer)
    return Recorded(keyed.entry, kept, replayed=kept != answer)
