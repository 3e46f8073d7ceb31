"""From a problem that a curator reports (RFC 9457) to the error that a curator in this process
raises.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.budget import parse_fraction
from privet.errors import (
    AccessError,
    BudgetExceeded,
    Conflict,
    KeyReused,
    NotThere,
    OutsourceError,
    ParameterError,
    PrivacyError,
    PrivetError,
    QuestionError,
    ReservationClosed,
    SchemaError,
    TooManyReservations,
    Unavailable,
)
from privet.text import escape_invisible, shorten

_PREFIX = "urn:privet:problem:"
_ERRORS: dict[str, type[PrivetError]] = {
    "parameter": ParameterError,
    "question": QuestionError,
    "schema": SchemaError,
    "privacy": PrivacyError,
    "key-reused": KeyReused,
    "reservation-closed": ReservationClosed,
    "too-many-reservations": TooManyReservations,
    "access": AccessError,
    "not-granted": AccessError,
    "too-large": QuestionError,
    "conflict": Conflict,
    "full": OutsourceError,
    "not-found": NotThere,
    "store": Unavailable,
    "snapshot-gone": Unavailable,
    "too-many-requests": Unavailable,
    "busy": Unavailable,
    "table": Unavailable,
    "ledger": Unavailable,
}


def error_of(status: int, told: Any, curator: str) -> PrivetError:
    """The error for a response that is no answer. ``told`` is its JSON, if it has any; ``curator``
    says who answered.
    """
    if not isinstance(told, Mapping) or not str(told.get("type", "")).startswith(_PREFIX):
        kind = AccessError if status in (401, 403) else Unavailable
        return kind(
            f"{curator} answered with status {status} and without a reason; is this the right "
            "address?"
        )
    slug = str(told["type"]).removeprefix(_PREFIX)
    detail = shorten(escape_invisible(str(told.get("detail") or told.get("title") or slug)), 2000)
    if slug == "budget-exceeded":
        return _budget_error_from(told) or PrivetError(detail)
    if slug in _ERRORS:
        return _ERRORS[slug](detail)
    return (Unavailable if status >= 500 else PrivetError)(
        f"{curator} answered with status {status}: {detail}"
    )


def _budget_error_from(told: Mapping[str, Any]) -> BudgetExceeded | None:
    try:
        asked, left = (parse_fraction(told[name]) for name in ("asked", "left"))
        return BudgetExceeded(
            asked, left, escape_invisible(str(told["unit"])), escape_invisible(str(told["account"]))
        )
    except (KeyError, ValueError):
        return None
