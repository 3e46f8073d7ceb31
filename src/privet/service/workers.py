"""Work on questions in threads: a share for each data set and each analyst, and time limits.

An answer whose work is done waits until it may leave, and is kept then. Meanwhile it takes no place
from those that work.

A table that is locked, or a server that does not respond, holds up the questions about it and no
others. A question that was given up is not charged afterwards: the charge asks first.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from privet.accounting.ledger import Entry, Ledger
from privet.accounting.ledger.base import KeyedLedger
from privet.service.departure import Departure
from privet.service.limits import Busy, Limits, OutOfTime

Result = TypeVar("Result")


class Attempt(Generic[Result]):
    """One attempt to do some work, which may be given up before it charges anything.

    ``begun`` and ``outcome`` are there when a thread has begun and finished, ``entry`` when it has
    charged.
    """

    def __init__(self, work: Callable[[Attempt[Result]], Result]) -> None:
        self._work, self._context = work, copy_context()  # of the request, for logs
        self.begun: Future[None] = Future()
        self.outcome: Future[Result] = Future()
        self.entry: Entry | None = None
        #: Gives up the place among those that work, when nothing is left to do but wait.
        self.rest: Callable[[], None] = _take_no_place
        self._given_up = False
        self._lock = threading.Lock()

    @property
    def waits(self) -> bool:
        """Whether somebody still wants it, and no thread has begun."""
        return not self._given_up and not self.begun.done()

    def run(self) -> None:
        """Do the work in this thread, unless it was given up."""
        with self._lock:
            if self._given_up:
                return
            self.begun.set_result(None)
        try:
            result = self._context.run(self._work, self)
        except BaseException as error:  # noqa: BLE001 - raised where the outcome is awaited
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(result)

    @contextmanager
    def charging(self) -> Iterator[None]:
        """Charge within this block, unless the attempt was given up."""
        with self._lock:
            if self._given_up:
                raise OutOfTime
            yield

    def give_up(self) -> None:
        """Charge nothing from now on. Waits for a charge that is being made."""
        with self._lock:
            self._given_up = True

    async def wait(self, limits: Limits) -> Result:
        """Return the outcome, or give up and raise :class:`OutOfTime` after the time limits."""
        try:
            async with asyncio.timeout(limits.wait):
                await _reached(self.begun)
            async with asyncio.timeout(limits.work):
                return await _reached(self.outcome)
        except TimeoutError:
            await asyncio.to_thread(self.give_up)
            if self.outcome.done():  # just in time
                return self.outcome.result()
            raise OutOfTime from None


def _take_no_place() -> None:
    """A question of a snapshot has a thread of its own, and a place there."""


async def _reached(future: Future[Result]) -> Result:
    """Wait for what a thread does. Whoever stops waiting does not stop the thread."""
    wrapped = asyncio.wrap_future(future)
    # an error that comes when nobody waits any more is in the log and the ledger
    wrapped.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(wrapped)


class TimedLedger(KeyedLedger):
    """A ledger as one attempt to answer a request sees it."""

    def __init__(
        self,
        ledger: Ledger,
        analyst: str,
        key: str,
        request: str,
        seen: Callable[[Entry], None],
        attempt: Attempt[Any] | None,
        departure: Departure,
    ) -> None:
        super().__init__(ledger, analyst, key, request, seen)
        self._attempt, self._departure = attempt, departure

    def charge(self, *args: Any, **more: Any) -> Entry:
        if self._attempt is None:
            return super().charge(*args, **more)
        with self._attempt.charging():
            self._attempt.entry = super().charge(*args, **more)
        return self._attempt.entry

    def record(self, number: int, answer: bytes) -> bytes:
        """Keep an answer when it may leave, and not before."""
        self.hold()
        return self._ledger.record(number, answer)

    def hold(self) -> None:
        """Wait until what became of the question may be known."""
        if self._attempt is not None:
            self._attempt.rest()
        self._departure.hold()


class Workers:
    """Threads that work on questions, and the questions that wait for one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(  # those that work, and those whose answers wait to leave
            limits.at_once + limits.waiting, thread_name_prefix="handlers"
        )
        self._waiting: list[tuple[int, str, Attempt[Any]]] = []
        self._running = 0
        self._closed = False
        self._of_dataset: Counter[int] = Counter()
        self._of_analyst: Counter[str] = Counter()
        self._lock = threading.Lock()

    def submit(self, dataset: int, analyst: str, attempt: Attempt[Result]) -> Attempt[Result]:
        """Work on this as soon as there is a place, or raise :class:`Busy`."""
        with self._lock:
            self._waiting = [one for one in self._waiting if one[2].waits]
            ahead = sum(number == dataset for number, _, _ in self._waiting)
            if ahead >= self._limits.waiting:
                raise Busy(
                    f"{ahead} questions about this data set wait already; nothing was charged, "
                    "send the request again later",
                    5,
                )
            self._waiting.append((dataset, analyst, attempt))
            self._start()
        return attempt

    def close(self) -> None:
        """Finish what is worked on; nobody waits for the rest any more."""
        with self._lock:
            self._closed = True
        self._pool.shutdown(wait=True)

    def _start(self) -> None:
        """Start those for whom there is a place, in the order of arrival."""
        limits, still_waiting = self._limits, []
        for dataset, analyst, attempt in self._waiting:
            if (
                not self._closed
                and self._running < limits.at_once
                and self._of_dataset[dataset] < limits.at_once_dataset
                and self._of_analyst[analyst] < limits.at_once_each
            ):
                self._count(dataset, analyst, 1)
                self._pool.submit(self._run, dataset, analyst, attempt)
            else:
                still_waiting.append((dataset, analyst, attempt))
        self._waiting = still_waiting

    def _run(self, dataset: int, analyst: str, attempt: Attempt[Any]) -> None:
        places = [1]

        def leave() -> None:
            with self._lock:
                if places:
                    places.pop()
                    self._count(dataset, analyst, -1)
                    self._start()

        attempt.rest = leave
        try:
            attempt.run()
        finally:
            leave()

    def _count(self, dataset: int, analyst: str, more: int) -> None:
        self._running += more
        self._of_dataset[dataset] += more
        self._of_analyst[analyst] += more
        if not self._of_dataset[dataset]:
            del self._of_dataset[dataset]
        if not self._of_analyst[analyst]:
            del self._of_analyst[analyst]
