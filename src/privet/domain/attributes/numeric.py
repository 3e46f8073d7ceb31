"""Declare a column of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from privet._validate import check_name
from privet.domain.attributes.base import (
    MAX_VALUES,
    UNITS,
    Draws,
    Value,
    What,
    check_column,
    check_finite,
    takes_plain_values,
    text_of,
)
from privet.domain.attributes.binned import (
    GRID,
    OCTAVES,
    Binned,
    check_bins,
    check_missing_label,
)
from privet.domain.attributes.spelling import Spelling, read_spelling
from privet.domain.encode.encoding import Scalar, ValueKind
from privet.errors import SchemaError


class Numeric(Binned):
    """A numeric attribute with public bounds, cut into public bins.

    Bins are half-open, ``[edge[i], edge[i+1])``; the last one is closed.

    Parameters
    ----------
    low, high
        The public bounds.
    bins
        How many bins, or ``"auto"``: a fine grid of at most 1024 public bins, which learners
        merge by a public rule or by quantiles that they pay for. Use it where you do not know
        which bins matter, and where the bounds may be far too wide.
    spacing
        ``"linear"`` for bins of equal width, ``"log"`` for a heavy tail: equal ratios if
        ``low > 0``, and equal steps of ``log(1 + x)`` if ``low == 0``. By default linear; the
        grid of ``bins="auto"`` is then both, linear and finer towards zero.
    edges
        The bin edges themselves, instead of the four above.
    missing
        A label for a bin of its own for missing entries (null, NaN, text that is no
        number). Without it such a row is not counted.
    decimal, thousands, unit
        How text spells numbers, if not as ``1234.5``: the decimal sign (``","``), what stands
        between thousands (``"."``, ``" "``), and signs to pass over, such as ``"€"`` or
        ``["$", "USD"]``.
    on_unknown
        What happens behind the boundary to a number outside the bounds: ``"clip"`` (the
        default) counts it in the nearest bin, ``"drop"`` does not count the row. Stating it
        also tells the owner's check that such numbers are expected.
    column
        The table's column, where it does not have the attribute's name.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Numeric(0, 120, bins=3, missing="unknown").labels
    ('[0, 40)', '[40, 80)', '[80, 120]', 'unknown')
    """

    type: ClassVar[str] = "numeric"
    holds_numbers: ClassVar[bool] = True
    keys: ClassVar[tuple[str, ...]] = (
        "low",
        "high",
        "bins",
        "spacing",
        "edges",
        "missing",
        "decimal",
        "thousands",
        "unit",
        "on_unknown",
        "column",
    )
    unreadable: ClassVar[What] = "not a number"

    bins: int = 16
    spacing: Literal["linear", "log"] | None
    edges: tuple[float, ...] | None
    #: How text spells numbers; None for plainly.
    spelling: Spelling | None

    @takes_plain_values
    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        bins: int | Literal["auto"] | None = None,
        spacing: Literal["linear", "log"] | None = None,
        edges: Sequence[float] | None = None,
        missing: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        unit: str | Sequence[str] | None = None,
        on_unknown: Literal["clip", "drop"] | None = None,
        column: str | None = None,
    ) -> None:
        if edges is not None:
            if not (low is None and high is None and bins is None and spacing is None):
                raise SchemaError(
                    "Numeric: edges stand instead of low, high, bins and spacing; give one or the "
                    "other"
                )
            if not isinstance(edges, list | tuple | np.ndarray):
                raise SchemaError(
                    f"Numeric: edges must be a list of numbers, got {type(edges).__name__}"
                )
            listed = tuple(check_finite("Numeric", "edges", edge) for edge in edges)
            if len(listed) < 2 or any(a >= b for a, b in pairwise(listed)):
                raise SchemaError("Numeric: edges must be at least 2 strictly increasing numbers")
            low, high, bins, spacing = listed[0], listed[-1], len(listed) - 1, "linear"
        else:
            listed = None
            bins = 16 if bins is None else bins
            spacing = "linear" if spacing is None and bins != "auto" else spacing
        low, high = check_finite("Numeric", "low", low), check_finite("Numeric", "high", high)
        if low >= high:
            raise SchemaError(f"Numeric: low must be below high, got low={low:g} and high={high:g}")
        whose: Any = {"owner": "Numeric", "error": SchemaError}
        bins = check_bins("Numeric", bins, MAX_VALUES - 1)
        if spacing is not None:
            check_name("spacing", spacing, ("linear", "log"), **whose)
        if spacing == "log" and low < 0:
            raise SchemaError(f"Numeric: spacing='log' needs low >= 0, got low={low:g}")
        check_missing_label("Numeric", missing)
        if on_unknown is not None:
            check_name("on_unknown", on_unknown, ("clip", "drop"), **whose)
        self._keep(
            low=low,
            high=high,
            auto=bins == "auto",
            spacing=spacing,
            edges=listed,
            missing=missing,
            spelling=read_spelling(decimal, thousands, unit),
            on_unknown=on_unknown,
            column=check_column("Numeric", column),
        )
        self._keep(bins=len(self._list_grid()) - 1 if self.auto else bins)
        if any(a >= b for a, b in pairwise(self.cuts)):
            raise SchemaError(
                f"Numeric: {self.bins} bins between {low:g} and {high:g} are too fine for floating "
                "point"
            )

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        if self.edges is not None:
            return self.edges
        return self._list_grid() if self.auto else self._space_evenly(self.bins)

    def _space_evenly(self, bins: int) -> tuple[float, ...]:
        steps = np.arange(1, bins) / bins
        if self.spacing != "log":
            inner = self.low + (self.high - self.low) * steps
        elif self.low > 0:
            inner = self.low * np.exp(steps * (math.log(self.high) - math.log(self.low)))
        else:
            inner = np.expm1(steps * math.log1p(self.high))
        return (self.low, *(float(edge) for edge in inner), self.high)

    def _list_grid(self) -> tuple[float, ...]:
        """Return the edges of the fine grid, at most :data:`GRID` bins between the bounds.

        Without a declared spacing, half of it is evenly spaced, and half is finer towards zero, in
        equal ratios: bounds that are far too wide then leave the numbers apart all the same. Where
        integers are bounds, integers are edges; where these are far apart, nothing else is.
        """
        if self.spacing is not None:
            return self._space_evenly(GRID)
        width, parts = self.high - self.low, GRID // 2
        integers = self.low.is_integer() and self.high.is_integer()
        if integers and width <= parts:
            parts = int(width) << (parts // int(width)).bit_length() - 1
        even = np.array(self._space_evenly(parts))
        each_side = GRID // 4 if self.low < 0 < self.high else GRID // 2
        ratios = 2.0 ** (-OCTAVES / each_side * np.arange(1, each_side))
        near_zero = max(-self.low, self.high) * ratios
        near_zero = near_zero[near_zero * (1 / ratios[0] - 1) < even[1] - even[0]]
        inner = np.concatenate([even, near_zero, -near_zero])
        inner = np.unique(np.ceil(inner) if integers and width > 4 * GRID else inner)
        inside = inner[(inner > self.low) & (inner < self.high)] + 0.0  # minus zero is zero
        return (self.low, *inside.tolist(), self.high)

    def divide_grid(self, bins: int, units: float = UNITS) -> list[int]:
        """Return the codes at which about so many bins begin that cover the whole range.

        Without a declared spacing, they are even steps of log(1 + |x|/unit), between equal widths
        and equal ratios: so many units reach the larger bound.
        """
        if self.spacing is not None:
            return super().divide_grid(bins, units)
        cuts = np.array(self.cuts)
        unit = np.abs(cuts).max() / units
        place = np.sign(cuts) * np.log1p(np.abs(cuts) / unit)
        wanted = np.linspace(place[0], place[-1], bins + 1)[1:-1]
        return sorted({0, *np.searchsorted(place[1:-1], wanted).tolist()})

    def label_bins(self) -> Iterator[str]:
        *spans, last = (f"[{a:.6g}, {b:.6g})" for a, b in pairwise(self.cuts))
        yield from spans
        yield last[:-1] + "]"

    def reads(self, kind: ValueKind) -> Scalar | None:
        if kind == "text" and self.spelling is not None:
            return self.spelling.scalar
        return "number" if kind in ("text", "integer", "number", "bool") else None

    def codes_of(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the code of each number; NaN is a missing entry."""
        return self._steps(numbers)

    # -- values ------------------------------------------------------------------------------------

    def list_examples(self) -> list[Value]:
        low, high = (np.array(edges) for edges in (self.cuts[:-1], self.cuts[1:]))
        middle = low / 2 + high / 2
        inside = self.codes_of(middle) == np.arange(self.bins)
        numbers: list[Value] = [float(number) for number in np.where(inside, middle, low)]
        if self.spelling is not None:
            numbers = [self.spelling.write(float(number)) for number in numbers]
        return numbers if self.missing is None else [*numbers, self.missing_text or "missing"]

    def draw(self, codes: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[Any]:
        drawn = self._draw_numbers(codes, draws)
        if self.spelling is None:
            return drawn
        write, out = self.spelling.write, np.empty(len(drawn), dtype=object)
        out[:] = [None if math.isnan(number) else write(number) for number in drawn.tolist()]
        return out

    def _draw_numbers(self, codes: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[Any]:
        missing = codes >= self.bins
        bins = np.where(missing, 0, codes)
        if (integers := self.list_bin_integers()) is not None:
            first, last = (np.array(ends, dtype=np.int64)[bins] for ends in integers)
            numbers = first + draws.below(last - first + 1)
            return np.where(missing, np.nan, numbers) if missing.any() else numbers
        low, high = np.array(self.cuts[:-1])[bins], np.array(self.cuts[1:])[bins]
        share = draws.uniforms(len(codes))
        # high - low may be too large a number
        drawn = np.clip(low * (1 - share) + high * share, low, np.nextafter(high, -np.inf))
        return np.where(missing, np.nan, drawn)

    def list_bin_integers(self) -> tuple[list[int], list[int]] | None:
        """Return the first and last integer of each bin, or None.

        It is None unless the bounds are integers and every bin holds one. A public rule: such an
        attribute (an age, a sum of money) most likely counts something.
        """
        if not (
            self.low.is_integer() and self.high.is_integer() and max(-self.low, self.high) < 2**53
        ):
            return None
        first = [math.ceil(low) for low in self.cuts[:-1]]
        last = [math.ceil(high) - 1 for high in self.cuts[1:-1]] + [int(self.high)]
        each_holds_one = all(a <= b for a, b in zip(first, last, strict=True))
        return (first, last) if each_holds_one and all(a < b for a, b in pairwise(first)) else None

    def canonical(self, cell: str | None) -> str | None:
        number = self.read_number(cell)
        if math.isnan(number):
            return self.missing_text
        if self.spelling is not None:
            return self.spelling.write(number)
        return text_of(number) if math.isfinite(number) else f"{number}"

    # -- words -------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        return f"number, {self.count_bins()}"

    def describe(self, *, limit: int | None = None) -> tuple[str, str]:  # noqa: ARG002
        missing = "" if self.missing is None else f'; a missing entry counts as "{self.missing}"'
        beyond = "not used" if self.on_unknown == "drop" else "counted in the nearest bin"
        bounds = f"{self.low:.6g} to {self.high:.6g}"
        spelled = "" if self.spelling is None else f", written as {self.spelling.example}"
        return (
            "number",
            f"{bounds}{spelled} in {self.count_bins()}; numbers beyond are {beyond}{missing}",
        )

    def describe_span(self, first: int, last: int) -> str:
        low, high = f"{self.cuts[first]:.6g}", f"{self.cuts[last + 1]:.6g}"
        if first == 0 and last == self.bins - 1:
            return "is any number"
        if first == 0:
            return f"< {high}"
        return f">= {low}" if last == self.bins - 1 else f"in [{low}, {high})"

    # -- the file ----------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        spelled = {} if self.spelling is None else self.spelling.to_json()
        if self.edges is not None:
            return {"edges": list(self.edges), **spelled}
        facts: dict[str, Any] = {"low": self.low, "high": self.high}
        if not self.auto:
            facts |= {"bins": self.bins, "spacing": self.spacing}
        else:
            facts |= {"bins": "auto", **({"spacing": self.spacing} if self.spacing else {})}
        return {**facts, **spelled}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if "edges" in data and not isinstance(data["edges"], list):
            raise SchemaError("Numeric: edges must be a list of numbers")
        return cls(**data)
