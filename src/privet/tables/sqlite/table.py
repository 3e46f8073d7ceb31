"""Open a table of an SQLite file, and count its rows. The table is never loaded into Python.

SQLite encodes the rows that count, and the codes that a question looks at stream into the counting
loop. They are not grouped before: that would sort them, which takes as long and needs room on disk.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from privet._types import Tables, WeightedRows
from privet._validate import list_words, suggest
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.values import raise_if_any
from privet.domain.questions import Question
from privet.errors import QuestionError, TableError
from privet.tables.base import Division
from privet.tables.counting.passes import Counting
from privet.tables.dialect import (
    found_problems,
    quote_identifier,
    select_problems,
    structure_problems,
    used_codes,
)
from privet.tables.grouping import CodeRadix
from privet.tables.sqlite.catalog import describe_sqlite_columns
from privet.tables.sqlite.codes import SQLiteDialect, encode_sqlite_rows
from privet.tables.sqlite.connections import connect, fetch_all, fetch_blocks

_TABLES = (
    "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE "
    "'sqlite\\_%' ESCAPE '\\' ORDER BY name"
)
_COLUMNS = "SELECT name, type FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid"
_PLACES = ("rowid", "_rowid_", "oid")


@dataclass(frozen=True)
class SQLiteTable:
    """A table or view of an SQLite file.

    ``place`` is the name under which a row's place can be asked for; None where rows have none.
    ``encoding`` is how the file stores text.
    """

    name: str
    path: Path
    columns: dict[str, str]
    place: str | None
    encoding: str
    #: A connection that keeps the file which was opened apart from one that replaces it.
    _opened: sqlite3.Connection = field(repr=False, compare=False)
    _inode: int = field(repr=False)

    @property
    def relation(self) -> str:
        """The quoted name."""
        return f"main.{quote_identifier(self.name)}"

    @contextmanager
    def connection(self, dialect: SQLiteDialect | None = None) -> Iterator[sqlite3.Connection]:
        """Use a connection of one's own, with the functions of a statement."""
        connection, _ = connect(self.path)
        with closing(connection):
            for name, function in ({} if dialect is None else dialect.functions).items():
                connection.create_function(name, 1, function, deterministic=True)
            yield connection

    def check_structure(self, schema: Schema) -> None:
        with self.connection() as connection:  # they may be others than when it was opened
            columns = dict(fetch_all(connection, _COLUMNS, [self.name], self.name))
        raise_if_any(structure_problems(schema, columns, SQLiteDialect), columns)

    def check_reachable(self) -> None:
        try:
            opened = self.path.stat().st_ino == self._inode
        except OSError:
            raise TableError(f"the file of {self.name} is gone") from None
        if not opened:
            raise TableError(
                f"the file of {self.name} was replaced; open it again, which for a service means "
                "to start it again"
            )
        with self.connection() as connection:
            fetch_all(connection, f"SELECT 1 FROM {self.relation} LIMIT 0", (), self.name)

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        return structure_problems(schema, self.columns, SQLiteDialect)

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        problems, dialect = self._structure(schema), SQLiteDialect(self.encoding)
        broken = {column for column, _ in problems}
        sql, told = select_problems(dialect, self.relation, self.columns, schema, broken)
        if not told:
            return problems
        with self.connection(dialect) as connection:
            (answer,) = fetch_all(connection, sql, dialect.values, self.name)
        return problems + found_problems(told, answer)

    def source(self, schema: Schema) -> SQLiteSource:
        return SQLiteSource(self, schema)

    def read_blocks(self, size: int) -> Iterator[Any]:
        selected = ", ".join(f"t.{quote_identifier(column)}" for column in self.columns)
        sql = f"SELECT {selected} FROM {self.relation} AS t"
        with self.connection() as connection:
            first = True
            for block in fetch_blocks(connection, sql, (), self.name, size):
                yield _make_frame(block, self.columns)
                first = False
            if first:
                yield _make_frame([], self.columns)

    def writable(self) -> bool:
        return False  # files are opened read-only

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what the catalog says about each column. Looks at no row."""
        with self.connection() as connection:
            return describe_sqlite_columns(connection, self.name, self.columns)

    def list_relations(self) -> list[str]:
        """Return the tables of the file that are read: those behind a view, too."""
        names: set[str] = set()

        def note(action: int, table: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and table:
                names.add(table.lower())
            return sqlite3.SQLITE_OK

        with self.connection() as connection:
            connection.set_authorizer(note)
            fetch_all(connection, f"SELECT * FROM {self.relation} LIMIT 0", (), self.name)
        return sorted(names)


def table_of_file(path: Path, name: str) -> SQLiteTable:
    """Return a table or view of an SQLite file, under the one name that the database has for it.

    Case does not make another table.
    """
    if not path.is_file():
        raise TableError(f"no SQLite file {path}")
    connection, encoding = connect(path)
    try:
        names = dict(fetch_all(connection, _TABLES, (), path.name))
        # SQLite folds the case of ASCII only
        found = [known for known in names if _fold(known) == _fold(name)]
        if not found:
            there = list_words(list(names)[:10]) if names else "none"
            parts = [f"no table {name!r} in {path.name}", suggest(name, list(names))]
            parts.append(f"its tables and views: {there}")
            raise TableError("; ".join(part for part in parts if part))
        (table,) = found
        columns = dict(fetch_all(connection, _COLUMNS, [table], table))
        if not columns:
            raise TableError(f"cannot read {table} in {path.name}: it is a view of what is gone")
        return SQLiteTable(
            table,
            path,
            columns,
            _find_place(connection, table, columns) if names[table] else None,
            encoding,
            connection,
            path.stat().st_ino,
        )
    except BaseException:
        connection.close()
        raise


def _fold(name: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in name)


def _find_place(connection: sqlite3.Connection, table: str, columns: dict[str, str]) -> str | None:
    """Return a name for the place of a row that no column has; None where rows have no place."""
    taken = {column.lower() for column in columns}
    for place in _PLACES:
        if place not in taken:
            try:
                connection.execute(f"SELECT {place} FROM main.{quote_identifier(table)} LIMIT 0")
            except sqlite3.OperationalError:  # a table WITHOUT ROWID
                return None
            return place
    return None


class SQLiteSource:
    """Exact counts by SQLite.

    Several threads may count at once; a snapshot belongs to the thread that opened it.
    """

    def __init__(self, table: SQLiteTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._own = _SQLiteSession()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Open a read transaction that sees the rows as they are at its first question."""
        if self._own.connection is not None:
            yield
            return
        # its lookups are those of all statements in the snapshot
        _, dialect = self._statement(None)
        with self._table.connection(dialect) as connection:
            connection.execute("BEGIN DEFERRED")
            self._own.connection = connection
            try:
                yield
            finally:
                self._own.connection = self._own.division = None

    def count(self, question: Question) -> Tables:
        counting = Counting(question)
        for rows in self._stream(used_codes(question)):
            counting.add(*rows)
        return counting.tables()

    def rows(self) -> Iterator[WeightedRows]:
        yield from self._stream([f"c{a}" for a in range(len(self._schema.names))])

    def parts(self, n_parts: int, key: bytes) -> Sequence[SQLitePart]:
        """Return parts of this snapshot.

        They are good until it ends or the rows are divided anew: who is in which part is then
        forgotten.
        """
        if self._own.connection is None:
            raise TableError(
                "a table is divided within a snapshot, so that everybody stays in one part"
            )
        if self._schema.person is None and self._table.place is None:
            raise QuestionError(
                "this table cannot be divided at random, as its rows cannot be told apart: it is a "
                "view, or a table WITHOUT ROWID. Its owner can name the column that tells people "
                "apart as 'person' in the schema, or open the table itself"
            )
        self._own.division = Division(n_parts, key)
        return [SQLitePart(self, part, self._own.division) for part in range(n_parts)]

    def _statement(self, division: Division | None) -> tuple[str, SQLiteDialect]:
        dialect = SQLiteDialect(self._table.encoding)
        sql = encode_sqlite_rows(
            dialect,
            self._table.relation,
            self._table.columns,
            self._schema,
            division,
            self._table.place,
        )
        return sql, dialect

    @contextmanager
    def _encoded(
        self, division: Division | None = None
    ) -> Iterator[tuple[sqlite3.Connection, list[Any], str]]:
        """Use a connection, with a SELECT of the encoded rows."""
        encoded, dialect = self._statement(division)
        if self._own.connection is not None:
            yield self._own.connection, dialect.values, encoded
            return
        with self._table.connection(dialect) as connection:
            yield connection, dialect.values, encoded

    def _stream(self, names: list[str]) -> Iterator[WeightedRows]:
        """Return these codes of the rows, and their classes. Codes of others are zero."""
        radix = CodeRadix(self._schema, names)
        numbers = ", ".join(radix.expressions("0"))
        with self._encoded() as (connection, bound, encoded):
            sql = f"SELECT {numbers} FROM ({encoded}) AS k"
            for block in fetch_blocks(connection, sql, bound, self._table.name):
                packed = np.array(block, dtype=np.int64).T
                yield radix.rows(list(packed), np.ones(len(block), dtype=np.int64))


class SQLitePart(SQLiteSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: SQLiteSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    @contextmanager
    def _encoded(
        self, division: Division | None = None
    ) -> Iterator[tuple[sqlite3.Connection, list[Any], str]]:
        assert division is None
        # In another snapshot, or divided otherwise, somebody could be in two parts that were paid
        # for once.
        if self._whole._own.division is not self._division:
            raise TableError(
                "this part of the table is gone: its snapshot has ended, or the table was divided "
                "anew"
            )
        with self._whole._encoded(self._division) as (connection, bound, encoded):
            yield connection, bound, f"SELECT * FROM ({encoded}) AS d WHERE part = {self._part}"

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # that of the whole

    def parts(self, n_parts: int, key: bytes) -> Sequence[SQLitePart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")


class _SQLiteSession(threading.local):
    """What a thread has open: the connection of its snapshot, and how its rows are divided."""

    connection: sqlite3.Connection | None = None
    division: Division | None = None


def _make_frame(rows: list[tuple[Any, ...]], columns: dict[str, str]) -> Any:
    """Return rows as a DataFrame of objects, as every entry has a type of its own.

    Only 0 and 1 in a column of booleans become what they stand for.
    """
    import pandas as pd

    entries = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    truths = {0: False, 1: True}
    frame = {}
    for (column, declared), values in zip(columns.items(), entries, strict=True):
        boolean = SQLiteDialect.kind_of(declared) == "bool"
        frame[column] = pd.Series(
            [truths.get(v, v) if boolean and type(v) is int else v for v in values], dtype=object
        )
    return pd.DataFrame(frame)
