"""Connections to DuckDB: read-only, bounded in memory, and silent about rows."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from privet.errors import TableError

if TYPE_CHECKING:
    import duckdb

Done = TypeVar("Done")
_MEMORY = 4 << 30  # bytes at most; what is more goes to disk


def connect(database: str | None, name: str) -> duckdb.DuckDBPyConnection:
    """Open a database file, read-only, or none."""
    import duckdb

    try:
        connection = (
            duckdb.connect() if database is None else duckdb.connect(database, read_only=True)
        )
        _bound_memory(connection)
        # Our joins are written in their best order: the rows stream through small tables. Estimates
        # only mislead.
        connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        return connection
    except duckdb.Error as error:
        raise TableError(f"cannot open {name}: {str(error).splitlines()[0]}") from None


def _bound_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """What does not fit goes to files that only this process can read, in the folder for temporary
    files, not in the current one.
    """
    folder = tempfile.TemporaryDirectory(prefix="privet-", ignore_cleanup_errors=True)
    weakref.finalize(connection, folder.cleanup)
    connection.execute("SET temp_directory = $folder", {"folder": folder.name})
    connection.execute("SET temp_file_encryption = true")
    connection.execute(f"SET memory_limit = '{_MEMORY >> 20}MiB'")
    # How far a statement has come can be asked; nothing is printed.
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")


def execute(
    cursor: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, Any], name: str
) -> duckdb.DuckDBPyConnection:
    """Run a statement. What the engine says about an error may quote rows, so it is not passed on,
    not even as a cause.
    """
    return _run_without_details(lambda: cursor.execute(sql, parameters), name)


def fetch_chunks(cursor: duckdb.DuckDBPyConnection, vectors: int, name: str) -> Iterator[Any]:
    """The rows of a statement, as pandas DataFrames of so many vectors."""
    while len(chunk := _run_without_details(lambda: cursor.fetch_df_chunk(vectors), name)):
        yield chunk


def _run_without_details(work: Callable[[], Done], name: str) -> Done:
    import duckdb

    try:
        return work()
    except duckdb.Error as error:
        kind = type(error).__name__
    raise TableError(
        f"DuckDB could not read {name} ({kind}); its message is withheld because it may quote rows"
    )
