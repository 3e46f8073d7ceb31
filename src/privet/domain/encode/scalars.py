"""Read numbers and parts of dates from plain values.

SQL dialects read the same scalars: what these functions return is what they must select.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.encode.encoding import DatePart, Scalar, SpelledNumber

Floats = npt.NDArray[np.float64]
Moments = npt.NDArray[np.datetime64]


class NoValue:
    """Stands for an entry that is no text, number, boolean or date, and matches nothing."""


NO_VALUE = NoValue()

_MONTH_AND_DAY = (
    "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    "|02-(0[1-9]|1[0-9]|2[0-8])"
)
_LEAP_YEAR = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|(1[26]|[2468][048]|[3579][26])00)"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?"
_OFFSET = "(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
#: Text that is an ISO 8601 date, or a timestamp, of the years 1000 to 9999. It names only days that
#: there are, so that no engine raises an error when it reads one. Without look-ahead and backslash,
#: all engines read the expression alike.
ISO_MOMENT = f"^([1-9][0-9]{{3}}-({_MONTH_AND_DAY})|{_LEAP_YEAR}-02-29)([T ]{_TIME}{_OFFSET}?)?$"
_MOMENT = re.compile(ISO_MOMENT)
#: Longer texts are no numbers.
MAX_NUMBER_TEXT = 1000
_FOREIGN = frozenset("_\x1c\x1d\x1e\x1f")
_MINUTES = len("2000-01-01T00:00")


def number_of(value: Any) -> float:
    """Return the number that a plain value is or spells; NaN for what is no number."""
    if isinstance(value, str):
        # Python alone reads 1_000 and digits of other scripts, and databases do not.
        if len(value) > MAX_NUMBER_TEXT or not value.isascii() or not _FOREIGN.isdisjoint(value):
            return np.nan
    elif not isinstance(value, bool | int | float):
        return np.nan
    try:
        return float(value)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def spelled_number_of(value: Any, spelled: SpelledNumber) -> float:
    """Return the number that a plain value is, or spells in a declared way; NaN for others."""
    if isinstance(value, str):
        for part in spelled.removed:
            value = value.replace(part, "")
        if spelled.decimal != ".":
            value = value.replace(spelled.decimal, ".")
    return number_of(value)


def moment_of(value: Any) -> np.datetime64:
    """Return the moment that a plain value is or spells, in UTC; NaT for what is none.

    Of a text, the minute counts: no part of a date is finer.
    """
    if isinstance(value, np.datetime64):
        return in_microseconds(np.array([value]))[0]  # type: ignore[no-any-return]
    if isinstance(value, datetime):
        offset = value.utcoffset()
        moment = np.datetime64(value.replace(tzinfo=None), "us")
        return moment if offset is None else moment - np.timedelta64(offset, "us")
    if isinstance(value, date):
        return np.datetime64(value, "us")
    # $ would let a line feed follow
    if not isinstance(value, str) or value[-1:] == "\n" or _MOMENT.match(value) is None:
        return np.datetime64("NaT", "us")
    moment = np.datetime64(value[:_MINUTES].replace(" ", "T"), "us")
    if len(value) > _MINUTES and value[-3] == ":" and value[-6] in "+-":
        hours, minutes = int(value[-5:-3]), int(value[-2:])
        offset_minutes = np.timedelta64(60 * hours + minutes, "m")
        return moment - offset_minutes if value[-6] == "+" else moment + offset_minutes
    return moment


def in_microseconds(moments: Moments) -> Moments:
    """Return moments of any unit in microseconds.

    What they do not hold becomes the first or last moment that they do: NumPy would wrap around.
    """
    unit = np.datetime_data(moments.dtype)[0]
    if unit in ("us", "ns", "ps", "fs", "as"):
        return moments.astype("datetime64[us]")
    last = np.datetime64(1 << 62, "us").astype(f"datetime64[{unit}]")
    first = np.datetime64(-(1 << 62), "us").astype(f"datetime64[{unit}]")
    return np.clip(moments, first, last).astype("datetime64[us]")


def parts_of(moments: Moments, part: DatePart) -> Floats:
    """Return one part of each moment; NaN for NaT."""
    absent = np.isnat(moments)
    known = np.where(absent, np.datetime64(0, "us"), moments)  # NumPy warns about NaT
    numbers = _integers_of(known, known.astype("datetime64[D]"), part)
    return np.where(absent, np.nan, numbers.astype(np.float64))


def _integers_of(moments: Moments, days: Moments, part: DatePart) -> npt.NDArray[np.int64]:
    if part.part == "date":
        return days.astype(np.int64)
    if part.part == "weekday":
        return np.asarray((days.astype(np.int64) + 3) % 7 + 1)  # 1970 began on a Thursday
    if part.part == "hour":
        return (moments - days).astype("timedelta64[h]").astype(np.int64)
    months = days.astype("datetime64[M]")
    month = months.astype(np.int64) % 12 + 1
    if part.part == "month":
        return np.asarray(month)
    year = days.astype("datetime64[Y]").astype(np.int64) + 1970
    if part.part == "year":
        return np.asarray(year)
    assert part.at is not None
    day = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    birthday_comes = 100 * month + day > 100 * part.at.month + part.at.day
    return np.asarray(part.at.year - year - birthday_comes)


def read_numbers(scalar: Scalar, values: Sequence[Any]) -> Floats:
    """Return the number that is read from each plain value; NaN where there is none."""
    if isinstance(scalar, SpelledNumber):
        return np.array([spelled_number_of(value, scalar) for value in values], dtype=np.float64)
    if not isinstance(scalar, DatePart):
        return np.array([number_of(value) for value in values], dtype=np.float64)
    moments = np.array([moment_of(value) for value in values], dtype="datetime64[us]")
    parts = parts_of(moments, scalar)
    numbers = np.array([number_of(value) for value in values], dtype=np.float64)
    return np.where(np.isnat(moments), numbers_as_parts(numbers, scalar), parts)


def numbers_as_parts(numbers: npt.NDArray[Any], part: DatePart) -> Floats:
    """Return numbers that stand for a part itself; NaN for others."""
    if part.range is None:
        return np.full(len(numbers), np.nan)
    low, high = part.range
    return np.where((numbers >= low) & (numbers <= high), numbers, np.nan).astype(np.float64)
