"""Count rows inside a PostgreSQL server. The table is never loaded into Python.

One statement answers a whole question (:mod:`~privet.tables.grouping`). Where it is too large for
that, the rows are grouped by the codes it uses, and the groups stream into the counting loop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from privet._types import Ints, Tables, WeightedRows
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.values import raise_if_any
from privet.domain.questions import Question
from privet.errors import QuestionError, TableError
from privet.tables.base import Division
from privet.tables.counting.passes import Counting
from privet.tables.dialect import (
    ColumnSQL,
    found_problems,
    quote_identifier,
    select_problems,
    structure_problems,
    used_codes,
)
from privet.tables.grouping import Cases, CodeRadix
from privet.tables.kept_rows import KeptRows, keep_groups
from privet.tables.postgres.catalog import describe_postgres_columns
from privet.tables.postgres.codes import (
    PostgresDialect,
    encode_postgres_rows,
    number_expression,
    postgres_kind_of,
)
from privet.tables.postgres.connections import PostgresConnections, fetch_all, fetch_blocks
from privet.tables.snapshot_scores import SnapshotScores
from privet.tables.sources.builtin import POSTGRES

if TYPE_CHECKING:
    from privet.tables.counting.row_sums import RowSums
    from privet.tables.postgres.connections import Connection

_TABLES = (
    "SELECT oid::int8, spot, name, name = $1::text OR spot || '.' || name = $1::text FROM (SELECT "
    "c.oid, n.nspname::text AS spot, c.relname::text AS name FROM pg_class AS c JOIN pg_namespace "
    "AS n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND "
    "c.relpersistence <> 't' AND n.nspname <> ALL ('{pg_catalog,information_schema}')) AS named "
    "WHERE lower($1::text) IN (lower(name), lower(spot || '.' || name))"
)
_COLUMNS = (
    "WITH RECURSIVE typed AS (SELECT attnum, attname, atttypid AS type FROM pg_attribute WHERE "
    "attrelid = $1 AND attnum > 0 AND NOT attisdropped UNION ALL SELECT attnum, attname, "
    "typbasetype FROM typed JOIN pg_type ON oid = type WHERE typtype = 'd') SELECT attname::text, "
    "CASE WHEN typtype = 'e' THEN 'enum' WHEN typcategory = 'S' THEN 'text' WHEN typnamespace = "
    "'pg_catalog'::regnamespace THEN typname::text ELSE 'other' END FROM typed JOIN pg_type ON oid "
    "= type WHERE typtype <> 'd' ORDER BY attnum"
)
_WRITABLE = (
    "SELECT has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE') OR "
    "has_any_column_privilege(oid, 'INSERT, UPDATE') "
    "OR pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = $1"
)
#: Whether each row has a place of its own: not in a view, nor in what another server holds, also as
#: a partition.
_HAS_PLACES = (
    "WITH RECURSIVE held AS (SELECT $1::oid AS id UNION SELECT inhrelid FROM held JOIN pg_inherits "
    "ON inhparent = id) "
    "SELECT bool_and(relkind IN ('r', 'p', 'm')) FROM held JOIN pg_class ON oid = id"
)
#: All relations that the rows of one come from: what views read, heirs, and partitions.
_RELATIONS = (
    "WITH RECURSIVE reads AS (SELECT r.ev_class AS reader, d.refobjid AS source FROM pg_rewrite AS "
    "r JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND "
    "d.refclassid = 'pg_class'::regclass WHERE d.refobjid >= 16384 "
    "UNION SELECT inhparent, inhrelid FROM pg_inherits), "
    "held AS (SELECT $1::oid AS id UNION SELECT source FROM held JOIN reads ON reader = id) "
    "SELECT (SELECT system_identifier FROM pg_control_system())::text, (SELECT oid FROM "
    "pg_database WHERE datname = current_database())::text, c.oid::text, n.nspname || '.' || "
    "c.relname FROM held JOIN pg_class AS c ON c.oid = id JOIN pg_namespace AS n ON n.oid = "
    "c.relnamespace ORDER BY c.oid"
)


@dataclass(frozen=True)
class PostgresTable:
    """A table, view, or foreign table of a PostgreSQL server. ``relation`` is its quoted name."""

    name: str
    relation: str
    oid: int
    connections: PostgresConnections = field(repr=False)

    def answer(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return what the server answers to one statement."""
        with self.connections.connection() as connection:
            return fetch_all(connection, sql, values, self.name)

    @cached_property
    def columns(self) -> dict[str, str]:
        """The type of each column: what a domain is made of, ``text`` for all kinds of text,
        ``enum`` for all enumerations.
        """
        return dict(self.answer(_COLUMNS, [self.oid]))

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what the catalog says about each column. Looks at no row."""
        return describe_postgres_columns(self.answer, self.oid, self.columns)

    def check_structure(self, schema: Schema) -> None:
        with self.connections.nearest() as connection:  # they may be others than before
            columns = dict(fetch_all(connection, _COLUMNS, [self.oid], self.name))
        raise_if_any(structure_problems(schema, columns, PostgresDialect), columns)

    def check_reachable(self) -> None:
        with self.connections.nearest() as connection:
            fetch_all(connection, f"SELECT FROM {self.relation} LIMIT 0", (), self.name)

    def limit_time(self, statement: float, lock: float) -> None:
        """Let the server end statements, and waits for locks, after so many seconds."""
        self.connections.limit_time(statement, lock)

    def writable(self) -> bool:
        """Return whether these credentials could change the table, which a curator's should not."""
        return self.answer(_WRITABLE, [self.oid]) == [(True,)]

    def list_relations(self) -> list[str]:
        """Return the server, the database and the relations that the rows come from, those that a
        view reads too. By number, as names change, and by name, as a table may be made anew.
        """
        rows = self.answer(_RELATIONS, [self.oid])
        return [
            f"postgresql {server} {database} {relation}"
            for server, database, *both in rows
            for relation in both
        ]

    @cached_property
    def has_places(self) -> bool:
        """Whether each row has a place in the table that tells it from all others."""
        return self.answer(_HAS_PLACES, [self.oid]) == [(True,)]

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        return structure_problems(schema, self.columns, PostgresDialect)

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        problems, dialect = self._structure(schema), PostgresDialect()
        broken = {column for column, _ in problems}
        sql, told = select_problems(dialect, self.relation, self.columns, schema, broken)
        if not told:
            return problems
        (answer,) = self.answer(sql, dialect.values)
        return problems + found_problems(told, answer)

    def source(self, schema: Schema) -> PostgresSource:
        return PostgresSource(self, schema)

    def read_blocks(self, size: int) -> Iterator[Any]:
        """Return all rows as pandas DataFrames of so many rows; an empty one for no rows.

        For those who may see the rows.
        """
        selected = ", ".join(
            f"{_readable_expression(column, sql_type)} AS {quote_identifier(column)}"
            for column, sql_type in self.columns.items()
        )
        sql = f"SELECT {selected} FROM {self.relation} AS t"
        with self.connections.connection() as connection:
            first = True
            for block in fetch_blocks(connection, sql, (), self.name, size):
                yield _make_frame(block, self.columns)
                first = False
            if first:
                yield _make_frame([], self.columns)


def table_of_server(url: str) -> PostgresTable:
    """Return the table that a URL names with ``table=``, under the one name that the database has
    for it.
    """
    server, _, query = url.partition("?")
    name = POSTGRES.table_named_in(url)
    rest = "&".join(pair for pair in query.split("&") if pair and not pair.startswith("table="))
    connections = PostgresConnections(f"{server}?{rest}" if rest else server)
    with connections.connection() as connection:
        tables = fetch_all(connection, _TABLES, [name], name)
    # as it is written, or else whatever its case
    tables = [row for row in tables if row[3]] or tables
    if len(tables) > 1:
        tables = [row for row in tables if row[1] == "public"]
    if len(tables) != 1:
        raise TableError(
            f"no table {name!r}, or more than one, in the PostgreSQL database "
            f"{connections.place}; write schema.table"
        )
    ((oid, schema, table, _),) = tables
    return PostgresTable(
        f"{schema}.{table}",
        f"{quote_identifier(schema)}.{quote_identifier(table)}",
        oid,
        connections,
    )


class PostgresSource:
    """Exact counts by PostgreSQL.

    Several threads may count at once; a snapshot belongs to the thread that opened it.
    """

    def __init__(self, table: PostgresTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._own = _PostgresSession()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Open a read-only transaction that sees the rows as they are at its first question."""
        if self._own.connection is not None:
            yield
            return
        with self._table.connections.transaction() as connection:
            self._own.connection = connection
            try:
                with self._own.scores.snapshot():
                    yield
            finally:
                self._own.connection = self._own.division = None
                kept, self._own.kept = self._own.kept, None
                if kept is not None:
                    kept.close()

    def count(self, question: Question) -> Tables:
        with self._encoded() as (connection, bound, encoded):
            cases = Cases(question)
            if cases.fits:
                return cases.tables(
                    fetch_blocks(connection, cases.statement(encoded), bound, self._table.name)
                )
            counting = Counting(question)
            for rows in self._groups(used_codes(question), connection, bound, encoded):
                counting.add(*rows)
            return counting.tables()

    def rows(self) -> Iterator[WeightedRows]:
        """Return groups of equal rows; within a snapshot, the server encodes them once."""
        if self._own.connection is None:
            yield from self._fetch_groups()
            return
        if self._own.kept is None:
            self._own.kept = keep_groups(self._schema, self._fetch_groups())
        yield from self._own.kept.blocks()

    def sum_rows(self, sums: RowSums) -> Ints:
        """Return sums over all rows; within a snapshot, scores are kept for the next ones."""
        return self._own.scores.sum_rows(sums, self.rows())

    def _fetch_groups(self) -> Iterator[WeightedRows]:
        with self._encoded() as (connection, bound, encoded):
            yield from self._groups(
                [f"c{a}" for a in range(len(self._schema.names))], connection, bound, encoded
            )

    def parts(self, n_parts: int, key: bytes) -> Sequence[PostgresPart]:
        """Return parts of this snapshot.

        They are good until it ends or the rows are divided anew: who is in which part is then
        forgotten.
        """
        if self._own.connection is None:
            raise TableError(
                "a table is divided within a snapshot, so that everybody stays in one part"
            )
        if self._schema.person is None and not self._table.has_places:
            raise QuestionError(
                "this table cannot be divided at random, as its rows cannot be told apart: it is a "
                "view, or held by another server. Its owner can name the column that tells people "
                "apart as 'person' in the schema, or open the table itself"
            )
        self._own.division = Division(n_parts, key)
        return [PostgresPart(self, part, self._own.division) for part in range(n_parts)]

    @contextmanager
    def _encoded(
        self, division: Division | None = None
    ) -> Iterator[tuple[Connection, list[Any], str]]:
        """Use a connection, with a SELECT of the encoded rows."""
        bound, encoded = encode_postgres_rows(
            self._table.relation, self._table.columns, self._schema, division
        )
        if self._own.connection is not None:
            yield self._own.connection, bound, encoded
            return
        with self._table.connections.connection() as connection:
            yield connection, bound, encoded

    def _groups(
        self, names: list[str], connection: Connection, bound: list[Any], encoded: str
    ) -> Iterator[WeightedRows]:
        """Return groups of equal rows as codes, classes and weights.

        Codes that were not selected are zero.
        """
        radix = CodeRadix(self._schema, names)
        numbers = ", ".join(f"{number} AS k{i}" for i, number in enumerate(radix.expressions()))
        keys = ", ".join(f"k{i}" for i in range(len(radix.expressions())))
        sql = (
            f"SELECT {keys}, count(*) AS n FROM (SELECT {numbers} FROM ({encoded}) AS k) AS g "
            f"GROUP BY {keys}"
        )
        for block in fetch_blocks(connection, sql, bound, self._table.name):
            *packed, weights = np.array(block, dtype=np.int64).T
            yield radix.rows(packed, weights)


class PostgresPart(PostgresSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: PostgresSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    @contextmanager
    def _encoded(
        self, division: Division | None = None
    ) -> Iterator[tuple[Connection, list[Any], str]]:
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

    def parts(self, n_parts: int, key: bytes) -> Sequence[PostgresPart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")


class _PostgresSession(threading.local):
    """What a thread has open: the connection of its snapshot, the rows that were fetched there,
    what is said about them, and how they are divided.
    """

    connection: Connection | None = None
    kept: KeptRows | None = None
    division: Division | None = None

    def __init__(self) -> None:  # once for each thread
        self.scores = SnapshotScores()


def _readable_expression(column: str, sql_type: str) -> str:
    """Return a column as it is sent to those who may see it."""
    if sql_type == "numeric":
        return number_expression(ColumnSQL(f"t.{quote_identifier(column)}", sql_type))
    return (
        f"t.{quote_identifier(column)}::text"
        if postgres_kind_of(sql_type) == "text"
        else f"t.{quote_identifier(column)}"
    )


def _make_frame(rows: list[tuple[Any, ...]], columns: dict[str, str]) -> Any:
    """Return rows as a DataFrame whose types do not depend on the rows."""
    import pandas as pd

    numbers = {
        "int2": "Int64",
        "int4": "Int64",
        "int8": "Int64",
        "float4": "float64",
        "float8": "float64",
        "numeric": "float64",
    }
    types = {"bool": "boolean", **numbers}
    entries = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
    series = [
        pd.Series(column, dtype=types.get(sql_type, "object"))
        for column, sql_type in zip(entries, columns.values(), strict=True)
    ]
    return pd.DataFrame(dict(zip(columns, series, strict=True)))
