"""What every ledger does.

A ledger knows accounts. Each data set has a cap of its own over all its analysts, so that colluding
analysts together cannot pass it; an analyst may have a cap as well. A charge must fit into both,
exactly: amounts are rationals, so the last unit can be spent and not one more.

A charge may carry the key of the request that it pays for. The same key pays once: charging again
gives the first entry. The answer that was paid for can be recorded with it, once, so that a request
that is sent again gets the answer that it got before.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Protocol

from privet.budget import Budget, Cost, Unit
from privet.errors import BudgetExceeded, KeyReused, LedgerError, ParameterError, PrivacyError
from privet.ledger.journal import Books, Entry, Line


class Ledger(Protocol):
    """What the curator and its service need of a ledger."""

    @property
    def identity(self) -> str:
        """64 hexadecimal digits, drawn when the ledger was made."""

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        """Set the cap of a data set, or of one analyst on it. The unit of a data set's cap is fixed
        by the first one.
        """

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        """Set the cap of a data set unless it has one, in one step; the cap that it has then."""

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        """The cap, where there is one."""

    def charge(
        self, dataset: str, analyst: str, cost: Cost, what: str, *, key: str = "", request: str = ""
    ) -> Entry:
        """Record a charge durably, or raise :class:`BudgetExceeded` and record nothing.

        ``key`` names the request among those of the analyst, and ``request`` is a digest of it.
        What was charged under the same key and digest is not charged again; another digest raises
        :class:`KeyReused`.
        """

    def charged(self, analyst: str, key: str) -> Entry | None:
        """What was charged under this key of the analyst."""

    def record(self, number: int, answer: bytes) -> bytes:
        """Keep the answer that a charge paid for, durably, unless there is one; the answer that is
        kept then.
        """

    def answer(self, number: int) -> bytes | None:
        """The answer that was recorded for a charge."""

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        """What was spent on a data set, by one analyst or by all."""

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        """The charges, oldest first."""

    def unanswered(self) -> set[int]:
        """The numbers of the charges under a key whose answer was never recorded."""

    def datasets(self) -> list[str]:
        """The data sets that have a cap."""

    def analysts(self, dataset: str) -> list[str]:
        """The analysts that have a cap on a data set."""

    def journal(self) -> Iterator[Line]:
        """All lines, oldest first."""

    def line(self, number: int) -> Line | None:
        """One line, where it is there."""

    def books(self) -> Books:
        """All that is stored, at one moment."""

    def recorded(self, analyst: str) -> int:
        """How many bytes the recorded answers of an analyst take."""


def account_digest(identity: str, dataset: str) -> str:
    """32 hexadecimal digits for the account of a data set in the ledger of this identity."""
    return hashlib.sha256(f"{identity}\n{dataset}".encode()).hexdigest()[:32]


def left(ledger: Ledger, dataset: str, analyst: str) -> Fraction:
    """What this analyst can still spend, in the unit of the data set's cap."""
    cap = ledger.cap(dataset)
    if cap is None:
        raise LedgerError(f"the ledger has no budget for data set {dataset!r}; set one first")
    amounts = [remaining(cap, ledger.spent(dataset))]
    own = ledger.cap(dataset, analyst)
    if own is not None:
        amounts.append(remaining(own, ledger.spent(dataset, analyst)))
    return min(amounts)


def fitted(cap: Budget | None, spent: Cost, cost: Cost, dataset: str, analyst: str | None) -> Cost:
    """What will have been spent after this charge; raises if it does not fit into the cap."""
    check_name("analyst", analyst)
    if cost.rho < 0 or (cost.epsilon is not None and cost.epsilon < 0):
        raise ParameterError(f"a cost must not be negative, got {cost}")
    if cap is None:
        if analyst is None:
            raise LedgerError(f"the ledger has no budget for data set {dataset!r}; set one first")
        return add(spent, cost)
    asked = cost.amount(cap.unit)
    if asked is None:
        raise PrivacyError(
            f"data set {dataset!r} has a pure epsilon budget, and this mechanism only gives a rho "
            "(zCDP) guarantee; use a pure mechanism, or ask the owner for a budget in rho"
        )
    left_over = remaining(cap, spent)
    if asked > left_over:
        account = (
            f"data set {dataset!r}"
            if analyst is None
            else f"analyst {analyst!r} on data set {dataset!r}"
        )
        raise BudgetExceeded(asked, left_over, cap.unit, account)
    return add(spent, cost)


_DIGITS = 10**300


def add(spent: Cost, cost: Cost) -> Cost:
    """The sum; beyond 300 digits rounded up, so that odd fractions of one analyst cannot choke the
    account.
    """

    def tidy(amount: Fraction) -> Fraction:
        return (
            amount
            if amount.denominator <= _DIGITS
            else Fraction(math.ceil(amount * _DIGITS), _DIGITS)
        )

    total = spent + cost
    return Cost(None if total.epsilon is None else tidy(total.epsilon), tidy(total.rho))


def remaining(cap: Budget, spent: Cost) -> Fraction:
    """What a cap leaves."""
    used = spent.amount(cap.unit)
    return Fraction(0) if used is None else max(cap.amount - used, Fraction(0))


def same_request(entry: Entry, request: str) -> Entry:
    """The entry that a key was charged with, if it was for the same request."""
    if entry.request != request:
        raise KeyReused(
            f"the key {entry.key!r} belongs to another request (line {entry.number} of the "
            "ledger); use a new key"
        )
    return entry


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
