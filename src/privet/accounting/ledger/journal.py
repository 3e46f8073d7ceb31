"""Chain the lines of a ledger by their hashes, so that none can be changed unnoticed.

A line's hash is SHA-256 over the hash of the line before (for the first: the ledger's identity, 64
random hexadecimal digits) followed by the line's fields in order, each as ``<bytes of
UTF-8>:<text>,``. So a line fixes everything before it: who knows one hash can tell whether the
history that led to it is still the same.

``more`` is hashed as the last field where it is not empty. Lines without it, which are all that
version 0.1 wrote, have the hashes that they always had.

Receipts prove a line to those who hold them. Costs and entries have a JSON form, in which amounts
are written fractions, so that nothing is rounded on the way.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

from privet._types import Json
from privet.accounting.cost import Budget, Cost, parse_fraction
from privet.errors import ParameterError


@dataclass(frozen=True)
class Entry:
    """One charge.

    ``number`` is its line in the journal; ``key`` and ``request`` say which request of the analyst
    it paid for.

    ``reservation`` is the line of the reservation that it was paid from (0: none), and ``asked``
    describes the question to people.
    """

    number: int
    time: str
    dataset: str
    analyst: str
    what: str
    cost: Cost
    key: str = ""
    request: str = ""
    hash: str = ""
    reservation: int = 0
    asked: str = ""


@dataclass(frozen=True)
class JournalEntry:
    """One line as it is stored.

    Amounts are written fractions; an empty one means that there is none.

    A line of kind "cap" sets the cap of a data set, or of one analyst on it (no analyst: of the
    data set), in one of the two units. A line of kind "reserve" sets an amount aside, in one of the
    two units, and one of kind "close" ends that reservation.

    ``more`` is a JSON object as :func:`format_particulars` writes it, or empty. It may hold:

    - in a charge, ``reservation`` (the number of its line), ``asked`` (the question in words),
      ``neighbours``, ``rows_per_person`` and ``person``;
    - in a reservation, ``schema`` (the fingerprint), ``neighbours``, ``rows_per_person`` and
      ``person``;
    - in a close, ``reservation``, ``why``, and ``claimed_model`` (the digest of a model, as the
      analyst claims it).
    """

    number: int
    time: str
    kind: str
    dataset: str
    analyst: str
    what: str
    epsilon: str
    rho: str
    key: str
    request: str
    hash: str
    more: str = ""

    @property
    def columns(self) -> tuple[int | str, ...]:
        """All parts of the line in the order in which they are stored."""
        # not astuple, which copies each part deeply: a quarter of the time of a charge
        return tuple(getattr(self, name) for name in _COLUMNS)

    def hashed(self, before: str) -> str:
        """Return the hash that this line must have after a line with the hash ``before``."""
        *values, _, more = self.columns
        return hash_after(before, [*values, more] if more else values)

    @property
    def particulars(self) -> dict[str, Any]:
        """``more`` as an object; a ValueError where it is none."""
        return parse_particulars(self.more)

    @property
    def entry(self) -> Entry:
        """As a charge."""
        cost = Cost(
            parse_fraction(self.epsilon) if self.epsilon else None, parse_fraction(self.rho)
        )
        return Entry(
            self.number,
            self.time,
            self.dataset,
            self.analyst,
            self.what,
            cost,
            self.key,
            self.request,
            self.hash,
            *charge_particulars(self.particulars),
        )

    @property
    def budget(self) -> Budget:
        """As a cap, or as the amount of a reservation."""
        return (
            Budget(parse_fraction(self.epsilon))
            if self.epsilon
            else Budget(rho=parse_fraction(self.rho))
        )


_COLUMNS = tuple(column.name for column in fields(JournalEntry))


@dataclass(frozen=True)
class Books:
    """A ledger at one moment, as it is stored: its lines, and the caps, totals, reservations and
    relations that must follow from them.

    Caps and totals are by data set and analyst (no analyst: of the data set); a cap is text such as
    "epsilon 1/3". Reservations are by line, as rows of (data set, analyst, unit, reserved, charged,
    touched, state, closing line). Relations are by data set: neighbours, rows per person, person.
    """

    lines: list[JournalEntry]
    caps: dict[tuple[str, str], str]
    spent: dict[tuple[str, str], tuple[str | None, str]]
    reservations: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    relations: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        lines: list[JournalEntry],
        caps: Iterable[Sequence[Any]],
        spent: Iterable[Sequence[Any]],
        reservations: Iterable[Sequence[Any]] = (),
        relations: Iterable[Sequence[Any]] = (),
    ) -> Books:
        """Return the books of stored rows.

        The rows are (data set, analyst, unit, amount) of caps, (data set, analyst, epsilon, rho) of
        totals, those of reservations with their number first, and (data set, neighbours, rows per
        person, person) of relations.
        """
        by_account = {
            (dataset, analyst): f"{unit} {amount}" for dataset, analyst, unit, amount in caps
        }
        return cls(
            lines,
            by_account,
            {(dataset, analyst): (epsilon, rho) for dataset, analyst, epsilon, rho in spent},
            {row[0]: tuple(row[1:]) for row in reservations},
            {row[0]: tuple(row[1:]) for row in relations},
        )


def hash_after(before: str, values: Iterable[object]) -> str:
    """Return the hash of a line with these fields after a line with the hash ``before``."""
    written = "".join(f"{len(text.encode())}:{text}," for text in map(str, values))
    return hashlib.sha256(f"{before}{written}".encode()).hexdigest()


def charge_line(
    before: str,
    number: int,
    dataset: str,
    analyst: str,
    what: str,
    cost: Cost,
    key: str = "",
    request: str = "",
    time: str = "",
    more: str = "",
) -> JournalEntry:
    """Return the next line, for a charge."""
    epsilon = "" if cost.epsilon is None else str(cost.epsilon)
    amounts = (epsilon, str(cost.rho))
    line = JournalEntry(
        number, time or now(), "charge", dataset, analyst, what, *amounts, key, request, "", more
    )
    return _chain_line(before, line)


def cap_line(
    before: str, number: int, dataset: str, analyst: str | None, budget: Budget
) -> JournalEntry:
    """Return the next line, for a cap."""
    what, amounts = f"cap: {budget}", _format_budget(budget)
    return _chain_line(
        before,
        JournalEntry(number, now(), "cap", dataset, analyst or "", what, *amounts, "", "", ""),
    )


def reserve_line(
    before: str,
    number: int,
    dataset: str,
    analyst: str,
    what: str,
    budget: Budget,
    key: str,
    request: str,
    more: str,
) -> JournalEntry:
    """Return the next line, for a reservation."""
    amounts = _format_budget(budget)
    line = JournalEntry(
        number, now(), "reserve", dataset, analyst, what, *amounts, key, request, "", more
    )
    return _chain_line(before, line)


def close_line(
    before: str, number: int, dataset: str, analyst: str, what: str, more: str
) -> JournalEntry:
    """Return the next line, for the end of a reservation.

    It has no key: that of the reservation stays taken.
    """
    return _chain_line(
        before,
        JournalEntry(number, now(), "close", dataset, analyst, what, "", "", "", "", "", more),
    )


def _format_budget(budget: Budget) -> tuple[str, str]:
    return (str(budget.amount), "") if budget.unit == "epsilon" else ("", str(budget.amount))


def _chain_line(before: str, line: JournalEntry) -> JournalEntry:
    return replace(line, hash=line.hashed(before))


def format_particulars(particulars: Mapping[str, Any]) -> str:
    """Return what else is known of a line as canonical JSON: sorted, without spaces; empty for
    nothing.
    """
    if not particulars:
        return ""
    return json.dumps(particulars, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse_particulars(more: str) -> dict[str, Any]:
    """Return the particulars of a line.

    Raises ValueError for text that :func:`format_particulars` never writes.
    """
    if more == "":
        return {}
    try:
        particulars = json.loads(more)
    except RecursionError:  # in a damaged file anything may stand there
        raise ValueError("these are no particulars of a line") from None
    if not isinstance(particulars, dict) or format_particulars(particulars) != more:
        raise ValueError("these are no particulars of a line")
    return particulars


def charge_particulars(particulars: Mapping[str, Any]) -> tuple[int, str]:
    """Return the reservation that a charge was paid from, and what it asked in words."""
    reservation, asked = particulars.get("reservation", 0), particulars.get("asked", "")
    if not isinstance(reservation, int) or not isinstance(asked, str):
        raise ValueError("these are no particulars of a charge")
    return reservation, asked


def format_cost(cost: Cost) -> tuple[str | None, str]:
    """Return a total as it is stored."""
    return None if cost.epsilon is None else str(cost.epsilon), str(cost.rho)


def new_identity() -> str:
    """Return the identity of a new ledger."""
    return secrets.token_hex(32)


def now() -> str:
    """Return the current time as a line has it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def current_or_latest_time(latest: str) -> str:
    """Return the time by which reservations expire.

    It is the clock's, but never before the ledger's latest.
    """
    return max(now(), latest)


@dataclass(frozen=True)
class Receipt:
    """What an answer carries to prove its line: the ledger, the line's number and hash, and the
    SHA-256 of the answer (if there is one).
    """

    ledger: str
    number: int
    hash: str
    answer: str = ""

    def __str__(self) -> str:
        return f"privet-receipt-1.{self.ledger}.{self.number}.{self.hash}.{self.answer}"

    @classmethod
    def of(cls, ledger: str, entry: Entry, answer: bytes | None) -> Receipt:
        """Return the receipt of a charge, and of its answer where there is one."""
        return cls(
            ledger,
            entry.number,
            entry.hash,
            "" if answer is None else hashlib.sha256(answer).hexdigest(),
        )

    @classmethod
    def read(cls, text: str) -> Receipt:
        """Return the receipt that a text spells."""
        match = re.fullmatch(
            r"privet-receipt-1\.([0-9a-f]{64})\.([0-9]{1,18})\.([0-9a-f]{64})\.([0-9a-f]{64}|)",
            text.strip(),
        )
        if match is None:
            raise ParameterError(
                "a receipt must be text such as privet-receipt-1.LEDGER.NUMBER.HASH.ANSWER, as an "
                "answer carries it"
            )
        return cls(match[1], int(match[2]), match[3], match[4])


# -- costs and entries as JSON, and back --


def cost_to(cost: Cost) -> Json:
    """Return a cost as JSON; without epsilon where there is no pure guarantee."""
    return {"epsilon": None if cost.epsilon is None else str(cost.epsilon), "rho": str(cost.rho)}


def cost_from(data: Mapping[str, Any]) -> Cost:
    """Return the cost that JSON describes."""
    return Cost(
        None if data["epsilon"] is None else parse_fraction(data["epsilon"]),
        parse_fraction(data["rho"]),
    )


def entry_to(entry: Entry) -> Json:
    """Return an entry of the ledger as JSON, as its analyst may see it.

    What version 0.1 does not know is there only where it says something.
    """
    more: Json = {"reservation": entry.reservation} if entry.reservation else {}
    if entry.asked:
        more["asked"] = entry.asked
    return {
        "number": entry.number,
        "time": entry.time,
        "dataset": entry.dataset,
        "analyst": entry.analyst,
        "what": entry.what,
        "cost": cost_to(entry.cost),
        "key": entry.key,
        "hash": entry.hash,
        **more,
    }


def entry_from(data: Mapping[str, Any]) -> Entry:
    """Return the entry of a ledger that JSON describes."""
    texts = {
        name: str(data[name]) for name in ("time", "dataset", "analyst", "what", "key", "hash")
    }
    return Entry(
        number=int(data["number"]),
        cost=cost_from(data["cost"]),
        reservation=int(data.get("reservation", 0)),
        asked=str(data.get("asked", "")),
        **texts,
    )
