"""Encode single entries of a column, and name what does not fit its schema.

An entry becomes a plain value and then a code, and is looked at by itself. A table's misfits are
told to the owner without a value or a count of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet.domain.attributes import MAX_BITS, Attribute, Categorical, Numeric, text_of
from privet.errors import SchemaMismatch


class _NoValue:
    """Stands for an entry that is no text, number or boolean, and matches nothing."""


NO_VALUE = _NoValue()
_PLAIN = (str, int, bool)


def plain_value_of(entry: Any) -> str | bool | int | float | _NoValue | None:
    """Return one entry as a plain value; None for null. Looks at nothing else."""
    if type(entry) in _PLAIN:
        return entry  # type: ignore[no-any-return]
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(entry, np.generic):
        # of a long one, item() is itself
        entry = float(entry) if isinstance(entry, np.floating) else entry.item()
    if isinstance(entry, Decimal):
        entry = _float_of_decimal(entry)
    if isinstance(entry, float) and entry != entry:
        return None
    return entry if isinstance(entry, str | bool | int | float) else NO_VALUE


def _float_of_decimal(number: Decimal) -> float:
    try:
        return float(number)
    except (ValueError, OverflowError):  # a signalling NaN
        return np.nan


def codes_of_plain(attribute: Attribute, values: Sequence[Any]) -> npt.NDArray[Any]:
    """Return the code of each plain value, and that of null as one more entry."""
    if isinstance(attribute, Numeric):
        return attribute.codes_of(np.array([number_of(value) for value in values] + [np.nan]))
    listed = [
        attribute.missing_code if value is None else match(attribute, value) for value in values
    ]
    table = [attribute.unknown_code if code is None else code for code in listed]
    return np.array([*table, attribute.missing_code], dtype=attribute.dtype)


def match(attribute: Categorical, value: Any) -> int | None:
    """Return the code of a plain value, or None where it is not listed."""
    if value is NO_VALUE or value is None or (isinstance(value, float) and not np.isfinite(value)):
        return None
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return None  # no listed number is as large
    return attribute.code_of_text.get(text_of(value))


def number_of(value: Any) -> float:
    """Return the number that a plain value is or spells; NaN for what is no number."""
    if value is NO_VALUE or value is None or (isinstance(value, str) and "_" in value):
        return np.nan
    try:
        return float(value)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def identity_of(entry: Any) -> tuple[str, Any] | None:
    """Return what tells people apart.

    None for null, for no value at all, and for what cannot be compared.
    """
    if entry is NO_VALUE or plain_value_of(entry) is None:
        return None
    entry = entry.item() if isinstance(entry, np.generic) else entry
    try:
        hash(entry)
    except TypeError:
        return None
    return type(entry).__qualname__, entry


# -- how a table can fail to fit its schema, in words for the owner --

What = Literal["absent", "dtype", "identity", "unlisted", "null", "not a number", "out of range"]

_ADVICE: dict[What, str] = {
    "absent": "is not in the table; add it, or take it out of the schema",
    "dtype": (
        "has a type that cannot be matched with the schema; store it as text, numbers or truth "
        "values"
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
    "out of range": "holds numbers outside the declared bounds; widen them, or accept with "
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
