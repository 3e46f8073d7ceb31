"""Limit sizes, rates, memory and times, so that no analyst can starve the others.

When an answer leaves is in :mod:`privet.service.departure`.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from privet.errors import PrivetError


@dataclass(frozen=True)
class Limits:
    """What the service allows.

    Args:
        body: bytes of a request.
        rate, burst: requests a second of one analyst, and how many at once after a pause.
        strangers: requests a second without a valid token from one address, in bursts of 20 or four
            times as many.
        views: views of the page a second of one person, in bursts of 40.
        at_once: questions of all analysts that are worked on at the same time; the others wait.
        at_once_each: requests of one analyst that may be under way at the same time.
        patience: seconds in which a request must have arrived.
        recorded: bytes that the recorded answers of one analyst may take.
        snapshots, snapshots_each: snapshots that are open at once, in all and of one analyst.
        snapshot_idle, snapshot_life: seconds after which a snapshot ends, unused or at all.
        first_step: seconds that an answer takes at least; 0 leaves times as they are.
        step_time: seconds that an elementary step of a query is given.
        rows: how many rows a table is taken to have where its schema does not say.
    """

    body: int = 1 << 22
    rate: float = 50.0
    burst: float = 200.0
    strangers: float = 5.0
    views: float = 5.0
    at_once: int = 16
    at_once_each: int = 4
    patience: float = 30.0
    recorded: int = 1 << 32
    snapshots: int = 64
    snapshots_each: int = 4
    snapshot_idle: float = 300.0
    snapshot_life: float = 3600.0
    first_step: float = 0.01
    step_time: float = 5e-9
    rows: int = 1 << 16


class TooMany(PrivetError):
    """There were more requests than allowed. Carries the seconds to wait."""

    def __init__(self, detail: str, wait: float = 1.0) -> None:
        self.wait = wait
        super().__init__(detail)


class Rates:
    """A bucket of tokens for each name: ``rate`` a second flow in, at most ``burst``."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Take one token, or raise :class:`TooMany`."""
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > 10_000:  # full buckets say nothing
                self._buckets = {
                    n: (t, at)
                    for n, (t, at) in self._buckets.items()
                    if t + (now - at) * self._rate < self._burst
                }
            tokens, at = self._buckets.get(name, (self._burst, now))
            tokens = min(self._burst, tokens + (now - at) * self._rate)
            if tokens < 1:
                self._buckets[name] = (tokens, now)
                raise TooMany(
                    f"more than {self._rate:g} requests a second; wait a moment",
                    (1 - tokens) / self._rate,
                )
            self._buckets[name] = (tokens - 1, now)

    def pay(self, name: str, tokens: float) -> None:
        """Take more tokens for a request that turned out to be large.

        They are taken whether they are there or not: they must flow in before the next request.
        """
        with self._lock:
            there, at = self._buckets.get(name, (self._burst, time.monotonic()))
            self._buckets[name] = (there - tokens, at)


# Memory for large queries: those that do not fit beside the others wait their turn.


class MemoryGate:
    """So many bytes, taken in the order of arrival.

    One that needs more than all of it gets all of it, alone.
    """

    def __init__(self, size: int) -> None:
        self._size, self._free = size, size
        self._waiting: deque[object] = deque()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, wanted: int) -> Iterator[None]:
        """Wait until there is room, and hold it within this block."""
        needed, me = min(wanted, self._size), object()
        with self._changed:
            self._waiting.append(me)
            try:
                self._changed.wait_for(lambda: self._waiting[0] is me and self._free >= needed)
            finally:
                self._waiting.remove(me)
                self._changed.notify_all()
            self._free -= needed
        try:
            yield
        finally:
            with self._changed:
                self._free += needed
                self._changed.notify_all()
