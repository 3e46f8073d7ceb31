"""One SQLite connection for each thread, and none while the process forks.

SQLite's locks belong to a process, and it remembers them for all connections to one file together.
A forked child remembers locks that only its parent has: a connection that the child opens then
holds none, its parent may take itself for the last user of the file and remove the log, and what
the child wrote since is lost. So all connections are closed before a fork, when nobody is using
one; parent and child open new ones when they need them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakSet

from privet.errors import LedgerError


class _Held:
    """The connection of one thread. Whoever uses it, or closes it for a fork, holds the lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a thread may use its connection within a use of it
        self.connection: sqlite3.Connection | None = None
        self.process = 0

    def close(self) -> None:
        if self.connection is not None and self.process == os.getpid():
            self.connection.close()
            self.connection = None


_gate = threading.Lock()
_all: WeakSet[_Held] = WeakSet()
_forking: list[_Held] = []


class SQLiteConnections:
    """The connections to one file."""

    def __init__(self) -> None:
        self._local = threading.local()

    @contextmanager
    def using(self, opened: Callable[[], sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
        """This thread's connection, or a new one, which another thread must be allowed to close. A
        fork waits for the end of the block.
        """
        held = self._hold_connection()
        with held.lock:
            if held.connection is None:
                held.connection, held.process = opened(), os.getpid()
            elif held.process != os.getpid():
                raise LedgerError(
                    "this process was forked in a way that Python was not told of; open ledgers "
                    "after the fork"
                )
            yield held.connection

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        held = self._hold_connection()
        with held.lock:
            held.close()

    def _hold_connection(self) -> _Held:
        held: _Held | None = getattr(self._local, "held", None)
        if held is None:
            held = self._local.held = _Held()
            with _gate:
                _all.add(held)
        return held


def _before_fork() -> None:
    _gate.acquire()
    for held in tuple(_all):
        held.lock.acquire()
        _forking.append(held)  # only what was taken is given back, should somebody interrupt this
        with suppress(sqlite3.Error):  # a connection that stays open is refused in the child
            held.close()


def _after_fork() -> None:
    """In the parent and in the child."""
    while _forking:
        _forking.pop().lock.release()
    _gate.release()


if hasattr(os, "register_at_fork"):  # elsewhere nobody forks
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )
