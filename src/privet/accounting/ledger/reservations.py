"""Set an amount aside for one fit, and spend it charge by charge.

Everything follows from the journal. A line of kind "reserve" opens a reservation, charges name it,
and a line of kind "close" ends it. What a reservation has charged and what it still holds are
recomputed from that; nothing is ever given back. These are the rules as pure functions. The ledgers
in memory and in SQLite use all of them; in PostgreSQL a charge follows the same rules in
``sql/charge.sql``, so that SQL clients obey them as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Literal, get_args

from privet.accounting.cost import Budget, Cost, Unit, parse_fraction
from privet.accounting.ledger.base import (
    amount_in,
    check_fit,
    check_name,
    check_text,
    key_reused_error,
    no_budget_error,
    tidy,
)
from privet.accounting.ledger.journal import JournalEntry, format_particulars, parse_particulars
from privet.accounting.ledger.relation import Relation
from privet.errors import (
    BudgetExceeded,
    LedgerError,
    ParameterError,
    ReservationClosed,
    TooManyReservations,
)

#: An open reservation that is not used for so long expires.
IDLE = timedelta(days=7)

#: How many open reservations an analyst may have on one data set.
MOST_OPEN = 16

State = Literal["open", "done", "cancelled", "expired"]

_LONGEST_ASKED = 2000


@dataclass(frozen=True)
class Reservation:
    """An amount that one analyst has set aside on one data set.

    ``number`` and ``time`` are those of its line, ``touched`` is when it was last used, by the
    ledger's latest time, and ``closed`` is the line that ended it (0: none). ``facts`` holds the
    schema's fingerprint, who the neighbours are and, once it is closed, the digest of
    the model that the analyst claims (``claimed_model``).
    """

    number: int
    time: str
    dataset: str
    analyst: str
    key: str
    request: str
    what: str
    unit: Unit
    reserved: Fraction
    charged: Fraction
    touched: str
    state: State
    facts: Mapping[str, Any] = field(hash=False)
    closed: int = 0

    @classmethod
    def opened(cls, line: JournalEntry, latest: str) -> Reservation:
        """Return a new reservation, from its line. ``latest`` is the latest time of the ledger."""
        return cls(
            line.number,
            line.time,
            line.dataset,
            line.analyst,
            line.key,
            line.request,
            line.what,
            line.budget.unit,
            line.budget.amount,
            Fraction(0),
            latest,
            "open",
            line.particulars,
        )

    @classmethod
    def read(
        cls, line: JournalEntry, row: Sequence[Any], closing_more: Mapping[str, Any]
    ) -> Reservation:
        """Return a stored reservation.

        It comes from its line, the stored row of (unit, reserved, charged, touched, state, closing
        line), and the particulars of the closing line.
        """
        unit, reserved, charged, touched, state, closed = row
        opened = cls.opened(line, touched)
        claimed = {key: closing_more[key] for key in ("claimed_model",) if key in closing_more}
        return replace(
            opened,
            unit=unit,
            reserved=parse_fraction(reserved),
            charged=parse_fraction(charged),
            state=state,
            closed=closed,
            facts={**opened.facts, **claimed},
        )

    @property
    def row(self) -> tuple[Any, ...]:
        """As it is stored, without its number."""
        amounts = (self.unit, str(self.reserved), str(self.charged))
        return (self.dataset, self.analyst, *amounts, self.touched, self.state, self.closed)

    @property
    def left(self) -> Fraction:
        """What can still be charged to it; nothing once it is closed."""
        return max(self.reserved - self.charged, Fraction(0)) if self.is_open else Fraction(0)

    @property
    def is_open(self) -> bool:
        """Whether it can be charged."""
        return self.state == "open"

    def after_charge(self, cost: Cost, latest: str) -> Reservation:
        """Return the reservation as it is after a charge."""
        amount = amount_in(cost, self.unit, self.dataset)
        return replace(self, charged=tidy(self.charged + amount), touched=latest)

    def after_closing(self, line: JournalEntry) -> Reservation:
        """Return the reservation as it is after the line that closes it."""
        more = line.particulars
        claimed = {key: more[key] for key in ("claimed_model",) if key in more}
        return replace(self, state=more["why"], closed=line.number, facts={**self.facts, **claimed})


@dataclass(frozen=True)
class Wanted:
    """A reservation that somebody asks for. Raises unless it can be written."""

    dataset: str
    analyst: str
    budget: Budget
    what: str
    key: str
    request: str
    schema: str
    neighbours: str
    rows_per_person: int
    person: str = ""

    def __post_init__(self) -> None:
        for name in ("dataset", "analyst", "key", "schema"):
            value = getattr(self, name)
            check_name(name, "" if value is None else value)
        for name in ("what", "request"):
            check_text(name, getattr(self, name))
        Relation.check(*self.relation)
        if not isinstance(self.budget, Budget) or self.budget.amount <= 0:
            raise ParameterError(
                f"a reservation must be a Budget above zero, got {self.budget!r}; for example "
                "Budget(1)"
            )

    @property
    def relation(self) -> Relation:
        """Who the neighbours are."""
        return Relation(self.neighbours, self.rows_per_person, self.person)

    @property
    def more(self) -> str:
        """The particulars of its line."""
        return format_particulars({"schema": self.schema, **self.relation.to_particulars()})

    def check_same(self, line: JournalEntry) -> None:
        """Raise unless the line that has the key is this reservation.

        The amount is the request's business: as rho, that of one epsilon and delta may differ
        between versions.
        """
        same = line.kind == "reserve" and (line.dataset, line.request) == (
            self.dataset,
            self.request,
        )
        # a line of an older version states less
        same = same and line.particulars.items() <= parse_particulars(self.more).items()
        if not same or line.budget.unit != self.budget.unit:
            raise key_reused_error(line)

    def check_room(
        self,
        caps: Mapping[str | None, Budget | None],
        spent: Mapping[str | None, Cost],
        open_ones: Sequence[Reservation],
    ) -> None:
        """Raise unless it fits into the caps of the data set (None) and of the analyst, next to
        what was spent and what the open reservations on the data set hold.
        """
        cap = caps[None]
        if cap is None:
            raise no_budget_error(self.dataset)
        if cap.unit != self.budget.unit:
            raise LedgerError(
                f"the budget of data set {self.dataset!r} is in {cap.unit}; reserve an amount in "
                f"{cap.unit}, not in {self.budget.unit}"
            )
        own = [one for one in open_ones if one.analyst == self.analyst]
        if len(own) >= MOST_OPEN:
            raise TooManyReservations(
                f"analyst {self.analyst!r} has {len(own)} open reservations on data set "
                f"{self.dataset!r}, which is the limit; finish an interrupted fit with the command "
                "that began it, or let the owner free one (privet ledger cancel, privet curator "
                "cancel)"
            )
        for who in (self.analyst, None):
            limit = caps[who]
            if limit is not None:
                held = held_by(open_ones, who)
                check_fit(limit, spent[who], self.budget.amount, self.dataset, who, held)


def held_by(open_ones: Iterable[Reservation], analyst: str | None = None) -> Fraction:
    """Return what open reservations can still charge, of one analyst or of all."""
    total = Fraction(0)
    for one in open_ones:
        if analyst is None or one.analyst == analyst:
            total = tidy(total + one.left)
    return total


def committed_by(cap: Budget | None, spent: Cost, held: Fraction, dataset: str) -> Fraction:
    """Return what was spent and is held, in the unit of the data set's cap."""
    if cap is None:
        raise no_budget_error(dataset)
    return amount_in(spent, cap.unit, dataset) + held


def check_charge(
    there: Reservation | None,
    key: str,
    dataset: str,
    analyst: str,
    cost: Cost,
    schema: str,
    stated: Relation | None,
) -> Reservation:
    """Return the reservation of this key; raise unless this can be charged to it.

    ``schema`` is empty, and ``stated`` None, where the charge does not say.
    """
    if there is None or there.dataset != dataset:
        raise ReservationClosed(
            f"analyst {analyst!r} has no reservation {key!r} on data set {dataset!r}; nothing is "
            "charged"
        )
    if not there.is_open:
        raise ReservationClosed(
            f"the reservation {key!r} of analyst {analyst!r} is closed ({there.state}); nothing is "
            "charged. Reserve again under a new key"
        )
    facts = {"schema": schema} if schema else {}
    facts |= {} if stated is None else stated.to_particulars()
    for name, value in facts.items():
        if there.facts.get(name, value) != value:  # a line of an older version states less
            raise ReservationClosed(
                f"the reservation {key!r} of analyst {analyst!r} is for {_FACTS[name]} "
                f"{there.facts.get(name)}, not {value}; nothing is charged"
            )
    amount = amount_in(cost, there.unit, dataset)
    if amount > there.left:
        account = f"reservation {key!r} of analyst {analyst!r}"
        raise BudgetExceeded(amount, there.left, there.unit, account)
    return there


_FACTS = {
    "schema": "schema",
    "neighbours": "neighbours",
    "rows_per_person": "rows per person",
    "person": "person",
}


def check_close(there: Reservation | None, analyst: str, key: str, why: str) -> Reservation:
    """Return the reservation; raise unless it is open, or was closed for the same reason."""
    if there is None:
        raise ReservationClosed(f"analyst {analyst!r} has no reservation {key!r}")
    if not there.is_open and there.state != why:
        raise ReservationClosed(
            f"the reservation {key!r} of analyst {analyst!r} is closed already ({there.state})"
        )
    return there


def check_why(why: str, model: str) -> State:
    """Return the reason; raise unless somebody may close a reservation like this."""
    if why not in ("done", "cancelled"):
        raise ParameterError(f"why must be 'done' or 'cancelled', got {why!r}")
    if model != "":
        check_name("model", "" if model is None else model)
    return "done" if why == "done" else "cancelled"


def describe_closing(
    reservation: Reservation, why: State, model: str = ""
) -> tuple[str, str, str, str]:
    """Return what the line that closes it says: data set, analyst, what, and its particulars."""
    more: dict[str, Any] = {"reservation": reservation.number, "why": why}
    if model:
        more["claimed_model"] = model
    what = f"reservation of line {reservation.number}: {why}"
    return reservation.dataset, reservation.analyst, what, format_particulars(more)


def is_idle(reservation: Reservation, latest: str) -> bool:
    """Return whether an open reservation expires at this time."""
    return reservation.is_open and reservation.touched <= idle_since(latest)


def idle_since(latest: str) -> str:
    """Return the time before which a reservation must last have been used to be idle.

    One that was used at that very time is idle, too.
    """
    return (datetime.fromisoformat(latest) - IDLE).isoformat(timespec="milliseconds")


def format_charge_particulars(
    asked: str, stated: Relation | None, reservation: Reservation | None
) -> str:
    """Return the particulars of a charge. ``stated`` is what its account does not know yet."""
    more: dict[str, Any] = {} if reservation is None else {"reservation": reservation.number}
    if asked:
        more["asked"] = asked
    if stated is not None:
        more.update(stated.to_particulars())
    return format_particulars(more)


def check_asked(asked: str) -> None:
    """Raise unless a question in words can stand in a ledger."""
    check_text("asked", asked)
    if len(asked) > _LONGEST_ASKED:
        raise ParameterError(
            f"asked must have at most {_LONGEST_ASKED} characters, got {len(asked)}"
        )


#: What a line of kind "close" may give as its reason.
REASONS = tuple(state for state in get_args(State) if state != "open")
