"""Declare a column that says yes or no."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal

from privet._validate import check_name
from privet.domain.attributes.base import Value, check_column, is_writable_text, takes_plain_values
from privet.domain.attributes.listed import Listed
from privet.errors import SchemaError

_SPELLINGS = {False: ("f", "no", "n", "off", "0"), True: ("t", "yes", "y", "on", "1")}


class Boolean(Listed):
    """A column of booleans, however a source spells them: true or false, yes or no, 1 or 0.

    Text is taken in lower case, in upper case, and with a capital: ``true``, ``TRUE``, ``True``,
    ``t``, ``yes``, ``y``, ``on``, ``1``, and their opposites.

    Parameters
    ----------
    missing
        A label for a value of its own for missing entries (null, and text that spells no
        boolean). Without it such a row is not counted.
    on_unknown
        ``"drop"`` tells the owner's check that entries that are no boolean are expected;
        their rows are not counted, whatever ``missing`` is.
    column
        The table's column, where it does not have the attribute's name.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Boolean(missing="unknown").labels
    ('false', 'true', 'unknown')
    """

    type: ClassVar[str] = "boolean"
    keys: ClassVar[tuple[str, ...]] = ("missing", "on_unknown", "column")

    missing: str | None
    on_unknown: Literal["drop"] | None

    @takes_plain_values
    def __init__(
        self,
        *,
        missing: str | None = None,
        on_unknown: Literal["drop"] | None = None,
        column: str | None = None,
    ) -> None:
        if missing is not None and not (isinstance(missing, str) and is_writable_text(missing)):
            raise SchemaError(f"Boolean: missing must be a label (text), got {missing!r}")
        if on_unknown is not None:
            check_name("on_unknown", on_unknown, ("drop",), owner="Boolean", error=SchemaError)
        values = (False, True) if missing is None else (False, True, missing)
        self._keep(
            values=values,
            missing=missing,
            on_unknown=on_unknown,
            column=check_column("Boolean", column),
        )
        if missing is not None and missing in {
            text
            for truth in (False, True)
            for text in (*self.list_spellings(truth), "true", "false")
        }:
            raise SchemaError(
                f"Boolean: missing must not spell a boolean, got {missing!r}; take a label such as "
                "'unknown'"
            )

    @cached_property
    def unknown_code(self) -> int:
        return self.size if self.missing is None or self.on_unknown == "drop" else 2

    @property
    def catches_unknown(self) -> bool:
        return self.missing is not None

    def list_spellings(self, value: Value) -> tuple[str, ...]:
        if isinstance(value, str):
            return ()
        words = ("true" if value else "false", *_SPELLINGS[bool(value)])
        cased = (spelled for word in words for spelled in (word, word.upper(), word.capitalize()))
        return (*dict.fromkeys(cased), f"{int(value)}.0")

    @property
    def summary(self) -> str:
        return "true or false"

    def describe(self, *, limit: int | None = None) -> tuple[str, str]:  # noqa: ARG002
        missing = "" if self.missing is None else f'; a missing entry counts as "{self.missing}"'
        return "true or false", f"true, false{missing}"

    def describe_unknown(self) -> str:
        if self.missing is None or self.on_unknown == "drop":
            return "not counted"
        return self.describe_missing()

    def facts(self) -> dict[str, Any]:
        return {}
