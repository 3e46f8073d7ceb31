"""The real service on a loopback port, in a thread, with a tap that counts requests and can break
connections.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

import privet as pv
from privet.accounting.cost import Budget
from privet.client.curator import RemoteCurator
from privet.domain import Schema
from privet.service.app import create_app
from privet.service.limits import Limits
from privet.service.state import ServiceState

#: Times as they are, and nobody too fast.
FAST = Limits(rate=100_000, burst=100_000, first_step=0)


class Tap:
    """Stands before the service. Sees the address of every request; may cut off an answer after the
    service has given it.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self.asked: list[str] = []
        self.cut: Callable[[int], bool] = lambda _: False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self.asked.append(f"{scope['method']} {scope['path'].removeprefix('/v1/datasets/')}")
        if not self.cut(len(self.asked)):
            await self._app(scope, receive, send)
            return
        said: list[Any] = []

        async def keep(message: Any) -> None:
            said.append(message)

        await self._app(scope, receive, keep)
        await send(said[0])
        await send({"type": "http.response.body", "body": said[1]["body"][:-1], "more_body": True})
        raise ConnectionAbortedError  # what was announced is never sent in full

    def questions(self) -> list[str]:
        """The kinds of questions that were asked, in order."""
        paths = [
            one.removeprefix("POST ").split("/", 1)[-1]
            for one in self.asked
            if one.startswith("POST ")
        ]
        free = ("preview", "snapshots", "reservations")
        return [path for path in paths if path.split("/")[0] not in free]


class Running:
    """A home that is served, with an analyst."""

    def __init__(self, state: ServiceState, tap: Tap, port: int) -> None:
        self.state, self.tap, self.url = state, tap, f"http://127.0.0.1:{port}"
        self.token = state.accounts.add_analyst("ada")

    def add(self, name: str, table: Path, schema: Schema, budget: Budget) -> None:
        """A data set that the analyst may ask about."""
        self.state.accounts.add_dataset(name, str(table), schema)
        self.state.ledger.open_cap(name, budget)
        self.state.ledger.set_cap(name, budget, "ada")
        self.state.accounts.grant("ada", name)

    def connect(self, name: str | None = None, **options: Any) -> RemoteCurator:
        return pv.connect(self.url, self.token, name, **options)


@contextmanager
def running(folder: Path, limits: Limits = FAST) -> Iterator[Running]:
    """A new home, served until the block ends."""
    state, _ = ServiceState.make(folder / "curator")
    tap = Tap(create_app(state, limits))
    server = uvicorn.Server(uvicorn.Config(tap, port=0, log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started:
            assert thread.is_alive()
            assert time.monotonic() < until
            time.sleep(0.01)
        yield Running(state, tap, server.servers[0].sockets[0].getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(60)
