"""Define the routes.

Everything under ``/v1`` is for analysts' programs; the page at ``/`` is for people.
"""

# No "from __future__ import annotations": routes are made in functions, and FastAPI reads their
# annotations as they are.

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Security
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

import privet
from privet.errors import LedgerError, MissingDependency, ParameterError, PrivetError
from privet.queries.shapes import Shape
from privet.service import page, problems, requests
from privet.service.accounts import RegisteredDataset
from privet.service.departure import Departure
from privet.service.forward import ProcessGone, pass_on
from privet.service.handlers import RequestHandlers
from privet.service.http import AuthenticationMiddleware, JsonRoute, read_json_body
from privet.service.limits import Limits
from privet.service.metrics import Metrics
from privet.service.oidc.settings import OidcSettings
from privet.service.operations import ObservationMiddleware, Operations
from privet.service.operations import routes as operator_routes
from privet.service.owner import api as owner_api
from privet.service.shared import SnapshotElsewhere
from privet.service.snapshots import SnapshotGone
from privet.service.state import ServiceState

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "pattern": "^urn:privet:problem:"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "charged": {
            "type": "boolean",
            "description": "With 503: whether a charge stands. Then the same request gets its answer later.",  # noqa: E501
        },
    },
}
_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer, charged once",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["answer", "receipt"],
                    "properties": {
                        "answer": {"type": "object"},
                        "receipt": {"type": "string", "pattern": "^privet-receipt-1[.]"},
                    },
                }
            }
        },
    }
}
_KEY_PATTERN = r"^[\x21-\x7e]{1,200}$"
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": told, "content": {"application/problem+json": {"schema": _PROBLEM}}}
    for status, told in {
        401: "The token is not known",
        403: "The budget, or the privacy promise, does not allow this; nothing is charged",
        404: "No such data set is granted",
        408: "The request did not arrive in time",
        409: "The key belongs to another request, or the schema is another",
        410: "The snapshot is gone",
        413: "The request is too large",
        422: "The request is not what it may be; nothing is charged",
        429: "Too many requests; Retry-After says how long to wait",
        503: "Too busy, or the table or the ledger cannot be reached; says whether a charge stands",
    }.items()
}


def create_app(
    state: ServiceState,
    limits: Limits | None = None,
    operations: Operations | None = None,
    oidc: OidcSettings | None = None,
) -> FastAPI:
    """Make the service of a curator's folder.

    A ledger that does not verify is not served.
    """
    damage = state.verify()
    if damage:
        raise LedgerError(
            "the ledger is not what it was, so nothing is served:\n"
            + "\n".join(f"  - {line}" for line in damage)
        )
    handlers = RequestHandlers(state, limits, None if oidc is None else _make_provider(oidc))
    run_as = operations or Operations()
    metrics = Metrics(state, handlers.health)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        tidy = asyncio.create_task(_tidy(handlers))
        verifying = asyncio.create_task(handlers.health.verify_every(run_as.verify_every))
        yield
        tidy.cancel()
        verifying.cancel()
        await run_in_threadpool(handlers.close)

    app = FastAPI(
        title="Privet curator",
        version=privet.__version__,
        description=(
            "Noisy answers about tables that nobody may see, within a budget. Amounts may be texts "
            "such as `1/3`, which are exact."
        ),
        lifespan=life,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        # a path with a slash too many is not found, rather than sent elsewhere
        redirect_slashes=False,
        openapi_url="/v1/openapi.json",
        responses=_PROBLEMS,
    )
    app.state.handlers = handlers
    problems.install(app)
    _pass_on_to_others(app, handlers)
    app.include_router(_routes(handlers))
    app.include_router(owner_api.routes(handlers))
    app.include_router(page.routes(handlers))
    refuse = handlers.refusals.refuse_sign_in
    app.include_router(operator_routes(handlers.health, metrics, run_as, handlers.limits, refuse))
    app.add_middleware(AuthenticationMiddleware, handlers=handlers)
    app.add_middleware(ObservationMiddleware, metrics=metrics, operations=run_as)  # outermost
    return app


def _pass_on_to_others(app: FastAPI, handlers: RequestHandlers) -> None:
    """Let requests about a snapshot in another process be answered there."""

    @app.exception_handler(SnapshotElsewhere)
    async def elsewhere(request: Request, error: SnapshotElsewhere) -> Response:
        gone = SnapshotGone("this snapshot has ended with its process; begin a new one")
        if "passed_on" in request.scope["state"]:
            return problems.problem_of(gone)
        try:
            return await pass_on(request.scope, request.state.body, error.process)
        except ProcessGone:
            await run_in_threadpool(handlers.shared.forget_dead)
            return problems.problem_of(gone)


def _make_provider(settings: OidcSettings) -> Any:
    try:
        from privet.service.oidc.provider import Provider
    except ModuleNotFoundError as error:
        what = "signing in with OpenID Connect"
        raise MissingDependency(error.name or "joserfc", "oidc", what) from None
    return Provider(settings)


class _Page(BaseModel):
    """Which entries of a history; a parameter that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    after: int = Field(0, ge=0, lt=1 << 60, description="Those with higher numbers only.")
    limit: int = Field(100, ge=1, le=1000)


async def _tidy(handlers: RequestHandlers) -> None:
    for second in count(1):
        await asyncio.sleep(1)
        with suppress(PrivetError):  # what is shared cannot be used now
            await run_in_threadpool(handlers.snapshots.tidy)
        if second % 10 == 0:
            await run_in_threadpool(handlers.refusals.flush)
        if second % 600 == 0:
            with suppress(PrivetError):
                await run_in_threadpool(handlers.shared.tidy)


def _routes(handlers: RequestHandlers) -> APIRouter:
    router = APIRouter(
        prefix="/v1", route_class=JsonRoute, dependencies=[Security(HTTPBearer(auto_error=False))]
    )

    async def analyst(request: Request) -> str:
        return str(request.state.analyst)

    Analyst = Annotated[str, Depends(analyst)]  # noqa: N806 - a type

    async def granted(name: str, analyst: Analyst) -> RegisteredDataset:
        return await run_in_threadpool(handlers.granted, analyst, name)

    Granted = Annotated[RegisteredDataset, Depends(granted)]  # noqa: N806 - a type

    async def served(analyst: Analyst, dataset: Granted) -> RegisteredDataset:
        return await run_in_threadpool(handlers.served, analyst, dataset)

    Served = Annotated[RegisteredDataset, Depends(served)]  # noqa: N806 - a type

    @router.get("/datasets", summary="Your data sets, and what is left")
    async def list_datasets(analyst: Analyst) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(handlers.list_datasets, analyst))

    @router.get("/datasets/{name}", summary="What is public about a data set, and what is left")
    async def describe(analyst: Analyst, dataset: Granted) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(handlers.describe, analyst, dataset))

    @router.get("/datasets/{name}/history", summary="What you asked, with receipts")
    async def history(
        analyst: Analyst,
        dataset: Granted,
        wanted: Annotated[_Page, Query()],
    ) -> JSONResponse:
        charges = await run_in_threadpool(
            handlers.history, analyst, dataset, wanted.after, wanted.limit
        )
        return JSONResponse(charges)

    @router.post(
        "/datasets/{name}/preview",
        summary="What a plan would cost; charges nothing",
        openapi_extra=_describe_body(requests.PLAN),
    )
    async def preview(request: Request, analyst: Analyst, dataset: Granted) -> JSONResponse:
        plan = await _read_json(request, handlers)
        requests.PLAN.check(plan, "body")
        return JSONResponse(await run_in_threadpool(handlers.preview, analyst, dataset, plan))

    @router.get("/datasets/{name}/reservations", summary="What you have set aside")
    async def list_reservations(analyst: Analyst, dataset: Granted) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(handlers.list_reservations, analyst, dataset))

    @router.post(
        "/datasets/{name}/reservations",
        status_code=201,
        summary=requests.RESERVE.description,
        openapi_extra=_describe_body(requests.RESERVE),
    )
    async def reserve(request: Request, analyst: Analyst, dataset: Served) -> JSONResponse:
        body = await _read_json(request, handlers)
        requests.RESERVE.check(body, "body")
        await handlers.reach(analyst, dataset).wait(handlers.limits)

        def reserve_or_note() -> Any:
            asked = f"reservation for {body['what'][:500]!r}"
            with handlers.noting_refusals(analyst, dataset.name, asked):
                return handlers.reserve(analyst, dataset, body)

        return JSONResponse(await run_in_threadpool(reserve_or_note), 201)

    @router.post(
        "/datasets/{name}/reservations/{key}/close",
        summary=requests.CLOSE.description,
        openapi_extra=_describe_body(requests.CLOSE),
    )
    async def close_reservation(
        request: Request, analyst: Analyst, dataset: Granted, key: str
    ) -> JSONResponse:
        body = await _read_json(request, handlers)
        requests.CLOSE.check(body, "body")
        return JSONResponse(
            await run_in_threadpool(handlers.close_reservation, analyst, dataset, key, body)
        )

    @router.post(
        "/datasets/{name}/snapshots",
        status_code=201,
        summary=requests.SNAPSHOT.description,
        openapi_extra=_describe_body(requests.SNAPSHOT, required=False),
    )
    async def begin_snapshot(request: Request, analyst: Analyst, dataset: Served) -> JSONResponse:
        body = await _read_json(request, handlers) if await request.body() else {}
        requests.SNAPSHOT.check(body, "body")
        attempt = handlers.begin_snapshot(analyst, dataset, body.get("reservation", ""))
        return JSONResponse(await attempt.wait(handlers.limits), 201)

    @router.delete(
        "/datasets/{name}/snapshots/{snapshot}",
        status_code=204,
        response_class=Response,
        summary="End a snapshot",
    )
    async def end_snapshot(analyst: Analyst, dataset: Granted, snapshot: str) -> Response:
        handlers.snapshots.end(handlers.snapshots.get(snapshot, analyst, dataset.id))
        return Response(status_code=204)

    for operation, shape in requests.BODIES.items():
        router.post(
            f"/datasets/{{name}}/{operation}",
            summary=shape.description,
            name=operation,
            responses=_ANSWER,
            openapi_extra=_describe_body(shape),
        )(_make_question_route(handlers, operation, Analyst, Served))
    return router


async def _read_json(request: Request, handlers: RequestHandlers) -> Any:
    """The body of a request, if it is JSON and says so. Reading it is paid for, whatever it is."""
    handlers.pay_for_size(request.state.analyst, len(await request.body()))
    return await read_json_body(request)


def _describe_body(shape: Shape, *, required: bool = True) -> dict[str, Any]:
    """The description of a body that is checked by hand."""
    content = {"application/json": {"schema": shape.schema}}
    return {"requestBody": {"required": required, "content": content}}


def _make_question_route(
    handlers: RequestHandlers, operation: str, analyst_type: Any, served_type: Any
) -> Any:
    """The route of one query."""

    async def question(
        request: Request,
        analyst: analyst_type,
        dataset: served_type,
        idempotency_key: Annotated[
            str | None,
            Header(
                description=(
                    "Names this request. Sent again with the same body, it is answered again, and "
                    "charged once."
                ),
                json_schema_extra={"pattern": _KEY_PATTERN},
            ),
        ] = None,
        privet_schema: Annotated[
            str | None,
            Header(description="The fingerprint of the schema that the request is about."),
        ] = None,
    ) -> Response:
        departure = Departure(handlers.limits.first_step)
        key = secrets.token_urlsafe(24) if idempotency_key is None else idempotency_key
        if not re.fullmatch(_KEY_PATTERN, key):
            raise ParameterError(
                "Idempotency-Key must be 1 to 200 printable ASCII characters without spaces"
            )
        written = await request.body()
        body = await _read_json(request, handlers)
        try:
            await run_in_threadpool(requests.check_body, operation, body)
            try:
                asked_for = handlers.request(
                    analyst, dataset, operation, body, written, key, privet_schema, departure
                )
                attempt = await run_in_threadpool(handlers.ask, asked_for)
                reply = await handlers.answer(attempt, asked_for)
            finally:
                await asyncio.sleep(departure.wait())
        except PrivetError as error:
            noted = (analyst, dataset.name, operation, body, error)
            await run_in_threadpool(handlers.note_refusal, *noted)
            raise
        content = b'{"answer":%b,"receipt":"%b"}' % (reply.answer, str(reply.receipt).encode())
        headers = {"Privet-Replayed": "true"} if reply.replayed else {}
        return Response(content, 200, headers, media_type="application/json")

    return question
