"""Serve the pages on which owners change what is granted, and auditors read it.

A change is a form that is posted to ``/change/<name>``. It needs the session's cookie and the token
that is in the forms of that session. When it is done, the browser is sent back to the page, with
the number of the line in the audit log that says what was done.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from privet.errors import LedgerError, ParameterError, PrivetError
from privet.service import http
from privet.service.accounts import RegisteredDataset
from privet.service.audit_log import Event, Person
from privet.service.handlers import RequestHandlers
from privet.service.limits import describe_limits
from privet.service.owner import history, overview
from privet.service.owner.changes import CHANGES
from privet.service.owner.datasets import TableState, check_dataset, describe_place
from privet.service.owner.desk import Desk, Outcome
from privet.service.owner.places import AllowedPlaces
from privet.service.owner.report import last_month, make_report, render_report
from privet.service.page.forms import Form
from privet.service.page.listing import Charges, Filter
from privet.service.page.owner import Account, owner_view
from privet.service.problems import problem_of
from privet.service.state import ServiceState

_PAGE = 50
_BACK = {"data-sets": "/data-sets", "people": "/people", "": "/"}
Render = Callable[..., Response]


def make_form_token(session: str) -> str:
    """Return the token that forms of a session carry: a page of another site cannot know it."""
    return hmac.new(session.encode(), b"form of the privet page", hashlib.sha256).hexdigest()


def describe_session(request: Request, person: Person) -> dict[str, Any]:
    """Return what every page of an owner or auditor is told."""
    token = make_form_token(http.read_session_id(request) or "")
    return {"person": person, "csrf": token, "may_change": person.role == "owner"}


@dataclass(frozen=True)
class DatasetCard:
    """A data set as its card shows it; ``state`` is that of its table, if somebody asked."""

    account: Account
    dataset: RegisteredDataset | None
    place: str
    reachable: bool | None
    state: TableState | None


@dataclass(frozen=True)
class Typed:
    """A form that could not be done: what was typed is shown again, but no password."""

    change: str = ""
    trouble: str = ""
    given: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Managing:
    """What the routes need of the site: who visits, and how pages are made."""

    handlers: RequestHandlers
    charges: Charges
    visitor: Callable[[Request], Person | None]
    ended: Callable[[Request], Response]
    render: Render
    headers: Mapping[str, str]


def add_routes(router: APIRouter, site: Managing) -> None:
    """Add the routes of these pages."""
    state = site.handlers.state

    def desk_of(request: Request) -> Desk | None:
        person = site.visitor(request)
        if person is None:
            return None
        if person.role == "analyst":
            raise _Elsewhere
        return Desk(state, person, over_http=True)

    def show(
        request: Request, page: str, status: int = 200, typed: Typed | None = None
    ) -> Response:
        try:
            desk = desk_of(request)
        except _Elsewhere:
            return RedirectResponse("/", 303, dict(site.headers))
        if desk is None:
            return site.ended(request)
        told = {
            **describe_session(request, desk.person),
            "done": find_done(state, desk.person, request.query_params.get("done", "")),
            "typed": typed or Typed(),
            **_VIEWS[page](desk, site, request.query_params),
        }
        return site.render(f"{page.replace('-', '_')}.html", status, **told)

    for page in _VIEWS:
        router.get(f"/{page}")(_make_page(show, page))

    def change(request: Request, name: str, form: Form) -> Response:
        try:
            desk = desk_of(request)
        except _Elsewhere:
            return RedirectResponse("/", 303, dict(site.headers))
        if desk is None:
            return site.ended(request)
        made = CHANGES.get(name)
        back = form.get("back", "")
        sent = form.get("csrf", "")
        known = make_form_token(http.read_session_id(request) or "")
        if not hmac.compare_digest(sent.encode(), known.encode()):
            told = "this form is not one of your session; open the page again, nothing was done"
            return site.render("trouble.html", 403, title="Refused", detail=told)
        if made is None or back not in _BACK:
            raise ParameterError("there is no such form")
        try:
            outcome = made.run(desk, made.read_form(form))
        except LedgerError:
            raise
        except PrivetError as error:
            hidden = {key: text for key, text in form.items() if key not in ("password", "csrf")}
            typed = Typed(name, str(error), hidden)
            status = problem_of(error).status_code
            if not back:
                return site.render("trouble.html", status, title="Not done", detail=str(error))
            return show(request, back, status, typed)
        return _tell(request, desk, outcome, back)

    def _tell(request: Request, desk: Desk, outcome: Outcome, back: str) -> Response:
        if outcome.token:  # shown by the answer itself: it is in no address and in no store
            told = {**describe_session(request, desk.person), "outcome": outcome}
            return site.render("token.html", 200, **told, back=_BACK[back])
        return RedirectResponse(f"{_BACK[back]}?done={outcome.event}#done", 303, dict(site.headers))

    router.post("/change/{name}")(change)

    @router.get("/export/{which}")
    def export(request: Request, which: str) -> Response:
        desk = desk_of(request)
        if desk is None:
            return site.ended(request)
        query = request.query_params
        form = query.get("format", "csv")
        write = {"ledger": history.export_ledger, "audit-log": history.export_log}.get(which)
        if write is None:
            raise ParameterError("there are exports of the ledger and of the audit-log")
        wanted = [query.get(name, "") for name in ("dataset", "analyst", "since", "until")]
        text = write(desk, form, *wanted)
        ending = {"csv": "csv", "json": "jsonl"}[form]
        headers = {
            **site.headers,
            "Content-Disposition": f'attachment; filename="{which}.{ending}"',
        }
        kind = "text/csv" if form == "csv" else "application/x-ndjson"
        return Response(text, headers=headers, media_type=f"{kind}; charset=utf-8")

    @router.get("/report")
    def report(request: Request) -> Response:
        desk = desk_of(request)
        if desk is None:
            return site.ended(request)
        query = request.query_params
        wanted = [query.get(name, "") for name in ("dataset", "since", "until")]
        text = render_report(make_report(desk, *wanted))
        style = text.partition("<style>")[2].partition("</style>")[0]
        return Response(text, headers=http.make_headers(http.hash_style(style)), media_type=_HTML)


_HTML = "text/html; charset=utf-8"


class _Elsewhere(PrivetError):
    """An analyst opened a page of owners."""

    def __init__(self) -> None:
        super().__init__("this page is for owners and auditors; yours is at /")


def _make_page(show: Callable[[Request, str], Response], page: str) -> Callable[..., Response]:
    def shown(request: Request) -> Response:
        return show(request, page)

    shown.__name__ = f"show_{page.replace('-', '_')}"
    shown.__annotations__ = {"request": Request, "return": Response}
    return shown


def find_done(state: ServiceState, person: Person, number: str) -> Event | None:
    """Return what was just done, if it was done by whoever looks."""
    if not (number.isascii() and number.isdigit() and len(number) < 16):
        return None
    event = state.audit_log.line(int(number))
    mine = event is not None and (event.who, event.role) == (person.name, person.role)
    return event if mine else None


# What each page shows.


def _view_datasets(desk: Desk, site: Managing, query: Mapping[str, str]) -> dict[str, Any]:
    state = desk.state
    registered = {dataset.name: dataset for dataset in state.accounts.datasets()}
    view = owner_view(state, site.charges, Filter(), site.handlers.health.verified)
    tested = query.get("test", "")
    tables = site.handlers.health.tables
    cards = []
    for account in view.accounts:
        dataset = registered.get(account.name)
        wanted = dataset is not None and account.name == tested
        cards.append(
            DatasetCard(
                account,
                dataset,
                "" if dataset is None else describe_place(dataset),
                tables.get(account.name),
                check_dataset(desk, account.name) if wanted else None,
            )
        )
    places = AllowedPlaces.read(state.path)
    return {"cards": cards, "analysts": state.accounts.analysts(), "places": places.describe()}


def _view_people(desk: Desk, site: Managing, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001
    return overview.list_people(desk)


def _view_log(desk: Desk, site: Managing, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001
    wanted = {
        name: query.get(name, "").strip() for name in ("dataset", "analyst", "since", "until")
    }
    kind = query.get("kind", "")
    events = [
        event
        for event in reversed(history.read_log(desk, *wanted.values()))
        if kind not in ("changes", "refusals") or event.is_refusal == (kind == "refusals")
    ]
    text = query.get("page") or "1"
    pages = max(1, -(-len(events) // _PAGE))
    page = min(int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 1, pages)
    page = max(page, 1)
    state = desk.state
    names = sorted({*state.ledger.datasets(), *(one.name for one in state.accounts.datasets())})
    first, last = last_month(datetime.now(UTC).date())
    return {
        "events": events[(page - 1) * _PAGE : page * _PAGE],
        "found": len(events),
        "page": page,
        "pages": pages,
        "wanted": {**wanted, "kind": kind},
        "datasets": names,
        "analysts": state.accounts.analysts(),
        "query": "&".join(f"{name}={quote(text)}" for name, text in wanted.items() if text),
        "month": (first, last),
    }


def _view_service(desk: Desk, site: Managing, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG001
    health = site.handlers.health
    return {
        "service": overview.describe_state(desk, health.tables, health.checks),
        "verified": health.verified,
        "limits": describe_limits(site.handlers.limits),
        "places": AllowedPlaces.read(desk.state.path),
    }


_VIEWS: Mapping[str, Callable[[Desk, Managing, Mapping[str, str]], dict[str, Any]]] = {
    "data-sets": _view_datasets,
    "people": _view_people,
    "audit-log": _view_log,
    "service": _view_service,
}
#: The pages of owners and auditors, as their navigation lists them.
PAGES: Sequence[tuple[str, str]] = (
    ("/", "Budgets and ledger"),
    ("/data-sets", "Data sets"),
    ("/people", "People"),
    ("/audit-log", "Audit log"),
    ("/service", "Service"),
)
