"""Everything about an account that somebody else keeps: a service, or functions in a database."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self

from privet._types import Json
from privet.accounting.cost import Cost, Unit
from privet.accounting.ledger import Entry
from privet.client.session import Charged
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.mechanisms.randomness import Bits, SystemBits

_MOVED = (
    "the service or its database was restarted meanwhile: the answers from then on are about the "
    "rows as they were then"
)


class AccountSession(Protocol):
    """What is known about one data set at whoever keeps the account, and what can be told them."""

    dataset: str
    schema: Schema
    unit: Unit
    private: bool
    reason: str
    account: str
    reserves: bool

    @property
    def moved(self) -> int:
        """How often a fit went on in another snapshot."""

    def history(self) -> Iterator[Charged]:
        """Return the analyst's charges, oldest first."""

    def snapshot(self, reservation: str = "") -> AbstractContextManager[None]:
        """Let all queries inside this block see the same rows, where that can be."""

    def reserve(self, body: Json) -> Json:
        """Set an amount aside."""

    def close_reservation(self, key: str, why: str, model: str) -> None:
        """End a reservation."""

    def reservation(self, key: str) -> Json:
        """Return a reservation; empty where there is none."""


class AccountElsewhere(AnyCurator):
    """A curator whose account is kept elsewhere."""

    def __init__(self, session: AccountSession) -> None:
        self._at = session
        self._schema, self._dataset = session.schema, session.dataset
        self._bits: Bits = SystemBits()
        self._claimed = ""

    # -- reservations ------------------------------------------------------------------------------

    def reserve(self, cost: Cost, what: str, key: str = "") -> Self:
        within = type(self).__new__(type(self))  # copies for others are refused: there is a token
        vars(within).update(vars(self))
        if not self._at.reserves:  # a service of 0.1: what does not fit is refused at least
            self.require([cost])
            return within
        within._reservation = key or f"fit-{secrets.token_hex(16)}"
        self._at.reserve({"key": within._reservation, "what": what, **plan_to(cost)})
        return within

    def close_reservation(self, why: str = "done") -> None:
        if self._reservation:
            self._at.close_reservation(self._reservation, why, self._claimed)

    def cancel_reservation(self, key: str) -> None:
        self._at.close_reservation(key, "cancelled", "")

    def reservation_state(self, key: str) -> str:
        if not self._at.reserves:
            return ""
        return str(self._at.reservation(key).get("state", ""))

    def claim(self, release: str) -> None:
        self._claimed = release

    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:
        listed = self._at.history()
        return [(entry, entry.answered) for entry in listed if entry.key.startswith(prefix)]

    @property
    def identity(self) -> list[Any]:
        schema = self.schema.to_json()
        return [self.account, self.dataset, "", schema, self.private, self.unit]

    @property
    def account(self) -> str:
        return self._at.account

    @property
    def unit(self) -> Unit:
        return self._at.unit

    @property
    def private(self) -> bool:
        return self._at.private

    @property
    def reason(self) -> str:
        return self._at.reason

    @property
    def bits(self) -> Bits:
        """Randomness for structure that is drawn on this side; noise is drawn by the curator."""
        return self._bits

    def snapshot(self) -> AbstractContextManager[None]:
        return self._at.snapshot(self._reservation)

    @property
    def notes(self) -> Sequence[str]:
        return [_MOVED] if self._at.moved else []


def plan_to(cost: Cost) -> Json:
    """Return a cost as short as it can be said: rho goes without saying where it follows."""
    if cost.epsilon is None:
        return {"rho": str(cost.rho)}
    implied = cost.rho == cost.epsilon**2 / 2
    return (
        {"epsilon": str(cost.epsilon)}
        if implied
        else {"epsilon": str(cost.epsilon), "rho": str(cost.rho)}
    )
