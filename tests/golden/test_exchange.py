"""How the tests themselves send requests."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.golden.exchange import ask

#: More than all buffers between two sockets hold, so that sending must notice.
LARGE = bytes(1 << 25)
REFUSED = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nX-Own: here\r\n\r\n{}"


@contextmanager
def hanging_up(answer: bytes) -> Iterator[int]:
    """Listen, answer the first bytes of one request, and reset the connection."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def serve() -> None:
            accepted, _ = listener.accept()
            with accepted:
                accepted.recv(1000)
                accepted.sendall(answer)
                accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


def test_an_answer_that_came_before_all_was_sent_is_read() -> None:
    with hanging_up(REFUSED) as port:
        status, headers, content = ask(port, "POST", "/", {}, LARGE)
    assert (status, headers["x-own"], content) == (413, "here", b"{}")


def test_a_connection_that_ends_without_an_answer_is_an_error() -> None:
    with (
        hanging_up(b"") as port,
        pytest.raises(ConnectionError),
    ):
        ask(port, "POST", "/", {}, LARGE)
