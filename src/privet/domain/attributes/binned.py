"""Attributes on a line that is cut into bins: what numbers and dates have in common."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from privet._validate import IntegerIn
from privet.domain.attributes.base import (
    PROBLEMS,
    Attribute,
    is_writable_text,
)
from privet.domain.encode.encoding import DatePart, Encoding, Scalar, ValueKind
from privet.domain.encode.scalars import read_numbers
from privet.domain.encode.steps import Steps
from privet.errors import SchemaError
from privet.text import escape_invisible, join_some

#: The most bins of a fine grid, and how far towards zero it is finer: down to bounds/2^OCTAVES.
GRID, OCTAVES = 1024, 24


class Binned(Attribute):
    """An attribute that is read as a number, and cut into public bins.

    ``low`` and ``high`` are the public bounds: both are inside. Missing entries, where they are
    set apart, have the last code.
    """

    ordered: ClassVar[bool] = True
    low: float
    high: float
    missing: str | None
    on_unknown: Literal["clip", "drop"] | None
    auto: bool

    @abstractmethod
    def reads(self, kind: ValueKind) -> Scalar | None:
        """Return what is read from a column of this kind; None if it cannot match."""

    @property
    def size(self) -> int:
        return self.bins + (self.missing is not None)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        spans = tuple(self.label_bins())
        return (*spans, self.missing) if self.missing is not None else spans

    @abstractmethod
    def label_bins(self) -> Iterator[str]:
        """Yield the text of each bin."""

    @property
    def unknown_code(self) -> int:
        return self.size

    @property
    def missing_code(self) -> int:
        return self.bins if self.missing is not None else self.unknown_code

    def read_number(self, value: object) -> float:
        reads = self.reads("text")
        assert reads is not None
        return float(read_numbers(reads, [value])[0])

    # -- encoding ----------------------------------------------------------------------------------

    def encoding(self, kind: ValueKind) -> Encoding | None:
        reads = self.reads(kind)
        if reads is None:
            return None
        return Encoding(reads, self._steps, self.unknown_code, self.missing_code, self.missing_code)

    @cached_property
    def _steps(self) -> Steps:
        points, codes = list(self.cuts[1:-1]), list(range(self.bins))
        if self.on_unknown == "drop":
            points = [self.low, *points, math.nextafter(self.high, math.inf)]
            codes = [self.unknown_code, *codes, self.unknown_code]
        return Steps(np.array(points), np.array(codes, dtype=self.dtype), self.missing_code)

    def diagnosis(self, kind: ValueKind) -> Encoding | None:
        reads = self.reads(kind)
        if reads is None:
            return None
        declared = self.missing is not None
        outside = 0 if self.on_unknown is not None else PROBLEMS.index("out of range")
        null = 0 if declared or self.on_unknown == "drop" else PROBLEMS.index("null")
        unreadable = 0 if declared else PROBLEMS.index(self.unreadable)
        unreadable = unreadable if kind == "text" or isinstance(reads, DatePart) else null
        steps = Steps(
            np.array([self.low, math.nextafter(self.high, math.inf)]),
            np.array([outside, 0, outside], dtype=np.uint8),
            unreadable,
        )
        return Encoding(reads, steps, outside, null, unreadable)

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def missing_text(self) -> str | None:
        """Text that is read as a missing entry: the label, unless it spells a value."""
        scalar = self.reads("text")
        if self.missing is None or scalar is None:
            return self.missing
        spells_value = not math.isnan(read_numbers(scalar, [self.missing])[0])
        return "missing" if spells_value else self.missing

    # -- words -------------------------------------------------------------------------------------

    def count_bins(self) -> str:
        """Say how many bins there are."""
        if self.auto:
            return f"a grid of {self.bins} bins, which learners merge"
        return "1 bin" if self.bins == 1 else f"{self.bins} bins"

    def describe_unknown(self) -> str:
        return "not counted" if self.on_unknown == "drop" else "counted in the outermost bin"

    def describe_missing(self) -> str:
        if self.missing is None:
            return "not counted"
        return f"counted as {escape_invisible(self.missing)}"

    def describe_branch(
        self,
        codes: Sequence[int],
        *,
        among: Sequence[int] = (),  # noqa: ARG002
        limit: int | None = None,
        length: int | None = None,  # noqa: ARG002
    ) -> str:
        spans = [
            self.describe_span(first, last)
            for first, last in find_code_runs([code for code in codes if code < self.bins])
        ]
        if self.missing is not None and self.bins in codes:
            spans.append(f"= {escape_invisible(self.missing)}")
        return join_some(spans, " or ", limit)

    @abstractmethod
    def describe_span(self, first: int, last: int) -> str:
        """Write the condition to be in one of these neighbouring bins.

        Numbers beyond the bounds are counted in the outermost bins, so these are open.
        """


def find_code_runs(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last of each run of neighbouring codes."""
    first = last = None
    for code in sorted(codes):
        if first is None or last is None:
            first = last = code
        elif code == last + 1:
            last = code
        else:
            yield first, last
            first = last = code
    if first is not None and last is not None:
        yield first, last


def check_bins(owner: str, bins: object, most: int) -> int | Literal["auto"]:
    """Return how many bins there are, or ``"auto"``; raise for anything else."""
    plain: int | Literal["auto"] = IntegerIn(1, most, also=("auto",)).check(
        "bins", bins, owner, SchemaError
    )
    return plain


def check_missing_label(owner: str, missing: object) -> None:
    """Raise unless it is a label for missing entries, or None."""
    if missing is not None and not (isinstance(missing, str) and is_writable_text(missing)):
        raise SchemaError(f"{owner}: missing must be a label (text), got {missing!r}")
