"""Admit requests: find out whose token it is, and whether they have to wait.

Requests of an address are counted before any token is looked up. Those without a known token are
strangers'. An address that a known token came from is told apart from the others, so that whoever
sends rubbish from elsewhere, or from everywhere, keeps nobody out who was in before.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol, TypeVar

from privet.errors import AccessError
from privet.service.audit_log.events import Person
from privet.service.limits import Buckets, HttpLimits, Rates
from privet.service.problems import Unauthorised

Name = TypeVar("Name")
_FAMILIAR = 10_000  # addresses that are remembered, those used last


class Tokens(Protocol):
    """Says whose token it is, or raises :class:`~privet.errors.AccessError`."""

    def analyst_of(self, token: str) -> str: ...

    def person_of(self, token: str) -> Person: ...


class Admission:
    """Let in whoever has a token.

    Strangers, and people who ask too often, have to wait.
    """

    def __init__(
        self, directory: Tokens, limits: HttpLimits, buckets: Buckets | None = None
    ) -> None:
        self._directory = directory
        self._rates = Rates(limits.rate, limits.burst, "person", buckets)
        # an address may send at least what one person may
        self._addresses = Rates(
            max(limits.addresses, limits.rate),
            max(4 * limits.addresses, limits.burst),
            "address",
            buckets,
        )
        self._strangers = Rates(
            limits.strangers, max(20, 4 * limits.strangers), "stranger", buckets
        )
        self._all_strangers = Rates(
            limits.strangers_in_all, max(20, 4 * limits.strangers_in_all), "strangers", buckets
        )
        self._familiar: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def admit(self, token: str | None, address: str) -> str:
        """Return whose token it is."""
        name = self._identify(token, address, self._directory.analyst_of)
        self._rates.take(name)
        return name

    def admit_passed_on(self, token: str | None) -> str:
        """Return whose token it is, of a request that another process has counted."""
        if not token:
            raise Unauthorised("send your token: Authorization: Bearer <token>")
        return self._directory.analyst_of(token)

    def admit_visitor(self, token: str | None, address: str) -> Person:
        """Return whose token it is: an owner's, an auditor's or an analyst's."""
        person = self._identify(token, address, self._directory.person_of)
        # an analyst's rate is one for programs and page; nobody else is named so
        self._rates.take(person.name if person.role == "analyst" else f"\x00{person}")
        return person

    def _identify(self, token: str | None, address: str, look_up: Callable[[str], Name]) -> Name:
        source = _source_of(address)
        with self._lock:
            familiar = source in self._familiar
        if token and familiar:
            self._addresses.take(source)
        else:  # until the token turns out to be known
            self._strangers.take(source)
            self._all_strangers.take("")
        if not token:
            raise Unauthorised("send your token: Authorization: Bearer <token>")
        try:
            name = look_up(token)
        except AccessError as error:
            if familiar:
                self._strangers.take(source)
            raise Unauthorised(str(error)) from None
        if not familiar:
            self._strangers.pay(source, -1)
            self._all_strangers.pay("", -1)
        self._remember(source)
        return name

    def _remember(self, source: str) -> None:
        with self._lock:
            self._familiar[source] = None
            self._familiar.move_to_end(source)
            if len(self._familiar) > _FAMILIAR:
                self._familiar.popitem(last=False)

    def pay(self, name: str, tokens: float) -> None:
        """Count what turned out to be large as several requests."""
        self._rates.pay(name, tokens)


def _source_of(address: str) -> str:
    """What is counted as one address: of IPv6 the network, as a host has all addresses in it."""
    try:
        version_6 = ipaddress.IPv6Address(address)
    except ValueError:
        return address
    if version_6.ipv4_mapped is not None:
        return str(version_6.ipv4_mapped)
    return str(ipaddress.IPv6Network((version_6, 64), strict=False))
