"""Encode single entries of a column, and name what does not fit its schema.

An entry becomes a plain value and then a code, and is looked at by itself. A table's misfits are
told to the owner without a value or a count of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from privet._plain import copy_scalar, is_plain_scalar
from privet.domain.attributes.base import MAX_BITS, What, text_of
from privet.domain.encode.encoding import Encoding, Encodings
from privet.domain.encode.scalars import NO_VALUE, NoValue, moment_of, read_numbers
from privet.errors import SchemaMismatch

_PLAIN = (str, int, bool)
#: What else can say whose row it is: classes that compare by what they hold.
_COMPARED = (bytes, date, time, timedelta, UUID)

PlainValue = str | bool | int | float | np.datetime64 | NoValue


def plain_value_of(entry: Any) -> PlainValue | None:
    """Return one entry as a plain value; None for null. Looks at nothing else.

    An object that raises an error when it is read is no value.
    """
    try:
        return _read_value(entry)
    except Exception:  # noqa: BLE001
        return NO_VALUE


def _read_value(entry: Any) -> PlainValue | None:
    # by type() and not isinstance(), which runs what an object says about its class
    kind = type(entry)
    if kind in _PLAIN:
        return entry  # type: ignore[no-any-return]
    if entry is None or kind.__name__ in ("NAType", "NaTType"):
        return None
    if issubclass(kind, date | np.datetime64):
        return _plain_moment_of(entry)
    # of a long float, item() is itself
    value = float(entry) if issubclass(kind, np.longdouble) else copy_scalar(entry)
    if type(value) is Decimal:
        value = _float_of_decimal(value)
    if type(value) is float and value != value:
        return None
    return value if type(value) in (*_PLAIN, float) else NO_VALUE


def _plain_moment_of(entry: Any) -> np.datetime64 | None:
    moment = moment_of(entry)
    return None if np.isnat(moment) else moment


def _float_of_decimal(number: Decimal) -> float:
    try:
        return float(number)
    except (ValueError, OverflowError):  # a signalling NaN
        return np.nan


def codes_of_plain(encodings: Encodings, values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return the code of each plain value, and that of null as one more entry.

    Values of all kinds may stand side by side, as in a column of objects. A listed value is found
    by the one text that stands for it; any other attribute reads a number.
    """
    encoding = encodings("text")
    assert encoding is not None
    if encoding.reads == "text":
        codes = [
            encoding.missing if value is None else _code_of_listed(encoding, value)
            for value in values
        ]
        return np.array([*codes, encoding.missing], dtype=np.int64)
    numbers = read_numbers(encoding.reads, values)
    nulls = [value is None for value in values]
    found = np.where(nulls, encoding.missing, encoding.ranges(numbers).astype(np.int64))
    return np.append(found, encoding.missing)


def match(encoding: Encoding, value: Any) -> int | None:
    """Return the code of a plain value, or None where it is not listed."""
    assert encoding.listed is not None
    if value is NO_VALUE or value is None or isinstance(value, np.datetime64):
        return None
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return None  # no listed number is as large
    return encoding.listed.get(text_of(value))


def _code_of_listed(encoding: Encoding, value: Any) -> int:
    code = match(encoding, value)
    return encoding.unknown if code is None else code


def identity_of(entry: Any) -> tuple[str, Any] | None:
    """Return what tells people apart.

    None for null, for no value at all, and for what cannot be compared.
    """
    try:
        return _read_identity(entry)
    except Exception:  # noqa: BLE001
        return None


def _read_identity(entry: Any) -> tuple[str, Any] | None:
    if entry is NO_VALUE or _read_value(entry) is None:
        return None
    if isinstance(entry, np.generic):
        entry = np.generic.item(entry)
    kind = type(entry)
    if issubclass(kind, datetime):
        # pandas has nanoseconds
        exactly = entry.to_datetime64() if hasattr(kind, "to_datetime64") else moment_of(entry)
        return kind.__qualname__, (entry.tzinfo is None, exactly)
    if kind is tuple:
        return kind.__qualname__, tuple(map(_read_identity, entry))
    value = copy_scalar(entry)
    comparable = is_plain_scalar(value) or kind in _COMPARED
    return (kind.__qualname__, value) if comparable else None


# -- how a table can fail to fit its schema, in words for the owner --

_ADVICE: dict[What, str] = {
    "absent": "is not in the table; add it, or take it out of the schema",
    "dtype": (
        "has a type that cannot be matched with the schema. Categorical, Numeric and Boolean read "
        "text, numbers and booleans; Date reads dates, timestamps and ISO 8601 text. Declare or "
        "store the column otherwise"
    ),
    "identity": (
        "says whose row it is, but holds fractions, in which large identifiers are not exact; "
        "store it as text or integers"
    ),
    "unlisted": "holds values that the schema does not list; list them, declare a catch-all with "
    "'other', or accept that such rows are not counted with on_unknown 'drop'",
    "null": "holds missing entries; declare what stands for them with 'missing', "
    "or accept that such rows are not counted with on_unknown 'drop'",
    "not a number": "holds text that is no number; declare the column as categorical, clean it, or "
    "declare 'missing' so that null stands for it",
    "not a date": "holds text that is no ISO 8601 date such as 2024-12-31; rewrite it, or declare "
    "'missing' so that null stands for it",
    "out of range": "holds values outside the declared bounds; widen them, or accept with "
    "on_unknown 'clip' (counted in the nearest bin) or 'drop' (not counted)",
}


def describe(column: str, what: What) -> str:
    """Return one line that names the column and what to do about it."""
    return f"column {column!r} {_ADVICE[what]}"


def raise_if_any(problems: Iterable[tuple[str, What]]) -> None:
    """Raise one error that lists all problems."""
    lines = [describe(column, what) for column, what in problems]
    if lines:
        raise SchemaMismatch(lines)
