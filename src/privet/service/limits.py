"""Limit sizes, rates, memory and times, so that no analyst can starve the others.

When an answer leaves is in :mod:`privet.service.departure`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from privet._atomic import write_atomically
from privet._validate import suggest
from privet.errors import ParameterError, PrivetError

_NUMBER = re.compile("-?[0-9]{1,20}([.][0-9]{1,20})?")


def limit(default: float, what: str, reached: str, least: float = 1) -> Any:
    """Declare a limit: its default, what it bounds, what happens when it is reached."""
    return field(default=default, metadata={"what": what, "reached": reached, "least": least})


@dataclass(frozen=True)
class HttpLimits:
    """What every server of ours allows; each field says what it bounds."""

    connections: int = limit(
        1000,
        "connections that are open at once",
        "the one that has waited longest for a request is cut; if none waits, the new one is",
    )
    connections_each: int = limit(
        100,
        "connections of one address that are open at once; does not apply with --behind-tls",
        "the same, among those of the address",
    )
    head: float = limit(
        20.0, "seconds in which the head of a request must have arrived", "cut", least=0.1
    )
    idle: int = limit(5, "seconds that an unused connection is kept open", "closed")
    patience: float = limit(
        30.0,
        "seconds in which the body of a request must have arrived, and one more for every "
        "'slowest' bytes of it",
        "408",
        least=0.1,
    )
    slowest: int = limit(1000, "bytes a second at which bodies and answers may travel", "408, cut")
    body: int = limit(1 << 22, "bytes of the body of a request", "413")
    drain: float = limit(
        25.0,
        "seconds that requests under way have to end after SIGTERM, while new ones get 503",
        "the service ends; charges stand, and the same requests get their answers later",
        least=0,
    )
    addresses: float = limit(
        200.0,
        "requests a second of one address that a known token came from, in bursts of four times "
        "as many; never below 'rate'",
        "429, and no token is looked up",
        least=0.01,
    )
    strangers: float = limit(
        5.0,
        "requests a second without a known token from one address, in bursts of 20 or four times "
        "as many",
        "429, and no token of an address that is not known is looked up",
        least=0.001,
    )
    strangers_in_all: float = limit(
        50.0,
        "the same for all addresses together, in bursts of four times as many",
        "429, and no token of an address that is not known is looked up",
        least=0.001,
    )
    rate: float = limit(50.0, "requests a second of one person", "429", least=0.001)
    burst: float = limit(200.0, "requests of one person at once, after a pause", "429")
    at_once_each: int = limit(4, "requests of one person that are under way at once", "429")


@dataclass(frozen=True)
class Limits(HttpLimits):
    """What the service of a curator allows."""

    volume: int = limit(
        1 << 14,
        "bytes of a body or an answer that count as one more request of a person",
        "429 for the next requests",
    )
    views: float = limit(
        5.0, "views of the page a second of one person, in bursts of 40", "429", least=0.01
    )
    at_once: int = limit(16, "questions that are worked on at once", "the others wait")
    at_once_dataset: int = limit(
        8, "questions about one data set that are worked on at once", "the others wait"
    )
    waiting: int = limit(
        256, "questions about one data set that wait for those before them", "503, not charged"
    )
    wait: float = limit(
        30.0, "seconds that a question waits for those before it", "503, not charged", least=0.01
    )
    work: float = limit(
        240.0,
        "seconds that a question is worked on; also the time limit of a statement in PostgreSQL",
        "503; a charge stands, and the same request gets its answer later",
        least=0.01,
    )
    lock: float = limit(
        10.0, "seconds that PostgreSQL waits for a locked table", "503, not charged", least=0.01
    )
    recorded: int = limit(1 << 32, "bytes of all recorded answers of one analyst", "429")
    snapshots: int = limit(64, "snapshots that are open at once", "429")
    snapshots_each: int = limit(4, "snapshots of one analyst that are open at once", "429")
    snapshot_lease: float = limit(
        30.0,
        "seconds after which an unused snapshot makes room for another one of the same analyst",
        "it ends (410), if the analyst has as many as are allowed; a fit begins another one",
        least=0,
    )
    snapshot_idle: float = limit(
        300.0, "seconds that an unused snapshot is kept open", "it ends (410)", least=0
    )
    snapshot_life: float = limit(
        3600.0, "seconds after which a snapshot ends in any case", "it ends (410)", least=0
    )
    first_step: float = limit(
        0.01, "seconds that an answer takes at least; 0 leaves times as they are", "waits", least=0
    )
    step_time: float = limit(
        5.0,
        "nanoseconds that an answer is given for each step of its work",
        "leaves at the next multiple of its deadline",
        least=0.001,
    )
    rows: int = limit(
        1 << 16,
        "rows that answers are given time for, where a schema has no n_rows",
        "leaves at the next multiple of its deadline",
    )


# The limits of one home, in a file of their own.

FILE = "limits.json"
L = TypeVar("L", bound=HttpLimits)


@dataclass(frozen=True)
class DescribedLimit:
    """A limit with what is in force, its default, what it bounds and what happens then."""

    name: str
    value: float
    default: float
    what: str
    reached: str


def describe_limits(limits: HttpLimits) -> list[DescribedLimit]:
    """List the limits that can be set, as they are in force."""
    return [
        DescribedLimit(name, getattr(limits, name), declared.default, text["what"], text["reached"])
        for name, (declared, text) in _declared(type(limits)).items()
    ]


def _declared(kind: type[HttpLimits]) -> dict[str, tuple[Any, Any]]:
    """The limits that can be set, each with its text; another default has the same text."""
    texts = {known.name: known.metadata for known in fields(HttpLimits)}
    return {
        known.name: (known, known.metadata or texts[known.name])
        for known in fields(kind)
        if known.metadata or known.name in texts
    }


def read_limits(kind: type[L], home: Path) -> L:
    """Read the limits of a home; what its file does not name has its default."""
    path = home / FILE
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return kind()
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(f"cannot read {path}: {error}") from None
    if not isinstance(given, dict):
        raise ParameterError(f'{path} must be an object of limits, such as {{"rate": 50}}')
    return _check_limits(kind, given, f"{path}: ")


def write_limits(kind: type[L], home: Path, changes: Sequence[str]) -> L:
    """Change limits of a home, each given as NAME=VALUE, and return those in force."""
    changed = {
        known.name: known.value
        for known in describe_limits(read_limits(kind, home))
        if known.value != known.default
    }
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise ParameterError(f"--set {change}: write it as NAME=VALUE, such as rate=100")
        if not _NUMBER.fullmatch(text):
            raise ParameterError(f"--set {change}: the value must be a number")
        changed[name] = float(text) if "." in text else int(text)
    limits = _check_limits(kind, changed, "--set ")
    write_atomically(home / FILE, (json.dumps(changed, indent=2) + "\n").encode(), private=True)
    return limits


def change_limits(limits: L, changes: Mapping[str, Any], where: str) -> L:
    """Return limits with these changes; ``where`` says in messages where they were made."""
    _check_limits(type(limits), dict(changes), where)
    return replace(limits, **changes)


def _check_limits(kind: type[L], given: dict[str, Any], where: str) -> L:
    known = _declared(kind)
    for name, value in given.items():
        if name not in known:
            meant = suggest(name, list(known))
            raise ParameterError(
                f"{where}{name}: there is no such limit; there are {', '.join(known)}"
                + (f"; {meant}" if meant else "")
            )
        declared, text = known[name]
        integer = isinstance(declared.default, int)
        good = type(value) is int or (type(value) is float and not integer)
        if not good or not text["least"] <= value < 1 << 60:
            kind_of = "an integer" if integer else "a number"
            raise ParameterError(
                f"{where}{name}: must be {kind_of} of at least {text['least']:g}, got {value!r}"
            )
    return kind(**given)


_KEPT = 1.0  # seconds, for tokens that were taken from a bucket of all processes
_BUCKETS = 10_000  # that are kept before the full ones are forgotten


class TooMany(PrivetError):
    """There were more requests than allowed. Carries the seconds to wait."""

    def __init__(self, detail: str, wait: float = 1.0) -> None:
        self.wait = wait
        super().__init__(detail)


class Busy(PrivetError):
    """There is no place for a question, and nothing was charged. Carries the seconds to wait."""

    def __init__(self, detail: str, wait: float = 1.0) -> None:
        self.wait = wait
        super().__init__(detail)


class OutOfTime(Busy):
    """A question was given up: it waited, or was worked on, for too long."""

    def __init__(self) -> None:
        super().__init__(
            "there was no answer in time, and nothing was charged; the table may be locked or the "
            "service busy: send the request again later",
            5,
        )


class Buckets(Protocol):
    """Where the tokens of several processes are."""

    def take_tokens(
        self, kind: str, name: str, rate: float, burst: float, wanted: float, owed: float
    ) -> tuple[float, float]: ...


class Rates:
    """A bucket of tokens for each name: ``rate`` a second flow in, at most ``burst``.

    With ``buckets``, it is one bucket for all processes: each takes a few tokens at once.
    """

    def __init__(
        self, rate: float, burst: float, kind: str = "", buckets: Buckets | None = None
    ) -> None:
        self._rate, self._burst = rate, burst
        self._kind, self._shared = kind, buckets
        self._at_once = max(1.0, min(rate / 10, burst / 40))
        self._buckets: dict[str, tuple[float, float]] = {}
        self._most = _BUCKETS
        self._lock = threading.Lock()

    def take(self, name: str) -> None:
        """Take one token, or raise :class:`TooMany`."""
        now = time.monotonic()
        with self._lock:
            if len(self._buckets) > self._most:  # full buckets say nothing
                self._buckets = {
                    n: (t, at)
                    for n, (t, at) in self._buckets.items()
                    if t + (now - at) * self._rate < self._burst
                }
                self._most = max(_BUCKETS, 2 * len(self._buckets))
            tokens = self._fill(name, now)
            if tokens < 1:
                # what is owed in a shared bucket is known there
                self._buckets[name] = (tokens if self._shared is None else 0.0, now)
                raise TooMany(
                    f"more than {self._rate:g} requests a second; wait a moment",
                    (1 - tokens) / self._rate,
                )
            self._buckets[name] = (tokens - 1, now)

    def _fill(self, name: str, now: float) -> float:
        """Return the tokens that are there now for a name."""
        if self._shared is None:
            tokens, at = self._buckets.get(name, (self._burst, now))
            return min(self._burst, tokens + (now - at) * self._rate)
        tokens, at = self._buckets.get(name, (0.0, now))
        if tokens > 0 and now - at > _KEPT:  # those that were taken and not used are lost
            tokens = 0.0
        if tokens >= 1:
            return tokens
        # what is left of a token is lost; what is owed is paid
        taken, there = self._shared.take_tokens(
            self._kind, name, self._rate, self._burst, self._at_once, max(0.0, -tokens)
        )
        return taken if taken else min(there, 0.999)

    def pay(self, name: str, tokens: float) -> None:
        """Take more tokens for a request that turned out to be large.

        They are taken whether they are there or not: they must flow in before the next request.
        """
        with self._lock:
            now = time.monotonic()
            there, at = self._buckets.get(name, (0.0 if self._shared else self._burst, now))
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
