"""The money side of a curator: what was spent, what is left, and the charge that comes before every
answer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from fractions import Fraction
from typing import Self

from privet.budget import Budget, Cost, Unit, sequential
from privet.errors import LedgerError
from privet.ledger import Entry, Ledger, account_digest, left
from privet.mechanisms.randomness import Bits
from privet.queries import Preview
from privet.schema import Schema


class Accounting:
    """An account of a ledger, under a schema that says who the neighbours are."""

    _schema: Schema
    _dataset: str
    ledger: Ledger
    analyst: str
    _bits: Bits
    _account: str

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._schema

    @property
    def dataset(self) -> str:
        """The name of the account."""
        return self._dataset

    def charging(self, ledger: Ledger) -> Self:
        """The same curator, with a view of its ledger in place of the ledger."""
        other = copy.copy(self)
        other.ledger = ledger
        return other

    def _open_account(self, budget: Budget | None) -> None:
        cap = (
            self.ledger.cap(self.dataset)
            if budget is None
            else self.ledger.open_cap(self.dataset, budget)
        )
        if cap is None:
            raise LedgerError(
                f"data set {self.dataset!r} has no budget in the ledger yet; give one, for example "
                "Budget(1)"
            )
        if budget is not None and not budget.matches(cap):  # the stored cap stays in force
            raise LedgerError(
                f"the ledger holds a budget of {cap} for data set {self.dataset!r}, not {budget}; "
                "leave it out here, or change it (privet ledger cap, or the ledger's set_cap)"
            )

    @property
    def account(self) -> str:
        """A digest of the account that is charged, for releases: it tells whether two are about one
        table, and nothing else.
        """
        return self._account or account_digest(self.ledger.identity, self.dataset)

    @property
    def unit(self) -> Unit:
        """What the data set's cap is counted in."""
        cap = self.ledger.cap(self.dataset)
        assert cap is not None
        return cap.unit

    @property
    def left(self) -> Fraction:
        """What can still be spent, in the unit of the data set's cap and for the declared
        neighbours.
        """
        return left(self.ledger, self.dataset, self.analyst)

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
        """What all analysts have spent on this data set, for the declared neighbours."""
        return self.ledger.spent(self.dataset)

    def preview(self, plan: Iterable[Cost]) -> Preview:
        """What the questions of a plan would cost together, for the declared neighbours, without
        charging.
        """
        return preview_of(
            self.ledger, self.dataset, self.analyst, sequential(plan).promised(self.schema)
        )

    def charge_promised(self, cost: Cost, what: str) -> Entry:
        """Charge a cost that is for the declared neighbours already. The entry is marked where no
        privacy can be promised.
        """
        marked = what if self.private else f"NOT PRIVATE ({self.reason}): {what}"
        return self.ledger.charge(self.dataset, self.analyst, cost, marked)

    def _charge(self, cost: Cost, what: str) -> Entry:
        return self.charge_promised(cost.promised(self.schema), what)


def preview_of(ledger: Ledger, dataset: str, analyst: str, cost: Cost) -> Preview:
    """Whether a cost, for the declared neighbours, fits into what is left to an analyst."""
    cap, remaining = ledger.cap(dataset), left(ledger, dataset, analyst)
    asked = None if cap is None else cost.amount(cap.unit)
    return Preview(cost, remaining, asked is not None and asked <= remaining)
