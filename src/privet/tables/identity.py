"""Tell whether two places hold the same rows, so that a table has one account.

A file has many names: links, other folders, hard links. So has a table of a server: other spellings
of its address, views, partitions. What is compared is where the rows are in the end, as far as the
file system and the catalog of the database say: which file, which server, database and table.
Copies cannot be recognised, nor what a foreign table or a function reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from privet.tables.base import Table
from privet.tables.sources.registry import file_of


@runtime_checkable
class Identified(Protocol):
    """A table that knows which relations its rows come from, in its file or anywhere."""

    def list_relations(self) -> Iterable[str]:
        """Return what tells these relations from all others in the file, or in the world."""


def identify_rows(place: str, table: Table) -> frozenset[str]:
    """Return names for where the rows are: tables that have one in common have rows in common.

    Args:
        place: the place, as :func:`~privet.open_table` takes it.
        table: the table that was opened there. Looks at no row.
    """
    file = file_of(place)
    relations = frozenset(table.list_relations()) if isinstance(table, Identified) else frozenset()
    if file is None:
        return relations or frozenset({f"place {place}"})
    files = {f"file {file}"}
    if file.exists():
        found = file.stat()
        files.add(f"inode {found.st_dev}:{found.st_ino}")
    return frozenset(
        f"{one} {relation}".rstrip() for one in files for relation in relations or {""}
    )


def count_names(place: str) -> int:
    """Return how many names the file of a table has (hard links); 1 where it is at a server."""
    file = file_of(place)
    return 1 if file is None or not file.exists() else file.stat().st_nlink
