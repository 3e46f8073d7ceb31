"""A ledger as one request sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from privet.budget import Cost
from privet.ledger.base import Ledger
from privet.ledger.journal import Entry


class KeyedLedger:
    """What is charged here is charged under the key of a request, so that the request pays once.
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
