"""Open SQLite files, read-only, with errors that tell nothing about rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from privet.errors import TableError
from privet.tables.sqlite.functions import add_functions

_BLOCK = 1 << 15  # rows that are fetched at once


def connect(path: Path) -> tuple[sqlite3.Connection, str]:
    """Open a file that must be there; return how it stores text, too.

    Nothing is written to it. A file in WAL mode may get its two companions.
    """
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise TableError(f"cannot open {path}: {error}") from None
    connection.text_factory = _decode_text
    try:
        fetch_all(connection, "PRAGMA query_only = ON", (), path.name)
        ((encoding,),) = fetch_all(connection, "PRAGMA encoding", (), path.name)
    except TableError:
        connection.close()
        raise
    add_functions(connection, encoding)
    return connection, encoding


def fetch_blocks(
    connection: sqlite3.Connection,
    sql: str,
    values: Sequence[Any],
    name: str,
    size: int = _BLOCK,
) -> Iterator[list[tuple[Any, ...]]]:
    """Run a statement, and return the rows of its answer in blocks of so many rows.

    What SQLite says about an error may quote rows, so it is not passed on, not even as a cause.
    """
    cursor: sqlite3.Cursor | None = None
    while True:
        try:
            cursor = cursor or connection.execute(sql, values)
            block = cursor.fetchmany(size)
        except sqlite3.Error as error:
            said = _name_of(error)
        else:
            if not block:
                return
            yield block
            continue
        raise TableError(f"SQLite could not read {name}{_explain(said)}")


def fetch_all(
    connection: sqlite3.Connection, sql: str, values: Sequence[Any], name: str
) -> list[tuple[Any, ...]]:
    """Run a statement, and return all rows of its answer."""
    return [row for block in fetch_blocks(connection, sql, values, name) for row in block]


def _name_of(error: sqlite3.Error) -> str:
    """Return the name of an error, which tells nothing about rows."""
    return str(getattr(error, "sqlite_errorname", type(error).__name__))


def _explain(error_name: str) -> str:
    if error_name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return ": another program is writing to its file; try again when it has finished"
    if error_name == "SQLITE_NOTADB":
        return ": it is no SQLite database, or it is encrypted"
    return f" ({error_name}); its message is withheld because it may quote rows"


def _decode_text(data: bytes) -> str | bytes:
    """Return text; what is stored as such and is none stays bytes, which match nothing."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
