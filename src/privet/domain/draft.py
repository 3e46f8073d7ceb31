"""Draft a schema from a public sample, or read one off an array.

Everything in a schema is public. Both functions read domains off the rows that they are given, so
they must never see private rows: a listed category or a bound would tell that somebody has it.

- :func:`draft` writes a first schema for an owner to edit, from a *public* sample.
- :func:`schema_from_data` is for public data and non-private baselines. Using it on private rows
  gives up the privacy guarantee.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.attributes import Attribute, Boolean, Categorical, Date, Numeric, text_of
from privet.domain.attributes.listed import spelled_number
from privet.domain.encode.columns import kind_of
from privet.domain.encode.encoding import DatePart
from privet.domain.encode.scalars import moment_of, parts_of
from privet.domain.schema import Schema
from privet.errors import SchemaError

WARNING = (
    "Every category and every bound in this schema was read off the file, and a schema is public. "
    "That is fine for a public sample, and a privacy breach for private rows. Before you use it: "
    "check each list and each bound against the documentation of the data, add what the sample "
    "does not show, round the bounds, and declare n_rows only if the number of rows is public."
)

FEW = 20  # numbers with at most this many distinct values are drafted as categories
MANY_VALUES = 1000  # text with more distinct values than this looks like an identifier
#: How files of text spell booleans.
_TRUTHS = {"false": False, "False": False, "FALSE": False, "true": True, "True": True, "TRUE": True}


def draft(sample: Any, target: str | None = None) -> Schema:
    """Return a first schema from a *public* sample (a pandas DataFrame).

    The target is the last column unless named.
    """
    sample = sample.set_axis([str(column) for column in sample.columns], axis=1)
    columns = list(sample.columns)
    if twice := sorted({column for column in columns if columns.count(column) > 1}):
        raise SchemaError(f"column {twice[0]!r} stands more than once in the sample")
    if len(columns) < 2:
        raise SchemaError(
            f"a sample needs at least one attribute and a class column, got {len(columns)} columns"
        )
    name = columns[-1] if target is None else target
    if name not in columns:
        raise SchemaError(f"no column {name!r} in the sample; there are {', '.join(columns)}")
    for column in columns:
        if kind_of(sample[column]) is None:
            raise SchemaError(
                f"column {column!r} holds neither text, numbers, dates nor truth values; convert "
                "it, or leave it out"
            )
    classes = _sorted_values(sample[name])
    if len(classes) < 2 or len(classes) > MANY_VALUES:
        raise SchemaError(
            f"the class column {name!r} must have 2 to {MANY_VALUES} distinct values; name "
            "another with "
            "the target option"
        )
    attributes = {}
    for column in columns:
        if column != name:
            try:
                attributes[column] = _draft_attribute(sample[column])
            except SchemaError as error:
                raise SchemaError(f"column {column!r}: {error}") from None
    return Schema(attributes, name, classes)


def _draft_attribute(column: Any) -> Attribute:
    import pandas as pd

    known = column.dropna()
    missing = "?" if len(known) < len(column) else None
    truths = [_TRUTHS.get(entry, entry) if isinstance(entry, str) else entry for entry in known]
    if kind_of(column) == "bool" or (known.size and all(type(entry) is bool for entry in truths)):
        return Boolean(missing=missing)
    if (years := _years_of(known)) is not None:
        # whole years: no bound is somebody's date
        first, last = (min(max(year, 1000), 9999) for year in years)
        return Date(f"{first}-01-01", f"{last}-12-31", missing=missing)
    numbers = pd.to_numeric(known[known.astype(str) != "?"], errors="coerce").astype(float)
    all_numbers = len(numbers) and bool(np.isfinite(numbers).all())
    if all_numbers and numbers.nunique() > FEW:
        marked = missing or ("?" if len(numbers) < len(known) else None)
        low, high = (
            _round_outwards(float(numbers.min()), math.floor),
            _round_outwards(float(numbers.max()), math.ceil),
        )
        heavy = low >= 0 and high > 100 * max(float(numbers.median()), 1.0)
        return Numeric(low, high, bins=16, spacing="log" if heavy else "linear", missing=marked)
    values = _sorted_values(known)
    if not 1 <= len(values) <= MANY_VALUES:
        raise SchemaError(
            f"it has {len(values)} distinct values, so it is empty or looks like an identifier; "
            "drop it from the sample (an identifier of people belongs into 'person')"
        )
    return Categorical(values, missing=missing)


def _years_of(known: Any) -> tuple[int, int] | None:
    """Return the first and the last year of a column of dates, or of text that spells dates."""
    moments = np.array([moment_of(entry) for entry in known.unique()], dtype="datetime64[us]")
    if not len(moments) or np.isnat(moments).any():
        return None
    years = parts_of(moments, DatePart("year"))
    return int(years.min()), int(years.max())


def _sorted_values(column: Any) -> list[Any]:
    """Return the distinct values in the order of their kind and size.

    A file of text spells numbers and booleans: they are listed as such, as other sources have them.
    """
    plain = [
        value.item() if hasattr(value, "item") else value for value in column.dropna().unique()
    ]
    if plain and all(isinstance(value, str) and value in _TRUTHS for value in plain):
        plain = [_TRUTHS[value] for value in plain]
    spelled = {text: spelled_number(text) for text in plain if isinstance(text, str)}
    if all(number is not None or text == "?" for text, number in spelled.items()):
        # with decimals that it could do without, the text itself must be listed, too
        numbers = {text: n for text, n in spelled.items() if text in (f"{n}", f"{n}.0")}
        plain = [numbers.get(value, value) if isinstance(value, str) else value for value in plain]
    by_text = {
        text_of(value) if isinstance(value, str | bool | int | float) else repr(value): value
        for value in plain
    }
    return sorted(
        by_text.values(), key=lambda value: (isinstance(value, str), str(type(value)), value)
    )


def _round_outwards(bound: float, towards: Callable[[float], int]) -> float:
    """Round a bound outwards to two significant digits: it should not be somebody's value."""
    if abs(bound) < 1e-300:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(bound))) - 1)
    return float(f"{towards(bound / unit) * unit:.10g}")


# -- schemas read off an array: for public data and baselines only --

BINS = 16


def schema_from_data(columns: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Schema:
    """Return attributes x0, x1, ... from the columns of an array, and classes from its labels.

    A column of numbers gets bins of equal frequency; any other column lists its values.
    """
    classes = _list_distinct(labels)
    if len(classes) < 2:
        raise SchemaError(
            f"a classifier needs at least 2 classes; the data has {len(classes)} class"
        )
    attributes = {f"x{i}": _infer_attribute(columns[:, i]) for i in range(columns.shape[1])}
    return Schema(attributes, "y", classes, n_rows=len(labels), from_data=True)


def _infer_attribute(column: npt.NDArray[Any]) -> Attribute:
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return Categorical(_list_distinct(column), missing="?", other="other")
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        known = np.zeros(1)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)))
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + 1.0])
    return Numeric(edges=[float(edge) for edge in edges], missing="?")


def _list_distinct(values: npt.NDArray[Any]) -> list[Any]:
    """Return the distinct values, sorted where they can be.

    Text that stands for the same value is listed only once.
    """
    plain = {
        text_of(value): value
        for value in values.tolist()
        if isinstance(value, str | bool | int | float) and value == value
    }
    try:
        return sorted(plain.values())
    except TypeError:
        return [plain[text] for text in sorted(plain)]
