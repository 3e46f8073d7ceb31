"""Serve with TLS, and take a renewed certificate without a restart.

Connections that are open go on as they are; those that begin afterwards get the new certificate. A
pair of files that does not fit together, such as one that is just being written, changes nothing.
"""

from __future__ import annotations

import logging
import signal
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Seconds between looks at the files.
PAUSE = 60.0
_LOG = logging.getLogger(__name__)  # for the owner


class Certificates:
    """The certificate of a context and its key, as they are in their files."""

    def __init__(self, context: ssl.SSLContext, cert: Path, key: Path) -> None:
        self._context, self._cert, self._key = context, cert, key
        self._loaded = self._state()
        self._wake = threading.Event()
        self._over = False

    def reload(self, *, anyway: bool = False) -> bool:
        """Load the files if they have changed; return whether they were loaded."""
        state = self._state()
        if state == self._loaded and not anyway:
            return False
        try:  # a pair that does not fit must not leave half of itself
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._cert, self._key)
            self._context.load_cert_chain(self._cert, self._key)
        except (OSError, ssl.SSLError) as error:
            _LOG.warning("the certificate stays as it was: %s", error.strerror or error)
            return False
        self._loaded = state
        _LOG.warning("loaded the certificate %s", self._cert)
        return True

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Load renewed files within this block: every minute, and when SIGHUP asks for it."""
        watcher = threading.Thread(target=self._watch, name="certificates", daemon=True)
        watcher.start()
        try:
            with _on_hangup(self._wake.set):
                yield
        finally:
            self._over = True
            self._wake.set()

    def _watch(self) -> None:
        while not self._over:
            asked = self._wake.wait(PAUSE)
            self._wake.clear()
            if not self._over:
                self.reload(anyway=asked)

    def _state(self) -> tuple[tuple[int, int], ...]:
        found = []
        for path in (self._cert, self._key):
            with suppress(OSError):  # it is just being replaced
                told = path.stat()
                found.append((told.st_mtime_ns, told.st_ino))
        return tuple(found)


@contextmanager
def _on_hangup(call: Callable[[], None]) -> Iterator[None]:
    """Call this upon SIGHUP, within this block."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(hangup, lambda *_: call())
    try:
        yield
    finally:
        signal.signal(hangup, before)
