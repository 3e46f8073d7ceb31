"""RemoteAsking: queries that go to a curator over HTTP. What would be refused in process is refused
before it is sent, in the same words.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Self, TypeVar

from privet.budget import Cost, Number, Unit
from privet.curator import AnyCurator
from privet.errors import ParameterError
from privet.ledger import Entry
from privet.mechanisms.randomness import Bits, SystemBits
from privet.queries import Answer, Preview, Price, Query, check_query
from privet.queries.base import read_answer
from privet.remote.replies import understood
from privet.remote.session import Session
from privet.typed import Json

A = TypeVar("A", bound=Answer)


class RemoteAsking(AnyCurator):
    """Everything that can be asked about a data set, or about a group of its people."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._schema, self._dataset = session.schema, session.dataset
        self._bits: Bits = SystemBits()
        self._claimed = ""

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        return self.ask_once("", query, epsilon, rho=rho)

    def ask_once(
        self,
        key: str,
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        asked = check_query(query, self.schema)
        if not asked.for_analysts:
            raise ParameterError(f"{asked.name} is asked in the owner's own process only")
        price = Price.of(epsilon, rho)
        cost = asked.kind.cost(price)
        body = {**price.to_json(), **asked.to_json(), **self._about()}

        def read(told: Mapping[str, Any]) -> A:
            return read_answer(asked, told, cost)

        return self._session.ask(asked.name, body, read, key)

    # -- reservations ------------------------------------------------------------------------------

    def reserve(self, cost: Cost, what: str, key: str = "") -> Self:
        within = type(self).__new__(type(self))  # copies for others are refused: there is a token
        vars(within).update(vars(self))
        if not self._session.reserves:  # a service of 0.1: what does not fit is refused at least
            self.require([cost])
            return within
        within._reservation = key or f"fit-{secrets.token_hex(16)}"
        self._session.reserve({"key": within._reservation, "what": what, **_plan_to(cost)})
        return within

    def close_reservation(self, why: str = "done") -> None:
        if self._reservation:
            self._session.close_reservation(self._reservation, why, self._claimed)

    def cancel_reservation(self, key: str) -> None:
        self._session.close_reservation(key, "cancelled", "")

    def reservation_state(self, key: str) -> str:
        if not self._session.reserves:
            return ""
        return str(self._session.reservation(key).get("state", ""))

    def claim(self, release: str) -> None:
        self._claimed = release

    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:
        listed = self._session.history()
        return [(entry, entry.answered) for entry in listed if entry.key.startswith(prefix)]

    @property
    def identity(self) -> list[Any]:
        schema = self.schema.to_json()
        return [self.account, self.dataset, "", schema, self.private, self.unit]

    @property
    def account(self) -> str:
        return self._session.account

    @property
    def unit(self) -> Unit:
        return self._session.unit

    @property
    def private(self) -> bool:
        return self._session.private

    @property
    def reason(self) -> str:
        return self._session.reason

    @property
    def bits(self) -> Bits:
        """Randomness for structure that is drawn on this side; noise is drawn by the curator."""
        return self._bits

    def snapshot(self) -> AbstractContextManager[None]:
        return self._session.snapshot()

    def preview(self, plan: Iterable[Cost]) -> Preview:
        told = self._session.preview({"plan": [_plan_to(cost) for cost in plan], **self._about()})
        with understood("preview"):
            return Preview.from_json(told)

    def _about(self) -> Json:
        """Which rows a query is about, where these are not all rows of the moment."""
        about = {} if not self._reservation else {"reservation": self._reservation}
        if self._session.snapshot_id is not None:
            about["snapshot"] = self._session.snapshot_id
        return about


def _plan_to(cost: Cost) -> Json:
    """As short as it can be said: rho goes without saying where it follows from epsilon."""
    if cost.epsilon is None:
        return {"rho": str(cost.rho)}
    implied = cost.rho == cost.epsilon**2 / 2
    return (
        {"epsilon": str(cost.epsilon)}
        if implied
        else {"epsilon": str(cost.epsilon), "rho": str(cost.rho)}
    )
