"""Define the routes for owners and auditors, under ``/v1/owner``.

Reading is open to both; what changes something is refused to auditors.
"""

# No "from __future__ import annotations": FastAPI reads the annotations of routes as they are.

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Security
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from privet._types import Json
from privet.service.handlers import RequestHandlers
from privet.service.http import JsonRoute, read_json_body
from privet.service.owner import history, overview
from privet.service.owner.changes import CHANGES, Change
from privet.service.owner.datasets import check_dataset
from privet.service.owner.desk import Desk, Outcome
from privet.service.owner.report import make_report, render_report

_TYPES = {"json": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
_OUTCOME: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "It was done; 'event' is its line in the audit log",
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["said", "event", "warnings"],
                    "properties": {
                        "said": {"type": "string"},
                        "event": {"type": "integer"},
                        "warnings": {"type": "array", "items": {"type": "string"}},
                        "token": {"type": "string", "description": "A new token, this once."},
                    },
                }
            }
        },
    }
}


class Period(BaseModel):
    """Which part of a history; a parameter that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    form: str = Field("json", alias="format", description="json (one object a line) or csv.")
    dataset: str = Field("", max_length=500, description="Only what is about this data set.")
    analyst: str = Field("", max_length=500, description="Only what is about this analyst.")
    since: str = Field("", alias="from", max_length=10, description="From this day (UTC).")
    until: str = Field("", alias="to", max_length=10, description="To this day, included.")


class ReportPeriod(BaseModel):
    """Which report."""

    model_config = ConfigDict(extra="forbid")

    dataset: str = Field(max_length=500, description="The data set.")
    since: str = Field(alias="from", max_length=10, description="From this day (UTC).")
    until: str = Field(alias="to", max_length=10, description="To this day, included.")
    form: str = Field("html", alias="format", description="html or md.")


async def _desk(request: Request) -> Desk:
    handlers: RequestHandlers = request.app.state.handlers
    return Desk(handlers.state, request.state.analyst, over_http=True)


AtDesk = Annotated[Desk, Depends(_desk)]


def routes(handlers: RequestHandlers) -> APIRouter:
    """Make the routes."""
    router = APIRouter(
        prefix="/v1/owner",
        route_class=JsonRoute,
        dependencies=[Security(HTTPBearer(auto_error=False))],
    )

    @router.get("/datasets", summary="All data sets, with places, caps and grants")
    async def list_datasets(desk: AtDesk) -> JSONResponse:
        return JSONResponse({"datasets": await run_in_threadpool(overview.list_datasets, desk)})

    @router.get("/people", summary="Analysts with their grants; owners and auditors")
    async def list_people(desk: AtDesk) -> JSONResponse:
        return JSONResponse(await run_in_threadpool(overview.list_people, desk))

    @router.get("/reservations", summary="What is set aside for fits")
    async def list_reservations(desk: AtDesk) -> JSONResponse:
        listed = await run_in_threadpool(overview.list_reservations, desk)
        return JSONResponse({"reservations": listed})

    @router.get("/state", summary="How the service and its tables are")
    async def describe_state(desk: AtDesk) -> JSONResponse:
        health = handlers.health
        checks = await health.look()
        told = await run_in_threadpool(overview.describe_state, desk, health.tables, checks)
        return JSONResponse(told)

    @router.get(
        "/datasets/{name}/test", summary="Can the table be reached? Has it the schema's columns?"
    )
    async def test(desk: AtDesk, name: str) -> JSONResponse:
        found = await run_in_threadpool(check_dataset, desk, name)
        told = {"reachable": found.reachable, "fits": found.fits, "trouble": found.trouble}
        return JSONResponse(told)

    @router.post("/verify", summary="Verify the whole ledger and the whole audit log")
    async def verify(desk: AtDesk) -> JSONResponse:
        found = await run_in_threadpool(overview.verify_all, desk)
        told = {"ledger": list(found.ledger), "audit_log": list(found.audit_log)}
        return JSONResponse({"whole": not any(told.values()), **told})

    @router.get("/ledger", summary="The lines of the ledger", responses=_describe_export())
    async def export_ledger(desk: AtDesk, wanted: Annotated[Period, Query()]) -> Response:
        return await _export(history.export_ledger, desk, wanted, "ledger")

    @router.get("/audit-log", summary="The audit log", responses=_describe_export())
    async def export_log(desk: AtDesk, wanted: Annotated[Period, Query()]) -> Response:
        return await _export(history.export_log, desk, wanted, "audit-log")

    @router.get("/report", summary="A report on a data set and a period, to be signed")
    async def report(desk: AtDesk, wanted: Annotated[ReportPeriod, Query()]) -> Response:
        def make() -> str:
            made = make_report(desk, wanted.dataset, wanted.since, wanted.until)
            return render_report(made, f".{wanted.form}")

        kind = "text/markdown" if wanted.form == "md" else "text/html"
        headers = {
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            "X-Content-Type-Options": "nosniff",
        }
        text = await run_in_threadpool(make)
        return Response(text, headers=headers, media_type=f"{kind}; charset=utf-8")

    for change in CHANGES.values():
        router.post(
            f"/{change.name}",
            summary=change.shape.description,
            name=change.name,
            responses=_OUTCOME,
            openapi_extra={
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": change.shape.schema}},
                }
            },
        )(_make_route(change))
    return router


def _make_route(change: Change) -> Any:
    async def make(request: Request, desk: AtDesk) -> JSONResponse:
        body = await read_json_body(request)
        return JSONResponse(outcome_to(await run_in_threadpool(change.run, desk, body)))

    return make


def outcome_to(outcome: Outcome) -> Json:
    """Return what was done as JSON."""
    told: Json = {"said": outcome.said, "event": outcome.event, "warnings": list(outcome.warnings)}
    return {**told, "token": outcome.token} if outcome.token else told


async def _export(export: Any, desk: Desk, wanted: Period, name: str) -> Response:
    form = wanted.form
    given = (form, wanted.dataset, wanted.analyst, wanted.since, wanted.until)
    text = await run_in_threadpool(export, desk, *given)
    ending = {"json": "jsonl", "csv": "csv"}[form]
    headers = {"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(text, headers=headers, media_type=_TYPES[form])


def _describe_export() -> dict[int | str, dict[str, Any]]:
    content = {kind.partition(";")[0]: {"schema": {"type": "string"}} for kind in _TYPES.values()}
    return {200: {"description": "One line for each, oldest first", "content": content}}
