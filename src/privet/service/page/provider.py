"""Sign in to the page at a provider of OpenID Connect: there and back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from privet.errors import AccessError
from privet.service import http
from privet.service.handlers import RequestHandlers
from privet.service.limits import Rates
from privet.service.oidc.settings import ProviderUnavailable
from privet.service.oidc.sign_in import CALLBACK, Journey
from privet.service.page.site import HEADERS, PageRoute, Sessions, render_page

#: Seconds in which somebody has to come back.
_PATIENCE = 600


def routes(handlers: RequestHandlers, sessions: Sessions) -> APIRouter:
    """Make the routes to the provider and back."""
    router = APIRouter(route_class=PageRoute, include_in_schema=False)
    provider = handlers.directory.provider
    assert provider is not None
    limits = handlers.limits
    strangers = Rates(limits.strangers, max(20, 4 * limits.strangers))

    def take(request: Request) -> None:
        """Strangers cause traffic to the provider: only so much."""
        strangers.take(request.client.host if request.client else "")

    @router.get("/oidc/sign-in")
    def leave(request: Request) -> Response:
        take(request)
        journey = Journey.begin()
        response = RedirectResponse(journey.address(provider, _back(request)), 303, HEADERS)
        # "lax": the browser comes back from another site
        response.set_cookie(
            _cookie(request),
            str(journey),
            max_age=_PATIENCE,
            path="/",
            httponly=True,
            samesite="lax",
            secure=http.is_https(request),
        )
        return response

    @router.get(CALLBACK)
    def arrive(request: Request) -> Response:
        take(request)
        address = request.client.host if request.client else ""
        try:
            journey = Journey.read(request.cookies.get(_cookie(request)))
            claims = journey.finish(provider, dict(request.query_params), _back(request))
            person = handlers.directory.person_with(claims)
        except AccessError as error:
            handlers.refusals.refuse_sign_in(address)
            response: Response = render_page(
                "trouble.html", 403, title="Not signed in", detail=str(error)
            )
        except ProviderUnavailable as error:
            response = render_page("trouble.html", 503, title="Not now", detail=str(error))
        else:
            before = http.read_session_id(request)
            if before is not None:
                sessions.end(before)
            # A redirect would still be the other site's, and the browser keep the cookie back.
            response = render_page("signed_in.html", person=str(person))
            http.give_session(response, request, sessions.begin("", person))
        response.delete_cookie(
            _cookie(request),
            path="/",
            httponly=True,
            samesite="lax",
            secure=http.is_https(request),
        )
        return response

    return router


def _back(request: Request) -> str:
    """Where the provider sends the browser; it accepts only what is registered there."""
    return f"{http.server_address(request)}{CALLBACK}"


def _cookie(request: Request) -> str:
    return "__Host-privet-oidc" if http.is_https(request) else "privet-oidc"
