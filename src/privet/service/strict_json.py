"""JSON without the extras of Python: no NaN, no endless nesting, no numbers of a million digits.
And no name twice in one object.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pydantic_core
from fastapi import Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool


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


def _read(body: bytes) -> Any:
    try:
        read = pydantic_core.from_json(body, allow_inf_nan=False)
        json.loads(body, object_pairs_hook=_refuse_repeated_names)
        return read
    except ValueError as error:
        raise json.JSONDecodeError(str(error)[:200], "", 0) from None


def _refuse_repeated_names(pairs: list[tuple[str, Any]]) -> None:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name stands twice in one object")
