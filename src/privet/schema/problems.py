"""How a table can fail to fit its schema, said to the owner without a value or a count of the
table.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from privet.errors import SchemaMismatch

What = Literal["absent", "dtype", "identity", "unlisted", "null", "not a number", "out of range"]

_ADVICE: dict[What, str] = {
    "absent": "is not in the table; add it, or take it out of the schema",
    "dtype": (
        "has a type that cannot be matched with the schema; store it as text, numbers or truth "
        "values"
    ),
    "identity": (
        "says whose row it is, but holds fractions, in which large identifiers are not exact; "
        "store it as text or integers"
    ),
    "unlisted": "holds values that the schema does not list; list them, declare a catch-all with "
    "'other', or accept that such rows are not counted with on_unknown 'drop'",
    "null": "holds missing entries; declare what stands for them with 'missing', "
    "or accept that such rows are not counted with on_unknown 'drop'",
    "not a number": "holds text that is no number; declare the column as categorical, clean it, or "
    "declare 'missing' so that null stands for it",
    "out of range": "holds numbers outside the declared bounds; widen them, or accept with "
    "on_unknown 'clip' (counted in the nearest bin) or 'drop' (not counted)",
}


def describe(column: str, what: What) -> str:
    """One line that names the column and the way out."""
    return f"column {column!r} {_ADVICE[what]}"


def raise_if_any(problems: Iterable[tuple[str, What]]) -> None:
    """Raise one error that lists all problems."""
    lines = [describe(column, what) for column, what in problems]
    if lines:
        raise SchemaMismatch(lines)
