"""Declare a column of categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from privet._validate import check_integer, check_name
from privet.domain.attributes.base import (
    MAX_BITS,
    MAX_VALUES,
    Value,
    check_column,
    is_writable_text,
    takes_plain_values,
    text_of,
)
from privet.domain.attributes.listed import Listed
from privet.errors import SchemaError
from privet.text import escape_invisible, join_some


class Categorical(Listed):
    """A categorical attribute: its listed values, in order.

    Parameters
    ----------
    values
        The public list of values. Text, integers, numbers or booleans.
    other
        A catch-all value for everything that is not listed. Added to the values if it is
        not among them.
    missing
        The value that stands for a missing entry (and for null). Added to the values if it
        is not among them.
    on_unknown
        What happens behind the boundary to a value that is not listed: ``"other"`` counts
        it in the catch-all, ``"drop"`` does not count the row. By default ``"other"`` where
        a catch-all is declared. Stating it also tells the owner's check that unknown values
        are expected.
    column
        The table's column, where it does not have the attribute's name.
    prefix
        Look text that is not listed up by so many of its first characters: ``["A0", "B1"]``
        with ``prefix=2`` puts the code ``"A01.4"`` into ``"A0"``. For columns of text.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Categorical(["red", "green"], other="another colour").labels
    ('red', 'green', 'another colour')
    """

    type: ClassVar[str] = "categorical"
    keys: ClassVar[tuple[str, ...]] = (
        "values",
        "other",
        "missing",
        "on_unknown",
        "column",
        "prefix",
    )

    other: Value | None
    on_unknown: Literal["other", "drop"] | None

    @takes_plain_values
    def __init__(
        self,
        values: Sequence[Value],
        *,
        other: Value | None = None,
        missing: Value | None = None,
        on_unknown: Literal["other", "drop"] | None = None,
        column: str | None = None,
        prefix: int | None = None,
    ) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise SchemaError(
                f"Categorical: values must be a list of values, got {type(values).__name__}"
            )
        if len(values) > MAX_VALUES:
            raise SchemaError(
                f"Categorical: values must hold 1 to {MAX_VALUES} values, got {len(values)}"
            )
        listed = [check_value("Categorical", "values", value) for value in values]
        texts = set()
        for value in listed:
            if text_of(value) in texts:
                raise SchemaError(
                    f"Categorical: values must differ, but {text_of(value)!r} is listed twice"
                )
            texts.add(text_of(value))
        other = None if other is None else check_value("Categorical", "other", other)
        missing = None if missing is None else check_value("Categorical", "missing", missing)
        for extra in (other, missing):
            if extra is not None and text_of(extra) not in texts:
                listed.append(extra)
                texts.add(text_of(extra))
        if not 1 <= len(listed) <= MAX_VALUES:
            raise SchemaError(
                f"Categorical: values must hold 1 to {MAX_VALUES} values, got {len(listed)}"
            )
        if on_unknown is not None:
            check_name(
                "on_unknown",
                on_unknown,
                ("other", "drop"),
                owner="Categorical",
                error=SchemaError,
            )
        if on_unknown == "other" and other is None:
            raise SchemaError(
                "Categorical: on_unknown='other' needs a catch-all value, give it as other=..."
            )
        if prefix is not None:
            prefix = check_integer(
                "prefix", prefix, 1, 1000, owner="Categorical", error=SchemaError
            )
            if not all(isinstance(value, str) for value in listed):
                raise SchemaError("Categorical: prefix is for values that are text")
        self._keep(
            values=tuple(listed),
            prefix=prefix,
            other=other,
            missing=missing,
            on_unknown=on_unknown,
            column=check_column("Categorical", column),
        )

    @cached_property
    def unknown_code(self) -> int:
        if self.other is None or self.on_unknown == "drop":
            return self.size
        return self.labels.index(text_of(self.other))

    @property
    def catches_unknown(self) -> bool:
        return self.other is not None

    def describe(self, *, limit: int | None = None) -> tuple[str, str]:
        extra = "" if self.other is None else f'; everything else counts as "{text_of(self.other)}"'
        first = "" if self.prefix is None else f"; the first {self.prefix} characters count"
        return "one of a list", f"{join_some(self.labels, ', ', limit)}{first}{extra}"

    def describe_unknown(self) -> str:
        if self.other is None or self.on_unknown == "drop":
            return "not counted"
        return f"counted as {escape_invisible(text_of(self.other))}"

    def facts(self) -> dict[str, Any]:
        other = {} if self.other is None else {"other": self.other}
        prefix = {} if self.prefix is None else {"prefix": self.prefix}
        return {"values": list(self.values), **other, **prefix}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if "values" not in data:
            raise SchemaError("a categorical attribute needs 'values'")
        return cls(**data)


def check_value(owner: str, parameter: str, value: object) -> Value:
    """Return plain text, a number or a boolean; raise for anything else.

    A whole float becomes an integer, so that equal values are written alike.
    """
    if isinstance(value, bool) or (isinstance(value, str) and is_writable_text(value)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else value
    if isinstance(value, int) and value.bit_length() <= MAX_BITS:
        return value
    what = repr(value) if isinstance(value, str | float) else type(value).__name__
    raise SchemaError(
        f"{owner}: {parameter}: a value must be text, a finite number or a truth value, got {what}"
    )
