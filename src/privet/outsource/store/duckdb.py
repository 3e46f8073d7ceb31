"""Keep a store in a DuckDB file. One process owns it at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb

from privet._types import Ints
from privet.errors import OutsourceError, ParameterError, Unavailable
from privet.outsource.store.sql import SqlStore
from privet.outsource.store.staging import stage
from privet.outsource.store.tables import BLOCK

_LOADING = ".loading"
_opened: set[Path] = set()  # by this process, in which DuckDB would let one file be opened twice
_opened_lock = threading.Lock()


class DuckDBStore(SqlStore):
    """A store in a file. Readers have a cursor each; writers wait for one another."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        if not self._path.is_file():
            raise OutsourceError(f"there is no store {path}")
        with _opened_lock:
            if self._path in _opened:
                raise OutsourceError(f"the store {path} is open already")
            _opened.add(self._path)
        self._lock = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        try:
            self._connection = _connect(self._path)
            # From here on nothing but this file is read or written, whatever a statement says.
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")
            super().__init__()
        except BaseException:
            self.close()
            raise

    @classmethod
    def make(cls, path: Path, folder: Path) -> None:
        """Make a store of the owner's folder.

        The file gets its name only when it is whole.
        """
        if path.exists():
            raise ParameterError(f"{path} exists; a store needs a file of its own")
        if not path.absolute().parent.is_dir():
            raise ParameterError(f"cannot make {path}: the folder {path.parent} does not exist")
        partial = path.with_name(path.name + _LOADING)
        _remove_partial_file(partial)  # what an interrupted loading left
        try:
            connection = _connect(partial)
            try:
                partial.chmod(0o600)
                stage(connection, folder)
                connection.execute("CHECKPOINT")
            finally:
                connection.close()
            partial.rename(path)
        finally:
            _remove_partial_file(partial)

    def close(self) -> None:
        with _opened_lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()
            _opened.discard(self._path)

    @contextmanager
    def reading(self) -> Iterator[_Cursor]:
        with self._transaction("BEGIN TRANSACTION READ ONLY") as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[_Cursor]:
        with self._lock, self._transaction("BEGIN TRANSACTION") as session:
            yield session

    def glance(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        # A transaction of its own by itself: beginning and ending one would take as long as the
        # statement.
        connection = self._connection
        if connection is None:
            raise Unavailable("the store is closed")
        try:
            with connection.cursor() as cursor:
                return cursor.execute(sql, list(values)).fetchall()
        except duckdb.Error as error:  # what it says may quote rows
            raise Unavailable(f"the store cannot be used ({type(error).__name__})") from None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[_Cursor]:
        connection = self._connection
        if connection is None:
            raise Unavailable("the store is closed")
        try:
            with connection.cursor() as cursor:
                cursor.execute(begin)
                try:
                    yield _Cursor(cursor)
                except BaseException:
                    with suppress(duckdb.Error):
                        cursor.execute("ROLLBACK")
                    raise
                cursor.execute("COMMIT")
        except duckdb.Error as error:  # what it says may quote rows
            raise Unavailable(
                f"the store cannot be used ({type(error).__name__}); nothing was stored"
            ) from None


class _Cursor:
    """A transaction."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self._cursor = cursor

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        self._cursor.execute(sql, list(values))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._cursor.execute(sql, list(values)).fetchall()

    def blocks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        self._cursor.execute(sql, list(values))
        while block := self._cursor.fetchmany(BLOCK):
            yield block

    def put(self, table: str, *columns: Ints) -> None:
        import pandas as pd

        self._cursor.register("given", pd.DataFrame(dict(enumerate(columns))))
        try:
            self._cursor.execute(f"INSERT INTO {table} SELECT * FROM given")
        finally:
            self._cursor.unregister("given")


def _connect(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        return duckdb.connect(
            path, config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
        )
    except duckdb.IOException as error:
        if "lock" in str(error):
            raise OutsourceError(
                f"the store {path} is in use by another process; one server owns it at a time"
            ) from None
        raise OutsourceError(
            f"cannot open the store {path}: it is damaged, or no DuckDB file"
        ) from None
    except duckdb.Error:
        raise OutsourceError(
            f"cannot open the store {path}: it is damaged, or no DuckDB file"
        ) from None


def _remove_partial_file(partial: Path) -> None:
    for path in (partial, partial.with_name(partial.name + ".wal")):
        path.unlink(missing_ok=True)
