"""Declare how text spells numbers: decimal sign, thousands and units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from privet._validate import check_name, show
from privet.domain.attributes.base import is_writable_text, text_of
from privet.domain.encode.encoding import SpelledNumber
from privet.errors import SchemaError

#: Spaces that do not break a line, as programs put them between numbers and units.
_SPACES = ("\u00a0", "\u202f")
_THOUSANDS = (".", ",", " ", "'", "\u2019")
#: Signs that are recognised in samples and in examples.
UNITS = ("€", "$", "£", "¥", "%", "EUR", "USD", "GBP", "CHF")
_MOST_UNITS, _LONGEST_UNIT = 5, 10


@dataclass(frozen=True)
class Spelling:
    """How text spells numbers, as it was declared."""

    decimal: str | None
    thousands: str | None
    units: tuple[str, ...]

    @property
    def scalar(self) -> SpelledNumber:
        """How such numbers are read."""
        between = () if self.thousands is None else (self.thousands,)
        units = sorted(self.units, key=len, reverse=True)  # "US$" before "$"
        return SpelledNumber((*units, *_SPACES, *between), self.decimal or ".")

    @property
    def example(self) -> str:
        """A number that is spelled so."""
        thousands, decimal = self.thousands or "", self.decimal or "."
        unit = f" {self.units[0]}" if self.units else ""
        return f"1{thousands}234{decimal}50{unit}"

    def write(self, number: float) -> str:
        """Spell a number so that it is read again."""
        finite = number - number == 0
        return (text_of(number) if finite else f"{number}").replace(".", self.decimal or ".")

    def to_json(self) -> dict[str, Any]:
        """Return what stands in a schema file."""
        told = {"decimal": self.decimal, "thousands": self.thousands}
        unit = self.units[0] if len(self.units) == 1 else list(self.units) or None
        return {key: fact for key, fact in {**told, "unit": unit}.items() if fact is not None}


def read_spelling(decimal: object, thousands: object, unit: object) -> Spelling | None:
    """Return what is declared; None where nothing is. Raise for what cannot be meant."""
    if decimal is None and thousands is None and unit is None:
        return None
    whose: Any = {"owner": "Numeric", "error": SchemaError}
    if decimal is not None:
        decimal = check_name("decimal", decimal, (".", ","), **whose)
    if thousands is not None:
        thousands = check_name("thousands", thousands, _THOUSANDS, **whose)
    if thousands == (decimal or "."):
        raise SchemaError(
            f"Numeric: thousands must not be the decimal sign, which is {decimal or '.'!r}; with "
            "thousands='.', declare decimal=','"
        )
    units = [] if unit is None else [unit] if isinstance(unit, str) else unit
    if not isinstance(units, list | tuple) or len(units) > _MOST_UNITS:
        raise SchemaError(
            f"Numeric: unit must be a sign such as '€', or up to {_MOST_UNITS} of them, got "
            f"{show(unit)}"
        )
    for sign in units:
        if (
            not isinstance(sign, str)
            or not 0 < len(sign) <= _LONGEST_UNIT
            or not is_writable_text(sign)
            or re.search(r"[0-9+\s\x00]|^[-.,eE]+$", sign)
        ):
            raise SchemaError(
                f"Numeric: unit: a sign is 1 to {_LONGEST_UNIT} characters without digits, plus "
                f"signs and spaces, got {show(sign)}"
            )
    return Spelling(decimal, thousands, tuple(units))


def find_spelling(texts: Sequence[str]) -> Spelling | None:
    """Return how all of these texts spell numbers; None where they do not, or do so plainly."""
    bare, units = [], set()
    for text in texts:
        stripped = text.strip().replace("\u00a0", " ").replace("\u202f", " ")
        for unit in UNITS:
            if stripped.startswith(unit) or stripped.endswith(unit):
                stripped = stripped.removeprefix(unit).removesuffix(unit).strip()
                units.add(unit)
        bare.append(stripped)
    if not bare or len(units) > _MOST_UNITS:
        return None
    for decimal, thousands in (
        *((".", None), (".", ","), (",", None), (",", "."), (".", " ")),
        *((",", " "), (".", "'"), (",", "'"), (".", "\u2019")),
    ):
        whole = "[0-9]+"
        if thousands is not None:
            whole = f"(?:[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+|[0-9]+)"
        pattern = re.compile(rf"[+-]?{whole}(?:{re.escape(decimal)}[0-9]+)?")
        if all(pattern.fullmatch(text) for text in bare):
            told = None if decimal == "." else decimal
            if told is None and thousands is None and not units:
                return None
            return Spelling(told, thousands, tuple(sorted(units)))
    return None
