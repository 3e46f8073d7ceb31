"""Declare a column of values that have an order, such as low, medium and high."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

from privet._validate import check_name
from privet.domain.attributes.base import (
    MAX_VALUES,
    Value,
    check_column,
    is_writable_text,
    takes_plain_values,
    text_of,
)
from privet.domain.attributes.binned import find_code_runs
from privet.domain.attributes.categorical import check_value
from privet.domain.attributes.listed import Listed
from privet.errors import SchemaError
from privet.text import escape_invisible, join_some


class Ordinal(Listed):
    """Listed values in an order: trees ask whether one is at most another.

    Use it for grades and levels, and for integers of which there are few, such as the number of
    children.

    Parameters
    ----------
    values
        The public list of values, from the lowest to the highest. Text, integers or numbers.
    missing
        A label for a value of its own for missing entries, and for what is not listed. Without
        it such a row is not counted.
    on_unknown
        ``"drop"`` does not count a row whose value is not listed, whatever ``missing`` is, and
        tells the owner's check that such values are expected.
    column
        The table's column, where it does not have the attribute's name.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Ordinal(["low", "medium", "high"], missing="not told").labels
    ('low', 'medium', 'high', 'not told')
    """

    type: ClassVar[str] = "ordinal"
    ordered: ClassVar[bool] = True
    keys: ClassVar[tuple[str, ...]] = ("values", "missing", "on_unknown", "column")

    missing: str | None
    on_unknown: Literal["drop"] | None

    @takes_plain_values
    def __init__(
        self,
        values: Sequence[Value],
        *,
        missing: str | None = None,
        on_unknown: Literal["drop"] | None = None,
        column: str | None = None,
    ) -> None:
        if isinstance(values, str) or not isinstance(values, Sequence):
            raise SchemaError(
                f"Ordinal: values must be a list of values, got {type(values).__name__}"
            )
        listed = [check_value("Ordinal", "values", value) for value in values]
        if not 2 <= len(listed) < MAX_VALUES:
            raise SchemaError(f"Ordinal: values must hold 2 values or more, got {len(listed)}")
        texts = [text_of(value) for value in listed]
        if twice := sorted({text for text in texts if texts.count(text) > 1}):
            raise SchemaError(f"Ordinal: values must differ, but {twice[0]!r} is listed twice")
        if missing is not None and not (isinstance(missing, str) and is_writable_text(missing)):
            raise SchemaError(f"Ordinal: missing must be a label (text), got {missing!r}")
        if missing in texts:
            raise SchemaError(f"Ordinal: missing must not be one of the values, got {missing!r}")
        if on_unknown is not None:
            check_name("on_unknown", on_unknown, ("drop",), owner="Ordinal", error=SchemaError)
        self._keep(
            values=tuple(listed) if missing is None else (*listed, missing),
            missing=missing,
            on_unknown=on_unknown,
            column=check_column("Ordinal", column),
        )

    @property
    def bins(self) -> int:
        return self.size - (self.missing is not None)

    @cached_property
    def cuts(self) -> tuple[float, ...]:
        return tuple(float(place) for place in range(self.bins + 1))

    def label_edge(self, code: int) -> str:
        return self.labels[code]

    def read_number(self, value: object) -> float:
        if isinstance(value, str | int | float):
            code = self.code_of_text.get(text_of(value), self.size)
            if code < self.bins:
                return float(code)
        return super().read_number(value)

    @property
    def unknown_code(self) -> int:
        return self.size if self.missing is None or self.on_unknown == "drop" else self.bins

    @property
    def catches_unknown(self) -> bool:
        return self.missing is not None

    # -- words -------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        return f"{self.bins} values in order"

    def describe(self, *, limit: int | None = None) -> tuple[str, str]:
        missing = "" if self.missing is None else f'; a missing entry counts as "{self.missing}"'
        return (
            "one of a list in order",
            f"{join_some(self.labels[: self.bins], ', ', limit)}{missing}",
        )

    def describe_unknown(self) -> str:
        if self.missing is None or self.on_unknown == "drop":
            return "not counted"
        return self.describe_missing()

    def describe_branch(
        self,
        codes: Sequence[int],
        *,
        among: Sequence[int] = (),  # noqa: ARG002
        limit: int | None = None,
        length: int | None = None,  # noqa: ARG002
    ) -> str:
        spans = [
            self._describe_span(first, last)
            for first, last in find_code_runs([code for code in codes if code < self.bins])
        ]
        if self.missing is not None and self.bins in codes:
            spans.append(f"= {escape_invisible(self.missing)}")
        return join_some(spans, " or ", limit)

    def _describe_span(self, first: int, last: int) -> str:
        low, high = (escape_invisible(self.labels[code]) for code in (first, last))
        if first == 0 and last == self.bins - 1:
            return "is any value"
        if first == last:
            return f"= {low}"
        if first == 0:
            return f"<= {high}"
        return f">= {low}" if last == self.bins - 1 else f"from {low} to {high}"

    # -- the file ----------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        return {"values": list(self.values[: self.bins])}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        if "values" not in data:
            raise SchemaError("an ordinal attribute needs 'values'")
        return cls(**data)
