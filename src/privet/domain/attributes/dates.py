"""Declare a column of dates or timestamps, or a part of them."""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer, check_name
from privet.domain.attributes.base import (
    MAX_VALUES,
    Draws,
    Value,
    What,
    check_column,
    takes_plain_values,
    text_of,
)
from privet.domain.attributes.binned import GRID, Binned, check_bins, check_missing_label
from privet.domain.encode.encoding import PART_RANGES, DatePart, PartName, Scalar, ValueKind
from privet.domain.encode.scalars import read_numbers
from privet.errors import SchemaError

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = date(1000, 1, 1), date(9999, 12, 31)  # that text spells
#: Bounds of the parts that have the same ones in every table.
_NATURAL = {part: PART_RANGES[part] for part in ("month", "weekday", "hour")}
#: Up to this many values, each is a bin of its own unless ``bins`` says otherwise.
_FEW = 31
_NAMES: dict[PartName, Sequence[str]] = {
    "month": ("", *list(calendar.month_name)[1:]),
    "weekday": ("", *calendar.day_name),
}


class Date(Binned):
    """A date or timestamp, or a part of it, with public bounds, cut into public bins.

    A column may hold dates, timestamps, or text in ISO 8601 (``2024-03-31``,
    ``2024-03-31T09:30:00Z``). Timestamps with a time zone are read in UTC. Where ``part`` is not
    ``"date"``, a number is taken as the part itself.

    Parameters
    ----------
    low, high
        The public bounds, both inside. Dates (or their text) for ``part="date"``, integers
        for the other parts. A month, a weekday and an hour need none.
    part
        What is read: the ``"date"``, its ``"year"``, ``"month"``, ``"weekday"`` (1 is
        Monday) or ``"hour"``, or the ``"age"`` in full years at the date ``at``.
    at
        The date at which the age counts.
    bins
        How many bins. By default one per value up to 31 values, and 16 for more. ``"auto"`` is
        a fine grid of at most 1024 bins, which learners merge.
    missing
        A label for a bin of its own for missing entries (null, and text that is no date).
        Without it such a row is not counted.
    on_unknown
        What happens behind the boundary to a date outside the bounds: ``"clip"`` (the
        default) counts it in the nearest bin, ``"drop"`` does not count the row. Stating it
        also tells the owner's check that such dates are expected.
    column
        The table's column, where it does not have the attribute's name. So several parts
        can be read from one column.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Date("2023-01-01", "2024-12-31", bins=2).labels
    ('2023-01-01 to 2023-12-31', '2024-01-01 to 2024-12-31')
    >>> pv.Date(part="weekday", column="admitted").labels[:2]
    ('Monday', 'Tuesday')
    >>> pv.Date(0, 99, part="age", at="2024-12-31", bins=5).labels
    ('0 to 19', '20 to 39', '40 to 59', '60 to 79', '80 to 99')
    """

    type: ClassVar[str] = "date"
    keys: ClassVar[tuple[str, ...]] = (
        "low",
        "high",
        "part",
        "at",
        "bins",
        "missing",
        "on_unknown",
        "column",
    )
    unreadable: ClassVar[What] = "not a date"

    bins: int = 16
    part: PartName
    at: date | None

    @takes_plain_values
    def __init__(
        self,
        low: date | str | int | None = None,
        high: date | str | int | None = None,
        *,
        part: PartName = "date",
        at: date | str | None = None,
        bins: int | Literal["auto"] | None = None,
        missing: str | None = None,
        on_unknown: Literal["clip", "drop"] | None = None,
        column: str | None = None,
    ) -> None:
        whose: Any = {"owner": "Date", "error": SchemaError}
        check_name("part", part, get_args(PartName), **whose)
        if (at is None) == (part == "age"):
            raise SchemaError(
                "Date: part='age' needs the date at which the age counts, such as at='2024-12-31'"
                if at is None
                else f"Date: at goes with part='age'; leave it out for part={part!r}"
            )
        at_date = None if at is None else _check_date("at", at)
        first, last = _check_bounds(part, low, high)
        values = last - first + 1
        if bins is None:
            bins = values if values <= _FEW else 16
        bins = check_bins("Date", bins, min(MAX_VALUES - 1, values))
        check_missing_label("Date", missing)
        if on_unknown is not None:
            check_name("on_unknown", on_unknown, ("clip", "drop"), **whose)
        self._keep(
            low=float(first),
            high=float(last),
            part=part,
            at=at_date,
            auto=bins == "auto",
            bins=min(values, GRID) if bins == "auto" else bins,
            missing=missing,
            on_unknown=on_unknown,
            column=check_column("Date", column),
        )

    @cached_property
    def _firsts(self) -> tuple[int, ...]:
        """The first integer of each bin, and one past the last of all."""
        low, values = int(self.low), int(self.high) - int(self.low) + 1
        return tuple(low + i * values // self.bins for i in range(self.bins + 1))

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """The first integer of each bin, and one past the last of all.

        They are days from 1970-01-01 for ``part="date"``.
        """
        return tuple(float(first) for first in self._firsts)

    def reads(self, kind: ValueKind) -> Scalar | None:
        part = DatePart(self.part, self.at)
        if kind in ("text", "date"):
            return part
        return part if part.range is not None and kind in ("integer", "number") else None

    # -- values ------------------------------------------------------------------------------------

    def list_examples(self) -> list[Value]:
        first, last = self._ends()
        middle = [
            self._write(low + (high - low) // 2) for low, high in zip(first, last, strict=True)
        ]
        return middle if self.missing is None else [*middle, self.missing_text or "missing"]

    def draw(self, codes: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[Any]:
        missing = codes >= self.bins
        first, last = (np.array(ends)[np.where(missing, 0, codes)] for ends in self._ends())
        numbers = first + draws.below(last - first + 1)
        if self.part != "date":
            return np.where(missing, np.nan, numbers) if missing.any() else numbers
        days = np.datetime64(_EPOCH, "D") + numbers.astype("timedelta64[D]")
        texts = np.datetime_as_string(days).astype(object)
        texts[missing] = None
        return np.asarray(texts)

    def canonical(self, cell: str | None) -> str | None:
        number = float(read_numbers(DatePart(self.part, self.at), [cell])[0])
        if math.isnan(number):
            return self.missing_text
        if self.part != "date":
            return text_of(number)
        first, last = ((day - _EPOCH).days for day in (_FIRST, _LAST))
        return _date_text(int(min(max(number, first), last)))

    def _ends(self) -> tuple[list[int], list[int]]:
        """Return the first and the last integer of each bin."""
        return list(self._firsts[:-1]), [after - 1 for after in self._firsts[1:]]

    def _write(self, number: int) -> Value:
        """Write a number as an entry that is read as this number again."""
        return _date_text(number) if self.part == "date" else number

    def read_number(self, value: object) -> float:
        if isinstance(value, str) and value in _NAMES.get(self.part, ()):
            return float(list(_NAMES[self.part]).index(value))
        return super().read_number(value)

    # -- words -------------------------------------------------------------------------------------

    def label_edge(self, code: int) -> str:
        return self._name(self._firsts[code])

    def label_bins(self) -> Iterator[str]:
        for first, last in zip(*self._ends(), strict=True):
            same = first == last
            yield self._name(first) if same else f"{self._name(first)} to {self._name(last)}"

    def _name(self, number: int) -> str:
        if self.part in _NAMES:
            return _NAMES[self.part][number]
        return _date_text(number) if self.part == "date" else str(number)

    @property
    def summary(self) -> str:
        return f"{self.part}, {self.count_bins()}"

    def describe(self, *, limit: int | None = None) -> tuple[str, str]:  # noqa: ARG002
        missing = "" if self.missing is None else f'; a missing entry counts as "{self.missing}"'
        beyond = "not used" if self.on_unknown == "drop" else "counted in the nearest bin"
        bounds = f"{self._name(int(self.low))} to {self._name(int(self.high))}"
        outside = "" if self.part in _NATURAL else f"; dates beyond are {beyond}"
        return self._describe_kind(), f"{bounds} in {self.count_bins()}{outside}{missing}"

    def _describe_kind(self) -> str:
        if self.part == "date":
            return "date"
        return f"age on {self.at}, from a date" if self.part == "age" else f"{self.part} of a date"

    def describe_span(self, first: int, last: int) -> str:
        ends = self._ends()
        low, high = self._name(ends[0][first]), self._name(ends[1][last])
        if first == 0 and last == self.bins - 1:
            return "is any date"
        if low == high and first > 0 and last < self.bins - 1:
            return f"= {low}"
        if first == 0:
            return f"= {high}" if self._is_alone(first, last) else f"<= {high}"
        if last == self.bins - 1:
            return f"= {low}" if self._is_alone(first, last) else f">= {low}"
        return f"from {low} to {high}"

    def _is_alone(self, first: int, last: int) -> bool:
        """Return whether bins hold a single value, and nothing lies beyond them."""
        return self.part in _NATURAL and self._ends()[0][first] == self._ends()[1][last]

    # -- the file ----------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        out: dict[str, Any] = {"part": self.part}
        if self.at is not None:
            out["at"] = self.at.isoformat()
        bounds = int(self.low), int(self.high)
        if _NATURAL.get(self.part) != bounds:
            out["low"], out["high"] = (self._write(bound) for bound in bounds)
        return {**out, "bins": "auto" if self.auto else self.bins}


def _check_bounds(part: PartName, low: object, high: object) -> tuple[int, int]:
    """Return both bounds as integers; raise unless they are bounds of the part."""
    if part == "date":
        if low is None or high is None:
            raise SchemaError(
                "Date: give the public bounds, such as Date('2015-01-01', '2024-12-31')"
            )
        if _check_date("low", low) < _FIRST:
            raise SchemaError(
                f"Date: low must be {_FIRST} or later, which is where dates in text begin, got "
                f"{low!s}"
            )
        first = (_check_date("low", low) - _EPOCH).days
        last = (_check_date("high", high) - _EPOCH).days
    else:
        natural = _NATURAL.get(part, (None, None))
        low, high = natural[0] if low is None else low, natural[1] if high is None else high
        if low is None or high is None:
            raise SchemaError(
                f"Date: part={part!r} needs public bounds, such as "
                + (
                    "Date(0, 99, part='age', at='2024-12-31')"
                    if part == "age"
                    else "Date(1990, 2024, part='year')"
                )
            )
        least, most = PART_RANGES[part]
        whose: Any = {"owner": "Date", "error": SchemaError}
        first = check_integer("low", low, least, most, **whose)
        last = check_integer("high", high, least, most, **whose)
    if first >= last:
        raise SchemaError(f"Date: low must be before high, got low={low!s} and high={high!s}")
    return first, last


def _check_date(name: str, value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return date(value.year, value.month, value.day)
    try:
        if isinstance(value, str) and _DATE.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise SchemaError(f"Date: {name} must be a date such as '2024-12-31', got {value!r}")


def _date_text(days: int) -> str:
    return (_EPOCH + timedelta(days=days)).isoformat()
