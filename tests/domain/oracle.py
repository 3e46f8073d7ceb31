"""What the code and the problem of one entry must be, in plain Python and as slowly as it likes."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from privet.domain import Attribute, Boolean, Categorical, Date, Ordinal
from privet.domain.attributes.base import What

_YES = ("true", "t", "yes", "y", "on", "1", "1.0")
_NO = ("false", "f", "no", "n", "off", "0", "0.0")


def code_of(attribute: Attribute, entry: Any) -> int:
    """The code of an entry that is a text, a number, a truth value, a date or null."""
    entry = _plain(entry)
    if _is_null(entry):
        return attribute.missing_code
    if isinstance(attribute, Boolean):
        truth = _truth(entry)
        known = attribute.missing if truth is None and entry == attribute.missing else truth
        return attribute.unknown_code if known is None else attribute.values.index(known)
    return (
        _category(attribute, entry)
        if isinstance(attribute, Categorical | Ordinal)
        else _bin(attribute, entry)
    )


def problem_of(attribute: Attribute, entry: Any) -> What | None:
    """What the owner is told about an entry; None where it fits."""
    entry = _plain(entry)
    declared = attribute.missing is not None
    if isinstance(attribute, Boolean | Categorical | Ordinal):
        caught = attribute.on_unknown is not None or (
            declared if isinstance(attribute, Boolean | Ordinal) else attribute.other is not None
        )
        if _is_null(entry):
            return None if caught or declared else "null"
        listed = (
            _truth(entry) is not None or entry == attribute.missing
            if isinstance(attribute, Boolean)
            else _place(attribute, entry) is not None
        )
        return None if caught or listed else "unlisted"
    if _is_null(entry):
        return None if declared or attribute.on_unknown == "drop" else "null"
    number = _number(attribute, entry)
    if number is None:
        wrong: What = "not a date" if isinstance(attribute, Date) else "not a number"
        return None if declared else wrong
    inside = attribute.low <= number <= attribute.high
    return None if inside or attribute.on_unknown is not None else "out of range"


def _plain(entry: Any) -> Any:
    if isinstance(entry, np.generic) and not isinstance(entry, np.datetime64):
        entry = entry.item()
    return float(entry) if isinstance(entry, Decimal) else entry


def _is_null(entry: Any) -> bool:
    return (
        entry is None
        or entry is pd.NA
        or entry is pd.NaT
        or (isinstance(entry, float) and math.isnan(entry))
    )


def _truth(entry: Any) -> bool | None:
    if isinstance(entry, str):
        if entry not in (entry.lower(), entry.upper(), entry.capitalize()):
            return None
        text = entry.lower()
    else:
        text = _text(entry) or ""
    return True if text in _YES else False if text in _NO else None


def _category(attribute: Categorical | Ordinal, entry: Any) -> int:
    place = _place(attribute, entry)
    return attribute.unknown_code if place is None else place


def _place(attribute: Categorical | Ordinal, entry: Any) -> int | None:
    for code, value in enumerate(attribute.values):
        if _text(entry) == _text(value):
            return code
    for code, value in enumerate(attribute.values):
        if _text(entry) in _spellings(value):
            return code
    if attribute.prefix is not None and len(_text(entry) or "") > attribute.prefix:
        return _place(attribute, (_text(entry) or "")[: attribute.prefix])
    return None


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isinf(value):
            return None
        return str(int(value)) if value == int(value) else repr(value)
    return str(value)


def _spellings(value: Any) -> list[str | None]:
    if isinstance(value, bool):
        return ["True", "TRUE"] if value else ["False", "FALSE"]
    if isinstance(value, int):
        return [f"{value}.0"]
    if isinstance(value, str) and re.fullmatch(r"0|-?[1-9][0-9]*", value):
        return [f"{value}.0"]
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9][0-9]*)\.[0-9]+", value):
        whole = _text(float(value))
        return [whole, f"{whole}.0"] if whole and "." not in whole else [whole]
    return []


def _bin(attribute: Any, entry: Any) -> int:
    number = _number(attribute, entry)
    if number is None:
        return attribute.missing_code
    if attribute.on_unknown == "drop" and not attribute.low <= number <= attribute.high:
        return attribute.unknown_code
    return sum(cut <= number for cut in attribute.cuts[1:-1])


def _number(attribute: Any, entry: Any) -> float | None:
    """The number that is read from an entry; None where there is none."""
    if isinstance(attribute, Date):
        moment = _moment(entry)
        if moment is not None:
            return _part(attribute, moment)
        if attribute.part == "date":
            return None
    if isinstance(entry, str) and "_" in entry:
        return None
    spelling = getattr(attribute, "spelling", None)
    if spelling is not None and isinstance(entry, str):
        for part in sorted(spelling.units, key=len, reverse=True):
            entry = entry.replace(part, "")
        entry = entry.replace("\u00a0", "").replace("\u202f", "")
        entry = entry.replace(spelling.thousands or "\x00", "")
        entry = entry.replace(spelling.decimal or ".", ".")
    try:
        number = float(entry)
    except (ValueError, TypeError):
        return None
    except OverflowError:
        number = math.inf if entry > 0 else -math.inf
    if (
        isinstance(attribute, Date)
        and not _PARTS[attribute.part][0] <= number <= _PARTS[attribute.part][1]
    ):
        return None  # it stands for something else, such as 20240331
    return None if math.isnan(number) else number


_PARTS = {
    "year": (1, 9999),
    "month": (1, 12),
    "weekday": (1, 7),
    "hour": (0, 23),
    "age": (-200, 1000),
}


def _moment(entry: Any) -> datetime | None:
    """The moment that an entry is or spells, on the clock of UTC."""
    if isinstance(entry, str):
        if not re.fullmatch(
            r"[1-9]\d{3}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?", entry
        ):
            return None
        try:
            entry = datetime.fromisoformat(entry)
        except ValueError:
            return None
    if isinstance(entry, datetime):
        return entry.astimezone(UTC).replace(tzinfo=None) if entry.tzinfo else entry
    return datetime(entry.year, entry.month, entry.day) if isinstance(entry, date) else None


def _part(attribute: Date, moment: datetime) -> int:
    at = attribute.at
    if at is not None:
        return at.year - moment.year - ((moment.month, moment.day) > (at.month, at.day))
    return {
        "date": (moment.date() - date(1970, 1, 1)).days,
        "year": moment.year,
        "month": moment.month,
        "weekday": moment.isoweekday(),
        "hour": moment.hour,
    }[attribute.part]
