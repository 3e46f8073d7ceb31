"""A crash is easier to read if its input is short."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

#: How often a smaller input may be tried.
TRIES = 600


def minimised(data: bytes, same: Callable[[bytes], bool]) -> bytes:
    """A smaller input for which ``same`` still holds: parts of a JSON text are taken out, then
    parts of the bytes.
    """
    left = TRIES

    def tried(candidate: bytes) -> bool:
        nonlocal left
        left -= 1
        return left > 0 and len(candidate) < len(data) and same(candidate)

    smaller = True
    while smaller and left > 0:
        smaller = False
        for candidate in _smaller(data):
            if left <= 0:
                break
            if tried(candidate):
                data, smaller = candidate, True
                break
    return data


def _smaller(data: bytes) -> Iterator[bytes]:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        pass
    else:
        for one in _without_a_part(document):
            yield json.dumps(one, separators=(",", ":")).encode()
    size = len(data) // 2
    while size >= 1:
        for at in range(0, len(data), size):
            yield data[:at] + data[at + size :]
        size //= 2


def _without_a_part(value: Any) -> Iterator[Any]:
    """Every value with one entry less, the largest parts first."""
    if isinstance(value, dict):
        for key in value:
            yield {name: entry for name, entry in value.items() if name != key}
        for key, entry in value.items():
            for less in _without_a_part(entry):
                yield {**value, key: less}
    elif isinstance(value, list):
        half = len(value) // 2
        if half > 1:
            yield value[half:]
            yield value[:half]
        for at in range(min(len(value), 50)):
            yield value[:at] + value[at + 1 :]
        for at, entry in enumerate(value[:50]):
            for less in _without_a_part(entry):
                yield [*value[:at], less, *value[at + 1 :]]
