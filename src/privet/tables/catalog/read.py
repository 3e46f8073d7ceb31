"""Read what is written about the columns of any table. No row is read."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from privet.domain.drafting.facts import ColumnFacts
from privet.errors import TableError
from privet.tables.base import Table


@runtime_checkable
class Described(Protocol):
    """A table whose source says what its columns are."""

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what is written about each column. Looks at no row."""


def read_catalog(table: Table) -> list[ColumnFacts]:
    """Return what is written about each column of a table, in their order."""
    if not isinstance(table, Described):
        raise TableError(
            f"the source of {table.name} does not say what its columns are; draft the schema from "
            "a public sample, or write it by hand (docs/reference/schema-file.md)"
        )
    return table.describe_columns()
