"""End an HTTP exchange at a deadline, whatever the server does.

Time-outs of the HTTP library are for one read each. A server that sends a byte now and then, of the
head or between two parts of the body, never meets them.
"""

from __future__ import annotations

import socket
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any


class Deadline:
    """Tells whether an exchange was ended, and learns which connections are open."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.passed = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Note new connections: a callback for the ``trace`` extension of a request."""
        # TLS replaces the socket that it begins on
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._connections.add(info["return_value"])
            if self.passed:
                self._connections.cut()

    def pass_by(self) -> None:
        """End the exchange."""
        self.passed = True
        self._connections.cut()


class Connections:
    """The open connections of one client."""

    def __init__(self) -> None:
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def add(self, stream: Any) -> None:
        """Add a network stream, as long as somebody uses it."""
        with self._lock:
            self._streams.add(stream)

    def cut(self) -> None:
        """Shut all connections down, which ends what waits for them.

        Which one an exchange uses, the HTTP library does not tell. Other requests under way are
        sent again.
        """
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with suppress(OSError):  # it is closed already
                stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    @contextmanager
    def limit(self, seconds: float) -> Iterator[Deadline]:
        """End the exchange inside this block after so many seconds."""
        deadline = Deadline(self)
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), deadline.pass_by)
        timer.daemon = True
        timer.start()
        try:
            yield deadline
        finally:
            timer.cancel()
