"""Define what clients may send, typed and bounded, and how errors are answered.

Binary values are texts in base64. Errors are problem+json (RFC 9457). What a problem says never
holds a cell, a value or what was sent.
"""

from __future__ import annotations

import base64
import binascii
import logging
from typing import Annotated, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from privet.errors import AccessError, NotThere, OutsourceError, ParameterError, Unavailable
from privet.outsource.store.base import Full, OtherData, Stale
from privet.service import problems
from privet.service.problems import make_problem
from privet.service.validation import describe_error

_LARGEST = (1 << 63) - 1

StrictNatural = Annotated[StrictInt, Field(ge=0, le=_LARGEST)]
Base64 = Annotated[
    StrictStr,
    Field(
        description="Bytes in base64, standard alphabet.",
        json_schema_extra={"contentEncoding": "base64"},
    ),
]
StrictCell = StrictStr | None
StrictValue = StrictStr | StrictInt | StrictFloat | None


class Strict(BaseModel):
    """Nothing that is not named here."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class TreeToGrow(Strict):
    """How a tree is grown."""

    splits: Literal["multiway", "binary"] = "multiway"
    leaf_size: Annotated[StrictInt, Field(ge=1, le=10**9)] = 2
    max_depth: Annotated[StrictInt, Field(ge=0, le=10**6)] | None = None


class RowsToPlace(Strict):
    """Rows to be placed in a tree: cells of the identifying attributes, in the order of the
    schema.
    """

    rows: list[list[StrictValue]]


#: Many leaves, many sub-trees: what one request may be about.
_AT_ONCE = 10_000
_LeafNumber = Annotated[StrictInt, Field(ge=0, lt=1 << 31)]
_Leaves = Annotated[list[_LeafNumber], Field(max_length=_AT_ONCE)]
_PageRows = Annotated[StrictInt, Field(ge=1, le=10_000)]


class RowsToRefine(RowsToPlace):
    """The same, and how many rows of leaves without a sub-tree come along with the answer."""

    page: _PageRows | None = Field(
        default=None,
        description="The most rows that come along; without it, none do.",
    )
    waiting: _Leaves = Field(
        default=[], description="Leaves whose sub-trees are on their way: no rows of them come."
    )


class LeavesToRead(Strict):
    """Leaves, and where to go on with their rows: after a leaf and the number of a row."""

    leaves: _Leaves
    after: tuple[_LeafNumber, Annotated[StrictInt, Field(ge=-1, le=_LARGEST)]] = (0, -1)
    page: _PageRows = 1000
    refined: StrictBool = Field(
        default=True, description="Whether sealed sub-trees come in place of rows."
    )


class SubtreeToKeep(Strict):
    """A sealed sub-tree of a leaf that has none, and the data version that it was made of."""

    leaf: _LeafNumber
    sealed: Base64
    data: StrictNatural


class SubtreesToKeep(Strict):
    """Sealed sub-trees of one tree."""

    subtrees: Annotated[list[SubtreeToKeep], Field(max_length=_AT_ONCE)]


class Slice(Strict):
    """Which part of a long list."""

    after: Annotated[int, Field(ge=-1, le=_LARGEST)] = -1
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1000
    grouped: bool = Field(
        default=False, description="Whether candidates come once for each group, not for each row."
    )


class PendingSlice(Slice):
    """Which of the pending objects."""

    after: Annotated[int, Field(ge=0, le=_LARGEST)] = 0


class Sealing(Strict):
    """A sealed object, and what it replaces."""

    sealed: Base64
    replaces: StrictNatural | None = Field(
        description="The version that it replaces; null where there must be none."
    )
    data: StrictNatural | None = Field(
        default=None,
        description="The data version that it was made of; refused where it is another by now.",
    )


class RowToAdd(Strict):
    """A row of the identifier table."""

    cells: list[StrictCell]
    pruning: StrictBool
    gid: StrictNatural
    eseq: Base64


class Changes(Strict):
    """What comes and goes, all of it or nothing."""

    version: StrictNatural
    id: Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{32}$")] | None = Field(
        default=None,
        description=(
            "Names the change, so that it is done once however often it is sent: 32 random "
            "hexadecimal digits."
        ),
    )
    rows: list[RowToAdd] = []
    values: list[tuple[StrictNatural, StrictNatural, StrictCell]] = []
    remove_rows: list[StrictNatural] = []
    pending: list[Base64] = []
    remove_pending: list[StrictNatural] = []
    reseal: list[tuple[StrictNatural, Base64]] = []


def decode_base64(where: str, text: str) -> bytes:
    """Decode a text in base64."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError(f"{where}: must be base64") from None


def encode_base64(body: bytes) -> str:
    """Encode bytes as text in base64."""
    return base64.b64encode(body).decode("ascii")


# Errors as problem+json (RFC 9457), without a cell, a value or what was sent.

_LOG = logging.getLogger(__name__)  # for the owner


class NotForThisToken(AccessError):
    """The token is known, but not good for this."""


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

    @app.exception_handler(NotForThisToken)
    async def not_for_this_token(_: Request, error: NotForThisToken) -> JSONResponse:
        return make_problem("access", "This token is not good for that", 403, str(error))

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
            listed.append({"where": ".".join(map(str, place)), "what": describe_error(one)})
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
