"""From a view to HTML. All text is escaped by the templates' engine; what would turn or break a
line is shown as its escape.
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from privet.service.page import amounts, browser
from privet.text import escape_invisible

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
HEADERS = browser.make_headers(
    f"sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}"
)


def render_page(template: str, status: int = 200, **told: Any) -> HTMLResponse:
    """A page with the headers that every page has."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**told), status, HEADERS)
