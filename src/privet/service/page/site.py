"""Serve the page: its routes, its HTML, and who has signed in.

All text is escaped by the template engine; a character that would turn or break a line is shown as
its escape. Sessions live in memory; each is validated again with every view.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import math
import secrets
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privet.errors import LedgerError, PrivetError
from privet.service import http
from privet.service.accounts import Accounts, hash_token
from privet.service.handlers import RequestHandlers
from privet.service.limits import Rates, TooMany
from privet.service.page import amounts
from privet.service.page.analyst import PlanForm, analyst_view
from privet.service.page.listing import Charges, Filter
from privet.service.page.owner import Verification, owner_view
from privet.service.problems import Unauthorised, problem_of
from privet.text import escape_invisible

_LONGEST = 10_000  # bytes of a form
_UNKNOWN = "This token is not known. It may have been replaced or revoked."
_ENDED = "Your session has ended. Sign in again."
_log = logging.getLogger(__name__)


class Refused(PrivetError):
    """A form that this server's own page did not send."""


class _PageRoute(APIRoute):
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


async def _read_form(request: Request) -> dict[str, str]:
    """What a form says, if it is one of ours."""
    if not http.is_own_form(request):
        raise Refused("this form was not sent from this server's own page; nothing was done")
    body = await request.body()
    if len(body) > _LONGEST:
        raise Refused(f"a form may have {_LONGEST} bytes; nothing was done")
    return dict(
        parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=20)
    )


Form = Annotated[dict[str, str], Depends(_read_form)]


def routes(handlers: RequestHandlers) -> APIRouter:
    """Make the routes of the page, when the ledger has just been verified."""
    router = APIRouter(route_class=_PageRoute, include_in_schema=False)
    accounts = handlers.state.accounts
    sessions, views, charges = (
        Sessions(accounts),
        Rates(handlers.limits.views, 40),
        Charges(handlers.state.ledger),
    )
    verified = [Verification(datetime.now(UTC))]

    def visitor(request: Request) -> BrowserSession | None:
        name = http.read_session_id(request)
        session = None if name is None else sessions.find(name)
        if session is not None:
            views.take(f"analyst {session.analyst}" if session.analyst is not None else "owner")
        return session

    def ended(request: Request) -> Response:
        response = render_page("sign_in.html", 401, trouble=_ENDED)
        http.take_session(response, request)
        return response

    @router.get("/")
    def show(request: Request) -> Response:
        session = visitor(request)
        if session is None:
            return (
                render_page("sign_in.html", trouble="")
                if http.read_session_id(request) is None
                else ended(request)
            )
        query = request.query_params
        if session.analyst is None:
            return render_page(
                "owner.html",
                view=owner_view(handlers.state, charges, Filter.read(query), verified[0]),
            )
        view = analyst_view(
            handlers.state,
            session.analyst,
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
            analyst = handlers.admit_visitor(token, address)
        except Unauthorised:
            return render_page("sign_in.html", 401, trouble=_UNKNOWN)
        except TooMany as error:
            return _too_many_response(
                "sign_in.html", error, trouble="Too many attempts. Wait a moment, then try again."
            )
        before = http.read_session_id(request)
        if before is not None:
            sessions.end(before)
        response = _redirect_back()
        http.give_session(response, request, sessions.begin(token, analyst))
        return response

    @router.post("/sign-out")
    # - says where it came from
    def sign_out(request: Request, form: Form) -> Response:  # noqa: ARG001
        name = http.read_session_id(request)
        if name is not None:
            sessions.end(name)
        response = _redirect_back()
        http.take_session(response, request)
        return response

    @router.post("/verify")
    def verify(request: Request, form: Form) -> Response:  # noqa: ARG001 - says where it came from
        session = visitor(request)
        if session is None:
            return ended(request)
        if session.analyst is not None:
            raise Refused("only the owner can do this")
        verified[0] = Verification.now(handlers.state)
        return _redirect_back("/#verification")

    @router.get("/sign-in")
    @router.get("/sign-out")
    @router.get("/verify")
    def typed() -> Response:
        return _redirect_back()  # an address of a form, opened by hand

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
    return made


_ENVIRONMENT = _make_environment()
HEADERS = http.make_headers(
    f"sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}"
)


def render_page(template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """Render a page with the headers that every page has."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**told), status, HEADERS)


# Who has signed in.


@dataclass
class BrowserSession:
    """A visitor who showed a token: an analyst, or the owner (None).

    Holds the token's SHA-256, not the token.
    """

    analyst: str | None
    token: str
    begun: float
    used: float


class Sessions:
    """All sessions of the page.

    Args:
        accounts: they say whether a token is still valid.
        idle, life: seconds after which a session ends, unused or at all.
        each: how many one visitor may have; the oldest ends for the next.
    """

    def __init__(
        self, accounts: Accounts, idle: float = 3600, life: float = 12 * 3600, each: int = 20
    ) -> None:
        self._accounts, self._idle, self._life, self._each = accounts, idle, life, each
        self._open: dict[str, BrowserSession] = {}
        self._lock = threading.Lock()

    def begin(self, token: str, analyst: str | None) -> str:
        """Begin a new session, and return its id, for the cookie."""
        name, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._open = {
                key: session for key, session in self._open.items() if not self._over(session, now)
            }
            # oldest first
            own = [key for key, session in self._open.items() if session.analyst == analyst]
            for key in own[: max(0, len(own) + 1 - self._each)]:
                del self._open[key]
            self._open[_hash_session_id(name)] = BrowserSession(
                analyst, hash_token(token), now, now
            )
        return name

    def find(self, name: str) -> BrowserSession | None:
        """Return the session of this id, if its time is not over and its token is still valid."""
        now = time.monotonic()
        session = self._open.get(_hash_session_id(name))
        if session is None:
            return None
        if self._over(session, now) or not self._accounts.holds(session.token, session.analyst):
            self.end(name)
            return None
        session.used = now
        return session

    def end(self, name: str) -> None:
        """End a session, if there is one."""
        with self._lock:
            self._open.pop(_hash_session_id(name), None)

    def _over(self, session: BrowserSession, now: float) -> bool:
        return now - session.used > self._idle or now - session.begun > self._life


def _hash_session_id(name: str) -> str:
    """Ids are looked up by their hash, so that the time of a look-up tells nothing about an id."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
