"""Read what somebody answers when asked what a column holds.

| answer | means |
|---|---|
| ``0..120`` | numbers between these bounds |
| ``0..9000 as 1.234,50 €`` | numbers that text spells like this one |
| ``2015-01-01..2024-12-31`` | dates between these days |
| ``basic|pro|team`` | one of these values; others count as "other" |
| ``low<medium<high`` | one of these values, in this order |
| ``yes/no`` | a boolean, however it is spelled |
| ``weekday``, ``month``, ``hour`` | this part of a date |
| ``skip`` | leave the column out |
"""

from __future__ import annotations

import re

from privet._validate import show
from privet.domain.attributes import Attribute, Boolean, Categorical, Date, Numeric, Ordinal, Value
from privet.domain.attributes.listed import spelled_number
from privet.domain.attributes.spelling import find_spelling
from privet.domain.drafting.drafted import forgive
from privet.domain.encode.scalars import moment_of, number_of
from privet.errors import SchemaError

#: What may be answered, for people who are asked.
FORMS = (
    "0..120 (numbers between bounds), 0..9000 as 1.234,50 € (numbers that text spells so), "
    "2015-01-01..2024-12-31 (dates), a|b|c (these values), low<high (in this order), yes/no, "
    "weekday, month or hour (of a date), or skip"
)
SKIP = "skip"
_RANGE, _BAR, _LESS = "..", "|", "<"
#: What is 20 in one country and 20000 in the next: nobody writes 20 with three zeros.
_GROUPED = re.compile(r"-?[0-9]{1,3}(?:[., '][0-9]{3})*[., ']000")
_BOOLEANS = ("yes/no", "true/false", "boolean", "1/0", "0/1")
_PARTS = ("weekday", "month", "hour")


def read_answer(column: str, answer: str) -> Attribute | None:
    """Return the attribute that an answer describes; None where the column is to be left out."""
    said = answer.strip()
    if said.lower() in (SKIP, "-", ""):
        return None
    try:
        return forgive(_read(said))
    except SchemaError as error:
        raise SchemaError(f"column {column!r}: {error}") from None


def _read(said: str) -> Attribute:
    if said.lower() in _BOOLEANS:
        return Boolean()
    if said.lower() in _PARTS:
        return Date(part=said.lower())  # type: ignore[arg-type]
    if _LESS in said:
        return Ordinal(read_values(said, _LESS))
    if _BAR in said:
        return Categorical(read_values(said))
    if _RANGE in said:
        return _read_range(said)
    values = [part.strip() for part in re.split("[/,;]", said)]
    hint = (
        f"; did you mean {show(_BAR.join(values))}?"
        if len(values) > 1
        else "; a column with one value tells nothing: skip it"
    )
    raise SchemaError(f"{show(said)} says nothing about its values; answer with {FORMS}{hint}")


def read_values(said: str, between: str = _BAR) -> list[Value]:
    """Return values with ``|`` between them: numbers where all of them spell one."""
    texts = [text.strip() for text in said.split(between) if text.strip()]
    numbers = [spelled_number(text) for text in texts]
    if numbers and all(number is not None for number in numbers):
        return list(dict.fromkeys(numbers))  # type: ignore[arg-type]
    return list(dict.fromkeys(texts))


def _read_range(said: str) -> Attribute:
    said, _, example = said.partition(" as ")
    low, _, high = (part.strip() for part in said.partition(_RANGE))
    dates = [str(moment_of(end))[:10] for end in (low, high)]
    if "NaT" not in dates:
        if example and str(moment_of(example)) == "NaT":
            raise SchemaError(
                f"{show(example)}: dates are read where text spells them as ISO 8601 has it, such "
                "as 2024-12-31; rewrite the column, or skip it"
            )
        return Date(*dates)
    for end in (low, high):
        if _GROUPED.fullmatch(end):
            raise SchemaError(
                f"{show(end)}: write a bound without separators, as {re.sub('[^-0-9]', '', end)}"
            )
    numbers = [number_of(end) for end in (low, high)]
    if any(number != number for number in numbers):
        raise SchemaError(
            f"{show(said)} must have a number or a date (2024-12-31) on both sides of '..'"
        )
    spelling = find_spelling([example]) if example else None
    if example and spelling is None and number_of(example) != number_of(example):
        raise SchemaError(
            f"{show(example)} is no number; write one as the table does, such as 1,234.50 $"
        )
    return Numeric(*numbers, bins="auto", **({} if spelling is None else spelling.to_json()))
