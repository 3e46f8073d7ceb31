"""Say how the entries of one kind of column become codes, for every engine alike.

An :class:`Encoding` is what an attribute says about a column of text, of integers, of dates and so
on: what is read from an entry (a *scalar*), and which code each scalar has. The encoder in memory
and every SQL dialect carry it out; none of them knows the type of the attribute. So a new type of
attribute works in every source, and a new source takes every type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Literal

import numpy as np

from privet.domain.encode.steps import Steps

#: What a column holds, by its type alone; ``date`` stands for timestamps, too.
ValueKind = Literal["text", "integer", "number", "bool", "date"]

#: Calendar fields that are integers: ``date`` counts days from 1970-01-01, ``weekday`` is 1 for
#: Monday, ``age`` counts full years up to a date.
PartName = Literal["date", "year", "month", "weekday", "hour", "age"]


#: Numbers that can stand for a part itself. Others are something else, such as 20240331.
PART_RANGES: dict[PartName, tuple[int, int]] = {
    "year": (1, 9999),
    "month": (1, 12),
    "weekday": (1, 7),
    "hour": (0, 23),
    "age": (-200, 1000),
}


@dataclass(frozen=True)
class DatePart:
    """One part of a date or timestamp, as an integer; ``at`` is the date for an age.

    Timestamps with a time zone are read in UTC. Text must be ISO 8601. What is no date, but a
    number in ``range``, is taken as the part itself (a year, an age), except for ``date``.
    """

    part: PartName
    at: date | None = None

    @property
    def range(self) -> tuple[int, int] | None:
        """The numbers that stand for the part itself; None where there are none."""
        return PART_RANGES.get(self.part)


@dataclass(frozen=True)
class SpelledNumber:
    """A number that text spells in a declared way: ``1.234,50 €``.

    Read by taking every text of ``removed`` away, in this order, and then the decimal sign for a
    point. What is no number then is unreadable.
    """

    removed: tuple[str, ...]
    decimal: str = "."


#: What is read from an entry before its code is looked up.
Scalar = Literal["text", "integer", "number", "truth"] | DatePart | SpelledNumber


@dataclass(frozen=True, eq=False)
class Encoding:
    """The codes of the entries of one kind of column.

    ``codes`` are those of listed scalars, or of ranges of numbers (:class:`Steps`).

    Args:
        reads: the scalar that is read from an entry.
        codes: the code of each listed scalar, or of each range of numbers.
        unknown: the code of a scalar that is not listed.
        missing: the code of null, and of NaN in a column of numbers.
        unreadable: the code of an entry that is no such scalar, such as text that is no number.
        prefix: text that is not listed is looked up by so many of its first characters.
    """

    reads: Scalar
    codes: Mapping[Any, int] | Steps
    unknown: int
    missing: int
    unreadable: int
    prefix: int | None = None

    @property
    def listed(self) -> Mapping[Any, int] | None:
        """The code of each listed scalar; None where ranges have codes."""
        return None if isinstance(self.codes, Steps) else self.codes

    @property
    def ranges(self) -> Steps:
        """The codes of ranges of numbers, where scalars are not listed."""
        assert isinstance(self.codes, Steps)
        return self.codes

    def steps(self, dtype: np.dtype[Any]) -> Steps:
        """Return the codes of numbers or booleans that are stored as this type."""
        if isinstance(self.codes, Steps):
            return self.codes
        points = np.dtype(
            np.float64 if dtype.kind == "f" else np.uint64 if dtype == np.uint64 else np.int64
        )
        if points not in self._steps:
            numbers: Mapping[Any, int] = self.codes
            if points.kind in "iu":
                limits: Any = np.iinfo(points)
                least, most = int(limits.min), int(limits.max)
                numbers = {n: code for n, code in numbers.items() if least <= n <= most}
            codes = np.min_scalar_type(max([self.unknown, self.missing, *self.codes.values()]))
            self._steps[points] = Steps.of_values(
                numbers, points, codes, self.unknown, self.unreadable
            )
        return self._steps[points]

    @cached_property
    def _steps(self) -> dict[np.dtype[Any], Steps]:
        return {}


#: The encoding of each kind of column; None for a kind that cannot match.
Encodings = Callable[[ValueKind], Encoding | None]
