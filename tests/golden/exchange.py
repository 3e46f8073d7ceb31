"""HTTP exchanges: a proxy that records them, a stand-in that plays them, and how to compare."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: Headers that are part of the interface.
SENT = ("content-type", "idempotency-key", "privet-schema")
RETURNED = ("content-type", "privet-replayed", "retry-after", "www-authenticate", "location")
Exchange = dict[str, Any]
Answer = tuple[int, dict[str, str], bytes]


def ask(port: int, method: str, path: str, headers: dict[str, str], body: bytes | None) -> Answer:
    """Send one request to this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        # A request that is too large is answered before it has arrived. Uvicorn closes such a
        # connection after five seconds in which nothing more arrives, which a busy machine can
        # take; the answer is there nevertheless.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, headers)
        response = connection.getresponse()
        names = {name.lower(): value for name, value in response.getheaders()}
        return response.status, names, response.read()
    finally:
        connection.close()


def exchange(
    who: str, method: str, path: str, headers: dict[str, str], body: str | None, answer: Answer
) -> Exchange:
    """A request and its response, as they are kept."""
    status, returned, content = answer
    kept = {name: value for name, value in headers.items() if name.lower() in SENT}
    made: Exchange = {"who": who, "method": method, "path": path, "headers": kept, "body": body}
    made["status"] = status
    made["returned"] = {name: returned[name] for name in RETURNED if name in returned}
    if "json" in returned.get("content-type", ""):
        made["answer"] = json.loads(content)
    return made


@dataclass
class Traffic:
    """What passed, or is to be played back; and what was wrong with requests."""

    exchanges: list[Exchange] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@contextmanager
def _listening(answered: Callable[[str, str, dict[str, str], bytes], Answer]) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body leave together, or each waits for the other's receipt

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, returned, content = answered(self.command, self.path, headers, body)
            self.send_response(status)
            for name in RETURNED:
                if name in returned:
                    self.send_header(name, returned[name])
            if status != 204:
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = handle_any

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def recording(port: int, who: str, traffic: Traffic) -> Iterator[int]:
    """Listen in front of a service, and keep what passes."""

    def passed(method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        own = {name: value for name, value in headers.items() if name not in ("host", "connection")}
        answer = ask(port, method, path, own, body or None)
        text = body.decode() if body else None
        traffic.exchanges.append(exchange(who, method, path, headers, text, answer))
        return answer

    with _listening(passed) as own_port:
        yield own_port


@contextmanager
def playing(traffic: Traffic, token: str) -> Iterator[int]:
    """Answer as recorded, in the recorded order, and note each request that is another one."""

    def played(method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        if not traffic.exchanges:
            traffic.wrong.append(f"{method} {path} was not asked in 0.1")
            return 500, {}, b""
        kept = traffic.exchanges.pop(0)
        if headers.get("authorization") != f"Bearer {token}":
            traffic.wrong.append(f"{path}: the token came as {headers.get('authorization')!r}")
        if (method, path) != (kept["method"], kept["path"]):
            traffic.wrong.append(f"{method} {path} in place of {kept['method']} {kept['path']}")
        sent = json.loads(body) if body else None
        if sent != (None if kept["body"] is None else json.loads(kept["body"])):
            traffic.wrong.append(f"{path}: {body.decode()} in place of {kept['body']}")
        for name, value in kept["headers"].items():
            here = headers.get(name)
            fits = here == value if name != "idempotency-key" else bool(here)
            if not fits:
                traffic.wrong.append(f"{path}: the header {name} is {here!r}")
        content = json.dumps(kept["answer"]).encode() if "answer" in kept else b""
        return kept["status"], kept["returned"], content

    with _listening(played) as port:
        yield port


#: What differs from one service to the next: the clock, chance, and what follows from them.
_OWN = {"time", "hash", "snapshot", "version", "receipt"}
#: Words for people.
_WORDS = {"title", "detail"}
#: What noise decides.
_NOISY = {"numbers", "splits", "index", "labels", "cells", "low", "high"}


def differences(kept: Any, got: Any, noisy: bool, where: str = "", slack: int = 0) -> Iterator[str]:
    """What a client of 0.1 would miss in a response; a new field is none of it.

    Noisy numbers may differ by ``slack`` where scaled sums keep some noise at any epsilon.
    """
    free = _OWN | _WORDS | (_NOISY if noisy else set())
    if isinstance(kept, dict) and isinstance(got, dict):
        for name, value in kept.items():
            here = f"{where}.{name}"
            if name not in got:
                yield f"{here} is gone"
            elif name in free or (name == "key" and not str(value).startswith("golden-")):
                yield from _shape(value, got[name], here)
            elif name == "errors":  # of a body: places stay, words may change
                places = [[one["where"] for one in listed] for listed in (value, got[name])]
                if places[0] != places[1]:
                    yield f"{here}: {places[1]} in place of {places[0]}"
            else:
                yield from differences(value, got[name], noisy, here, slack)
    elif isinstance(kept, list) and isinstance(got, list) and len(kept) == len(got):
        for number, (one, other) in enumerate(zip(kept, got, strict=True)):
            yield from differences(one, other, noisy, f"{where}[{number}]", slack)
    elif isinstance(kept, float) and isinstance(got, float):
        if abs(kept - got) > 1e-9 * max(1.0, abs(kept)):
            yield f"{where}: {got} in place of {kept}"
    elif slack and ".numbers[" in where and type(kept) is type(got) is int:
        if abs(kept - got) > slack:
            yield f"{where}: {got} in place of about {kept}"
    elif type(kept) is not type(got) or kept != got:
        yield f"{where}: {got!r} in place of {kept!r}"


def _shape(kept: Any, got: Any, where: str) -> Iterator[str]:
    """The same types, and the same number of numbers; amounts of chance may differ."""
    if type(kept) is not type(got):
        yield f"{where}: {type(got).__name__} in place of {type(kept).__name__}"
    elif where.endswith(".numbers") and len(kept) != len(got):
        yield f"{where}: {len(got)} numbers in place of {len(kept)}"
    elif where.endswith(".receipt"):
        pattern = r"privet-receipt-1\.([0-9a-f]{64})\.([0-9]+)\.[0-9a-f]{64}\.(?:[0-9a-f]{64})?"
        one, other = (re.fullmatch(pattern, text) for text in (kept, got))
        if one is None or other is None or one.groups() != other.groups():
            yield f"{where}: {got!r} is no receipt of the same line as {kept!r}"
    elif isinstance(kept, list):
        gone = {
            name
            for one, other in zip(kept, got, strict=False)
            for name in _keys(one) - _keys(other)
        }
        if gone or (kept and not got):
            yield f"{where}: {sorted(gone) or 'all'} are gone"


def _keys(value: Any) -> set[str]:
    return set(value) if isinstance(value, dict) else set()
