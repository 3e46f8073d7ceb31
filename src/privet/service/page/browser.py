"""What is asked of browsers, and what they are told: where a form came from, the cookie of a
session, headers.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from fastapi import Request
from fastapi.responses import Response


def make_headers(style_hash: str) -> dict[str, str]:
    """The headers of every page: nothing is loaded but what is in it, nothing runs, nobody frames
    or keeps it.
    """
    policy = (
        f"default-src 'none'; style-src '{style_hash}'; img-src data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def is_own_form(request: Request) -> bool:
    """Whether a form was sent from a page of this server. A browser that says nothing about it is
    not believed.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


def is_https(request: Request) -> bool:
    """Whether the browser speaks TLS, to this server or to the one in front. A false header can
    only lock its sender out.
    """
    return "https" in (
        request.url.scheme,
        request.headers.get("x-forwarded-proto", "").split(",")[0].strip().lower(),
    )


def server_address(request: Request) -> str:
    """The address of this server, as the browser knows it."""
    host = request.headers.get("host", "")
    known = re.fullmatch(r"[A-Za-z0-9.\-]+(:\d+)?|\[[0-9A-Fa-f:.]+\](:\d+)?", host)
    return f"{'https' if is_https(request) else 'http'}://{host if known else 'this-server'}"


def read_session_id(request: Request) -> str | None:
    """What the cookie says."""
    return request.cookies.get(_cookie_name(request))


def give_session(response: Response, request: Request, name: str) -> None:
    """Set the cookie."""
    response.set_cookie(
        _cookie_name(request),
        name,
        path="/",
        httponly=True,
        samesite="strict",
        secure=is_https(request),
    )


def take_session(response: Response, request: Request) -> None:
    """Remove the cookie."""
    response.delete_cookie(
        _cookie_name(request), path="/", httponly=True, samesite="strict", secure=is_https(request)
    )


def _cookie_name(request: Request) -> str:
    """With TLS, a name that no other host can set."""
    return "__Host-privet" if is_https(request) else "privet"
