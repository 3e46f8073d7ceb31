"""Declared checks of parameters, with one form of message.

A check says what a parameter may be. Estimators declare theirs once, in ``_parameters``; functions
call :func:`check_integer`, :func:`check_real`, :func:`check_name` and :func:`check_boolean`. What
is checked is what is given back: plain numbers and the declared names, whatever class came.

A message has the owner, the parameter, what is allowed and what came, and ends with what to do next
where that is clear:

>>> IntegerIn(0, 12, also=("auto",)).check("max_depth", 13, "GreedyTreeClassifier")
Traceback (most recent call last):
...
privet.errors.ParameterError: GreedyTreeClassifier: max_depth must be 'auto' or an integer from 0 \
to 12, got 13
>>> NameIn("max", "gini", "info_gain").check("criterion", "ginny")
Traceback (most recent call last):
...
privet.errors.ParameterError: criterion must be 'max', 'gini' or 'info_gain', got 'ginny'; did you \
mean 'gini'?

What came is shown only where it is a number or a short text: a table that was passed by mistake
would put its rows into the message. Amounts (epsilon, delta, rho) are checked by
:func:`privet.accounting.cost.parse_exact`.
"""

from __future__ import annotations

import difflib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from privet._plain import copy_scalar
from privet.errors import ParameterError, PrivetError

_LONGEST = 80  # characters of a value that a message shows
_CLOSE = 0.65  # how alike a name must be to be suggested, from 0 to 1
_REFUSED = object()


class ParameterCheck(ABC):
    """What a parameter may be.

    Args:
        also: names that are allowed besides, such as ``"auto"``.
        none: whether None is allowed.
    """

    def __init__(self, *, also: tuple[str, ...] = (), none: bool = False) -> None:
        self._also, self._none = also, none

    @abstractmethod
    def _describe(self) -> list[str]:
        """Return what is allowed, one phrase per alternative."""

    @abstractmethod
    def _read(self, value: Any) -> Any:
        """Return the value in its plain form, or ``_REFUSED``."""

    def _advise(self, value: Any) -> str:  # noqa: ARG002
        """Return what to do about a refused value, or an empty text."""
        return ""

    def describe(self) -> str:
        """Return what is allowed, in words."""
        names = ["None"] * self._none + [repr(name) for name in self._also]
        return list_words(names + self._describe())

    def check(
        self,
        name: str,
        value: object,
        owner: str = "",
        error: type[PrivetError] = ParameterError,
    ) -> Any:
        """Return the value in its plain form; raise unless it is allowed.

        Args:
            name: the parameter.
            value: what came.
            owner: whose parameter it is, where its name alone does not tell.
            error: what to raise.
        """
        if value is None and self._none:
            return None
        plain = _find_name(value, self._also)
        if plain is None:
            plain = self._read(value)
        if plain is _REFUSED:
            of = f"{owner}: " if owner else ""
            advice = self._advise(value)
            raise error(
                f"{of}{name} must be {self.describe()}, got {show(value)}"
                + (f"; {advice}" if advice else "")
            )
        return plain


class IntegerIn(ParameterCheck):
    """An integer of at least ``least`` and, where given, at most ``most``."""

    def __init__(
        self,
        least: int,
        most: int | None = None,
        *,
        also: tuple[str, ...] = (),
        none: bool = False,
    ) -> None:
        super().__init__(also=also, none=none)
        self._least, self._most = least, most

    def _describe(self) -> list[str]:
        if self._most is None:
            return [f"an integer of at least {self._least}"]
        return [f"an integer from {self._least} to {self._most}"]

    def _read(self, value: Any) -> Any:
        plain = copy_scalar(value)
        if type(plain) is not int:
            return _REFUSED
        fits = plain >= self._least and (self._most is None or plain <= self._most)
        return plain if fits else _REFUSED

    def _advise(self, value: Any) -> str:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            meant, how = int(value), " without quotes"
        elif isinstance(value, float) and value.is_integer():
            meant, how = int(value), ""
        else:
            return ""
        return "" if self._read(meant) is _REFUSED else f"write {meant}{how}"


class RealIn(ParameterCheck):
    """A finite number within bounds, each of which may be included or not.

    Args:
        least, most: bounds that are allowed themselves.
        above, below: bounds that are not.
    """

    def __init__(
        self,
        *,
        least: float | None = None,
        above: float | None = None,
        most: float | None = None,
        below: float | None = None,
        also: tuple[str, ...] = (),
        none: bool = False,
    ) -> None:
        super().__init__(also=also, none=none)
        self._least, self._above, self._most, self._below = least, above, most, below

    def _describe(self) -> list[str]:
        if self._least is not None and self._most is not None:
            return [f"a number from {self._least} to {self._most}"]
        bounds = (
            ("of at least", self._least),
            ("above", self._above),
            ("of at most" if self._above is None else "at most", self._most),
            ("below", self._below),
        )
        words = [f"{word} {bound}" for word, bound in bounds if bound is not None]
        return [f"a number {' and '.join(words)}" if words else "a finite number"]

    def _read(self, value: Any) -> Any:
        if isinstance(value, bool) or not issubclass(type(value), int | float):
            return _REFUSED
        try:
            plain = float(copy_scalar(value))
        except OverflowError:
            return _REFUSED
        fits = (
            math.isfinite(plain)
            and (self._least is None or plain >= self._least)
            and (self._above is None or plain > self._above)
            and (self._most is None or plain <= self._most)
            and (self._below is None or plain < self._below)
        )
        return plain if fits else _REFUSED


class NameIn(ParameterCheck):
    """One of several names, each perhaps with what it means."""

    def __init__(self, *names: str, meanings: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._names = names + tuple(meanings or ())
        self._meanings = meanings or {}

    def _describe(self) -> list[str]:
        return [
            f"{name!r} ({self._meanings[name]})" if name in self._meanings else repr(name)
            for name in self._names
        ]

    def _read(self, value: Any) -> Any:
        name = _find_name(value, self._names)
        return _REFUSED if name is None else name

    def _advise(self, value: Any) -> str:
        return suggest(value, self._names)


class Boolean(ParameterCheck):
    """True or False."""

    def _describe(self) -> list[str]:
        return ["True", "False"]

    def _read(self, value: Any) -> Any:
        plain = copy_scalar(value)
        return plain if type(plain) is bool else _REFUSED


class MappingOf(ParameterCheck):
    """A mapping, whose entries are checked where the schema is known.

    Args:
        entries: what it holds, in words.
        matrix: whether a matrix will do, too.
    """

    def __init__(
        self,
        entries: str,
        *,
        matrix: bool = False,
        also: tuple[str, ...] = (),
        none: bool = False,
    ) -> None:
        super().__init__(also=also, none=none)
        self._entries, self._matrix = entries, matrix

    def _describe(self) -> list[str]:
        return [f"a mapping of {self._entries}"] + ["a matrix"] * self._matrix

    def _read(self, value: Any) -> Any:
        matrix = self._matrix and (isinstance(value, list | tuple) or hasattr(value, "__array__"))
        return value if matrix or isinstance(value, Mapping) else _REFUSED

    def _advise(self, value: Any) -> str:
        return suggest(value, self._also)


def check_parameters(
    owner: str, checks: Mapping[str, ParameterCheck], values: Mapping[str, object]
) -> None:
    """Raise unless every declared parameter is what it may be."""
    for name, check in checks.items():
        check.check(name, values[name], owner)


def check_integer(
    name: str,
    value: object,
    least: int,
    most: int | None = None,
    *,
    owner: str = "",
    error: type[PrivetError] = ParameterError,
) -> int:
    """Return a plain integer; raise unless the value is one within the bounds."""
    plain: int = IntegerIn(least, most).check(name, value, owner, error)
    return plain


def check_real(
    name: str,
    value: object,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    owner: str = "",
    error: type[PrivetError] = ParameterError,
) -> float:
    """Return a plain float; raise unless the value is a finite number within the bounds."""
    check = RealIn(least=least, above=above, most=most, below=below)
    plain: float = check.check(name, value, owner, error)
    return plain


def check_name(
    name: str,
    value: object,
    names: Iterable[str],
    *,
    owner: str = "",
    error: type[PrivetError] = ParameterError,
) -> str:
    """Return the name that was given; raise unless it is one of these."""
    plain: str = NameIn(*names).check(name, value, owner, error)
    return plain


def check_boolean(
    name: str, value: object, *, owner: str = "", error: type[PrivetError] = ParameterError
) -> bool:
    """Return a plain boolean; raise unless the value is one."""
    plain: bool = Boolean().check(name, value, owner, error)
    return plain


def suggest(value: object, names: Iterable[str]) -> str:
    """Return ``did you mean 'name'?`` where a name is close to what came, or an empty text."""
    if not isinstance(value, str):
        return ""
    spelled = {name.replace("_", "-"): name for name in names}
    typed = str(value)[:_LONGEST].lower().replace("_", "-")
    near = difflib.get_close_matches(typed, spelled, 1, _CLOSE)
    return f"did you mean {spelled[near[0]]!r}?" if near else ""


def list_words(words: list[str]) -> str:
    """Return ``a, b or c``."""
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


def show(value: object) -> str:
    """Return a short form of a value for a message, or its type where it may be a table."""
    plain = copy_scalar(value)
    if plain is None or type(plain) in (str, int, float, bool):
        try:
            shown = repr(plain)
        except ValueError:  # an integer of more digits than Python writes
            return "an integer of thousands of digits"
        return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def _find_name(value: object, names: tuple[str, ...]) -> str | None:
    """Return the declared name that a text is equal to, if any."""
    text = copy_scalar(value)
    return next((name for name in names if name == text), None) if type(text) is str else None
