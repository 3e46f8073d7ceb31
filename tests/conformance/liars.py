"""Twins of everything that a query can be made of, which lie when they are looked at again.

:func:`list_liars` walks an example by itself, so a new query, or a new part of one, is lied about
the day it exists. A twin holds what the honest value holds, or tells it once; every look after that
is told something else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from privet.domain import Schema
from privet.queries import Query

#: What a text is said to be.
OTHER_TEXT = "smokes"


def _lie(answer: Any) -> Any:
    return lambda self, *more, **named: answer


class LyingText(str):
    """Holds a text, and says that it is another one, or equal to any."""

    __str__ = __repr__ = _lie(OTHER_TEXT)
    __eq__ = _lie(True)
    __ne__ = _lie(False)
    __hash__ = _lie(hash(OTHER_TEXT))
    __iter__ = _lie(iter(OTHER_TEXT))
    __len__ = _lie(1)
    __contains__ = _lie(True)
    __format__ = encode = lower = strip = _lie(OTHER_TEXT)
    partition = _lie(("9", "", ""))
    isprintable = isascii = isdigit = _lie(True)


def _lying_number(kind: type, other: Any) -> type:
    """A number that is said to be another one, smaller than any and equal to all."""
    names = {
        "__int__": int(other),
        "__index__": int(other),
        "__float__": float(other),
        "__hash__": hash(other),
        "__repr__": str(other),
        "__str__": str(other),
        "__format__": str(other),
        "__eq__": True,
        "__ne__": False,
        "__bool__": True,
        "__abs__": other,
        "__neg__": other,
        "bit_length": 1,
        "is_integer": True,
        "adjusted": 0,
        "item": other,
        "as_integer_ratio": (int(other), 1),
        **dict.fromkeys(("__lt__", "__le__", "__gt__", "__ge__"), True),
        **dict.fromkeys(("__add__", "__radd__", "__mul__", "__rmul__", "__sub__"), other),
    }
    told = {name: _lie(answer) for name, answer in names.items() if hasattr(kind, name)}
    return type(f"Lying{kind.__name__.capitalize()}", (kind,), told)


LyingInteger = _lying_number(int, 7)
LyingFloat = _lying_number(float, 7.0)
LyingDecimal = _lying_number(Decimal, Decimal(7))
LyingFraction = _lying_number(Fraction, Fraction(7))
LyingNumPyInteger = _lying_number(np.int64, 7)
LyingNumPyFloat = _lying_number(np.float64, 7.0)


class Twice:
    """Tells the truth once, and then something else."""

    def __init__(self, truth: Any, lie: Any) -> None:
        self._answers = [lie, truth]

    def __call__(self) -> Any:
        return self._answers.pop() if len(self._answers) > 1 else self._answers[0]


def _lying_list(kind: type) -> type:
    """A list or tuple that has other entries when it is looked at again."""

    class Lying(kind):  # type: ignore[misc, valid-type]
        def _look(self) -> list[Any]:
            honest = list(kind.__iter__(self))
            told = vars(self).setdefault("told", Twice(honest, [*honest[::-1], *honest]))
            return told()

        def __iter__(self) -> Iterator[Any]:
            return iter(self._look())

        def __len__(self) -> int:
            return kind.__len__(self)

        def __getitem__(self, at: Any) -> Any:
            return self._look()[at]

        __eq__, __ne__, __hash__ = _lie(True), _lie(False), _lie(0)
        __contains__, index, count = _lie(True), _lie(0), _lie(1)

    return Lying


LyingList, LyingTuple = _lying_list(list), _lying_list(tuple)


class LyingDict(dict):
    """Has other values when it is looked at again."""

    def _look(self) -> dict[Any, Any]:
        honest = dict(dict.items(self))
        values = list(honest.values())
        lie = dict(zip(honest, values[::-1], strict=True))
        return self.__dict__.setdefault("told", Twice(honest, lie))()

    def items(self):
        return self._look().items()

    def keys(self):
        return dict.keys(self)

    def values(self):
        return self._look().values()

    def __getitem__(self, name):
        return self._look()[name]

    def get(self, name, default=None):
        return self._look().get(name, default)

    __len__, __contains__, __eq__ = _lie(1), _lie(True), _lie(True)
    __hash__ = None


class LyingArray(np.ndarray):
    """Holds numbers, and says that they are others."""

    def __getitem__(self, at):
        return np.asarray(self).__getitem__(at) * 0 + 1

    def __array__(self, *more, **named):
        return np.asarray(self) * 0 + 1

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return np.True_

    def __array_function__(self, func, types, args, kwargs):
        return np.True_

    max = min = sum = tolist = astype = copy = _lie(1)


class Impostor:
    """Says that it is of another class than it is."""

    def __init__(self, thing: Any) -> None:
        object.__setattr__(self, "_thing", thing)

    @property
    def __class__(self):
        return type(object.__getattribute__(self, "_thing"))

    def __getattr__(self, name):
        return getattr(object.__getattribute__(self, "_thing"), name)

    def __iter__(self):
        return iter(object.__getattribute__(self, "_thing"))

    def __len__(self):
        return len(object.__getattribute__(self, "_thing"))


def lie_about(value: Any) -> Iterator[tuple[str, Any]]:
    """Return lying twins of one value, each with a name."""
    kind = type(value)
    if value is None or kind is bool or isinstance(value, Schema):
        return
    yield f"an impostor of {kind.__name__}", Impostor(value)
    if kind is str:
        yield "a lying text", LyingText(value)
    elif kind is int:
        yield "a lying integer", LyingInteger(value)
        yield "a lying integer of NumPy", LyingNumPyInteger(value)
    elif kind is float:
        yield "a lying float", LyingFloat(value)
        yield "a lying float of NumPy", LyingNumPyFloat(value)
    elif kind is Fraction:
        yield "a lying fraction", LyingFraction(value)
        forged = Fraction(value)
        forged._numerator = LyingInteger(value.numerator)  # a Fraction of Python can be changed
        yield "a forged fraction", forged
    elif kind is np.ndarray:
        yield "a lying array", value.copy().view(LyingArray)
        honest = value.tolist()
        if honest and isinstance(honest, list):
            yield "a lying list for an array", LyingList(honest)
    elif kind is list or (isinstance(value, tuple) and kind.__module__ == "builtins"):
        yield "a lying list", LyingList(value)
        yield "a lying tuple", LyingTuple(value)
        yield "an iterator, which can be looked at once", iter(list(value))
    elif isinstance(value, Mapping):
        yield "a lying dict", LyingDict(value)
    elif is_dataclass(value) and not isinstance(value, Query):
        yield f"a subclass of {kind.__name__}", _subclass_of(value)


def _subclass_of(part: Any) -> Any:
    """The same part, of a class whose fields are others at the second look."""
    kind = type(part)

    class Lying(kind):  # type: ignore[misc, valid-type]
        def __getattribute__(self, name):
            looks = object.__getattribute__(self, "__dict__").setdefault("looks", {})
            looks[name] = looks.get(name, 0) + 1
            honest = object.__getattribute__(self, name)
            if looks[name] > 1 and isinstance(honest, np.ndarray) and len(honest):
                return np.concatenate([honest, honest])
            return honest

    Lying.__name__ = f"Lying{kind.__name__}"
    other = object.__new__(Lying)
    for name, value in vars(part).items():
        object.__setattr__(other, name, value)
    return other


@dataclass(frozen=True)
class Liar:
    """A query with a lying twin in one place."""

    what: str
    query: Query[Any]


def list_liars(query: Query[Any]) -> Iterator[Liar]:
    """Return the query with each kind of twin in each place, once for places that are alike."""
    seen: set[tuple[Any, ...]] = set()
    for path, value in walk(query, ()):
        # entry 0 and entry 1 of a list are alike
        alike = tuple("*" if isinstance(step, int) else step for step in path)
        if not path or (alike, type(value)) in seen:
            continue
        seen.add((alike, type(value)))
        where = ".".join(map(str, path))
        for what, twin in lie_about(value):
            yield Liar(f"{what} at {where}", replace_at(query, path, twin))


def walk(thing: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Return everything that a query is made of, with the way to it."""
    yield path, thing
    if isinstance(thing, Schema):
        return
    if isinstance(thing, list | tuple):
        for number, entry in enumerate(thing):
            yield from walk(entry, (*path, number))
    elif isinstance(thing, Mapping):
        for name, entry in thing.items():
            yield from walk(entry, (*path, name))
    elif is_dataclass(thing):
        for field in fields(thing):
            if field.name in vars(thing):
                yield from walk(vars(thing)[field.name], (*path, field.name))


def replace_at(thing: Any, path: tuple[Any, ...], twin: Any) -> Any:
    """Return a copy with a twin in one place, put there without any check."""
    if not path:
        return twin
    step, *rest = path
    if isinstance(thing, list | tuple):
        listed = list(thing)
        listed[step] = replace_at(thing[step], tuple(rest), twin)
        return type(thing)(listed)
    if isinstance(thing, Mapping):
        return {**thing, step: replace_at(thing[step], tuple(rest), twin)}
    other = copy.copy(thing)
    object.__setattr__(other, step, replace_at(vars(thing)[step], tuple(rest), twin))
    return other


# -- honest classes that are tampered with ---------------------------------------------------------


def list_arrays(query: Query[Any]) -> list[np.ndarray]:
    """Return the arrays that a query is made of."""
    return [value for _, value in walk(query, ()) if isinstance(value, np.ndarray)]


def open_arrays(query: Query[Any]) -> list[np.ndarray]:
    """Let the arrays of a query be written to, as anybody can."""
    arrays = list_arrays(query)
    for array in arrays:
        array.setflags(write=True)
    return arrays


class Poison:
    """What must not be looked at."""

    def __getattribute__(self, name):
        raise AssertionError(f"somebody looked at what was remembered: {name}")

    __iter__ = __len__ = __getitem__ = __call__ = lambda self, *more: self.looked


def poison_caches(query: Query[Any]) -> int:
    """Replace what parts remember, and their methods; return how many."""
    n_poisoned = 0
    for _, part in walk(query, ()):
        if is_dataclass(part) and not isinstance(part, Schema):
            for name in dir(type(part)):
                remembered = isinstance(getattr(type(part), name, None), cached_property)
                if remembered or name in ("plain", "identity", "exact", "describe"):
                    vars(part)[name] = Poison()
                    n_poisoned += 1
    return n_poisoned
