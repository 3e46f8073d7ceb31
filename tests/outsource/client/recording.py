"""A recorder between client and server: every byte of both directions is kept."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager


class Recorder:
    """Listens on loopback, passes everything on, and remembers it."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.sent, self.received = bytearray(), bytearray()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._to))
            threading.Thread(
                target=self._pump, args=(client, server, self.sent), daemon=True
            ).start()
            threading.Thread(
                target=self._pump, args=(server, client, self.received), daemon=True
            ).start()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        try:
            while data := source.recv(1 << 16):
                kept += data
                target.sendall(data)
        except OSError:
            pass
        finally:
            for one in (source, target):
                one.close()

    def close(self) -> None:
        self._listener.close()


@contextmanager
def recording(port: int):
    """A recorder in front of a server's port."""
    recorder = Recorder(port)
    try:
        yield recorder
    finally:
        recorder.close()
