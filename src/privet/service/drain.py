"""End a server in order: what is under way is answered, what comes meanwhile is told to come again.

Told to stop (SIGTERM), a server first drains. Requests that are under way get their answers; new
ones get 503 with Retry-After, which balancers and clients take as "send it again". When the last
answer has left, or the time for draining is over, the server ends. A question that is still worked
on then keeps its charge, and is answered when it is sent again.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

import uvicorn

from privet.service.problems import make_problem

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp, Receive, Scope, Send

_LOG = logging.getLogger(__name__)  # for the owner
#: Seconds for what comes after draining: connections, snapshots, threads.
_GRACE = 10.0
#: Paths that are answered while it drains. It lives, although it is not ready.
_ALWAYS = ("/healthz", "/metrics")


class Drain:
    """Whether a server drains, and how many requests are under way.

    Args:
        app: what it serves.
        seconds: the time for draining.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds
        self._under_way = 0
        self._until: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _ALWAYS:
            await self._app(scope, receive, send)
            return
        if self.begun:
            detail = "the service is about to restart; nothing was charged, send the request again"
            headers = {"Retry-After": "1", "Connection": "close"}
            refusal = make_problem("busy", "About to restart", 503, detail, headers, charged=False)
            await refusal(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    @property
    def begun(self) -> bool:
        """Whether new requests are turned away."""
        return self._until is not None

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait for, or no time."""
        if self._until is None:
            return False
        return not self._under_way or time.monotonic() > self._until

    def begin(self) -> None:
        """Turn new requests away, and see to it that the process ends in time."""
        self._until = time.monotonic() + self._seconds
        watchdog = threading.Timer(self._seconds + _GRACE, _end_now)
        watchdog.daemon = True
        watchdog.start()


class DrainingServer(uvicorn.Server):
    """A server that drains when it is told to stop, and ends at once when it is told again."""

    def __init__(self, config: uvicorn.Config, drain: Drain) -> None:
        super().__init__(config)
        self._drain = drain

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if sig == signal.SIGTERM and not self._drain.begun:
            self._drain.begin()
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        self.should_exit = self.should_exit or self._drain.over
        return await super().on_tick(counter)


def _end_now() -> None:
    """End although questions are worked on: their charges stand, and they are answered later."""
    _LOG.warning("ended with questions under way; sent again, they are answered for their charges")
    sys.stderr.flush()
    os._exit(0)
