"""Open read-only connections to a PostgreSQL server, whose errors tell nothing about rows."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from privet.errors import TableError

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

_KEPT = 4  # connections that wait for the next question
_BLOCK = 1 << 15  # rows that are fetched at once
_SETTINGS = {
    "default_transaction_read_only": "on",
    # nobody else's functions answer to the names in a statement
    "search_path": "pg_catalog, pg_temp",
    "jit": "off",  # compiling long statements takes longer than running them
    "idle_in_transaction_session_timeout": "0",  # a snapshot ends when it is left
    "standard_conforming_strings": "on",
}


class PostgresConnections:
    """Connections to one database, kept for the next question. Several threads may use it at once.

    Args:
        url: as libpq reads it. ``connect_timeout`` is 5 seconds unless it says otherwise.
    """

    def __init__(self, url: str) -> None:
        self._parameters = _parse_url(url)
        #: Where it leads, without user and password.
        self.place = f"{self._parameters.get('host', '')}/{self._parameters.get('dbname', '')}"
        # by process: a forked child must leave its parent's connections alone
        self._idle: dict[int, list[Connection]] = {}
        self._lock = threading.Lock()
        self._within = _Within()
        self._settings = dict(_SETTINGS)
        weakref.finalize(self, _close, self._idle)

    def limit_time(self, statement: float, lock: float) -> None:
        """Let the server end statements, and waits for locks, after so many seconds.

        Snapshots that are open keep the limits that they began with.
        """
        limits = {"statement_timeout": statement, "lock_timeout": lock}
        self._settings |= {name: f"{seconds * 1000:.0f}ms" for name, seconds in limits.items()}
        with self._lock:
            kept = self._idle.pop(os.getpid(), [])
        for connection in kept:  # they have others
            connection.close()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Use a connection of one's own, on which every statement is a transaction.

        One that the server has closed is replaced.
        """
        connection = self._kept() or self._open_connection()
        try:
            yield connection
        finally:
            self._keep(connection)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Use a connection whose statements all see the rows as they are at the first of them."""
        import psycopg

        with self.connection() as connection:
            with suppress(psycopg.Error):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if _status(connection) != psycopg.pq.TransactionStatus.INTRANS:
                raise TableError(f"the PostgreSQL server {self.place} does not begin a snapshot")
            outer, self._within.connection = self._within.connection, connection
            try:
                yield connection
            finally:
                self._within.connection = outer
                if _status(connection) == psycopg.pq.TransactionStatus.ACTIVE:
                    connection.close()  # somebody left while rows were read
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")

    @contextmanager
    def nearest(self) -> Iterator[Connection]:
        """Use the connection of the transaction that this thread is in, or else one of its own.

        Within a transaction another connection could wait for ever: for somebody who waits for the
        transaction, to lock the table.
        """
        if self._within.connection is not None:
            yield self._within.connection
            return
        with self.connection() as connection:
            yield connection

    def _kept(self) -> Connection | None:
        import psycopg

        while True:
            with self._lock:
                idle = self._idle.get(os.getpid())
                if not idle:
                    return None
                connection = idle.pop()
            try:
                connection.execute(b"")  # is the server still there?
                return connection
            except psycopg.Error:
                connection.close()

    def _open_connection(self) -> Connection:
        import psycopg

        try:
            connection = psycopg.connect(
                **self._parameters,
                autocommit=True,
                cursor_factory=psycopg.RawCursor,
                prepare_threshold=None,
            )
            settings = ", ".join(
                f"set_config('{name}', '{value}', false)" for name, value in self._settings.items()
            )
            connection.execute(f"SELECT {settings}".encode())
            return connection
        except psycopg.Error as error:
            said = str(error).partition("\n")[0]
        raise TableError(f"cannot reach the PostgreSQL server {self.place}: {said}")

    def _keep(self, connection: Connection) -> None:
        import psycopg

        if _status(connection) == psycopg.pq.TransactionStatus.IDLE:
            with self._lock:
                idle = self._idle.setdefault(os.getpid(), [])
                if len(idle) < _KEPT:
                    idle.append(connection)
                    return
        connection.close()


class _Within(threading.local):
    """The connection of the transaction that a thread is in."""

    connection: Connection | None = None


def _status(connection: Connection) -> psycopg.pq.TransactionStatus:
    return connection.info.transaction_status


def _close(idle: dict[int, list[Connection]]) -> None:
    for connection in idle.get(os.getpid(), []):
        connection.close()


def _parse_url(url: str) -> dict[str, Any]:
    """Return what a URL says.

    Parts of a password that stand in the wrong place must not get into a message.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        said = conninfo_to_dict(url)
    except psycopg.Error:
        said = {"host": "@"}
    host, port, database = (str(said.get(key, "")) for key in ("host", "port", "dbname"))
    if "@" in host + database or (port and not port.replace(",", "").isdecimal()):
        raise TableError(
            "a PostgreSQL table is given as "
            "postgresql://user:password@host/database?table=schema.table, with special characters "
            "percent-encoded"
        )
    return {"connect_timeout": 5, "application_name": "privet", "client_encoding": "utf8", **said}


def fetch_blocks(
    connection: Connection, sql: str, values: Sequence[Any], name: str, size: int = _BLOCK
) -> Iterator[list[tuple[Any, ...]]]:
    """Run a statement, and return the rows of its answer in blocks.

    Blocks have so many rows, and take little memory.

    What the server says about an error may quote rows, so it is not passed on, not even as a cause.
    """
    import psycopg

    if _status(connection) == psycopg.pq.TransactionStatus.ACTIVE:
        raise TableError(
            f"the rows of {name} are still being read; a snapshot answers one question at a time"
        )
    chunk = min(size, 10_000) if psycopg.capabilities.has_stream_chunked() else 1
    rows: Iterator[tuple[Any, ...]] | None = None
    while True:
        try:
            rows = rows or connection.cursor().stream(sql.encode(), values, binary=True, size=chunk)
            block = list(islice(rows, size))
        except psycopg.Error as error:
            kind = type(error).__name__
        else:
            if not block:
                return
            yield block
            continue
        raise TableError(
            f"PostgreSQL could not read {name} ({kind}); its message is withheld because it may "
            "quote rows"
        )


def fetch_all(
    connection: Connection, sql: str, values: Sequence[Any], name: str
) -> list[tuple[Any, ...]]:
    """Run a statement, and return all rows of its answer."""
    return [row for block in fetch_blocks(connection, sql, values, name) for row in block]
