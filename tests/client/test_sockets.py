"""A server of our own on a real socket: connections that break in the middle of an answer, and
certificates nobody knows.
"""

from __future__ import annotations

import select
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

import privet as pv
from privet.client.transport import KEY, Link
from privet.errors import Unavailable
from tests.client.fakes import TOKEN

ANSWER = b'{"answer":{"said":1},"receipt":"x"}'
WHOLE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: "
    b"close\r\n\r\n%b"
) % (len(ANSWER), ANSWER)


@contextmanager
def serving(
    *answers: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, list[bytes]]]:
    """A server that answers each connection in turn in its own way; its port, and what was sent to
    it.
    """
    seen: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with (
                    suppress(ssl.SSLError),
                    connection
                    if tls is None
                    else tls.wrap_socket(connection, server_side=True) as spoken,
                ):
                    seen.append(_request(spoken))
                    answer(spoken)
                connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], seen
        thread.join(10)
        assert not thread.is_alive()


def _request(connection: socket.socket) -> bytes:
    connection.settimeout(10)
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def cut_off(connection: socket.socket) -> None:
    connection.sendall(WHOLE[:-10])


def cut_off_at_once(connection: socket.socket) -> None:
    # reset, not closed
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")


def whole(connection: socket.socket) -> None:
    connection.sendall(WHOLE)


def test_a_question_whose_answer_was_cut_off_is_sent_again_as_it_was():
    with serving(cut_off, cut_off_at_once, cut_off, whole) as (port, seen):
        link = Link(f"http://127.0.0.1:{port}", TOKEN)
        told = link.post("/datasets/people/size", b'{"epsilon":"1/10"}', {KEY: "a-key"})
        link.close()
    assert told == {"answer": {"said": 1}, "receipt": "x"}
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert b"Idempotency-Key: a-key" in seen[0]
    assert seen[0].endswith(b'\r\n\r\n{"epsilon":"1/10"}')


def test_a_proxy_of_the_environment_does_not_see_plain_requests(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(whole) as (port, seen):
        link = Link(f"http://127.0.0.1:{port}", TOKEN, retry_for=0)
        link.get("/datasets")
        link.close()
    assert seen[0].startswith(b"GET /v1/datasets HTTP/1.1")


def test_a_curator_that_does_not_listen_is_unavailable():
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and nobody listens
        with pytest.raises(Unavailable, match=r"cannot be reached \(ConnectError\)$"):
            pv.connect(f"http://127.0.0.1:{deaf.getsockname()[1]}", TOKEN, retry_for=0.2)


def test_no_answer_in_time():
    silent = [lambda connection: connection.recv(1)] * 2
    with (
        serving(*silent) as (port, _),
        pytest.raises(Unavailable, match=r"cannot be reached \(ReadTimeout\)$"),
    ):
        pv.connect(f"http://127.0.0.1:{port}", TOKEN, timeout=0.2, retry_for=0.25)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A key with a certificate for 127.0.0.1 that signs itself."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    kind = [
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=curator",
    ]
    files = [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(folder / "key.pem"),
        "-out",
        str(folder / "cert.pem"),
    ]
    subprocess.run([openssl, "req", *kind, *files], check=True, capture_output=True)
    return folder


def test_an_unknown_certificate_is_refused_at_once_and_a_named_one_is_trusted(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(whole, whole, tls=context) as (port, seen):
        link = Link(f"https://127.0.0.1:{port}", TOKEN)
        with pytest.raises(
            Unavailable, match=r"certificate is not one to trust; ca \(--ca, .*names a file"
        ):
            link.get("/datasets")
        link.close()
        link = Link(f"https://127.0.0.1:{port}", TOKEN, ca=certificate / "cert.pem")
        link.get("/datasets")
        link.close()
    assert len(seen) == 1


#: Servers that could drip to their end, far beyond any deadline here.
UNCUT: list[bytes] = []


def drip(start: bytes, drop: bytes) -> Callable[[socket.socket], None]:
    """A server that sends a little at a time until the client is gone."""

    def answer(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(start)
            for _ in range(250):
                connection.sendall(drop)
                if select.select([connection], [], [], 0.02)[0]:
                    return
            UNCUT.append(start)

    return answer


OK = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    "head": drip(OK + b"X: ", b"x"),
    "heads of no answer": drip(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "between two parts": drip(OK + b"Transfer-Encoding: chunked\r\n\r\n2;", b"x"),
    "until the connection ends": drip(OK + b"\r\n{}", b" "),
}


@pytest.mark.parametrize("way", DRIPS)
def test_no_server_holds_a_client_beyond_its_deadline(way):
    with serving(DRIPS[way]) as (port, _):
        link = Link(f"http://127.0.0.1:{port}", TOKEN, timeout=0.15, retry_for=0)
        with pytest.raises(Unavailable, match="its answer took longer than"):
            link.get("/datasets")
    assert not UNCUT


def test_a_kept_connection_has_a_deadline_too():
    first = WHOLE.replace(b"Connection: close\r\n", b"")

    def twice(connection: socket.socket) -> None:
        connection.sendall(first)
        _request(connection)
        DRIPS["head"](connection)

    with serving(twice) as (port, seen):
        link = Link(f"http://127.0.0.1:{port}", TOKEN, timeout=0.15, retry_for=0)
        assert link.get("/datasets")
        with pytest.raises(Unavailable, match=r"took longer than 0.3 s"):
            link.get("/datasets")
    assert len(seen) == 1  # one connection


def test_a_deadline_holds_inside_tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(DRIPS["head"], tls=context) as (port, _):
        url, ca = f"https://127.0.0.1:{port}", certificate / "cert.pem"
        link = Link(url, TOKEN, timeout=0.15, retry_for=0, ca=ca)
        with pytest.raises(Unavailable, match=r"took longer than 0.3 s"):
            link.get("/datasets")


def test_a_link_goes_on_after_a_deadline():
    with serving(DRIPS["head"], lambda connection: connection.sendall(WHOLE)) as (port, _):
        link = Link(f"http://127.0.0.1:{port}", TOKEN, timeout=0.15, retry_for=5)
        assert link.get("/datasets") == {"answer": {"said": 1}, "receipt": "x"}
