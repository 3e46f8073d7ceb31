"""Describe the public domain of one column, and how its values become small integers (codes).

A code is the position of a value in the attribute's public domain. One code past the end, ``size``,
is the *unknown* code: a row that carries it is not counted, and a prediction for it falls back on
what is known without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer, check_name
from privet.domain.encode.steps import Steps
from privet.errors import SchemaError

Value = str | int | float | bool
#: What a column holds, as far as matching listed values goes. A value is matched by its text in a
#: text column.
ValueKind = Literal["text", "number", "bool"]

MAX_VALUES = 65_535
MAX_BITS = 1100  # of an integer: more than any float has
_WHOLE = re.compile("0|-?[1-9][0-9]{0,19}")  # as integers of 64 bits are written


def text_of(value: Value) -> str:
    """Return the one text that stands for a value.

    So ``1``, ``1.0`` and ``"1"`` are the same category everywhere.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)


def smallest_unsigned(largest: int) -> np.dtype[Any]:
    """Return the smallest unsigned integer type that holds ``largest``."""
    return np.min_scalar_type(largest)


@dataclass(frozen=True, init=False, eq=False)
class Categorical:
    """A categorical attribute: its listed values, in order.

    Parameters
    ----------
    values
        The public list of values. Text, integers, numbers or booleans.
    other
        A catch-all value for everything that is not listed. Added to the values if it is not
        among them.
    missing
        The value that stands for a missing entry (and for null). Added to the values if it
        is not among them.
    on_unknown
        What happens behind the boundary to a value that is not listed: ``"other"``
        counts it in the catch-all, ``"drop"`` does not count the row. By default ``"other"``
        where a catch-all is declared. Stating it also tells the owner's check that unknown
        values are expected.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Categorical(["red", "green"], other="another colour").labels
    ('red', 'green', 'another colour')
    """

    values: tuple[Value, ...]
    other: Value | None = None
    missing: Value | None = None
    on_unknown: Literal["other", "drop"] | None = None

    def __init__(
        self,
        values: Sequence[Value],
        *,
        other: Value | None = None,
        missing: Value | None = None,
        on_unknown: Literal["other", "drop"] | None = None,
    ) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise SchemaError(
                f"Categorical: values must be a list of values, got {type(values).__name__}"
            )
        if len(values) > MAX_VALUES:
            raise SchemaError(
                f"Categorical: values must hold 1 to {MAX_VALUES} values, got {len(values)}"
            )
        listed = [_check_value("values", value) for value in values]
        texts = set()
        for value in listed:
            if text_of(value) in texts:
                raise SchemaError(
                    f"Categorical: values must differ, but {text_of(value)!r} is listed twice"
                )
            texts.add(text_of(value))
        other = None if other is None else _check_value("other", other)
        missing = None if missing is None else _check_value("missing", missing)
        for extra in (other, missing):
            if extra is not None and text_of(extra) not in texts:
                listed.append(extra)
                texts.add(text_of(extra))
        if not 1 <= len(listed) <= MAX_VALUES:
            raise SchemaError(
                f"Categorical: values must hold 1 to {MAX_VALUES} values, got {len(listed)}"
            )
        if on_unknown is not None:
            check_name(
                "on_unknown",
                on_unknown,
                ("other", "drop"),
                owner="Categorical",
                error=SchemaError,
            )
        if on_unknown == "other" and other is None:
            raise SchemaError(
                "Categorical: on_unknown='other' needs a catch-all value, give it as other=..."
            )
        object.__setattr__(self, "values", tuple(listed))
        object.__setattr__(self, "other", other)
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "on_unknown", on_unknown)

    def __eq__(self, other: object) -> bool:
        """Return whether schema files describe both alike: 0 and False are different values."""
        return isinstance(other, Categorical) and repr(attribute_to_json(self)) == repr(
            attribute_to_json(other)
        )

    def __hash__(self) -> int:
        return hash(repr(attribute_to_json(self)))

    @property
    def size(self) -> int:
        """How many values the domain has."""
        return len(self.values)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The text of each code."""
        return tuple(text_of(value) for value in self.values)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that holds every code, the unknown one included."""
        return smallest_unsigned(self.size)

    @property
    def unknown_code(self) -> int:
        """The code of a value that is not listed."""
        if self.other is None or self.on_unknown == "drop":
            return self.size
        return self.labels.index(text_of(self.other))

    @property
    def missing_code(self) -> int:
        """The code of null."""
        return (
            self.unknown_code if self.missing is None else self.labels.index(text_of(self.missing))
        )

    @cached_property
    def code_of_text(self) -> dict[str, int]:
        """Code by the text of a value, and by other spellings that files have for integers and
        booleans.
        """
        listed = {label: code for code, label in enumerate(self.labels)}
        spellings = {
            other: code
            for code, value in enumerate(self.values)
            for other in _list_other_spellings(value)
        }
        return {**spellings, **listed}

    def steps(self, dtype: np.dtype[Any]) -> Steps:
        """Return the codes of numbers or booleans that are stored as this type."""
        points = np.dtype(
            np.float64 if dtype.kind == "f" else np.uint64 if dtype == np.uint64 else np.int64
        )
        key = "bool" if dtype.kind == "b" else points.name
        if key not in self._steps:
            self._steps[key] = Steps.of_values(
                self._numbers(key), points, self.dtype, self.unknown_code, self.missing_code
            )
        return self._steps[key]

    @cached_property
    def _steps(self) -> dict[str, Steps]:
        return {}

    def _numbers(self, key: str) -> dict[Any, int]:
        """Return the code of each number, for numbers of this type."""
        if key == "bool":
            return {
                text == "true": code
                for text, code in self.code_of_text.items()
                if text in ("true", "false")
            }
        if key == "float64":
            return {
                float(text): code
                for text, code in self.code_of_text.items()
                if _is_canonical_number(text)
            }
        least, most = np.iinfo(key).min, np.iinfo(key).max
        whole = {
            int(text): code for text, code in self.code_of_text.items() if _WHOLE.fullmatch(text)
        }
        return {number: code for number, code in whole.items() if least <= number <= most}

    def lookup(self, kind: ValueKind) -> dict[Any, int]:
        """Return the code of each value, for a column of text, of numbers (as floats) or of
        booleans.
        """
        if kind == "text":
            return dict(self.code_of_text)
        if kind == "bool":
            return {
                text == "true": code
                for code, text in enumerate(self.labels)
                if text in ("true", "false")
            }
        return {
            float(text): code for code, text in enumerate(self.labels) if _is_canonical_number(text)
        }


@dataclass(frozen=True, init=False)
class Numeric:
    """A numeric attribute with public bounds, cut into public bins.

    Bins are half-open, ``[edge[i], edge[i+1])``; the last one is closed.

    Parameters
    ----------
    low, high
        The public bounds.
    bins
        How many bins.
    spacing
        ``"linear"`` for bins of equal width, ``"log"`` for a heavy tail: equal ratios if
        ``low > 0``, and equal steps of ``log(1 + x)`` if ``low == 0``.
    edges
        The bin edges themselves, instead of the four above.
    missing
        A label for a bin of its own for missing entries (null, NaN, text that is no
        number). Without it such a row is not counted.
    on_unknown
        What happens behind the boundary to a number outside the bounds: ``"clip"`` (the
        default) counts it in the nearest bin, ``"drop"`` does not count the row. Stating it
        also tells the owner's check that such numbers are expected.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Numeric(0, 120, bins=3, missing="unknown").labels
    ('[0, 40)', '[40, 80)', '[80, 120]', 'unknown')
    """

    low: float
    high: float
    bins: int = 16
    spacing: Literal["linear", "log"] = "linear"
    edges: tuple[float, ...] | None = None
    missing: str | None = None
    on_unknown: Literal["clip", "drop"] | None = None

    def __init__(
        self,
        low: float | None = None,
        high: float | None = None,
        *,
        bins: int | None = None,
        spacing: Literal["linear", "log"] | None = None,
        edges: Sequence[float] | None = None,
        missing: str | None = None,
        on_unknown: Literal["clip", "drop"] | None = None,
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
            listed = tuple(_check_finite("edges", edge) for edge in edges)
            if len(listed) < 2 or any(a >= b for a, b in pairwise(listed)):
                raise SchemaError("Numeric: edges must be at least 2 strictly increasing numbers")
            low, high, bins, spacing = listed[0], listed[-1], len(listed) - 1, "linear"
        else:
            listed = None
            bins, spacing = 16 if bins is None else bins, "linear" if spacing is None else spacing
        low, high = _check_finite("low", low), _check_finite("high", high)
        if low >= high:
            raise SchemaError(f"Numeric: low must be below high, got low={low:g} and high={high:g}")
        whose: Any = {"owner": "Numeric", "error": SchemaError}
        bins = check_integer("bins", bins, 1, MAX_VALUES - 1, **whose)
        check_name("spacing", spacing, ("linear", "log"), **whose)
        if spacing == "log" and low < 0:
            raise SchemaError(f"Numeric: spacing='log' needs low >= 0, got low={low:g}")
        if missing is not None and not (isinstance(missing, str) and _is_writable_text(missing)):
            raise SchemaError(f"Numeric: missing must be a label (text), got {missing!r}")
        if on_unknown is not None:
            check_name("on_unknown", on_unknown, ("clip", "drop"), **whose)
        for name, value in (
            ("low", low),
            ("high", high),
            ("bins", bins),
            ("spacing", spacing),
            ("edges", listed),
            ("missing", missing),
            ("on_unknown", on_unknown),
        ):
            object.__setattr__(self, name, value)
        if any(a >= b for a, b in pairwise(self.cuts)):
            raise SchemaError(
                f"Numeric: {bins} bins between {low:g} and {high:g} are too fine for floating point"
            )

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        """All bin edges, ``bins + 1`` of them."""
        if self.edges is not None:
            return self.edges
        steps = np.arange(1, self.bins) / self.bins
        if self.spacing == "linear":
            inner = self.low + (self.high - self.low) * steps
        elif self.low > 0:
            inner = self.low * np.exp(steps * (math.log(self.high) - math.log(self.low)))
        else:
            inner = np.expm1(steps * math.log1p(self.high))
        return (self.low, *(float(edge) for edge in inner), self.high)

    @property
    def size(self) -> int:
        """How many values the domain has: the bins, and one more for missing entries where
        declared.
        """
        return self.bins + (self.missing is not None)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The text of each code."""
        spans = [f"[{a:.6g}, {b:.6g})" for a, b in pairwise(self.cuts)]
        spans[-1] = spans[-1][:-1] + "]"
        return (*spans, self.missing) if self.missing is not None else tuple(spans)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest type that holds every code, the unknown one included."""
        return smallest_unsigned(self.size)

    @property
    def unknown_code(self) -> int:
        """The code of a number out of bounds under ``on_unknown='drop'``: the row is not
        counted.
        """
        return self.size

    @property
    def missing_code(self) -> int:
        """The code of null, NaN and text that is no number."""
        return self.bins if self.missing is not None else self.unknown_code

    def codes_of(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the code of each number; NaN is a missing entry."""
        return self._steps(numbers)

    def steps(self, dtype: np.dtype[Any]) -> Steps:  # noqa: ARG002
        """Return the codes of numbers or booleans that are stored as this type."""
        return self._steps

    @cached_property
    def _steps(self) -> Steps:
        points, codes = list(self.cuts[1:-1]), list(range(self.bins))
        if self.on_unknown == "drop":
            points = [self.low, *points, math.nextafter(self.high, math.inf)]
            codes = [self.unknown_code, *codes, self.unknown_code]
        return Steps(np.array(points), np.array(codes, dtype=self.dtype), self.missing_code)


Attribute = Categorical | Numeric


def attribute_to_json(attribute: Attribute) -> dict[str, Any]:
    """Return the attribute as it stands in a schema file. Defaults are left out."""
    out: dict[str, Any]
    if isinstance(attribute, Categorical):
        out = {"type": "categorical", "values": list(attribute.values)}
        if attribute.other is not None:
            out["other"] = attribute.other
    elif attribute.edges is not None:
        out = {"type": "numeric", "edges": list(attribute.edges)}
    else:
        out = {
            "type": "numeric",
            "low": attribute.low,
            "high": attribute.high,
            "bins": attribute.bins,
            "spacing": attribute.spacing,
        }
    if attribute.missing is not None:
        out["missing"] = attribute.missing
    if attribute.on_unknown is not None:
        out["on_unknown"] = attribute.on_unknown
    return out


_CATEGORICAL_KEYS = {"type", "values", "other", "missing", "on_unknown"}
_NUMERIC_KEYS = {"type", "low", "high", "bins", "spacing", "edges", "missing", "on_unknown"}


def attribute_from_json(data: object) -> Attribute:
    """Return the attribute that a schema file describes."""
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"an attribute must be an object with a 'type', got {type(data).__name__}"
        )
    kind = check_name("type", data.get("type"), ("categorical", "numeric"), error=SchemaError)
    allowed = _CATEGORICAL_KEYS if kind == "categorical" else _NUMERIC_KEYS
    if unknown := set(data) - allowed:
        raise SchemaError(
            f"unknown key {sorted(unknown)[0]!r} in a {kind} attribute; allowed are "
            f"{', '.join(sorted(allowed))}"
        )
    arguments = {key: value for key, value in data.items() if key != "type"}
    if kind == "numeric":
        if "edges" in arguments and not isinstance(arguments["edges"], list):
            raise SchemaError("Numeric: edges must be a list of numbers")
        return Numeric(**arguments)
    if "values" not in arguments:
        raise SchemaError("a categorical attribute needs 'values'")
    return Categorical(arguments.pop("values"), **arguments)


def _check_value(parameter: str, value: object) -> Value:
    """Return plain text, a number or a boolean; raise for anything else.

    A whole float becomes an integer, so that equal values are written alike.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or (isinstance(value, str) and _is_writable_text(value)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else value
    if isinstance(value, int) and value.bit_length() <= MAX_BITS:
        return value
    what = repr(value) if isinstance(value, str | float) else type(value).__name__
    raise SchemaError(
        f"Categorical: {parameter}: a value must be text, a finite number or a truth value, got "
        f"{what}"
    )


def _is_writable_text(value: str) -> bool:
    """Return whether it can be written to a file: no lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _list_other_spellings(value: Value) -> tuple[str, ...]:
    """Return how else files spell a value.

    An integer column with missing entries is often written as 1.0; booleans are written True or
    TRUE.
    """
    if isinstance(value, bool):
        return (str(value), str(value).upper())
    return (f"{value}.0",) if isinstance(value, int) else ()


def _check_finite(name: str, value: object) -> float:
    try:
        finite = (
            not isinstance(value, bool) and isinstance(value, int | float) and math.isfinite(value)
        )
        number = float(value) if finite else math.nan  # type: ignore[arg-type]
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise SchemaError(f"Numeric: {name} must be a finite number, got {value!r}")
    return number + 0.0  # minus zero is zero


def _is_canonical_number(text: str) -> bool:
    """Return whether a column of numbers could hold what this text stands for ('1' and '0.5', not
    '01' or 'nan').
    """
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and text_of(number) == text
