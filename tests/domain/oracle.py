"""What the code of one entry must be, in plain Python and as slowly as it likes."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from privet.domain import Attribute, Categorical


def code_of(attribute: Attribute, entry: Any) -> int:
    """The code of an entry that is a text, a number, a truth value or null."""
    entry = entry.item() if isinstance(entry, np.generic) else entry
    entry = float(entry) if isinstance(entry, Decimal) else entry
    if (
        entry is None
        or entry is pd.NA
        or entry is pd.NaT
        or (isinstance(entry, float) and math.isnan(entry))
    ):
        return attribute.missing_code
    return (
        _category(attribute, entry)
        if isinstance(attribute, Categorical)
        else _bin(attribute, entry)
    )


def _category(attribute: Categorical, entry: Any) -> int:
    for code, value in enumerate(attribute.values):
        if _text(entry) == _text(value):
            return code
    for code, value in enumerate(attribute.values):
        if isinstance(entry, str) and entry in _spellings(value):
            return code
    return attribute.unknown_code


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


def _spellings(value: Any) -> list[str]:
    if isinstance(value, bool):
        return ["True", "TRUE"] if value else ["False", "FALSE"]
    return [f"{value}.0"] if isinstance(value, int) else []


def _bin(attribute: Any, entry: Any) -> int:
    if isinstance(entry, str) and "_" in entry:
        return attribute.missing_code
    try:
        number = float(entry)
    except ValueError:
        return attribute.missing_code
    except OverflowError:
        number = math.inf if entry > 0 else -math.inf
    if math.isnan(number):
        return attribute.missing_code
    if attribute.on_unknown == "drop" and not attribute.low <= number <= attribute.high:
        return attribute.unknown_code
    return sum(cut <= number for cut in attribute.cuts[1:-1])
