"""Requests to a service in this process, without sockets: what a web server would hand over."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from privet.errors import ParameterError, PrivetError


@dataclass
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


class Served:
    """An ASGI app that was started. Requests are asked one by one."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._token = app, token
        self._loop = asyncio.new_event_loop()
        self._life = app.router.lifespan_context(app)
        self._loop.run_until_complete(self._life.__aenter__())

    def close(self) -> None:
        """Stop it."""
        self._loop.run_until_complete(self._life.__aexit__(None, None, None))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    def send(self, data: bytes) -> Reply:
        """Send a request that is written as HTTP writes it: a line with method and path, headers,
        an empty line, a body.
        """
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, _, target = first.decode("latin-1").partition(" ")
        path, _, query = target.partition("?")
        raw = quote(path, safe="/%:@-._~!$&'()*+,;=")  # a web server refuses what is not ASCII
        headers = [
            (b"authorization", f"Bearer {self._token}".encode()),
            (b"content-length", str(len(body)).encode()),
        ]
        for line in lines:
            name, colon, value = line.partition(b":")
            if colon and name.strip() and b"\n" not in line and b"\x00" not in line:
                headers.append((name.strip().lower(), value.strip()))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "root_path": "",
            "method": method.upper(),
            "path": unquote(raw),
            "raw_path": raw.encode(),
            "query_string": quote(query, safe="=&%+").encode(),
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        return self._loop.run_until_complete(self._call(scope, body))

    async def _call(self, scope: dict[str, Any], body: bytes) -> Reply:
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        sent: list[Any] = []

        async def receive() -> Any:
            return waiting.pop() if waiting else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in sent[0].get("headers", [])
        }
        return Reply(
            sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:])
        )


def checked(reply: Reply) -> None:
    """Return for an answer, raise for a problem that is told as it should be; anything else is a
    crash.
    """
    if reply.status < 300:
        return
    assert 400 <= reply.status < 500, f"status {reply.status}: {reply.body[:500]!r}"
    kind = reply.headers.get("content-type", "")
    assert kind == "application/problem+json", (
        f"status {reply.status} came as {kind}: {reply.body[:200]!r}"
    )
    told = json.loads(reply.body)
    assert {"type", "title", "status", "detail"} <= set(told), told
    assert told["status"] == reply.status
    refused: PrivetError = ParameterError(f"{reply.status} {told['title']}: {told['detail']}")
    raise refused


def request(method: str, path: str, body: Any = None, **headers: str) -> bytes:
    """A request as text."""
    more = {} if body is None else {"content-type": "application/json"}
    lines = [
        f"{method} {path}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in {**more, **headers}.items()),
    ]
    return (
        "\r\n".join(lines).encode()
        + b"\r\n\r\n"
        + (b"" if body is None else json.dumps(body).encode())
    )
