"""Tables in SQLite files, for tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

from privet.tables.dialect import quote_identifier


def put_rows(path: Path, columns: dict[str, str], rows: Any, name: str = "people") -> str:
    """Make a table with these declared types in a file; return its URL for ``open_table``."""
    declared = ", ".join(f"{quote_identifier(column)} {kind}" for column, kind in columns.items())
    table = quote_identifier(name)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(f"CREATE TABLE {table} ({declared})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        connection.commit()
    return f"sqlite:///{path}?table={quote(name)}"


def put_frame(path: Path, frame: Any, name: str = "people") -> str:
    """Make a table of a data frame in a file; return its URL for ``open_table``."""
    kinds = {"b": "BOOLEAN", "i": "INTEGER", "u": "INTEGER", "f": "REAL", "M": "TIMESTAMP"}
    columns = {str(column): kinds.get(frame[column].dtype.kind, "TEXT") for column in frame.columns}
    entries = frame.astype(object).where(frame.notna(), None)
    rows = ([_store(entry) for entry in row] for row in entries.itertuples(index=False))
    return put_rows(path, columns, rows, name)


def _store(entry: Any) -> Any:
    """Return an entry as SQLite has it: dates are text."""
    return entry.isoformat() if isinstance(entry, date) else entry
