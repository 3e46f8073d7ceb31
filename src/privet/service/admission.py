"""Admit requests: find out whose token it is, and whether they have to wait."""

from __future__ import annotations

from typing import Protocol

from privet.errors import AccessError
from privet.service.accounts import Accounts
from privet.service.limits import Rates
from privet.service.problems import Unauthorised


class AdmissionLimits(Protocol):
    """Requests a second: of one person, in bursts, and of one address without a valid token."""

    @property
    def rate(self) -> float: ...
    @property
    def burst(self) -> float: ...
    @property
    def strangers(self) -> float: ...


class Admission:
    """Let in whoever has a token.

    Strangers, and people who ask too often, have to wait.
    """

    def __init__(self, accounts: Accounts, limits: AdmissionLimits) -> None:
        self._accounts = accounts
        self._rates = Rates(limits.rate, limits.burst)
        self._strangers = Rates(limits.strangers, max(20, 4 * limits.strangers))

    def admit(self, token: str | None, address: str) -> str:
        """Return whose token it is."""
        if not token:
            self._strangers.take(address)
            raise Unauthorised("send your token: Authorization: Bearer <token>")
        try:
            name = self._accounts.analyst_of(token)
        except AccessError as error:
            self._strangers.take(address)
            raise Unauthorised(str(error)) from None
        self._rates.take(name)
        return name

    def pay(self, name: str, tokens: float) -> None:
        """Count what turned out to be large as several requests."""
        self._rates.pay(name, tokens)
