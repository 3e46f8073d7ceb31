"""Errors as problem+json (RFC 9457). What a problem says never holds a cell, a value or what was
sent.
"""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from privet.errors import NotThere, OutsourceError, Unavailable
from privet.outsource.store.base import Full, OtherData, Stale
from privet.service import problems
from privet.service.problems import make_problem

_LOG = logging.getLogger(__name__)  # for the owner


class TooLarge(OutsourceError):
    """Something is larger than it may be."""


def install(app: FastAPI) -> None:
    """Let the app answer every error as a problem."""
    problems.install(app)

    @app.exception_handler(NotThere)
    async def not_there(_: Request, error: NotThere) -> JSONResponse:
        return make_problem("not-found", "There is no such thing", 404, str(error))

    @app.exception_handler(Full)
    async def full(_: Request, error: Full) -> JSONResponse:
        return make_problem("full", "There is no room for another", 409, str(error))

    @app.exception_handler(TooLarge)
    async def too_large(_: Request, error: TooLarge) -> JSONResponse:
        return make_problem("too-large", "This is too large", 413, str(error))

    @app.exception_handler(Stale)
    async def stale(_: Request, error: Stale) -> JSONResponse:
        return make_problem(
            "conflict", "Somebody else was faster", 409, str(error), version=error.version
        )

    @app.exception_handler(OtherData)
    async def other_data(_: Request, error: OtherData) -> JSONResponse:
        return make_problem(
            "conflict",
            "The rows have changed",
            409,
            str(error),
            version=error.version,
            data=error.version,
        )

    @app.exception_handler(OutsourceError)
    @app.exception_handler(Unavailable)
    async def unavailable(_: Request, error: Exception) -> JSONResponse:
        # Where the store is, is the owner's business.
        _LOG.warning("%s", error)
        return make_problem(
            "store",
            "The store cannot be used",
            503,
            "the store cannot be used at the moment; try again later",
            {"Retry-After": "1"},
        )

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        listed = []
        for one in error.errors()[:20]:
            # a name that came is not repeated either
            place = one["loc"][:-1] if one["type"] == "extra_forbidden" else one["loc"]
            listed.append({"where": ".".join(map(str, place)), "what": one["msg"]})
        detail = "; ".join(f"{one['where']}: {one['what']}" for one in listed[:3])
        return make_problem(
            "parameter", "The request is not what it may be", 422, detail, errors=listed
        )

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        # What an unexpected error says may tell of rows.
        return make_problem(
            "internal",
            "An error in the server",
            500,
            f"{type(error).__name__}; the server's log says more",
        )
