"""Read the forms of the page: only those that this server's own pages sent."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from privet.errors import PrivetError
from privet.service import http

_LONGEST = 10_000  # bytes of a form
_LONGEST_CHANGE = 1 << 16  # of one that may hold a schema


class Refused(PrivetError):
    """A form that this server's own page did not send."""


async def _read_form(request: Request) -> dict[str, str]:
    """What a form says, if it is one of ours."""
    if not http.is_own_form(request):
        raise Refused("this form was not sent from this server's own page; nothing was done")
    body = await request.body()
    most = _LONGEST_CHANGE if request.url.path.startswith("/change/") else _LONGEST
    if len(body) > most:
        raise Refused(f"a form may have {most} bytes; nothing was done")
    return dict(
        parse_qsl(body.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=20)
    )


Form = Annotated[dict[str, str], Depends(_read_form)]
