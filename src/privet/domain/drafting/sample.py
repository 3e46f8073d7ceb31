"""Draft a schema from a *public* sample.

Every category and every bound is read off its rows, and a schema is public: it must never see
private rows. Columns that tell who somebody is, and columns that tell nothing, are left out with a
reason.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import numpy as np

from privet.domain.attributes import Attribute, Boolean, Categorical, Date, Numeric, text_of
from privet.domain.attributes.listed import spelled_number
from privet.domain.attributes.spelling import find_spelling
from privet.domain.drafting.drafted import Draft, Wishes, finish_draft, forgive, raise_problems
from privet.domain.drafting.identifiers import judge_numbers, judge_spelling, judge_texts
from privet.domain.encode.columns import kind_of
from privet.domain.encode.encoding import DatePart
from privet.domain.encode.scalars import moment_of, parts_of, spelled_number_of
from privet.errors import SchemaError

FEW = 20  # numbers with at most this many distinct values are drafted as categories
MANY_VALUES = 100  # of text with more distinct values, the most frequent ones are listed
OFTEN = 5  # ... if they occur so often
#: The most values that a class column may have.
MANY_CLASSES = 1000
#: How files of text spell that a number is missing.
_MARKERS = ("?", "NA", "N/A", "n/a", "NULL", "null", "None", "nan", "NaN", "-", "--", ".")
#: Dates as countries write them: which is the month cannot be told from them.
_LOCAL_DATE = re.compile(r"[0-9]{1,2}([./-])[0-9]{1,2}\1([0-9]{4}|[0-9]{2})( [0-9:.]+)?")
#: How files of text spell booleans.
_TRUTHS = {"false": False, "False": False, "FALSE": False, "true": True, "True": True, "TRUE": True}


class LeftOut(Exception):
    """A column is not drafted, for a reason."""


def draft_sample(
    sample: Any,
    target: str | None = None,
    *,
    exclude: Iterable[str] = (),
    include: Iterable[str] = (),
    person: str | None = None,
    forgiving: bool = False,
) -> Draft:
    """Return a first schema from a *public* sample (a pandas DataFrame).

    Args:
        sample: public rows.
        target: the class column; by default the last one.
        exclude: columns to leave out.
        include: columns to keep, although they look like identifiers.
        person: the column that says whose row it is.
        forgiving: give every attribute a value for what the sample does not show.
    """
    sample = sample.set_axis([str(column) for column in sample.columns], axis=1)
    columns = list(sample.columns)
    wishes = Wishes.read(columns, target, exclude, include, person)
    problems, left_out, attributes = [], {}, {}
    if kind_of(sample[wishes.target]) is None:
        problems.append(f"column {wishes.target!r} {_UNREADABLE}")
    else:
        classes = _sorted_values(sample[wishes.target])
        if not 2 <= len(classes) <= MANY_CLASSES:
            problems.append(
                f"the class column {wishes.target!r} must have 2 to {MANY_CLASSES} distinct values "
                f"in the sample; name another with the target option"
            )
    for column in columns:
        if column == wishes.target:
            continue
        if why := wishes.skip(column):
            left_out[column] = why
            continue
        try:
            attribute = _draft_attribute(column, sample[column], column in wishes.include)
            attributes[column] = forgive(attribute) if forgiving else attribute
        except LeftOut as reason:
            left_out[column] = str(reason)
        except SchemaError as error:
            problems.append(f"column {column!r}: {error}")
    raise_problems(problems)
    return finish_draft(attributes, wishes, classes, left_out)


_UNREADABLE = (
    "holds neither text, numbers, dates nor truth values; convert it, or leave it out with exclude"
)


def _draft_attribute(name: str, column: Any, included: bool) -> Attribute:
    import pandas as pd

    if kind_of(column) is None:
        raise LeftOut(f"it {_UNREADABLE}")
    known = column.dropna()
    blank = known.map(lambda entry: isinstance(entry, str) and not entry.strip()).astype(bool)
    told = known[~blank]  # of numbers and dates, a blank is a missing entry
    if not len(told):
        raise LeftOut("it is empty in the sample")
    missing = "?" if len(known) < len(column) else None
    unread = "?" if len(told) < len(column) else None
    if known.map(_comparable).nunique() == 1 and missing is None and not included:
        raise LeftOut("it has the same value in every row, so it tells nothing")
    truths = [_TRUTHS.get(entry, entry) if isinstance(entry, str) else entry for entry in known]
    if kind_of(column) == "bool" or all(type(entry) is bool for entry in truths):
        return Boolean(missing=missing)
    if (years := _years_of(told)) is not None:
        # whole years: no bound is somebody's date
        first, last = (min(max(year, 1000), 9999) for year in years)
        return Date(f"{first}-01-01", f"{last}-12-31", missing=unread)
    marked = told.astype(str).isin(_MARKERS)
    numbers = pd.to_numeric(told[~marked], errors="coerce").astype(float)
    if len(numbers) and bool(np.isfinite(numbers).all()):
        why = judge_numbers(name, numbers.to_numpy())
        if why is not None and not included:
            raise LeftOut(why)
        if numbers.nunique() > FEW:
            return _draft_numbers(numbers, unread or ("?" if marked.any() else None))
    elif spelling := find_spelling([str(entry) for entry in told[~marked]]):
        scalar, texts = spelling.scalar, [str(entry) for entry in told[~marked]]
        numbers = pd.Series([spelled_number_of(text, scalar) for text in texts])
        why = judge_spelling(name, texts) or judge_numbers(name, numbers.to_numpy())
        if why is not None and not included:
            raise LeftOut(why)
        if numbers.nunique() > FEW:
            known_missing = unread or ("?" if marked.any() else None)
            return _draft_numbers(numbers, known_missing, spelling.to_json())
    else:
        if not included and all(_LOCAL_DATE.fullmatch(str(entry).strip()) for entry in told):
            raise LeftOut(
                "it holds dates that are not written as ISO 8601 has it, such as 2024-12-31; "
                "rewrite them"
            )
        why = judge_texts(name, [str(entry) for entry in told])
        if why is not None and not included:
            raise LeftOut(why)
    return _draft_values(known, missing)


def _comparable(entry: object) -> object:
    return text_of(entry) if isinstance(entry, str | bool | int | float) else repr(entry)


def _draft_numbers(
    numbers: Any, missing: str | None, spelling: Mapping[str, Any] | None = None
) -> Numeric:
    low, high = (
        _round_outwards(float(numbers.min()), math.floor),
        _round_outwards(float(numbers.max()), math.ceil),
    )
    heavy = low >= 0 and high > 100 * max(float(numbers.median()), 1.0)
    spacing: Literal["log", "linear"] = "log" if heavy else "linear"
    return Numeric(low, high, bins=16, spacing=spacing, missing=missing, **(spelling or {}))


def _draft_values(known: Any, missing: str | None) -> Categorical:
    """List the values; of very many, those that recur."""
    values = _sorted_values(known)
    if len(values) <= MANY_VALUES:
        return Categorical(values, missing=missing)
    counts = known.map(str).value_counts()
    frequent = set(counts[counts >= OFTEN].index[:MANY_VALUES])
    kept = [value for value in values if str(value) in frequent]
    if not kept:
        raise LeftOut(
            f"it has {len(values)} values, none of them in {OFTEN} rows, as free text does"
        )
    return Categorical(kept, other="other", missing=missing)


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
