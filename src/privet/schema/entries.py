"""Single entries of a column: what plain value each one is, and its code. Looks at one entry at a
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema.attributes import MAX_BITS, Attribute, Categorical, Numeric, text_of


class _NoValue:
    """Stands for an entry that is no text, number or truth value, and matches nothing."""


NO_VALUE = _NoValue()
_PLAIN = (str, int, bool)


def plain_value_of(entry: Any) -> str | bool | int | float | _NoValue | None:
    """One entry as a plain value; None for null. Looks at nothing else."""
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
    """The code of each plain value, and that of null as one more entry."""
    if isinstance(attribute, Numeric):
        return attribute.codes_of(np.array([number_of(value) for value in values] + [np.nan]))
    listed = [
        attribute.missing_code if value is None else match(attribute, value) for value in values
    ]
    table = [attribute.unknown_code if code is None else code for code in listed]
    return np.array([*table, attribute.missing_code], dtype=attribute.dtype)


def match(attribute: Categorical, value: Any) -> int | None:
    """The code of a plain value, or None where it is not listed."""
    if value is NO_VALUE or value is None or (isinstance(value, float) and not np.isfinite(value)):
        return None
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return None  # no listed number is as large
    return attribute.code_of_text.get(text_of(value))


def number_of(value: Any) -> float:
    """The number that a plain value is or spells; NaN for what is no number."""
    if value is NO_VALUE or value is None or (isinstance(value, str) and "_" in value):
        return np.nan
    try:
        return float(value)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def identity_of(entry: Any) -> tuple[str, Any] | None:
    """What tells people apart; None for null, for no value at all, and for what cannot be
    compared.
    """
    if entry is NO_VALUE or plain_value_of(entry) is None:
        return None
    entry = entry.item() if isinstance(entry, np.generic) else entry
    try:
        hash(entry)
    except TypeError:
        return None
    return type(entry).__qualname__, entry
