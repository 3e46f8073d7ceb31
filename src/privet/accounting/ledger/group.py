"""Write what several threads want to record in one transaction, which is on disk once for all.

A commit waits for the disk, and a ledger's lock is held by one transaction at a time. So threads
that come while another one commits are written together by one of them, in the order in which they
came. Each is told the outcome when the transaction is durable, and not before: a charge still is on
disk before anything is read for it. What one of them must not do (a charge that does not fit) is
undone alone, within the transaction; where the transaction fails, nothing of it was recorded, and
all of them are told.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Connection = TypeVar("Connection")
Result = TypeVar("Result")

#: Most pieces of work in one transaction.
_MOST = 64


class _Job(Generic[Connection]):
    """What one thread wants to write, and what became of it."""

    def __init__(self, work: Callable[[Connection], Any]) -> None:
        self.work = work
        self.done = False
        self.result: Any = None
        self.error: BaseException | None = None


class GroupCommit(Generic[Connection]):
    """The writes of all threads to one database.

    Args:
        transaction: opens a transaction, for several pieces of work or for one, and commits it
            durably at the end of the block, or raises and has recorded nothing.
        alone: undoes what is done within its block, and nothing else of the transaction, where an
            error is raised there. It raises another error itself where it cannot.
    """

    def __init__(
        self,
        transaction: Callable[[bool], AbstractContextManager[Connection]],
        alone: Callable[[Connection], AbstractContextManager[object]],
    ) -> None:
        self._transaction, self._alone = transaction, alone
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        self._waiting: list[_Job[Connection]] = []
        self._gate, self._turn = threading.Lock(), threading.RLock()

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held while somebody writes; for transactions of another kind, which wait for it too."""
        return self._turn

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """Do this work in a transaction, and return its result when that is durable."""
        job = _Job(work)
        with self._gate:
            self._waiting.append(job)
        while not job.done:
            with self._turn:
                if not job.done:
                    self._write_next()
        if job.error is not None:
            raise job.error
        result: Result = job.result
        return result

    def _write_next(self) -> None:
        """Write those that wait, in one transaction."""
        with self._gate:
            jobs, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
        try:
            with self._transaction(len(jobs) > 1) as connection:
                if len(jobs) == 1:
                    jobs[0].result = jobs[0].work(connection)
                else:
                    for job in jobs:
                        self._write(job, connection)
        except Exception as error:  # noqa: BLE001 - raised where each of them waits
            for job in jobs:
                job.error = job.error or error
        except BaseException:  # this thread is interrupted; the others are not
            with self._gate:
                self._waiting = [*jobs, *self._waiting]
            raise
        for job in jobs:
            job.done = True

    def _write(self, job: _Job[Connection], connection: Connection) -> None:
        """Do one of several, and undo it alone where it fails."""
        failed: BaseException | None = None
        try:
            with self._alone(connection):
                try:
                    job.result = job.work(connection)
                except Exception as error:
                    failed = error
                    raise
        except Exception as error:
            if error is not failed:  # it could not be undone alone
                raise
            job.error = error


_all: WeakSet[GroupCommit[Any]] = WeakSet()


def _begin_anew() -> None:
    """Forget, in a forked child, what threads of its parent were doing."""
    for group in tuple(_all):
        group._begin()


if hasattr(os, "register_at_fork"):  # elsewhere nobody forks
    os.register_at_fork(after_in_child=_begin_anew)
