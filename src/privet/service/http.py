"""Authenticate, read and answer HTTP requests, the same way for every server of ours.

:class:`AuthenticationMiddleware` authenticates a request before its body is read: a stranger is
turned away by the headers alone. An analyst may have a few requests under way at once, and each
must arrive within a time and a size. So nobody can fill the memory or keep the others waiting.

Beside it are strict JSON bodies (:class:`JsonRoute`), listening with Uvicorn (:func:`listen`), and
what browsers are asked and told: where a form came from, the session's cookie, security headers.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import os
import re
import signal
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable
from urllib.parse import urlsplit

import pydantic_core
from fastapi import Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privet.errors import ParameterError, PrivacyError, PrivetError
from privet.queries.shapes import ShapeError
from privet.service.certificates import Certificates
from privet.service.connections import BACKLOG, Connections
from privet.service.limits import HttpLimits, TooMany
from privet.service.logs import logging_to_stderr
from privet.service.problems import make_problem, problem_of

_HSTS = (b"strict-transport-security", b"max-age=31536000")  # a year
_DESCRIPTION = "/v1/openapi.json"
_FORM = 1 << 16  # bytes of a form of the page
#: Headers that decide who asks what: with two of one, proxies and servers may take another each.
_ONCE = (
    b"authorization",
    b"content-length",
    b"content-type",
    b"host",
    b"idempotency-key",
    b"origin",
    b"privet-schema",
    b"sec-fetch-site",
    b"transfer-encoding",
)


class Guarded(Protocol):
    """What the middleware protects: it admits requests, and has limits."""

    @property
    def limits(self) -> HttpLimits: ...

    def admit(self, token: str | None, address: str, path: str) -> Hashable:
        """Return whose token it is, if this path is for them, or raise."""
        ...


@runtime_checkable
class PassedOn(Protocol):
    """Some requests come from another process of the same server, which has counted them."""

    def admit_passed_on(self, token: str | None, scope: Scope) -> str | None:
        """Return whose token it is; None where the request came in here."""
        ...


class AuthenticationMiddleware:
    """ASGI middleware that authenticates a request before reading its body.

    It stands in front of all routes.
    """

    def __init__(self, app: ASGIApp, handlers: Guarded) -> None:
        self._app, self._handlers = app, handlers
        self._inside: Counter[Hashable] = Counter()
        # Threads of its own: slow questions must not keep others from coming in.
        self._guards = ThreadPoolExecutor(4, thread_name_prefix="authentication")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        names = Counter(name for name, _ in scope["headers"])
        repeated = [name.decode() for name in _ONCE if names[name] > 1]
        if repeated:
            times = names[repeated[0].encode()]
            detail = f"the header {repeated[0]} was sent {times} times; send it once"
            refusal = make_problem("headers", "A header was sent more than once", 400, detail)
            await refusal(scope, receive, send)
            return
        if names[b"content-length"] and names[b"transfer-encoding"]:
            # a proxy in front may end this request at another place than we do
            detail = "send the header content-length or transfer-encoding, not both"
            close = {"Connection": "close"}
            refusal = make_problem("headers", "Two headers contradict", 400, detail, close)
            await refusal(scope, receive, send)
            return
        if not scope["path"].startswith("/v1/") or scope["path"] == _DESCRIPTION:
            await self._read_and_forward(scope, receive, send, _FORM)
            return
        send = _forbid_caching(send)
        try:
            analyst = await asyncio.wrap_future(self._guards.submit(self._admit, scope))
            passed_on = "passed_on" in scope.get("state", {})
            if self._inside[analyst] >= self._handlers.limits.at_once_each and not passed_on:
                raise TooMany(
                    f"you have {self._inside[analyst]} requests under way, which is all that is "
                    "allowed; wait for one"
                )
        except PrivetError as error:
            await problem_of(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["analyst"] = analyst  # or an owner or auditor
        self._inside[analyst] += 1
        try:
            await self._read_and_forward(scope, receive, send, self._handlers.limits.body)
        finally:
            self._inside[analyst] -= 1
            if not self._inside[analyst]:
                del self._inside[analyst]

    def _admit(self, scope: Scope) -> Hashable:
        sent = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        match = re.fullmatch(r"Bearer ([\x21-\x7e]{1,8000})", sent, re.IGNORECASE)
        address = scope["client"][0] if scope.get("client") else ""
        token = match[1] if match else None
        if isinstance(self._handlers, PassedOn):
            passed_on = self._handlers.admit_passed_on(token, scope)
            if passed_on is not None:
                scope.setdefault("state", {})["passed_on"] = True
                return passed_on
        return self._handlers.admit(token, address, scope["path"])

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
        limits = self._handlers.limits
        try:
            body = await _receive_body(receive, largest, limits)
        except TimeoutError:
            detail = (
                f"the body did not arrive in time; it has {limits.patience:g} seconds, and one "
                f"more for every {limits.slowest} bytes"
            )
            headers = {"Connection": "close"}  # the rest is not waited for
            refusal = make_problem("too-slow", "The request is too slow", 408, detail, headers)
            await refusal(scope, receive, send)
            return
        except ValueError:
            await _too_large_response(largest)(scope, receive, send)
            return
        if body is None:
            return
        scope.setdefault("state", {})["body"] = body
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


async def _receive_body(receive: Receive, largest: int, limits: HttpLimits) -> bytes | None:
    """The whole body; None where the client has gone.

    Raises ValueError beyond the size, and TimeoutError for one that arrives too slowly.
    """
    body = bytearray()
    async with asyncio.timeout(limits.patience) as deadline:
        end = deadline.when()
        assert end is not None
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > largest:
                raise ValueError
            if not message.get("more_body", False):
                return bytes(body)
            deadline.reschedule(end + len(body) / limits.slowest)


def _too_large_response(largest: int) -> JSONResponse:
    detail = f"a request may have {largest} bytes; ask in several requests"
    return make_problem("too-large", "The request is too large", 413, detail)


# JSON without the extras of Python: no NaN, no endless nesting, no numbers of a million digits, and
# no name twice in one object.


class JsonRoute(APIRoute):
    """A route whose body is read strictly."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await inner(_JsonRequest(request.scope, request.receive))

        return handle


class _JsonRequest(Request):
    async def json(self) -> Any:
        return await run_in_threadpool(_read, await self.body())  # a large one takes a while


async def read_json_body(request: Request) -> Any:
    """Return the body of a request, if it is JSON and says so."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not re.fullmatch(r"application/(.+\+)?json", kind):
        raise ShapeError("body", "must be JSON, with the content type application/json")
    try:
        return await request.json()
    except json.JSONDecodeError as error:
        raise ShapeError(f"body.{error.pos}", f"is no JSON: {error.msg}") from None


class _RepeatedName(ValueError):
    """One object of a body has a name twice."""


def _read(body: bytes) -> Any:
    try:
        read = pydantic_core.from_json(body, allow_inf_nan=False)
        json.loads(body, object_pairs_hook=_refuse_repeated_names)
        return read
    except _RepeatedName as error:
        raise json.JSONDecodeError(str(error), "", 0) from None
    except ValueError as error:
        raise json.JSONDecodeError(_locate(str(error)), "", 0) from None


def _locate(said: str) -> str:
    """Say where a body stops being JSON; a parser's own words are not passed on."""
    place = re.search(r"line (\d+),? column (\d+)", said)
    if place is None:
        return "it cannot be read; numbers must be finite, and text must be UTF-8"
    return f"it goes wrong at line {place[1]}, column {place[2]}; numbers must be finite"


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise _RepeatedName("a name stands twice in one object")


# Listening with Uvicorn: on loopback, with TLS, or behind a proxy that does TLS.


def listen(
    make_app: Callable[[], ASGIApp],
    limits: HttpLimits,
    what: str,
    host: str,
    port: int,
    cert: Path | None = None,
    key: Path | None = None,
    *,
    behind_tls: bool = False,
    log: str = "text",
    inside: Callable[[], list[socket.socket]] = list,
) -> None:
    """Serve until told to stop. A certificate that is renewed is taken without a restart.

    Says what is served, and the address, on standard error once it listens.

    ``make_app`` opens what is served; it is called when all that can be wrong with the address has
    been looked at. ``inside`` returns further sockets, for processes of the same server.
    """
    import uvicorn
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    from privet.service.drain import Drain, DrainingServer

    if (cert is None) != (key is None):
        raise ParameterError("give both cert and key, or neither")
    for name, path in (("cert", cert), ("key", key)):
        if path is not None and not path.is_file():
            raise ParameterError(f"{name} must be a file, got {path}")
    if cert is None and not behind_tls and not _is_loopback(host):
        raise PrivacyError(
            f"listening at {host} without TLS would let anybody on the way read tokens and "
            "answers; give --cert and --key, or --behind-tls where something in front does TLS"
        )
    app = make_app()
    if cert is not None or behind_tls:
        app = _require_tls(app)
    if behind_tls:  # whoever is in front says who asks; nobody else may
        trusted = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
        app = cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), trusted))
    drain = Drain(app, limits.drain)
    connections = Connections(limits, by_address=not behind_tls)
    listener = connections.listen(host, port)
    config = uvicorn.Config(
        connections.watch(drain),
        http="h11",  # one parser and one loop, whatever else is installed
        ws="none",
        loop="asyncio",
        log_config=None,  # it would write what errors say
        access_log=False,  # an address in a log could name a question
        server_header=False,
        ssl_certfile=cert,
        ssl_keyfile=key,
        backlog=BACKLOG,
        timeout_keep_alive=limits.idle,
        timeout_graceful_shutdown=30,
        proxy_headers=False,  # the connection itself is watched first
    )
    certificates = None
    if cert is not None and key is not None:
        config.load()
        assert config.ssl is not None
        certificates = Certificates(config.ssl, cert, key)
    at = f"[{host}]" if ":" in host else host
    scheme = "http" if cert is None else "https"
    told = f"serving {what} at {scheme}://{at}:{listener.getsockname()[1]} (Ctrl-C stops)"
    # Uvicorn ends gracefully and then sends itself the signal again; to be told to stop is no
    # failure.
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with logging_to_stderr(log), certificates.watching() if certificates else nullcontext():
            if log == "json":
                logging.getLogger(__name__).info("%s", told)
            else:
                sys.stderr.write(f"{told}\n")
                sys.stderr.flush()
            DrainingServer(config, drain).run(sockets=[listener, *inside()])
    finally:
        signal.signal(signal.SIGTERM, before)


def _require_tls(app: ASGIApp) -> ASGIApp:
    """Let browsers come back with TLS only (HSTS).

    Not to ``localhost``: other servers on that machine may speak plain HTTP.
    """

    async def required(scope: Scope, receive: Receive, send: Send) -> None:
        host = dict(scope.get("headers", ())).get(b"host", b"").decode("latin-1")

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), _HSTS]
            await send(message)

        local = host.rpartition(":")[0] == "localhost" or host == "localhost"
        await app(scope, receive, send if local else sending)

    return required


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


# Browsers: where a form came from, the cookie of a session, headers.


def make_headers(style_hash: str) -> dict[str, str]:
    """Return the headers of every page.

    Nothing is loaded but what is in the page, nothing runs, and nobody frames or caches it.
    """
    policy = (
        f"default-src 'none'; style-src '{style_hash}'; img-src data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def hash_style(style: str) -> str:
    """Return what the headers of a page say about its style, so that no other is applied."""
    return f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}"


def is_own_form(request: Request) -> bool:
    """Return whether a form was sent from a page of this server.

    A browser that says nothing about it is not believed.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


def is_https(request: Request) -> bool:
    """Return whether the browser speaks TLS, to this server or to the one in front.

    A false header can only lock its sender out.
    """
    return "https" in (
        request.url.scheme,
        request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower(),
    )


def server_address(request: Request) -> str:
    """Return the address of this server, as the browser knows it."""
    host = request.headers.get("host", "")
    known = re.fullmatch(r"[A-Za-z0-9.\-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?", host)
    return f"{'https' if is_https(request) else 'http'}://{host if known else 'this-server'}"


def read_session_id(request: Request) -> str | None:
    """Return the session's id from the cookie."""
    return request.cookies.get(_cookie_name(request))


def give_session(response: Response, request: Request, name: str) -> None:
    """Set the session's cookie."""
    response.set_cookie(
        _cookie_name(request),
        name,
        path="/",
        httponly=True,
        samesite="strict",
        secure=is_https(request),
    )


def take_session(response: Response, request: Request) -> None:
    """Remove the session's cookie."""
    response.delete_cookie(
        _cookie_name(request), path="/", httponly=True, samesite="strict", secure=is_https(request)
    )


def _cookie_name(request: Request) -> str:
    """With TLS, a name that no other host can set."""
    return "__Host-privet" if is_https(request) else "privet"
