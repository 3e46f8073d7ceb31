"""Put a refused request into words: attributes, conditions, price.

What is refused may be anything, and planning it may be work that nobody paid for. So the body is
read as it came, up to a bounded length; codes of attributes are shown as their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privet.domain import Attribute, Schema
from privet.text import escape_invisible

#: Characters of a request that are kept.
LONGEST = 1000
_DEEPEST = 20
#: What the words begin with, or what says nothing about the question.
_ELSEWHERE = ("epsilon", "rho", "snapshot", "reservation")


def describe_request(operation: str, body: Any, schema: Schema | None) -> str:
    """Return a request in words of bounded length, whatever came."""
    if not isinstance(body, dict):
        return operation or "any question"
    prices = [
        f"{unit} {body[unit]}"[:80]
        for unit in ("epsilon", "rho")
        if isinstance(body.get(unit), str | int | float)
    ]
    head = ", ".join([operation, *prices])
    named = {} if schema is None else {**schema.attributes, schema.target: schema.label}
    rest = {
        name: value
        for name, value in body.items()
        if name not in _ELSEWHERE and (value or type(value) not in (dict, list))
    }
    words = _join(_spell(rest, named, 0)) if rest else ""
    return escape_invisible(f"{head}: {words}" if words else head)


def _join(pieces: Iterator[str]) -> str:
    """Join pieces until there are enough of them; the others are never made."""
    text = ""
    for piece in pieces:
        text += piece
        if len(text) > LONGEST:
            return f"{text[:LONGEST]}…"
    return text


def _spell(value: Any, named: Mapping[str, Attribute], depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        yield "…"
    elif isinstance(value, dict):
        for place, (name, part) in enumerate(value.items()):
            yield f"{', ' if place else ''}{str(name)[:LONGEST]} = "
            yield from _spell_values(part, named.get(name), named, depth + 1)
    elif isinstance(value, list):
        yield "["
        for place, part in enumerate(value):
            yield "; " if place else ""
            yield from _spell(part, named, depth + 1)
        yield "]"
    else:
        yield str(value)[:LONGEST]


def _spell_values(
    part: Any, attribute: Attribute | None, named: Mapping[str, Attribute], depth: int
) -> Iterator[str]:
    """Values of an attribute as labels; anything else as it is."""
    if attribute is None or not isinstance(part, list):
        yield from _spell(part, named, depth)
        return
    labels = attribute.labels
    for place, code in enumerate(part):
        yield " or " if place else ""
        known = type(code) is int and 0 <= code < len(labels)
        yield labels[code] if known else str(code)[:LONGEST]
