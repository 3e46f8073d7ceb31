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
from privet._validate import show, suggest
from privet.domain.attributes.base import MAX_BITS, What, text_of
from privet.domain.encode.encoding import Encoding, Encodings
from privet.domain.encode.scalars import NO_VALUE, NoValue, moment_of, read_numbers
from privet.errors import SchemaMismatch

MAX_NAMES = 6  #: names of columns that a message lists
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
    text = text_of(value)
    code = encoding.listed.get(text)
    return encoding.listed.get(text[: encoding.prefix]) if code is None else code


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
    "classes": (
        "holds numbers or booleans, and no class of the schema is one, so that no row "
        "could be counted; translate the column, or list in the schema the classes that it holds"
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


#: More columns than this that are absent are one problem: it is another table.
_MANY = 3


def raise_if_any(problems: Iterable[tuple[str, What]], names: Iterable[str] = ()) -> None:
    """Raise one error that lists all problems.

    ``names`` are the columns of the table, for advice about those that are absent.
    """
    listed, names = list(problems), list(names)
    absent = [column for column, what in listed if what == "absent"]
    together = len(absent) > _MANY
    lines = [_describe_another_table(absent, names)] if together else []
    for column, what in listed:
        if what != "absent" or not together:
            advice = _advise_absent(column, names) if what == "absent" else ""
            lines.append(describe(column, what) + (f"; {advice}" if advice else ""))
    if lines:
        raise SchemaMismatch(lines)


def _describe_another_table(absent: list[str], names: list[str]) -> str:
    """Return one line for a table that lacks many columns of its schema."""
    line = f"{len(absent)} columns of the schema are not in the table: {_list_names(absent)}"
    if names:
        line += f". The table has: {_list_names(names)}"
    if advice := _advise_renamed(absent[0], names):
        return f"{line}; {advice}"
    for mark, called in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(names) == 1 and mark in names[0]:
            return f"{line}. That is one column with {called} in its name: separate by commas"
    return f"{line}. Is it another table, or the schema of another one?"


def _advise_absent(column: str, names: list[str]) -> str:
    """Return what may have become of a column, or which columns there are."""
    there = f"the table has {_list_names(names)}" if names else ""
    return _advise_renamed(column, names) or suggest(column, names) or there


def _advise_renamed(column: str, names: list[str]) -> str:
    """Return what scikit-learn's transformers have made of a column, if it looks like that."""
    encoded = [name for name in names if str(name).startswith(f"{column}_")]
    if len(encoded) > 1:
        return (
            f"it looks one-hot encoded ({_list_names(encoded)}): pass the column as it is, without "
            "an encoder, and list its values in the schema"
        )
    prefixed = [name for name in names if str(name).endswith(f"__{column}")]
    if prefixed:
        return (
            f"there is {show(prefixed[0])}: a ColumnTransformer keeps names as they are with "
            "verbose_feature_names_out=False"
        )
    return ""


def _list_names(names: list[str]) -> str:
    shown = ", ".join(show(name) for name in names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
