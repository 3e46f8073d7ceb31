"""Room in memory for large questions: those that do not fit beside the others wait their turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class MemoryGate:
    """So many bytes, taken in the order of arrival. One that needs more than all of it gets all of
    it, alone.
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
