"""Answer errors as problem+json (RFC 9457).

What a problem says never depends on rows, beyond that a table could not be read.
"""

from __future__ import annotations

import logging
import math
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from privet.errors import (
    AccessError,
    AnswerArchived,
    BudgetExceeded,
    KeyReused,
    LedgerError,
    ParameterError,
    PrivacyError,
    PrivetError,
    QuestionError,
    ReservationClosed,
    SchemaError,
    TableError,
    TooManyReservations,
)
from privet.queries.shapes import ShapeError
from privet.service.limits import Busy, TooMany
from privet.service.logs import REQUEST_ID
from privet.service.oidc.settings import ProviderUnavailable
from privet.service.owner.desk import NotAllowed
from privet.service.snapshots import SnapshotGone
from privet.service.validation import describe_errors

_LOG = logging.getLogger(__name__)  # for the owner


class Unauthorised(AccessError):
    """There is no token, or one that is not known."""


class DatasetPaused(AccessError):
    """The owner has paused a data set: nothing about it is answered for a while."""


class OtherSchema(PrivetError):
    """The client has another schema of the data set than the curator."""


class Unanswered(PrivetError):
    """A query that was charged could not be answered. Carries the number of the ledger entry."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(
            f"line {number} of the ledger charged the question, and then the table or the ledger "
            "could not be used: send the same request "
            "with the same key again, and it is answered without another charge"
        )


class Unfinished(Unanswered):
    """A query that was charged is still worked on when its time is over."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.args = (
            f"line {number} of the ledger charged the question, and there was no answer in time: "
            "send the same request with the same key again later, and it is answered without "
            "another charge",
        )


#: The first that fits: a class of errors, the end of the problem's type, its title, the status.
_KINDS: list[tuple[type[Exception], str, str, int]] = [
    (Unauthorised, "access", "The token is not known", 401),
    (NotAllowed, "role", "Your role does not allow this", 403),
    (DatasetPaused, "paused", "The data set is paused; nothing was charged", 409),
    (AccessError, "not-granted", "Not granted", 404),
    (ReservationClosed, "reservation-closed", "There is no such open reservation", 409),
    (TooManyReservations, "too-many-reservations", "Too many open reservations", 409),
    (AnswerArchived, "answer-archived", "The answer is in an archive; nothing was charged", 410),
    (KeyReused, "key-reused", "The key belongs to another request", 409),
    (OtherSchema, "schema", "Another schema", 409),
    (BudgetExceeded, "budget-exceeded", "The budget does not allow this", 403),
    (PrivacyError, "privacy", "Refused to keep the privacy promise", 403),
    (SnapshotGone, "snapshot-gone", "The snapshot is gone", 410),
    (TooMany, "too-many-requests", "Too many requests", 429),
    (ShapeError, "parameter", "The request is not what it may be", 422),
    (QuestionError, "question", "This cannot be asked", 422),
    (ParameterError, "parameter", "A parameter is not what it may be", 422),
    (SchemaError, "question", "This cannot be asked", 422),
    (ProviderUnavailable, "busy", "The provider of sign-ins cannot be asked", 503),
    (Unfinished, "busy", "Charged, and not answered in time", 503),
    (Busy, "busy", "Too busy; nothing was charged", 503),
    (Unanswered, "table", "Charged, but not answered", 503),
    (TableError, "table", "The table cannot be reached; nothing was charged", 503),
    (LedgerError, "ledger", "The ledger cannot be used; nothing was charged", 503),
    (PrivetError, "question", "This cannot be asked", 422),
]


#: What to do where no route fits a request.
_NO_ROUTE = {
    404: "there is nothing at this address; /v1/openapi.json lists what there is",
    405: "this address takes other methods; /v1/openapi.json lists them",
}


def status_of(error: PrivetError) -> int:
    """Return the status that says what kind of error it is."""
    return next(status for cls, _, _, status in _KINDS if isinstance(error, cls))


def make_problem(
    kind: str,
    title: str,
    status: int,
    detail: str,
    headers: dict[str, str] | None = None,
    **more: Any,
) -> JSONResponse:
    """Make a response that says what is wrong."""
    content = {
        "type": f"urn:privet:problem:{kind}",
        "title": title,
        "status": status,
        "detail": detail,
        **more,
    }
    return JSONResponse(content, status, headers, media_type="application/problem+json")


def problem_of(error: PrivetError) -> JSONResponse:
    """Return the response for an error that is raised on purpose."""
    kind, title, status = next(
        (kind, title, status) for cls, kind, title, status in _KINDS if isinstance(error, cls)
    )
    more: dict[str, Any] = {}
    headers: dict[str, str] = {}
    if isinstance(error, ShapeError):
        more = {"errors": [{"where": error.where, "what": error.what}]}
    if isinstance(error, BudgetExceeded):
        more = {
            "asked": str(error.asked),
            "left": str(error.left),
            "unit": error.unit,
            "account": error.account,
        }
        if error.own is not None:
            more["own"] = {"account": error.own[0], "left": str(error.own[1])}
        if error.note:
            more["note"] = error.note
    elif isinstance(error, TooMany):
        headers["Retry-After"] = str(max(1, math.ceil(error.wait)))
    elif isinstance(error, Unauthorised):
        headers["WWW-Authenticate"] = "Bearer"
    elif isinstance(error, Unanswered):
        more = {"charged": True, "number": error.number}
    elif status == 503:
        more = {"charged": False}
    if status == 503:
        wait = error.wait if isinstance(error, Busy) else 5 if isinstance(error, Unfinished) else 1
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    detail = str(error)
    if isinstance(error, LedgerError) and status == 503:  # where it is, is the owner's business
        _LOG.warning("%s", error)
        detail = (
            "the curator cannot use its ledger or its accounts at the moment; send the same "
            "request again later"
        )
    return make_problem(kind, title, status, detail, headers, **more)


def install(app: FastAPI) -> None:
    """Let the app answer every error as a problem."""

    @app.exception_handler(PrivetError)
    async def on_purpose(_: Request, error: PrivetError) -> JSONResponse:
        return problem_of(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        listed = describe_errors(error.errors())
        detail = "; ".join(f"{one['where']}: {one['what']}" for one in listed[:3])
        return make_problem(
            "parameter", "The request is not what it may be", 422, detail, errors=listed
        )

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        headers = None if error.headers is None else dict(error.headers)
        detail = _NO_ROUTE.get(error.status_code, str(error.detail))
        return make_problem("http", str(error.detail), error.status_code, detail, headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        # What an unexpected error says may tell of rows.
        detail = (
            f"{type(error).__name__}; if the question was charged, the history says so, and the "
            "same key gets its answer"
        )
        # this answer is made outside of what names the others
        headers = {"X-Request-Id": REQUEST_ID.get()} if REQUEST_ID.get() else None
        return make_problem("internal", "An error in the service", 500, detail, headers)
