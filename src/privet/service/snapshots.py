"""Keep snapshots: queries of one analyst that see the same rows.

The groups of people that were drawn from those rows belong to them.

Each snapshot has a thread of its own, in which all its questions are answered one after the other:
a database's snapshot belongs to one connection. A snapshot lives in the memory of the service; when
it is gone, so are its groups, and nobody can ask them again.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeVar

from privet.accounting.ledger import Receipt
from privet.curator import Curator
from privet.errors import KeyReused, PrivetError
from privet.service.limits import Limits, TooMany
from privet.tables.base import CountSource

Result = TypeVar("Result")


class SnapshotGone(PrivetError):
    """A snapshot, or a division of it, has ended or never existed."""


@dataclass
class Snapshot:
    """One analyst's view of a data set."""

    name: str
    analyst: str
    dataset: int
    source: CountSource
    begun: float
    used: float
    busy: int = 0
    failed: bool = False  # the last question was charged and not answered
    divisions: dict[int, list[Curator]] = field(default_factory=dict)
    receipts: dict[int, Receipt] = field(default_factory=dict)
    _keys: dict[str, str] = field(default_factory=dict)
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="snapshot")
    )
    _open: ExitStack = field(default_factory=ExitStack)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, work: Callable[[], Result]) -> Future[Result]:
        """Run work in the snapshot's thread."""
        self._use(1)

        def done(_: Future[Result]) -> None:
            self._use(-1)

        try:
            future = self._thread.submit(work)
        except RuntimeError:
            self._use(-1)
            raise SnapshotGone("this snapshot has ended; begin a new one") from None
        future.add_done_callback(done)
        return future

    def _use(self, more: int) -> None:
        with self._lock:
            self.busy += more
            self.used = time.monotonic()

    def begin(self) -> None:
        """Enter the source's snapshot, without reading a row."""
        self._open.enter_context(self.source.snapshot())

    def part(self, division: int, number: int) -> Curator:
        """Return the curator of one group of people."""
        parts = self.divisions.get(division)
        if parts is None or number >= len(parts):
            raise SnapshotGone(f"no group {number} of division {division} in this snapshot")
        return parts[number]

    def claim(self, key: str, request: str) -> None:
        """Claim a key for one request, whichever group it is about."""
        if self._keys.setdefault(key, request) != request:
            raise KeyReused(f"the key {key!r} belongs to another request; use a new key")

    def end(self, left: Callable[[], None]) -> None:
        """Leave the snapshot, in its thread, after what is under way; then report it."""
        self._thread.submit(self._open.close).add_done_callback(lambda _: left())
        self._thread.shutdown(wait=False)


class Snapshots:
    """All open snapshots."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: dict[str, Snapshot] = {}
        self._ending: list[Snapshot] = []
        self._lock = threading.Lock()

    def begin(self, analyst: str, dataset: int, source: CountSource) -> Snapshot:
        """Begin a new snapshot, unless there are too many."""
        self.tidy()
        now = time.monotonic()
        with self._lock:
            held = [*self._open.values(), *self._ending]
            if sum(snapshot.analyst == analyst for snapshot in held) >= self._limits.snapshots_each:
                raise TooMany(
                    (
                        f"you have {self._limits.snapshots_each} snapshots open, which is all that "
                        "is allowed; end one"
                    ),
                    5,
                )
            if len(held) >= self._limits.snapshots:
                raise TooMany("too many snapshots are open; wait until one ends", 5)
            snapshot = Snapshot(secrets.token_urlsafe(18), analyst, dataset, source, now, now)
            self._open[snapshot.name] = snapshot
        try:
            snapshot.run(snapshot.begin).result()
        except BaseException:
            self.end(snapshot)
            raise
        return snapshot

    def get(self, name: str, analyst: str, dataset: int) -> Snapshot:
        """Return the snapshot of this name, if it is this analyst's and of this data set.

        The data set is compared by its number: another may have its name by now.
        """
        self.tidy()
        snapshot = self._open.get(name)
        if snapshot is None or (snapshot.analyst, snapshot.dataset) != (analyst, dataset):
            raise SnapshotGone("this snapshot has ended, or never was; begin a new one")
        return snapshot

    def end(self, snapshot: Snapshot) -> None:
        """End a snapshot."""
        with self._lock:
            there = self._open.pop(snapshot.name, None)
            if there is None:
                return
            self._ending.append(there)  # counted until its thread has left it
        there.end(lambda: self._ending.remove(there))

    def tidy(self) -> None:
        """End the snapshots whose time is over."""
        now, limits = time.monotonic(), self._limits
        for snapshot in list(self._open.values()):
            idle = not snapshot.busy and now - snapshot.used > limits.snapshot_idle
            if idle or now - snapshot.begun > limits.snapshot_life:
                self.end(snapshot)

    def end_all(self) -> None:
        """End all snapshots."""
        for snapshot in list(self._open.values()):
            self.end(snapshot)
