"""Write logs to standard error as text or JSON, one line a record, with the id of its request.

A line holds no row, count, token or body: requests are logged by their route, not by their address
or what they sent; of an unexpected error, its type and where it was raised, not what it says. That
holds for what other libraries log, too, so theirs is written by the same formatters.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

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
            "message": record.getMessage().strip(),
        }
        if REQUEST_ID.get():
            told["request_id"] = REQUEST_ID.get()
        told.update(getattr(record, "facts", {}))
        error = _error_of(record)
        if error is not None:
            told["error"], told["raised_at"] = error
        return json.dumps(told, ensure_ascii=False)


class TextFormatter(logging.Formatter):
    """A line of text for each record."""

    def format(self, record: logging.LogRecord) -> str:
        told = f"{record.levelname.lower()}: {record.getMessage().strip()}"
        if REQUEST_ID.get():
            told += f" (request {REQUEST_ID.get()})"
        error = _error_of(record)
        if error is not None:
            kind, places = error
            told += f": {kind} at {' < '.join(reversed(places))}"
        return told


def _error_of(record: logging.LogRecord) -> tuple[str, list[str]] | None:
    """Return the type of a record's error, and the places that it went through."""
    if not record.exc_info or record.exc_info[0] is None:
        return None
    frames = traceback.extract_tb(record.exc_info[2])
    return record.exc_info[0].__name__, [f"{frame.filename}:{frame.lineno}" for frame in frames]


@contextmanager
def logging_to_stderr(form: str) -> Iterator[None]:
    """Write all that this process logs to standard error; afterwards, loggers are what they were.

    Other handlers are put aside meanwhile: they would write what errors say.
    """
    root, ours = logging.getLogger(), logging.getLogger("privet")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    before, levels = list(root.handlers), (root.level, ours.level)
    for other in before:
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    ours.setLevel(logging.INFO if form == "json" else logging.NOTSET)
    try:
        yield
    finally:
        root.removeHandler(handler)
        for other in before:
            root.addHandler(other)
        root.setLevel(levels[0])
        ours.setLevel(levels[1])


def log_request(method: str, route: str, status: int, seconds: float | None, analyst: str) -> None:
    """Log how a request was answered."""
    facts: dict[str, Any] = {"method": method, "route": route, "status": status}
    if seconds is not None:
        facts["seconds"] = round(seconds, 3)
    if analyst:
        facts["analyst"] = analyst
    _LOG.info("request", extra={"facts": facts})
