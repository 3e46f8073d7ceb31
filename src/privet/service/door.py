"""The door: who comes in is known before anything they send is read.

A stranger is turned away by the headers alone. An analyst may have a few requests under way at
once, and what they send is read within a time and a size. So nobody can fill the memory or keep the
others waiting.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privet.errors import PrivetError
from privet.service.limits import TooMany
from privet.service.problems import make_problem, problem_of

_DESCRIPTION = "/v1/openapi.json"
_FORM = 1 << 16  # bytes of a form of the page


class BodyLimits(Protocol):
    """Bytes of a request, requests of one person that may be under way at once, and seconds in
    which one must have arrived.
    """

    @property
    def body(self) -> int: ...
    @property
    def at_once_each(self) -> int: ...
    @property
    def patience(self) -> float: ...


class Guarded(Protocol):
    """What a door stands in front of."""

    @property
    def limits(self) -> BodyLimits: ...

    def admit(self, token: str | None, address: str) -> str:
        """Whose token it is, or an error."""
        ...


class AuthenticationMiddleware:
    """ASGI middleware in front of all routes."""

    def __init__(self, app: ASGIApp, desk: Guarded) -> None:
        self._app, self._desk = app, desk
        self._inside: Counter[str] = Counter()
        # Threads of its own: slow questions must not keep others from coming in.
        self._guards = ThreadPoolExecutor(4, thread_name_prefix="door")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not scope["path"].startswith("/v1/") or scope["path"] == _DESCRIPTION:
            await self._read_and_forward(scope, receive, send, _FORM)
            return
        send = _forbid_caching(send)
        try:
            analyst = await asyncio.wrap_future(self._guards.submit(self._admit, scope))
            if self._inside[analyst] >= self._desk.limits.at_once_each:
                raise TooMany(
                    f"you have {self._inside[analyst]} requests under way, which is all that is "
                    "allowed; wait for one"
                )
        except PrivetError as error:
            await problem_of(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["analyst"] = analyst
        self._inside[analyst] += 1
        try:
            await self._read_and_forward(scope, receive, send, self._desk.limits.body)
        finally:
            self._inside[analyst] -= 1
            if not self._inside[analyst]:
                del self._inside[analyst]

    def _admit(self, scope: Scope) -> str:
        sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        found = re.fullmatch(r"Bearer ([\x21-\x7e]{1,500})", sent, re.IGNORECASE)
        address = scope["client"][0] if scope.get("client") else ""
        return self._desk.admit(found[1] if found else None, address)

    async def _read_and_forward(
        self, scope: Scope, receive: Receive, send: Send, largest: int
    ) -> None:
        """Read the body, then go on: no route sees half of one, or one that is too large whatever
        its headers say.
        """
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > largest:
            await _too_large_response(largest)(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._desk.limits.patience):
                body = await _receive_body(receive, largest)
        except TimeoutError:
            detail = f"the request did not arrive within {self._desk.limits.patience:g} seconds"
            await make_problem("too-slow", "The request is too slow", 408, detail)(
                scope, receive, send
            )
            return
        except ValueError:
            await _too_large_response(largest)(scope, receive, send)
            return
        if body is None:
            return
        waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, replay, send)


def _forbid_caching(send: Send) -> Send:
    """Let no cache keep what is answered."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), (b"cache-control", b"no-store")]
        await send(message)

    return sending


async def _receive_body(receive: Receive, largest: int) -> bytes | None:
    """The whole body; None where the client has gone. Raises ValueError beyond the size."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > largest:
            raise ValueError
        if not message.get("more_body", False):
            return bytes(body)


def _too_large_response(largest: int) -> JSONResponse:
    detail = f"a request may have {largest} bytes; ask in several requests"
    return make_problem("too-large", "The request is too large", 413, detail)
