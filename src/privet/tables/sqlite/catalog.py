"""Say what SQLite's catalog tells about columns. No row is read."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.encoding import ValueKind
from privet.tables.catalog.rules import apply_rules
from privet.tables.sqlite.codes import SQLiteDialect
from privet.tables.sqlite.connections import fetch_all

_PRIMARY = "SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0"
_UNIQUE = (
    "SELECT i.name, min(c.name), count(*) FROM pragma_index_list(?1) AS i, "
    'pragma_index_info(i.name) AS c WHERE i."unique" AND NOT i.partial GROUP BY i.name'
)
_WRITTEN = "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?1"
_CHECK = re.compile(r"\bcheck\s*\(", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)


def describe_sqlite_columns(
    connection: sqlite3.Connection, table: str, types: Mapping[str, str]
) -> list[ColumnFacts]:
    """Return the facts of the columns of a table or view."""
    primary = [name for (name,) in fetch_all(connection, _PRIMARY, [table], table)]
    alone = set(primary) if len(primary) == 1 else set()
    alone |= {
        column for _, column, count in fetch_all(connection, _UNIQUE, [table], table) if count == 1
    }
    facts = {
        name: ColumnFacts(name, _kind_of(declared), declared, unique=name in alone)
        for name, declared in types.items()
    }
    written = fetch_all(connection, _WRITTEN, [table], table)
    checks = _list_checks(written[0][0] or "") if written else []
    return list(apply_rules(facts, checks).values())


def _kind_of(declared: str) -> ValueKind | None:
    """Return what a column is meant to hold: dates are stored as text."""
    if "DATE" in declared.upper() or "TIMESTAMP" in declared.upper():
        return "date"
    return None if "BLOB" in declared.upper() else SQLiteDialect.kind_of(declared)


def _list_checks(statement: str) -> list[str]:
    """Return the conditions of the CHECK constraints in a CREATE TABLE statement."""
    # the same text, in which nothing quoted can open or close a parenthesis
    masked = _QUOTED.sub(lambda match: "x" * len(match.group()), statement)
    found = []
    for match in _CHECK.finditer(masked):
        depth, place = 1, match.end()
        while place < len(masked) and depth:
            depth += {"(": 1, ")": -1}.get(masked[place], 0)
            place += 1
        found.append(statement[match.end() : place - 1])
    return found
