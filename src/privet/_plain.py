"""Plain copies of single values, which answer alike each time that they are asked.

A subclass of ``str`` or ``int`` can be one thing where it is checked and another where it is used.
These copies read what a value holds, past whatever its class overrides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np


def copy_ratio(value: Any) -> Fraction:
    """Return a rational number of any class as a Fraction of plain integers."""
    return Fraction(copy_scalar(value.numerator), copy_scalar(value.denominator))


_PLAIN = frozenset((str, int, float, bool, Decimal, type(None)))
_COPIES: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (str, str.__str__),
    (int, int.__index__),
    (float, float.__float__),
    (Decimal, Decimal),
    # the fields of a Fraction are Python's, and can be set to anything
    (Fraction, copy_ratio),
    ((np.number, np.bool_), np.generic.item),
)


def copy_scalar(value: Any) -> Any:
    """Return text, a number or a boolean as one of Python's own types; anything else as it is."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    for kinds, copy in _COPIES:
        if issubclass(kind, kinds):
            return copy(value)
    return value


def copy_scalars(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return several values as :func:`copy_scalar` does; quickly, where all are plain."""
    listed = tuple(values)
    return listed if are_plain(listed) else tuple(map(copy_scalar, listed))


def is_plain_scalar(value: Any) -> bool:
    """Return whether :func:`copy_scalar` can have made this."""
    kind = type(value)
    return kind in _PLAIN or kind is Fraction


def are_plain(values: Iterable[Any]) -> bool:
    """Return whether all values are plain, and can be kept as they are."""
    return _PLAIN.issuperset(map(type, values))
