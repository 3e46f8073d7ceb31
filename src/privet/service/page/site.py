"""The routes of the page."""

# No "from __future__ import annotations": routes are made in functions, and FastAPI reads their
# annotations as they are.

import logging
import math
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute

from privet.errors import LedgerError, PrivetError
from privet.service.desk import RequestHandlers
from privet.service.limits import Rates, TooMany
from privet.service.page import browser
from privet.service.page.analyst import analyst_view
from privet.service.page.listing import Charges, Filter
from privet.service.page.owner import Verification, owner_view
from privet.service.page.plan import PlanForm
from privet.service.page.render import HEADERS, render_page
from privet.service.page.sessions import BrowserSession, Sessions
from privet.service.problems import Unauthorised, problem_of

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
    if not browser.is_own_form(request):
        raise Refused("this form was not sent from this server's own page; nothing was done")
    body = await request.body()
    if len(body) > _LONGEST:
        raise Refused(f"a form may have {_LONGEST} bytes; nothing was done")
    return dict(
        parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=20)
    )


Form = Annotated[dict[str, str], Depends(_read_form)]


def routes(desk: RequestHandlers) -> APIRouter:
    """The page of a desk. It is made when the ledger has just been verified."""
    router = APIRouter(route_class=_PageRoute, include_in_schema=False)
    accounts = desk.home.accounts
    sessions, views, charges = (
        Sessions(accounts),
        Rates(desk.limits.views, 40),
        Charges(desk.home.ledger),
    )
    verified = [Verification(datetime.now(UTC))]

    def visitor(request: Request) -> BrowserSession | None:
        name = browser.read_session_id(request)
        session = None if name is None else sessions.find(name)
        if session is not None:
            views.take(f"analyst {session.analyst}" if session.analyst is not None else "owner")
        return session

    def ended(request: Request) -> Response:
        response = render_page("sign_in.html", 401, trouble=_ENDED)
        browser.take_session(response, request)
        return response

    @router.get("/")
    def show(request: Request) -> Response:
        session = visitor(request)
        if session is None:
            return (
                render_page("sign_in.html", trouble="")
                if browser.read_session_id(request) is None
                else ended(request)
            )
        query = request.query_params
        if session.analyst is None:
            return render_page(
                "owner.html", view=owner_view(desk.home, charges, Filter.read(query), verified[0])
            )
        told = analyst_view(
            desk.home,
            session.analyst,
            Filter.read(query),
            PlanForm.read(query),
            browser.server_address(request),
        )
        return render_page("analyst.html", view=told)

    @router.post("/sign-in")
    def sign_in(request: Request, form: Form) -> Response:
        token = form.get("token", "").strip()[:500]
        try:
            owner = bool(token) and accounts.is_owner(token)
            analyst = (
                None if owner else desk.admit(token, request.client.host if request.client else "")
            )
        except Unauthorised:
            return render_page("sign_in.html", 401, trouble=_UNKNOWN)
        except TooMany as error:
            return _too_many_response(
                "sign_in.html", error, trouble="Too many attempts. Wait a moment, then try again."
            )
        before = browser.read_session_id(request)
        if before is not None:
            sessions.end(before)
        response = _redirect_back()
        browser.give_session(response, request, sessions.begin(token, analyst))
        return response

    @router.post("/sign-out")
    # - says where it came from
    def sign_out(request: Request, form: Form) -> Response:  # noqa: ARG001
        name = browser.read_session_id(request)
        if name is not None:
            sessions.end(name)
        response = _redirect_back()
        browser.take_session(response, request)
        return response

    @router.post("/verify")
    def verify(request: Request, form: Form) -> Response:  # noqa: ARG001 - says where it came from
        session = visitor(request)
        if session is None:
            return ended(request)
        if session.analyst is not None:
            raise Refused("only the owner can do this")
        verified[0] = Verification.now(desk.home)
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
