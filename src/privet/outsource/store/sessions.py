"""Transaction: one of a database, in the SQL that DuckDB and PostgreSQL share. Values are bound as
``$1``, ``$2``, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from privet.typed import Ints

#: Rows that are fetched at once.
BLOCK = 1 << 16


class Transaction(Protocol):
    """What a transaction can do."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement that answers nothing."""
        ...

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of an answer."""
        ...

    def blocks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of an answer, :data:`BLOCK` at a time."""
        ...

    def put(self, table: str, *columns: Ints) -> None:
        """Add many lines of whole numbers to a table."""
        ...
