"""Report how far long work has come: what is being done, and which share of it is done, if known.

Shares only, never a number of rows: what is on a screen ends up in a log.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Told what is being done, and the share (0 to 1) that is done; None where it is not known.
Watcher = Callable[[str, float | None], None]

_watcher: ContextVar[Watcher | None] = ContextVar("privet_watcher", default=None)
_EVERY = 0.2  # seconds
_LOG = logging.getLogger("privet")
#: Told what is waited for, and for how many seconds at most.
_waiter: ContextVar[Callable[[str, float], None] | None] = ContextVar("privet_waiter", default=None)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Tell the watcher about progress inside this block. It may be called from another thread."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def waited(waiter: Callable[[str, float], None]) -> Iterator[None]:
    """Tell the waiter about whatever is waited for inside this block."""
    token = _waiter.set(waiter)
    try:
        yield
    finally:
        _waiter.reset(token)


def tell_waiting(what: str, seconds: float) -> None:
    """Tell at once what is waited for, and how long at most. Without a waiter, the log is told."""
    waiter = _waiter.get()
    if waiter is not None:
        waiter(what, seconds)
    else:
        _LOG.warning("%s; trying again for %.0f s", what, seconds)


def is_watched() -> bool:
    """Return whether anybody is told."""
    return _watcher.get() is not None


def tell(what: str, share: float | None = None) -> None:
    """Tell whoever watches."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(what, None if share is None else min(max(share, 0.0), 1.0))


@contextmanager
def polled(what: str, share: Callable[[], float]) -> Iterator[None]:
    """Ask again and again how far it is while this block runs.

    A negative share is not known yet.
    """
    watcher = _watcher.get()
    if watcher is None:
        yield
        return
    over = threading.Event()

    def poll() -> None:
        while not over.wait(_EVERY):
            now = share()
            watcher(what, None if now < 0 else min(now, 1.0))

    thread = threading.Thread(target=poll, name="privet-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
