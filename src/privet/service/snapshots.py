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
from privet.service.shared import Shared, SnapshotElsewhere
from privet.tables.base import CountSource

Result = TypeVar("Result")
_PATIENCE = 5.0  # seconds, for a snapshot that makes room to be left


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
    shared: Shared
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
            self.shared.use_snapshot(self.name, self.busy)

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

    def end(self) -> None:
        """Leave the snapshot, in its thread, after what is under way; then count it no longer."""

        def leave() -> None:
            try:
                self._open.close()
            finally:
                self.shared.drop_snapshot(self.name)

        self._thread.submit(leave)
        self._thread.shutdown(wait=False)


class Snapshots:
    """All open snapshots."""

    def __init__(self, limits: Limits, shared: Shared) -> None:
        self._limits, self._shared = limits, shared
        self._open: dict[str, Snapshot] = {}
        self._lock = threading.Lock()

    def begin(
        self, analyst: str, dataset: int, source: CountSource, reservation: str = ""
    ) -> Snapshot:
        """Begin a new snapshot, unless there are too many, in all processes together.

        A fit that goes on takes the place of the snapshot that it had. An analyst who has as many
        as are allowed loses the one that was not used for longest, if it was not used for a while:
        whoever held it may have been killed.
        """
        name, now = secrets.token_urlsafe(18), time.monotonic()
        self._claim(name, analyst, dataset, reservation)
        snapshot = Snapshot(name, analyst, dataset, source, now, now, self._shared)
        with self._lock:
            self._open[name] = snapshot
        try:
            snapshot.run(snapshot.begin).result()
        except BaseException:
            self.end(snapshot)
            raise
        return snapshot

    def _claim(self, name: str, analyst: str, dataset: int, reservation: str) -> None:
        """Count a snapshot that is about to begin. Waits a while for those that make room."""
        until, again = time.monotonic() + _PATIENCE, False
        while True:
            self.tidy()
            try:
                if self._shared.claim_snapshot(name, analyst, dataset, reservation, self._limits):
                    return
            except TooMany:
                if again:
                    raise
                again = True
                self._shared.forget_dead()
                continue
            if time.monotonic() > until:
                raise TooMany("one of your snapshots is about to end; send it again", 5)
            time.sleep(0.02)

    def get(self, name: str, analyst: str, dataset: int) -> Snapshot:
        """Return the snapshot of this name, if it is this analyst's and of this data set.

        The data set is compared by its number: another may have its name by now.
        """
        self.tidy()
        snapshot = self._open.get(name)
        if snapshot is None:
            process = self._shared.owner_of_snapshot(name, analyst, dataset)
            if process is not None:
                raise SnapshotElsewhere(process)
        if snapshot is None or (snapshot.analyst, snapshot.dataset) != (analyst, dataset):
            raise SnapshotGone("this snapshot has ended, or never was; begin a new one")
        return snapshot

    def end(self, snapshot: Snapshot) -> None:
        """End a snapshot. It is counted until its thread has left it."""
        with self._lock:
            there = self._open.pop(snapshot.name, None)
        if there is not None:
            there.end()

    def tidy(self) -> None:
        """End the snapshots whose time is over, or which others of the analyst replace."""
        now, limits = time.monotonic(), self._limits
        ended = self._shared.ended_snapshots() if self._open else set()
        for snapshot in list(self._open.values()):
            idle = not snapshot.busy and now - snapshot.used > limits.snapshot_idle
            if snapshot.name in ended or idle or now - snapshot.begun > limits.snapshot_life:
                self.end(snapshot)

    def end_all(self) -> None:
        """End all snapshots."""
        for snapshot in list(self._open.values()):
            self.end(snapshot)
