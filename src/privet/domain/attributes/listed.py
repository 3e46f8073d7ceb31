"""Attributes whose values are listed: what categories and booleans have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from privet.domain.attributes.base import (
    PROBLEMS,
    Attribute,
    Draws,
    Value,
    text_of,
)
from privet.domain.encode.encoding import Encoding, Scalar, ValueKind
from privet.text import escape_invisible, join_some, shorten

_INTEGER = re.compile("0|-?[1-9][0-9]{0,330}")  # as many digits as MAX_BITS have
_DECIMAL = re.compile("-?(0|[1-9][0-9]{0,300})[.][0-9]{1,300}")
_SCALARS: dict[ValueKind, Scalar] = {
    "text": "text",
    "integer": "integer",
    "number": "number",
    "bool": "truth",
}


class Listed(Attribute):
    """An attribute with a public list of values, in order."""

    ordered: ClassVar[bool] = False

    values: tuple[Value, ...]
    #: Text that is not listed is looked up by so many of its first characters; None for all.
    prefix: int | None = None

    @property
    def size(self) -> int:
        return len(self.values)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(text_of(value) for value in self.values)

    @cached_property
    def missing_code(self) -> int:
        return (
            self.unknown_code if self.missing is None else self.labels.index(text_of(self.missing))
        )

    @cached_property
    def code_of_text(self) -> dict[str, int]:
        """Code by the text of a value, and by other spellings of it that files have."""
        listed = {label: code for code, label in enumerate(self.labels)}
        spellings = {
            other: code
            for code, value in reversed(list(enumerate(self.values)))
            for other in self.list_spellings(value)
        }
        return {**spellings, **listed}

    def list_spellings(self, value: Value) -> tuple[str, ...]:
        """Return how else files spell a value.

        An integer column with missing entries is often written as 1.0; booleans are written True
        or TRUE, and text that spells one stands for it, too. A number that is listed as text may
        have decimals that it could do without.
        """
        if isinstance(value, bool):
            return (str(value), str(value).upper())
        if value in ("True", "TRUE", "False", "FALSE"):
            return (str(value).lower(),)
        if isinstance(value, int):
            return (f"{value}.0",)
        number = spelled_number(value) if isinstance(value, str) else None
        if number is None:
            return ()
        return (text_of(number), f"{number}.0") if isinstance(number, int) else (text_of(number),)

    # -- encoding ----------------------------------------------------------------------------------

    def encoding(self, kind: ValueKind) -> Encoding | None:
        if kind not in _SCALARS or (self.prefix is not None and kind != "text"):
            return None
        if kind not in self._encodings:
            self._encodings[kind] = Encoding(
                _SCALARS[kind],
                self._scalars(kind),
                self.unknown_code,
                self.missing_code,
                self.unknown_code if kind == "text" else self.missing_code,
                self.prefix,
            )
        return self._encodings[kind]

    @cached_property
    def _encodings(self) -> dict[ValueKind, Encoding]:
        return {}

    def can_hold(self, kind: ValueKind) -> bool:
        """Return whether any entry of a column of this kind can be one of the values."""
        encoding = self.encoding(kind)
        listed = None if encoding is None else encoding.listed
        return listed is not None and any(code < self.size for code in listed.values())

    def _scalars(self, kind: ValueKind) -> dict[Any, int]:
        """Return the code of each scalar of this kind."""
        texts = self.code_of_text
        if kind == "text":
            return texts
        if kind == "bool":
            return {text == "true": texts[text] for text in ("true", "false") if text in texts}
        if kind == "integer":
            return {int(text): code for text, code in texts.items() if _INTEGER.fullmatch(text)}
        return {float(text): code for text, code in texts.items() if is_canonical_number(text)}

    def diagnosis(self, kind: ValueKind) -> Encoding | None:
        encoding = self.encoding(kind)
        if encoding is None:
            return None
        unlisted, null = PROBLEMS.index("unlisted"), PROBLEMS.index("null")
        catches = self.on_unknown is not None or self.catches_unknown
        unlisted = 0 if catches else unlisted
        null = 0 if catches or self.missing is not None else null
        assert encoding.listed is not None
        return Encoding(
            encoding.reads,
            dict.fromkeys(encoding.listed, 0),
            unlisted,
            null,
            unlisted if kind == "text" else null,
            encoding.prefix,
        )

    @property
    def catches_unknown(self) -> bool:
        """Whether a value of the list stands for everything that is not in it."""
        return False

    # -- values ------------------------------------------------------------------------------------

    def list_examples(self) -> list[Value]:
        return list(self.values)

    def draw(self, codes: npt.NDArray[np.int64], draws: Draws) -> npt.NDArray[Any]:  # noqa: ARG002
        return value_array(self.values)[codes]

    def canonical(self, cell: str | None) -> str | None:
        code = self.missing_code if cell is None else self.code_of_text.get(cell)
        if code is None and self.prefix is not None and cell is not None:
            code = self.code_of_text.get(cell[: self.prefix])
        return cell if code is None or code >= self.size else self.labels[code]

    # -- words -------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        return f"{self.size} values"

    def describe_unknown(self) -> str:
        return "not counted"

    def describe_missing(self) -> str:
        if self.missing is not None:
            return f"counted as {escape_invisible(text_of(self.missing))}"
        return self.describe_unknown()

    def describe_branch(
        self,
        codes: Sequence[int],
        *,
        among: Sequence[int] = (),
        limit: int | None = None,
        length: int | None = None,
    ) -> str:
        others = [code for code in among if code not in codes]
        but_one = len(others) == 1 and len(codes) > 2
        labels = [escape_invisible(self.labels[code]) for code in (others if but_one else codes)]
        text = join_some(
            [label if length is None else shorten(label, length) for label in labels], ", ", limit
        )
        return f"!= {text}" if but_one else f"= {text}" if len(labels) == 1 else f"in {{{text}}}"


def value_array(values: Sequence[object]) -> npt.NDArray[Any]:
    """Return an array that takes values by number.

    Texts, values of several kinds and very long numbers stay what they are.
    """
    kinds = {type(value) for value in values}
    if kinds in ({bool}, {float}) or (
        kinds == {int} and all(-(2**63) <= value < 2**63 for value in values)  # type: ignore[operator]
    ):
        return np.array(values)
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def spelled_number(text: str) -> int | float | None:
    """Return the number that a text spells, also with decimals that it could do without; None for
    other texts.

    ``13``, ``13.0`` and ``0.50`` are numbers. ``01`` may be a code, and ``1e3`` a name.
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _DECIMAL.fullmatch(text):
        return None
    number = float(text)
    return int(number) if number.is_integer() else number


def is_canonical_number(text: str) -> bool:
    """Return whether a column of numbers could hold what this text stands for ('1' and '0.5', not
    '01' or 'nan').
    """
    try:
        number = float(text)
    except ValueError:
        return False
    return math.isfinite(number) and text_of(number) == text
