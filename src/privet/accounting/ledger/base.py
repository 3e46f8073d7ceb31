"""Define what every ledger does, and how a charge fits its caps.

A ledger knows accounts. Each data set has a cap of its own over all its analysts, so that colluding
analysts together cannot pass it; an analyst may have a cap as well. A charge must fit into both,
exactly: amounts are rationals, so the last unit can be spent and not one more.

A charge may carry the key of the request that it pays for. The same key pays once: charging again
gives the first entry. The answer that was paid for can be recorded with it, once, so that a request
that is sent again gets the answer that it got before. :class:`KeyedLedger` is a ledger as one
request sees it.

A fit asks many questions. It reserves what they may cost together, under a key, charges each
question to that reservation, and closes it (:mod:`~privet.accounting.ledger.reservations`). What is
committed of an account is what was charged to it and what open reservations can still charge:
nobody else can spend that.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from privet.accounting.cost import Budget, Cost, Unit
from privet.accounting.ledger.journal import Books, Entry, JournalEntry
from privet.errors import BudgetExceeded, KeyReused, LedgerError, ParameterError, PrivacyError

if TYPE_CHECKING:
    from privet.accounting.ledger.archive import Keep
    from privet.accounting.ledger.relation import Relation
    from privet.accounting.ledger.reservations import Reservation


class LedgerReader(Protocol):
    """What can be read of a ledger. Nothing here changes it."""

    @property
    def identity(self) -> str:
        """64 hexadecimal digits, drawn when the ledger was made."""

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        """Return the cap, where there is one."""

    def reservation(self, analyst: str, key: str) -> Reservation | None:
        """Return the analyst's reservation of this key, open or closed."""

    def reservations(
        self, dataset: str | None = None, analyst: str | None = None, *, open_only: bool = False
    ) -> list[Reservation]:
        """Return the reservations, oldest first."""

    def committed(self, dataset: str, analyst: str | None = None) -> Fraction:
        """Return what was charged and what open reservations can still charge.

        Of one analyst or of all, in the unit of the data set's cap.
        """

    def relation(self, dataset: str) -> Relation | None:
        """Return who the neighbours of an account are; None where no line has stated it yet."""

    def charged(self, analyst: str, key: str) -> Entry | None:
        """Return what was charged under this key of the analyst."""

    def answer(self, number: int) -> bytes | None:
        """Return the answer that was recorded for a charge."""

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        """Return what was spent on a data set, by one analyst or by all."""

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        """Return the charges, oldest first."""

    def unanswered(self) -> set[int]:
        """Return the numbers of the charges under a key whose answer was never recorded."""

    def datasets(self) -> list[str]:
        """Return the data sets that have a cap."""

    def analysts(self, dataset: str) -> list[str]:
        """Return the analysts that have a cap on a data set."""

    def journal(self) -> Iterator[JournalEntry]:
        """Return all lines of the journal, oldest first."""

    def line(self, number: int) -> JournalEntry | None:
        """Return the line of this number, or None."""

    def books(self) -> Books:
        """Return all that is stored, at one moment."""

    def recorded(self, analyst: str) -> int:
        """Return how many bytes the recorded answers of an analyst take."""


class Ledger(LedgerReader, Protocol):
    """What the curator and its service need of a ledger."""

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        """Set the cap of a data set, or of one analyst on it.

        The unit of a data set's cap is fixed by the first one.
        """

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        """Set the cap of a data set unless it has one, in one step; return the cap that it has
        then.
        """

    def charge(
        self,
        dataset: str,
        analyst: str,
        cost: Cost,
        what: str,
        *,
        key: str = "",
        request: str = "",
        reservation: str = "",
        asked: str = "",
        schema: str = "",
        neighbours: str = "",
        rows_per_person: int = 0,
        person: str = "",
    ) -> Entry:
        """Record a charge durably, or raise and record nothing.

        Without a reservation it must fit into both caps next to all that is committed. Within one
        it must fit into what is left of it, and what was spent must stay within today's caps.

        Args:
            dataset: the data set.
            analyst: who pays.
            cost: what it costs, for the declared neighbours.
            what: a short description.
            key: names the request among those of the analyst. What was charged under the same key
                and digest is not charged again, even if its reservation is closed by now.
            request: a digest of the request.
            reservation: the key of the analyst's reservation to charge; empty: none.
            asked: the question in words, with labels, for people; at most 2000 characters.
            schema: the fingerprint of the schema. Not recorded; it must be that of the reservation.
            neighbours: ``"add-remove"`` or ``"replace"``; empty: not stated, and taken as the
                account's. The first that are stated are those of the account.
            rows_per_person, person: go with ``neighbours``; ``person`` is the column that tells
                people apart, empty where there is none.

        Raises:
            BudgetExceeded: it does not fit.
            KeyReused: the key belongs to another request, or to a reservation.
            PrivacyError: the account is for other neighbours.
            ReservationClosed: the analyst has no such open reservation on this data set.
        """

    def reserve(
        self,
        dataset: str,
        analyst: str,
        budget: Budget,
        what: str,
        *,
        key: str,
        request: str,
        schema: str,
        neighbours: str,
        rows_per_person: int,
        person: str = "",
    ) -> Reservation:
        """Set an amount aside durably, or raise and record nothing.

        It must fit into both caps next to all that is committed. Under the same key, for the same
        request, data set, schema, neighbours and unit, it returns the reservation that is there,
        whatever its state.

        Args:
            dataset: the data set.
            analyst: whom it belongs to.
            budget: the amount, in the unit of the data set's cap.
            what: a short description.
            key: names the reservation among the requests of the analyst.
            request: a digest of what it is for, which should cover the amount.
            schema: the fingerprint of the schema.
            neighbours: ``"add-remove"`` or ``"replace"``.
            rows_per_person: how many rows one person may have.
            person: the column that tells people apart; empty where there is none.

        Raises:
            BudgetExceeded: it does not fit.
            KeyReused: the key belongs to a charge, or to another reservation.
            PrivacyError: the account is for other neighbours.
            TooManyReservations: the analyst has as many open ones as are allowed.
        """

    def close_reservation(
        self, analyst: str, key: str, *, why: str = "done", model: str = ""
    ) -> Reservation:
        """End a reservation for good, so that others can spend what is left of it.

        What was charged stays charged. Closing it again for the same reason changes nothing.

        Args:
            analyst: whom it belongs to.
            key: its key.
            why: ``"done"`` or ``"cancelled"``.
            model: a digest of the model that it paid for, as the analyst claims it.

        Raises:
            ReservationClosed: there is none, or it was closed for another reason.
        """

    def expire(self) -> list[Reservation]:
        """Close the open reservations that were not used for
        :data:`~privet.accounting.ledger.reservations.IDLE`, and return them.

        Time is the later one of the clock and the latest line, so that it never goes back.
        :meth:`reserve` and :meth:`charge` do this first.
        """

    def check_writable(self) -> None:
        """Raise unless something could be recorded now. Nothing is."""

    def record(self, number: int, answer: bytes) -> bytes:
        """Keep the answer that a charge paid for, durably, unless there is one.

        Returns the answer that is kept then.
        """

    def archive(self, before: str, name: str, keep: Keep) -> int:
        """Move the answers of charges before a time (UTC, ISO) to an archive of this name.

        Those that an open reservation may ask for again stay. ``keep`` writes them, durably, and
        the ledger lets go of them in one transaction only after it has. From then on, asking for
        such an answer raises :class:`~privet.errors.AnswerArchived`. Returns how many they are.
        """


def account_digest(identity: str, dataset: str) -> str:
    """Return 32 hexadecimal digits for the account of a data set in the ledger of this identity."""
    return hashlib.sha256(f"{identity}\n{dataset}".encode()).hexdigest()[:32]


def left(ledger: LedgerReader, dataset: str, analyst: str) -> Fraction:
    """Return what this analyst can still spend or reserve, in the unit of the data set's cap."""
    cap = ledger.cap(dataset)
    if cap is None:
        raise no_budget_error(dataset)
    amounts = [cap.amount - ledger.committed(dataset)]
    own = ledger.cap(dataset, analyst)
    if own is not None:
        amounts.append(own.amount - ledger.committed(dataset, analyst))
    return max(min(amounts), Fraction(0))


def no_budget_error(dataset: str) -> LedgerError:
    """Return the error for a data set without a cap."""
    return LedgerError(f"the ledger has no budget for data set {dataset!r}; set one first")


def check_cost(cost: Cost) -> None:
    """Raise if a cost would give something back."""
    if cost.rho < 0 or (cost.epsilon is not None and cost.epsilon < 0):
        raise ParameterError(f"a cost must not be negative, got {cost}")


def amount_in(cost: Cost, unit: Unit, dataset: str) -> Fraction:
    """Return a cost in one unit; raise if it has no finite amount there."""
    amount = cost.amount(unit)
    if amount is None:
        raise PrivacyError(
            f"data set {dataset!r} has a pure epsilon budget, and this mechanism only gives a rho "
            "(zCDP) guarantee; use a pure mechanism, or ask the owner for a budget in rho"
        )
    return amount


def fit_charge(
    cap: Budget | None,
    spent: Cost,
    cost: Cost,
    dataset: str,
    analyst: str | None,
    held: Fraction = Fraction(0),
) -> Cost:
    """Return what will have been spent after this charge; raise if it does not fit into the cap.

    ``held`` is what others may still charge.
    """
    check_name("analyst", analyst)
    check_cost(cost)
    if cap is None:
        if analyst is None:
            raise no_budget_error(dataset)
        return add(spent, cost)
    check_fit(cap, spent, amount_in(cost, cap.unit, dataset), dataset, analyst, held)
    return add(spent, cost)


def check_fit(
    cap: Budget, spent: Cost, amount: Fraction, dataset: str, analyst: str | None, held: Fraction
) -> None:
    """Raise unless an amount fits into a cap, next to what was spent and is held."""
    left_over = compute_remaining(cap, spent, held)
    if amount > left_over:
        account = (
            f"data set {dataset!r}"
            if analyst is None
            else f"analyst {analyst!r} on data set {dataset!r}"
        )
        raise BudgetExceeded(amount, left_over, cap.unit, account)


_DIGITS = 10**300


def tidy(amount: Fraction) -> Fraction:
    """Return an amount, rounded up beyond 300 digits.

    Otherwise odd fractions of one analyst could choke the account.
    """
    if amount.denominator <= _DIGITS:
        return amount
    return Fraction(math.ceil(amount * _DIGITS), _DIGITS)


def add(spent: Cost, cost: Cost) -> Cost:
    """Return the sum, tidied."""
    total = spent + cost
    return Cost(None if total.epsilon is None else tidy(total.epsilon), tidy(total.rho))


def compute_remaining(cap: Budget, spent: Cost, held: Fraction = Fraction(0)) -> Fraction:
    """Return what a cap leaves, next to what was spent and is held."""
    used = spent.amount(cap.unit)
    return Fraction(0) if used is None else max(cap.amount - used - held, Fraction(0))


def require_same_request(entry: Entry, request: str) -> Entry:
    """Return the entry that a key was charged with, if it was for the same request."""
    if entry.request != request:
        raise key_reused_error(entry)
    return entry


def require_same_charge(line: JournalEntry, request: str) -> Entry:
    """Return the entry of the line that has a key, if it is a charge for the same request."""
    if line.kind != "charge":
        raise key_reused_error(line)
    return require_same_request(line.entry, request)


def key_reused_error(line: JournalEntry | Entry) -> KeyReused:
    """Return the error for a key that another line has."""
    return KeyReused(
        f"the key {line.key!r} belongs to another request (line {line.number} of the ledger); use "
        "a new key"
    )


def check_cap(
    dataset_cap: Budget | None, dataset: str, budget: Budget, analyst: str | None
) -> None:
    """Raise unless this cap can be set."""
    check_name("dataset", dataset)
    check_name("analyst", analyst)
    if dataset_cap is None and analyst is not None:
        raise LedgerError(f"set the budget of data set {dataset!r} before that of an analyst")
    if dataset_cap is not None and dataset_cap.unit != budget.unit:
        unit: Unit = dataset_cap.unit
        raise LedgerError(
            f"the budget of data set {dataset!r} is in {unit}; a cap in {budget.unit} cannot be "
            "compared with it"
        )


def check_name(parameter: str, name: str | None) -> None:
    """Raise unless the name can stand in a ledger. An analyst may be None: everybody."""
    if name is None:
        return
    good = isinstance(name, str) and 0 < len(name) <= 500 and name.isprintable()
    if not good:
        raise ParameterError(
            f"{parameter} must be a name of 1 to 500 printable characters, got {name!r}"
        )


def check_text(parameter: str, text: str) -> None:
    """Raise unless every ledger can store this text."""
    try:
        good = isinstance(text, str) and b"\x00" not in text.encode()
    except UnicodeEncodeError:
        good = False
    if not good:
        raise ParameterError(f"{parameter} must be text that UTF-8 can write, without NUL")


class ReadOnlyLedger:
    """A ledger as somebody sees it who may read it: no method of it charges or sets a cap."""

    def __init__(self, ledger: LedgerReader) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        if name not in _READS:
            raise AttributeError(
                f"this ledger is only to be read, and has no {name!r}; budgets and reservations "
                "are the owner's: use pv.Owner(table, schema, budget), or the ledger that you made"
            )
        return getattr(self._ledger, name)


_READS = {name for name in vars(LedgerReader) if not name.startswith("_")}


class KeyedLedger:
    """A ledger as one request sees it.

    What is charged here is charged under the key of the request, so that the request pays once.
    ``seen`` is told of every charge.
    """

    def __init__(
        self,
        ledger: Ledger,
        analyst: str,
        key: str,
        request: str,
        seen: Callable[[Entry], None] = lambda _: None,
    ) -> None:
        self._ledger, self._seen = ledger, seen
        self.owner, self.key, self.request = analyst, key, request
        self.entry: Entry | None = None

    def charge(
        self,
        dataset: str,
        analyst: str,
        cost: Cost,
        what: str,
        *,
        key: str = "",
        request: str = "",
        **more: Any,
    ) -> Entry:
        assert not key
        assert not request
        self.entry = self._ledger.charge(
            dataset, analyst, cost, what, key=self.key, request=self.request, **more
        )
        self._seen(self.entry)
        return self.entry

    @property
    def before(self) -> Entry | None:
        """What was charged for this request when it was sent before."""
        return self._ledger.charged(self.owner, self.key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)
