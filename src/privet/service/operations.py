"""Serve what operators ask: ``/healthz``, ``/readyz`` and ``/metrics``; and note every request.

Whoever asks for the metrics shows a token of its own. It is no analyst's and no owner's, and is
read anew each time, so that replacing its file replaces the token.
"""

# No "from __future__ import annotations": FastAPI reads the annotations of routes as they are.

import hmac
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from privet.service.health import Health
from privet.service.limits import HttpLimits, Rates
from privet.service.logs import REQUEST_ID, log_request
from privet.service.metrics import Metrics
from privet.service.problems import Unauthorised

_NOT_STORED = {"Cache-Control": "no-store"}
#: Requests that were refused before their route was known.
_NO_ROUTE = "-"


@dataclass(frozen=True)
class Operations:
    """How a service is run.

    ``metrics_token`` returns the token for the metrics, or None where nobody may read them;
    ``ids_from_proxy`` says that ``X-Request-Id`` is set by a proxy, and believed.
    """

    metrics_token: Callable[[], str | None] = lambda: None
    ids_from_proxy: bool = False
    log_requests: bool = False
    verify_every: float = 86_400.0


def routes(
    health: Health,
    metrics: Metrics,
    operations: Operations,
    limits: HttpLimits,
    refuse: Callable[[str], None],
) -> APIRouter:
    """Make the routes for operators; ``refuse`` records a wrong token with its address."""
    router = APIRouter(include_in_schema=False)
    strangers = Rates(limits.strangers, max(20, 4 * limits.strangers))

    @router.get("/healthz")
    async def alive() -> JSONResponse:
        return JSONResponse({"status": "ok"}, headers=_NOT_STORED)

    @router.get("/readyz")
    async def ready() -> JSONResponse:
        checks = await health.look()
        told = {name: "ok" if passed else "failed" for name, passed in checks.items()}
        status = "ready" if health.ready else "not ready"
        return JSONResponse(
            {"status": status, "checks": told}, 200 if health.ready else 503, _NOT_STORED
        )

    @router.get("/metrics")
    async def expose(request: Request) -> Response:
        token = operations.metrics_token()
        if token is None:
            return Response(status_code=404)
        sent = request.headers.get("authorization", "")
        if not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
            address = request.client.host if request.client else ""
            strangers.take(address)
            if sent:
                refuse(address)
            raise Unauthorised("send the token for the metrics: Authorization: Bearer <token>")
        await health.look()
        written = await run_in_threadpool(metrics.expose)
        return Response(written, headers=_NOT_STORED, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return router


class ObservationMiddleware:
    """ASGI middleware that gives every request an id, and notes how it was answered.

    What is noted is what a client sees: the status, and when the head of the answer left.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, operations: Operations) -> None:
        self._app, self._metrics, self._operations = app, metrics, operations

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = self._request_id(scope)
        REQUEST_ID.set(identity)  # for as long as the task of this request, which logs its errors
        begun = time.monotonic()
        status, seconds = 500, None  # where an error ends it: the answer is made outside of here

        async def sending(message: Message) -> None:
            nonlocal status, seconds
            if message["type"] == "http.response.start":
                status, seconds = message["status"], time.monotonic() - begun
                named = (b"x-request-id", identity.encode())
                message["headers"] = [*message.get("headers", []), named]
            await send(message)

        self._metrics.under_way.inc()
        try:
            await self._app(scope, receive, sending)
        finally:
            self._metrics.under_way.dec()
            route = getattr(scope.get("route"), "path", _NO_ROUTE)
            self._metrics.count(route, scope["method"], status, seconds)
            if self._operations.log_requests:
                analyst = str(scope.get("state", {}).get("analyst", ""))
                log_request(scope["method"], route, status, seconds, analyst)

    def _request_id(self, scope: Scope) -> str:
        if self._operations.ids_from_proxy:
            sent: bytes = dict(scope["headers"]).get(b"x-request-id", b"")
            if re.fullmatch(rb"[A-Za-z0-9._-]{1,64}", sent):
                return sent.decode()
        return secrets.token_hex(8)
