"""Sizes, rates and numbers, so that no client can starve the others or fill the server."""

from __future__ import annotations

from dataclasses import dataclass, field

from privet.outsource.store.base import StoreLimits


@dataclass(frozen=True)
class ServerLimits:
    """What the server allows.

    Args:
        body: bytes of a request.
        rate, burst: requests a second of one client, and how many at once after a pause.
        strangers: requests a second without a valid token from one address.
        at_once_each: requests of one client that may be under way at the same time.
        patience: seconds in which a request must have arrived.
        sealed: bytes of a sealed object.
        inline: bytes of all sealed sub-trees that come along with the leaves that rows reach.
        rows: rows of one request for predictions, or of one page.
        page_values: sensitive values on one page, counted once for each row.
        room: how many trees and objects there may be.
    """

    body: int = 1 << 25
    rate: float = 200.0
    burst: float = 1000.0
    strangers: float = 5.0
    at_once_each: int = 8
    patience: float = 60.0
    sealed: int = 1 << 24
    inline: int = 1 << 20
    rows: int = 10_000
    page_values: int = 1 << 18
    room: StoreLimits = field(default_factory=StoreLimits)
