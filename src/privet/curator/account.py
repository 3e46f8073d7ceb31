"""Keep a curator's account: what was spent, what is left, and the charge before every answer."""

from __future__ import annotations

import copy
import hashlib
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, Self, TypeVar

from privet._notebook import count_of, html_box, one_line
from privet.accounting.cost import (
    NOTHING,
    Budget,
    Cost,
    Unit,
    compose_sequentially,
    explain_factor,
)
from privet.accounting.ledger import Entry, Ledger, LedgerReader, account_digest, left
from privet.accounting.ledger.archive import is_answered
from privet.accounting.ledger.base import ReadOnlyLedger, amount_in, check_fit
from privet.accounting.ledger.reservations import check_charge
from privet.domain import Schema
from privet.errors import BudgetExceeded, LedgerError, PrivetError
from privet.mechanisms.randomness import Bits
from privet.queries import Preview


class Accounting:
    """An account of a ledger, under a schema that says who the neighbours are."""

    _schema: Schema
    _dataset: str
    _ledger: Ledger
    _analyst: str
    _bits: Bits
    _account: str
    #: The key of the reservation that is charged; empty where none is.
    _reservation: str = ""
    #: The schema that the ledger records, where work asks under several; empty for the own one.
    _recorded_schema: str = ""
    #: The release that the analyst says was paid for.
    _claimed: str = ""

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._schema

    @property
    def dataset(self) -> str:
        """The name of the account."""
        return self._dataset

    @property
    def analyst(self) -> str:
        """Whose account is charged."""
        return self._analyst

    @property
    def ledger(self) -> LedgerReader:
        """The ledger, to be read. What writes to one is on :class:`~privet.curator.Owner`."""
        return ReadOnlyLedger(self._ledger)

    def _open_account(self, budget: Budget | None) -> None:
        cap = (
            self._ledger.cap(self.dataset)
            if budget is None
            else self._ledger.open_cap(self.dataset, budget)
        )
        if cap is None:
            raise LedgerError(
                f"data set {self.dataset!r} has no budget in the ledger yet; give one, for example "
                "Budget(1)"
            )
        if budget is not None and not budget.matches(cap):  # the stored cap stays in force
            raise LedgerError(
                f"the ledger holds a budget of {cap} for data set {self.dataset!r}, not {budget}; "
                "leave it out here, or change it (privet ledger cap, or Owner.set_budget)"
            )

    @property
    def account(self) -> str:
        """A digest of the account that is charged, for releases: it tells whether two are about one
        table, and nothing else.
        """
        return self._account or account_digest(self._ledger.identity, self.dataset)

    @property
    def unit(self) -> Unit:
        """What the data set's cap is counted in."""
        cap = self._ledger.cap(self.dataset)
        assert cap is not None
        return cap.unit

    @property
    def left(self) -> Fraction:
        """What can still be spent, in the unit of the data set's cap and for the declared
        neighbours: within a reservation, what is left of it.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> answer = curator.size(epsilon="1/3")
        >>> curator.left
        Fraction(2, 3)
        """
        if self._reservation:
            reservation = self._ledger.reservation(self._analyst, self._reservation)
            return Fraction(0) if reservation is None else reservation.left
        return left(self._ledger, self.dataset, self._analyst)

    @property
    def private(self) -> bool:
        """Whether answers are private: noise that nobody can repeat, and a schema that was not read
        off the data.
        """
        return self._bits.private and not self.schema.from_data

    @property
    def reason(self) -> str:
        """Why answers are not private; empty where they are."""
        reasons = ["a test seed was used"] if not self._bits.private else []
        reasons += ["the schema was read off the data"] if self.schema.from_data else []
        return "; ".join(reasons)

    @property
    def bits(self) -> Bits:
        """The source of randomness, for structure that is drawn and released."""
        return self._bits

    @property
    def spent(self) -> Cost:
        """What all analysts have spent on this data set, for the declared neighbours.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> answer = curator.size(epsilon="1/2")
        >>> curator.spent
        <Cost: epsilon 0.5 (rho 0.125)>
        """
        return self._ledger.spent(self.dataset)

    def preview(self, plan: Iterable[Cost]) -> Preview:
        """Return what the questions of a plan would cost together, for the declared neighbours,
        without charging.

        Parameters
        ----------
        plan
            The costs of what would be asked.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
        >>> curator.preview([pv.Cost.pure("1/2"), pv.Cost.pure(1)])
        <Preview: epsilon 1.5 (rho 0.625), left 1, does not fit>
        """
        return preview_cost(self.left, self.unit, compose_sequentially(plan).promised(self.schema))

    def __repr__(self) -> str:
        return one_line(
            f"{type(self).__name__} of {self.dataset!r}",
            count_of(len(self.schema.names), "attribute"),
            f"{self._describe_left()} left",
            "" if self.private else f"NOT PRIVATE: {self.reason}",
        )

    def _repr_html_(self) -> str:
        """Return public facts only: no count, and no row."""
        facts: dict[str, object] = {
            "table": self.dataset,
            "schema": f"{count_of(len(self.schema.names), 'attribute')}, target "
            f"{self.schema.target} with {self.schema.n_classes} classes",
            "budget left": self._describe_left(),
            "analyst": self.analyst,
        }
        if not self.private:
            facts["not private"] = self.reason
        return html_box(type(self).__name__, facts, alarm=not self.private)

    def _describe_left(self) -> str:
        try:
            return f"{self.unit} {float(self.left):.6g}"
        except PrivetError:  # a ledger that is gone; showing an object must not fail
            return "unknown budget"

    # -- reservations ------------------------------------------------------------------------------

    def reserve(self, cost: Cost, what: str, key: str = "") -> Self:
        """Set a cost aside, durably, and return a curator that charges it.

        With the key of a reservation that is there, for the same work, go on with that one.
        """
        promised = cost.promised(self.schema)
        amount = amount_in(promised, self.unit, self.dataset)
        request = hashlib.sha256(f"{what}\n{amount}".encode()).hexdigest()
        within = copy.copy(self)
        within._reservation = key or f"fit-{secrets.token_hex(16)}"
        with explaining_refusals(self):
            self._ledger.reserve(
                self.dataset,
                self._analyst,
                Budget(amount) if self.unit == "epsilon" else Budget(rho=amount),
                self._mark_unless_private(what),
                key=within._reservation,
                request=request,
                **self._facts(),
            )
        return within

    def within(self, reservation: str) -> Self:
        """Return the same curator, charging the reservation of this key.

        An empty key means none.
        """
        other = copy.copy(self)
        other._reservation = reservation
        return other

    def close_reservation(self, why: str = "done") -> None:
        """End the reservation: what is left of it can be spent by others."""
        self._ledger.close_reservation(
            self._analyst, self._reservation, why=why, model=self._claimed
        )

    def cancel_reservation(self, key: str) -> None:
        """End the reservation of this key."""
        self._ledger.close_reservation(self._analyst, key, why="cancelled")

    def reservation_state(self, key: str) -> str:
        """Return whether the reservation of this key is open, and if not, how it ended."""
        reservation = self._ledger.reservation(self._analyst, key)
        return "" if reservation is None else reservation.state

    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:
        """Return the charges under keys with this prefix, and whether each was answered."""
        entries = self._ledger.entries(self.dataset, self._analyst)
        mine = [entry for entry in entries if entry.key.startswith(prefix)]
        return [(entry, is_answered(self._ledger, entry.number)) for entry in mine]

    @property
    def identity(self) -> list[Any]:
        """Everything that what is answered, charged and promised depends on, beside the rows: not
        only the domain of the schema.
        """
        schema = self.schema.to_json()
        return [self.account, self.dataset, self._analyst, schema, self.private, self.unit]

    def claim(self, release: str) -> None:
        """Say which release the reservation paid for.

        It is the analyst's claim, and stands in the ledger as one.
        """
        self._claimed = release

    def charge_promised(self, cost: Cost, what: str, asked: str = "") -> Entry:
        """Charge a cost that is for the declared neighbours already.

        The entry is marked where no privacy can be promised. ``asked`` is the question in labels,
        where that says more.
        """
        with explaining_refusals(self):
            return self._ledger.charge(
                self.dataset,
                self._analyst,
                cost,
                self._mark_unless_private(what),
                reservation=self._reservation,
                asked=asked,
                **self._facts(),
            )

    def _mark_unless_private(self, what: str) -> str:
        return what if self.private else f"NOT PRIVATE ({self.reason}): {what}"

    def _facts(self) -> dict[str, Any]:
        """Return what the ledger records of whom the promise is for."""
        schema = self.schema
        return {
            "schema": self._recorded_schema or schema.fingerprint,
            "neighbours": schema.neighbours,
            "rows_per_person": schema.rows_per_person,
            "person": schema.person or "",
        }

    def _charge(self, cost: Cost, what: str, asked: str = "") -> Entry:
        return self.charge_promised(cost.promised(self.schema), what, asked)


Account = TypeVar("Account", bound=Accounting)


def ledger_of(account: Accounting) -> Ledger:
    """Return the ledger that is charged, for the owner's side: whoever has it can set caps."""
    return account._ledger


def charging(account: Account, ledger: Ledger) -> Account:
    """Return the same account with a view of its ledger in place of the ledger.

    For the owner's side, like :func:`ledger_of`: whoever can choose a ledger has no cap.
    """
    other = copy.copy(account)
    other._ledger = ledger
    return other


def continuing(account: Account, reserved: Accounting) -> Account:
    """Return an account that charges the reservation of another one, of the same table under
    another schema.

    For the owner's side: an analyst's reservation is for one schema.
    """
    other = copy.copy(account)
    other._reservation, other._recorded_schema = reserved._reservation, reserved.schema.fingerprint
    return other


def require_at_least(account: Accounting, cost: Cost) -> None:
    """Raise what charging this cost would raise for want of budget; charge nothing.

    For work that must not even be planned where nobody can pay for it.
    """
    dataset, analyst, ledger = account.dataset, account._analyst, account._ledger
    promised, reservation = cost.promised(account.schema), account._reservation
    ledger.expire()
    if reservation:
        there = ledger.reservation(analyst, reservation)
        check_charge(there, reservation, dataset, analyst, promised, "", None)
        return
    with explaining_refusals(account):
        for who in (None, analyst):
            _check_room(ledger, dataset, who, promised)


def _check_room(ledger: Ledger, dataset: str, who: str | None, cost: Cost) -> None:
    """Raise unless a cost fits into what is left of this cap, if there is one."""
    cap = ledger.cap(dataset, who)
    if cap is not None:
        amount = amount_in(cost, cap.unit, dataset)
        check_fit(cap, NOTHING, amount, dataset, who, ledger.committed(dataset, who))


@contextmanager
def explaining_refusals(account: Accounting) -> Iterator[None]:
    """Let a refusal for want of budget say what its reader can do something about.

    That is their own cap, where it has no room either, and the factor between the price of a
    question and what it is charged. What it refused stays as the ledger has it: clients of 0.1
    read ``left`` and ``account``.
    """
    try:
        yield
    except BudgetExceeded as error:
        raise explain_refusal(account, error) from None


def explain_refusal(account: Accounting, error: BudgetExceeded) -> BudgetExceeded:
    """Return the same refusal, with the analyst's own cap and the factor of the schema."""
    own = None
    if error.account == f"data set {account.dataset!r}" and not account._reservation:
        cap = account._ledger.cap(account.dataset, account._analyst)
        if cap is not None:
            left_over = cap.amount - account._ledger.committed(account.dataset, account._analyst)
            if error.asked > left_over:
                who = f"analyst {account._analyst!r} on data set {account.dataset!r}"
                own = (who, max(left_over, Fraction(0)))
    return BudgetExceeded(
        error.asked,
        error.left,
        error.unit,
        error.account,
        own=own,
        note=explain_factor(account.schema, error.asked, error.unit),
    )


def preview_cost(remaining: Fraction, unit: Unit, cost: Cost) -> Preview:
    """Return whether a cost, for the declared neighbours, fits into what is left."""
    asked = cost.amount(unit)
    return Preview(cost, remaining, asked is not None and asked <= remaining)
