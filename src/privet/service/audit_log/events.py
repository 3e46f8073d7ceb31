"""Describe events, and chain them by their hashes.

An event's hash is made as a ledger's (:mod:`privet.accounting.ledger.journal`): SHA-256 over the
hash before (for the first: the identity of the log) and all fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from privet._types import Json
from privet.accounting.ledger.journal import (
    format_particulars,
    hash_after,
    now,
    parse_particulars,
)
from privet.accounting.ledger.verify import Witness, check_chain, check_receipt
from privet.text import shorten

Role = Literal["administrator", "owner", "auditor", "analyst", "stranger"]
#: Characters of a description that are kept.
LONGEST = 4000


@dataclass(frozen=True)
class Person:
    """Somebody, and what they are here.

    An *administrator* uses the command line on the curator's machine. An *owner* changes what is
    granted, an *auditor* only reads, an *analyst* asks. A *stranger* has no token that is known.
    """

    name: str
    role: Role

    def __str__(self) -> str:
        return self.name if self.role in ("analyst", self.name) else f"{self.name} ({self.role})"


@dataclass(frozen=True)
class Event:
    """One line of the audit log.

    ``who`` did something of a kind, such as ``"grant"``, and ``what`` says it in words. ``dataset``
    and ``analyst`` are whom it is about, where it is about one. ``more`` is a JSON object as
    :func:`~privet.accounting.ledger.journal.format_particulars` writes it, or empty.
    """

    number: int
    time: str
    who: str
    role: str
    kind: str
    dataset: str
    analyst: str
    what: str
    more: str = ""
    hash: str = ""

    @property
    def columns(self) -> tuple[int | str, ...]:
        """All parts of the event in the order in which they are stored."""
        return tuple(getattr(self, name) for name in COLUMNS)

    def hashed(self, before: str) -> str:
        """Return the hash that this event must have after one with the hash ``before``."""
        return hash_after(before, self.columns[:-1])

    @property
    def person(self) -> str:
        """Who did it, with their role."""
        return self.who if self.role in ("analyst", self.who) else f"{self.who} ({self.role})"

    @property
    def particulars(self) -> dict[str, Any]:
        """``more`` as an object."""
        return parse_particulars(self.more)

    @property
    def is_refusal(self) -> bool:
        """Whether somebody was refused something, rather than something changed."""
        return self.kind in REFUSALS

    def to_json(self) -> Json:
        """Return the event as JSON, as owners and auditors see it."""
        told = {name: getattr(self, name) for name in COLUMNS if name != "more"}
        return {**told, "more": self.particulars}


COLUMNS = tuple(column.name for column in fields(Event))
#: Kinds of events that are refusals.
REFUSALS = ("sign-in refused", "question refused", "change refused", "role refused")


def make_event(
    who: Person,
    kind: str,
    what: str,
    dataset: str = "",
    analyst: str = "",
    more: Mapping[str, Any] | None = None,
) -> Event:
    """Return an event of now, to be appended to a log, which numbers and chains it."""
    told = shorten(_storable(what), LONGEST)
    names = (_storable(who.name), who.role, kind, _storable(dataset), _storable(analyst))
    return Event(0, now(), *names, told, format_particulars(more or {}))


def chain_event(event: Event, before: str, number: int) -> Event:
    """Return the event as the next one after a hash."""
    numbered = replace(event, number=number)
    return replace(numbered, hash=numbered.hashed(before))


def verify_log(identity: str, events: Sequence[Event], witness: Witness | None = None) -> list[str]:
    """Return what is wrong with an audit log, in words; empty where nothing is.

    ``events`` must have been read after what the witness has seen. See
    :func:`~privet.service.audit_log.store.verify_stored`.
    """
    problems = list(check_chain(identity, events))
    seen = None if witness is None else witness.seen()
    if seen is not None:
        by_number = {event.number: event for event in events}
        problems += check_receipt("the witness", seen, identity, by_number, "audit log")
    return problems


def _storable(text: str) -> str:
    """What came over the network may hold what no store takes: NUL, or half of a character."""
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
