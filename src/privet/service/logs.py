"""Write logs as one JSON object a line, each with the id of its request.

A line holds no row, count, token or body: requests are logged by their route, not by their address
or what they sent; of an unexpected error, its type and where it was raised, not what it says.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

LogForm = Literal["text", "json"]
#: The id of the request that is worked on.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_LOG = logging.getLogger("privet.service.requests_log")


class JsonFormatter(logging.Formatter):
    """A line of JSON for each record."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if REQUEST_ID.get():
            told["request_id"] = REQUEST_ID.get()
        told.update(getattr(record, "facts", {}))
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            told["raised_at"] = [f"{frame.filename}:{frame.lineno}" for frame in frames]
        return json.dumps(told, ensure_ascii=False)


def log_in_json() -> None:
    """Let everything that this process logs go to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("privet").setLevel(logging.INFO)


def log_request(method: str, route: str, status: int, seconds: float | None, analyst: str) -> None:
    """Log how a request was answered."""
    facts: dict[str, Any] = {"method": method, "route": route, "status": status}
    if seconds is not None:
        facts["seconds"] = round(seconds, 3)
    if analyst:
        facts["analyst"] = analyst
    _LOG.info("request", extra={"facts": facts})
