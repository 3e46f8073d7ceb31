"""Serve the page: its routes, its HTML, and who has signed in.

All text is escaped by the template engine; a character that would turn or break a line is shown as
its escape. Each session is validated again with every view.
"""

from __future__ import annotations

import hashlib
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privet.errors import LedgerError, PrivetError
from privet.service import amounts, http
from privet.service.accounts import hash_token
from privet.service.audit_log import Person
from privet.service.handlers import RequestHandlers
from privet.service.limits import Rates, TooMany
from privet.service.oidc.directory import Directory
from privet.service.oidc.sign_in import make_sign_out_address
from privet.service.page import manage
from privet.service.page.analyst import PlanForm, analyst_view
from privet.service.page.forms import Form, Refused
from privet.service.page.listing import STATES, Charges, Filter
from privet.service.page.owner import owner_view
from privet.service.problems import Unauthorised, problem_of
from privet.service.shared import Shared
from privet.text import escape_invisible

_UNKNOWN = "This token is not known. It may have been replaced or revoked."
_ENDED = "Your session has ended. Sign in again."
_log = logging.getLogger(__name__)


class PageRoute(APIRoute):
    """Errors are pages too."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]
        inner = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await inner(request)
            except Refused as error:
                return render_page("trouble.html", 403, title="Refused", detail=str(error))
            except TooMany as error:
                return _too_many_response(
                    "trouble.html", error, title="Too many requests", detail=str(error)
                )
            except LedgerError:  # where it lies is nobody's business
                _log.exception("the page cannot be shown")
                return render_page(
                    "trouble.html",
                    503,
                    title="Not now",
                    detail="The ledger or the accounts cannot be read. Try again later.",
                )
            except PrivetError as error:
                return render_page(
                    "trouble.html",
                    problem_of(error).status_code,
                    title="This cannot be shown",
                    detail=str(error),
                )
            except Exception as error:  # noqa: BLE001 - logged, and told as a page
                _log.exception("the page failed")
                return render_page(
                    "trouble.html",
                    500,
                    title="An error in the service",
                    detail=type(error).__name__,
                )

        return handle


def routes(handlers: RequestHandlers, sessions: Sessions) -> APIRouter:
    """Make the routes of the page."""
    router = APIRouter(route_class=PageRoute, include_in_schema=False)
    views = Rates(handlers.limits.views, 40, "view", handlers.shared)
    charges = Charges(handlers.state)
    provider = handlers.directory.provider
    at = "" if provider is None else urlsplit(provider.settings.issuer).netloc

    def visitor(request: Request) -> BrowserSession | None:
        name = http.read_session_id(request)
        session = None if name is None else sessions.find(name)
        if session is not None:
            views.take(f"{session.person.role} {session.person.name}")
        return session

    def ended(request: Request) -> Response:
        response = render_page("sign_in.html", 401, trouble=_ENDED, provider=at)
        http.take_session(response, request)
        return response

    @router.get("/")
    def show(request: Request) -> Response:
        session = visitor(request)
        if session is None:
            return (
                render_page("sign_in.html", trouble="", provider=at)
                if http.read_session_id(request) is None
                else ended(request)
            )
        query = request.query_params
        if session.person.role != "analyst":
            return render_page(
                "owner.html",
                **manage.describe_session(request, session.person),
                done=manage.find_done(handlers.state, session.person, query.get("done", "")),
                view=owner_view(
                    handlers.state, charges, Filter.read(query), handlers.health.verified
                ),
            )
        view = analyst_view(
            handlers.state,
            session.person.name,
            Filter.read(query),
            PlanForm.read(query),
            http.server_address(request),
        )
        return render_page("analyst.html", view=view)

    @router.post("/sign-in")
    def sign_in(request: Request, form: Form) -> Response:
        token = form.get("token", "").strip()[:500]
        try:
            address = request.client.host if request.client else ""
            person = handlers.admit_visitor(token, address)
        except Unauthorised:
            return render_page("sign_in.html", 401, trouble=_UNKNOWN, provider=at)
        except TooMany as error:
            return _too_many_response(
                "sign_in.html",
                error,
                trouble="Too many attempts. Wait a moment, then try again.",
                provider=at,
            )
        before = http.read_session_id(request)
        if before is not None:
            sessions.end(before)
        response = _redirect_back()
        http.give_session(response, request, sessions.begin(token, person))
        return response

    @router.post("/sign-out")
    # - says where it came from
    def sign_out(request: Request, form: Form) -> Response:  # noqa: ARG001
        name = http.read_session_id(request)
        if name is not None:
            sessions.end(name)
        response: Response = _redirect_back()
        if provider is not None:
            back = make_sign_out_address(provider, http.server_address(request))
            response = render_page("signed_out.html", provider=at, address=back)
        http.take_session(response, request)
        return response

    @router.post("/verify")
    def verify(request: Request, form: Form) -> Response:  # noqa: ARG001 - says where it came from
        session = visitor(request)
        if session is None:
            return ended(request)
        if session.person.role == "analyst":
            raise Refused("only the owner can do this")
        handlers.health.verify(by_hand=True)
        return _redirect_back("/#verification")

    @router.get("/sign-in")
    @router.get("/sign-out")
    @router.get("/verify")
    def typed() -> Response:
        return _redirect_back()  # an address of a form, opened by hand

    def person_of(request: Request) -> Person | None:
        session = visitor(request)
        return None if session is None else session.person

    site = manage.Managing(handlers, charges, person_of, ended, render_page, HEADERS)
    manage.add_routes(router, site)
    return router


def _redirect_back(address: str = "/") -> RedirectResponse:
    return RedirectResponse(address, 303, HEADERS)


def _too_many_response(template: str, error: TooMany, **told: Any) -> Response:
    response = render_page(template, 429, **told)
    response.headers["Retry-After"] = str(max(1, math.ceil(error.wait)))
    return response


# From a view to HTML.

_FOLDER = Path(__file__).parent / "templates"
_STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")


def _format_time(value: str | datetime) -> str:
    """To the second, in UTC."""
    when = datetime.fromisoformat(value) if isinstance(value, str) else value
    return f"{when:%Y-%m-%d %H:%M:%S}"


def _format_minute(value: str | datetime) -> str:
    """To the minute, in UTC."""
    return _format_time(value)[:16]


def _make_environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        shown=escape_invisible,
        up=amounts.format_up,
        down=amounts.format_down,
        exactly=amounts.format_exactly,
        time=_format_time,
        minute=_format_minute,
        commas="{:,}".format,
    )
    made.globals["style"] = Markup(_STYLE)  # noqa: S704 - our own file
    made.globals["owner_pages"], made.globals["states"] = manage.PAGES, STATES
    return made


_ENVIRONMENT = _make_environment()
HEADERS = http.make_headers(http.hash_style(_STYLE))


def render_page(template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """Render a page with the headers that every page has."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**told), status, HEADERS)


# Who has signed in.


@dataclass
class BrowserSession:
    """A visitor who signed in: an owner, an auditor or an analyst.

    Holds the token's SHA-256, not the token; empty for whom a provider vouched.
    """

    person: Person
    token: str
    begun: float
    used: float


class Sessions:
    """All sessions of the page, in all processes.

    Args:
        directory: says whether a token is still valid, or whoever was vouched for still known.
        shared: where the sessions are.
        idle, life: seconds after which a session ends, unused or at all.
        each: how many one visitor may have; the oldest ends for the next.
    """

    def __init__(
        self,
        directory: Directory,
        shared: Shared,
        idle: float = 3600,
        life: float = 12 * 3600,
        each: int = 20,
    ) -> None:
        self._directory, self._shared = directory, shared
        self._idle, self._life, self._each = idle, life, each

    def begin(self, token: str, person: Person) -> str:
        """Begin a new session, and return its id, for the cookie.

        ``token`` is empty where a provider has vouched for the person.
        """
        name, now = secrets.token_urlsafe(32), time.time()
        digest = hash_token(token) if token else ""
        row = (_hash_session_id(name), person.name, person.role, digest, now, now)
        with self._shared.transaction() as connection:
            connection.execute(
                "DELETE FROM sessions WHERE used < ? OR begun < ?",
                (now - self._idle, now - self._life),
            )
            connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute(  # the newest stay
                "DELETE FROM sessions WHERE name = ?1 AND role = ?2 AND id NOT IN (SELECT id FROM "
                "sessions WHERE name = ?1 AND role = ?2 ORDER BY begun DESC, rowid DESC LIMIT ?3)",
                (person.name, person.role, self._each),
            )
        return name

    def find(self, name: str) -> BrowserSession | None:
        """Return the session of this id, if its time is not over and its token is still valid."""
        now = time.time()
        with self._shared.reading() as connection:
            row = connection.execute(
                "SELECT name, role, token, begun, used FROM sessions WHERE id = ?",
                (_hash_session_id(name),),
            ).fetchone()
        if row is None:
            return None
        session = BrowserSession(Person(row[0], row[1]), *row[2:])
        over = not (
            session.used <= now <= session.used + self._idle
            and session.begun <= now <= session.begun + self._life
        )
        if over or not self._is_valid(session):
            self.end(name)
            return None
        with self._shared.transaction() as connection:
            connection.execute(
                "UPDATE sessions SET used = ? WHERE id = ?", (now, _hash_session_id(name))
            )
        return session

    def end(self, name: str) -> None:
        """End a session, if there is one."""
        with self._shared.transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE id = ?", (_hash_session_id(name),))

    def _is_valid(self, session: BrowserSession) -> bool:
        if not session.token:
            return self._directory.knows(session.person)
        return self._directory.accounts.holds(session.token, session.person)


def _hash_session_id(name: str) -> str:
    """Ids are looked up by their hash, so that the time of a look-up tells nothing about an id."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
