"""Read and export the history of a home: its ledger, and its audit log.

Exports are JSON lines, or CSV. In CSV, a text that a spreadsheet would take for a formula begins
with an apostrophe: analysts choose some of these texts.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from privet.accounting.ledger.journal import JournalEntry
from privet.errors import ParameterError
from privet.service.audit_log import Event
from privet.service.audit_log.events import COLUMNS
from privet.service.owner.desk import Desk

FORMS = ("json", "csv")
_LEDGER_COLUMNS = (
    "number",
    "time",
    "kind",
    "dataset",
    "analyst",
    "what",
    "asked",
    "epsilon",
    "rho",
    "reservation",
    "answered",
    "key",
    "hash",
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def read_log(
    desk: Desk,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str = "",
    until: str = "",
) -> Sequence[Event]:
    """Return the events of the audit log, oldest first; days are of UTC, and both are included."""
    check_days(since, until)
    return desk.state.audit_log.events(dataset or None, analyst or None, since, until)


def read_ledger(
    desk: Desk,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str = "",
    until: str = "",
) -> Sequence[JournalEntry]:
    """Return the lines of the ledger, oldest first: charges, caps and reservations."""
    check_days(since, until)
    return [
        line
        for line in desk.state.ledger.journal()
        if dataset in (None, "", line.dataset)
        and analyst in (None, "", line.analyst)
        and is_within(line.time, since, until)
    ]


def export_log(
    desk: Desk,
    form: str,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str = "",
    until: str = "",
) -> str:
    """Return the audit log as JSON lines, or as CSV."""
    events = read_log(desk, dataset, analyst, since, until)
    if form == "csv":
        return _write_csv(
            COLUMNS, ({name: getattr(one, name) for name in COLUMNS} for one in events)
        )
    _check_form(form)
    return _write_lines(event.to_json() for event in events)


def export_ledger(
    desk: Desk,
    form: str,
    dataset: str | None = None,
    analyst: str | None = None,
    since: str = "",
    until: str = "",
) -> str:
    """Return the lines of the ledger as JSON lines, or as CSV. Answers are not in it."""
    unanswered = desk.state.ledger.unanswered()
    rows = (
        _line_to(line, answered=line.number not in unanswered)
        for line in read_ledger(desk, dataset, analyst, since, until)
    )
    if form == "csv":
        return _write_csv(_LEDGER_COLUMNS, rows)
    _check_form(form)
    return _write_lines(rows)


def _line_to(line: JournalEntry, *, answered: bool) -> dict[str, Any]:
    told = {name: getattr(line, name) for name in _LEDGER_COLUMNS if hasattr(line, name)}
    particulars = line.particulars
    known = {name: particulars.get(name, "") for name in ("asked", "reservation")}
    return {**told, **known, "answered": answered if line.kind == "charge" else ""}


def check_days(since: str, until: str) -> None:
    """Raise unless both are days, or empty."""
    for name, day in (("from", since), ("to", until)):
        try:
            good = not day or date.fromisoformat(day).isoformat() == day
        except ValueError:
            good = False
        if not good:
            raise ParameterError(f"{name} must be a day such as 2026-01-31, got {day!r}")
    if since and until and since > until:
        raise ParameterError(f"from must not be after to, got {since} and {until}")


def is_within(time: str, since: str, until: str) -> bool:
    """Return whether a time is within these days of UTC, both included; empty: no bound."""
    day = time[:10]
    return (not since or day >= since) and (not until or day <= until)


def _check_form(form: str) -> None:
    if form not in FORMS:
        raise ParameterError(f"format must be {' or '.join(map(repr, FORMS))}, got {form!r}")


def _write_lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def _write_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_as_text(row.get(name, "")) for name in columns])
    return out.getvalue()


def _as_text(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULAS) else text
