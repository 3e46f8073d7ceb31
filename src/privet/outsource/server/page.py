"""Serve the page at ``/``, for people who wonder what answers here.

No data, no token, no script.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import privet
from privet.outsource.anatomy import STATEMENT
from privet.service import http

_FOLDER = Path(__file__).parent / "templates"
_STYLE = (_FOLDER / "style.css").read_text(encoding="utf-8")
_HEADERS = http.make_headers(
    f"sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}"
)


def routes() -> APIRouter:
    """Make the routes of the page."""
    router = APIRouter(include_in_schema=False)
    environment = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined
    )
    style = Markup(_STYLE)  # noqa: S704 - our own file
    shown = environment.get_template("page.html").render(
        style=style, statement=STATEMENT, version=privet.__version__
    )

    @router.get("/")
    async def show() -> HTMLResponse:
        return HTMLResponse(shown, headers=_HEADERS)

    return router
