"""Counts from CSV and Parquet files and DuckDB databases, by DuckDB. The table is never loaded into Python.

One statement answers a whole question (:mod:`~privet.counts.bitsets`). Where it has too many cells for that, the rows are
grouped by the codes it uses, and the groups stream into the counting loop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.counts.base import Division, Rows, Tables
from privet.counts.bitsets import BitSets
from privet.counts.counting import Counting
from privet.counts.sql import Statement, code_expression, code_type, quoted, structure_problems, text_number, used_codes, with_tables
from privet.errors import TableError
from privet.question import Question
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.schema.attributes import Kind
from privet.schema.problems import What, raise_if_any

if TYPE_CHECKING:
    import duckdb

_MAX_WORDS = 256  # above this many words a question is answered by grouping
_SNAPSHOT = '"temp"."main"."privet_snapshot"'  # never a table of the owner's


@dataclass(frozen=True)
class DuckDBTable:
    """A relation that DuckDB can read.

    ``relation`` is SQL of our own with ``parameters`` bound in it, or a quoted table name; ``database`` is the
    database file, opened read-only, or None for files that DuckDB reads directly; ``broken_lines`` is SQL with its
    values that tells whether some line of a text file is no record.
    """

    name: str
    relation: str
    parameters: dict[str, Any]
    database: str | None = None
    broken_lines: tuple[str, dict[str, Any]] | None = None

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        connection = _connect(self.database, self.name)
        self._opened_file  # noqa: B018 - which file it is, as long as it is open
        return connection

    @cached_property
    def _opened_file(self) -> int | None:
        return None if self.database is None else Path(self.database).stat().st_ino

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same database."""
        return self._connection.cursor()

    @cached_property
    def columns(self) -> dict[str, str]:
        """The type of each column."""
        import duckdb

        try:
            with self.cursor() as cursor:
                rows = cursor.execute(f"DESCRIBE SELECT * FROM {self.relation}", self.parameters).fetchall()
        except duckdb.Error:
            raise TableError(f"cannot read {self.name}: it is damaged, or not what its name says") from None
        return {row[0]: row[1] for row in rows}

    def check_structure(self, schema: Schema) -> None:
        raise_if_any(self._structure(schema))

    def check_reachable(self) -> None:
        files = [place for place in (self.database, self.parameters.get("path")) if place is not None]
        if not all(Path(place).is_file() for place in files):
            raise TableError(f"the file of {self.name} is gone")
        if self.database is not None and Path(self.database).stat().st_ino != self._opened_file:  # what is open are the old rows
            raise TableError(f"the file of {self.name} was replaced; open it again, which for a service means to start it again")

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        fractions = {column for column, sql_type in self.columns.items() if sql_type in ("FLOAT", "DOUBLE")}
        return structure_problems(schema, {column: kind_of(sql_type) for column, sql_type in self.columns.items()}, fractions)

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        found = self._structure(schema)
        self._check_lines()
        broken = {column for column, _ in found}
        statement, tests = Statement(dict(self.parameters)), []
        attributes: dict[str, Attribute] = {**schema.attributes, schema.target: Categorical(schema.classes)}
        for i, (column, attribute) in enumerate(attributes.items()):
            if column not in broken:
                kind = kind_of(self.columns[column])
                assert kind is not None
                tests += [(column, what, test) for what, test in _problem_tests(statement, attribute, column, kind, f"d{i}")]
        if tests:
            selected = ", ".join(f"coalesce(bool_or({test}), false)" for _, _, test in tests)
            sql = f"{with_tables(statement.tables)}SELECT {selected} FROM {self.relation} AS t {' '.join(statement.joins)}"
            with self.cursor() as cursor:
                answers = execute(cursor, sql, statement.parameters, self.name).fetchone()
            assert answers is not None
            found += [(column, what) for (column, what, _), answer in zip(tests, answers, strict=True) if answer]
        return found

    def _check_lines(self) -> None:
        if self.broken_lines is not None:
            with self.cursor() as cursor:
                broken = execute(cursor, *self.broken_lines, self.name).fetchone()
            if broken != (False,):
                raise TableError(
                    f"{self.name} has lines that are no complete record (wrong number of fields, an unclosed quote, a line break "
                    "inside quotes); they are not counted. Repair them, or store the table as Parquet"
                )

    def source(self, schema: Schema) -> DuckDBSource:
        return DuckDBSource(self, schema)


def _connect(database: str | None, name: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        connection = duckdb.connect() if database is None else duckdb.connect(database, read_only=True)
        # Our joins are written in their best order: the rows stream through small tables. Estimates only mislead.
        connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        return connection
    except duckdb.Error as error:
        raise TableError(f"cannot open {name}: {str(error).splitlines()[0]}") from None


def table_of_database(path: Path, name: str) -> DuckDBTable:
    """A table of a DuckDB file, under the one name that the database has for it: case and schema do not make another table."""
    with _connect(str(path), path.name) as connection:
        rows = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database() "
            "AND lower($name) IN (lower(table_name), lower(table_schema || '.' || table_name))",
            {"name": name},
        ).fetchall()
    if len(rows) > 1:
        rows = [row for row in rows if row[0] == "main"]
    if len(rows) != 1:
        raise TableError(f"no table {name!r} in {path.name}")
    (schema, table) = rows[0]
    return DuckDBTable(f"{schema}.{table}", f"{quoted(schema)}.{quoted(table)}", {}, database=str(path))


def kind_of(sql_type: str) -> Kind | None:
    """What a DuckDB column holds; None where it cannot match."""
    family = sql_type.partition("(")[0]
    if family in ("VARCHAR", "ENUM", '"NULL"'):  # the last: a column that holds nothing at all
        return "text"
    if family == "BOOLEAN":
        return "bool"
    numbers = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"}
    return "number" if family in numbers or family.removeprefix("U") in numbers else None


class DuckDBSource:
    """Exact counts by DuckDB."""

    def __init__(self, table: DuckDBTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._session: duckdb.DuckDBPyConnection | None = None
        self._kept = False
        self._divided: Division | None = None  # of this snapshot
        self._kept_divided: Division | None = None  # what the kept rows say
        self._lock = threading.RLock()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep the encoded rows in a temporary table of DuckDB (which spills to disk), so that all questions see the same rows.

        It is made by the first question, after its charge.
        """
        with self._lock:
            if self._session is not None:
                yield
                return
            with self._table.cursor() as cursor:
                self._session, self._kept = cursor, False
                self._divided = self._kept_divided = None
                try:
                    yield
                finally:
                    self._session = self._divided = self._kept_divided = None
                    if self._kept:
                        cursor.execute(f"DROP TABLE {_SNAPSHOT}")

    def count(self, question: Question) -> Tables:
        with self._encoded() as (cursor, statement, encoded):
            return self._count(question, cursor, statement, encoded)

    def rows(self) -> Iterator[Rows]:
        with self._encoded() as (cursor, statement, encoded):
            names = [f"c{a}" for a in range(len(self._schema.names))]
            execute(cursor, grouped_statement(names, statement, encoded), statement.parameters, self._table.name)
            yield from self._chunks(cursor)

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:
        """Parts of this snapshot. They are good until it ends or the rows are divided anew: who is in which part is then forgotten."""
        with self._lock:
            if self._session is None:
                raise TableError("a table is divided within a snapshot, so that everybody stays in one part")
            self._divided = Division(n_parts, key)
            return [DuckDBPart(self, part, self._divided) for part in range(n_parts)]

    def _divide(self) -> None:
        """Say of the rows that are kept who is in which part."""
        assert self._session is not None
        assert self._divided is not None
        if self._kept_divided is not self._divided:
            statement = Statement()
            people = ["person"] if self._schema.person is not None else []
            columns = ", ".join([f"c{a}" for a in range(len(self._schema.names))] + ["y", *people])
            part = part_expression(statement, self._schema, self._divided)
            sql = f"CREATE OR REPLACE TEMP TABLE {_SNAPSHOT} AS SELECT {columns}, {part} AS part FROM {_SNAPSHOT}"
            execute(self._session, sql, statement.parameters, self._table.name)
            self._kept_divided = self._divided

    @contextmanager
    def _encoded(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Statement, str]]:
        """A cursor, and a SELECT of the encoded rows to be used with it."""
        with self._lock:
            session = self._session
        if session is None:  # several threads may count at once
            with self._table.cursor() as cursor:
                yield cursor, *encoded_rows(self._table, self._schema)
            return
        with self._lock:
            if not self._kept:
                statement, encoded = encoded_rows(self._table, self._schema)
                sql = f"CREATE OR REPLACE TEMP TABLE {_SNAPSHOT} AS {with_tables(statement.tables)}{encoded}"
                execute(session, sql, statement.parameters, self._table.name)
                self._kept = True
            yield session, Statement(), f"SELECT * FROM {_SNAPSHOT}"

    def _count(self, question: Question, cursor: duckdb.DuckDBPyConnection, statement: Statement, encoded: str) -> Tables:
        plan = BitSets(question)
        if plan.n_words <= _MAX_WORDS:
            sql = plan.statement(statement, encoded)
            answer: dict[str, Any] = dict(execute(cursor, sql, statement.parameters, self._table.name).fetchnumpy())
            return plan.tables(answer)
        execute(cursor, grouped_statement(used_codes(question), statement, encoded), statement.parameters, self._table.name)
        counting = Counting(question)
        for rows in self._chunks(cursor):
            counting.add(*rows)
        return counting.tables()

    def _chunks(self, cursor: duckdb.DuckDBPyConnection) -> Iterator[Rows]:
        """Groups of equal rows as codes, classes and weights; codes that were not selected are zero."""
        while len(chunk := cursor.fetch_df_chunk(16)):
            columns = {name: chunk[name].to_numpy() for name in chunk.columns}
            codes = np.zeros((len(self._schema.names), len(chunk)), dtype=np.uint16)
            for a in range(len(codes)):
                if f"c{a}" in columns:
                    codes[a] = columns[f"c{a}"]
            yield codes, columns["y"].astype(np.uint16), columns["n"].astype(np.int64)


class DuckDBPart(DuckDBSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: DuckDBSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    @contextmanager
    def _encoded(self) -> Iterator[tuple[duckdb.DuckDBPyConnection, Statement, str]]:
        with self._whole._encoded() as (cursor, statement, encoded):
            # In another snapshot, or divided otherwise, somebody could be in two parts that were paid for once.
            if self._whole._divided is not self._division:
                raise TableError("this part of the table is gone: its snapshot has ended, or the table was divided anew")
            self._whole._divide()
            yield cursor, statement, f"SELECT * FROM ({encoded}) WHERE part = {self._part}"

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # that of the whole

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")


def encoded_rows(table: DuckDBTable, schema: Schema) -> tuple[Statement, str]:
    """A SELECT of the code columns c0, c1, ... and the class y, of the rows that count."""
    statement = Statement(dict(table.parameters))
    columns, conditions = [], []
    attributes: list[tuple[str, str, Attribute]] = [(f"c{a}", name, schema.attributes[name]) for a, name in enumerate(schema.names)]
    for alias, column, attribute in [*attributes, ("y", schema.target, schema.label)]:
        kind = kind_of(table.columns[column])
        assert kind is not None
        code = code_expression(statement, attribute, column, kind, f"d_{alias}")
        columns.append(f"CAST({code} AS {code_type(attribute)}) AS {alias}")
        if attribute.size in (attribute.unknown_code, attribute.missing_code):
            conditions.append(f"{alias} < {attribute.size}")
    person = "" if schema.person is None else f", {_identity(table, schema.person)} AS person"
    inner = f"SELECT {', '.join(columns)}{person} FROM {table.relation} AS t {' '.join(statement.joins)}"
    kept = f"SELECT * FROM ({inner}) WHERE {' AND '.join(conditions) or 'true'}"
    if schema.person is not None:
        order = ", ".join([alias for alias, _, _ in attributes] + ["y"])
        kept += " AND person IS NOT NULL"
        kept += f" QUALIFY row_number() OVER (PARTITION BY person ORDER BY {order}) <= {int(schema.rows_per_person)}"
    statement.joins = []
    return statement, kept


def part_expression(statement: Statement, schema: Schema, division: Division) -> str:
    """A part by a keyed hash of the person, or at random for each row where people are not named."""
    who = "CAST(person AS VARCHAR)" if schema.person is not None else "CAST(uuid() AS VARCHAR)"
    return f"CAST(md5_number_lower({statement.bind('part_key', division.key.hex())} || {who}) % {int(division.n_parts)} AS INTEGER)"


def grouped_statement(names: list[str], statement: Statement, encoded: str) -> str:
    """Rows grouped by these code columns and the class."""
    columns = ", ".join([*names, "y"])
    return f"{with_tables([*statement.tables, f'encoded AS ({encoded})'])}SELECT {columns}, count(*) AS n FROM encoded GROUP BY {columns}"


def execute(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, Any], name: str) -> duckdb.DuckDBPyConnection:
    """Run a statement. What the engine says about an error may quote rows, so it is not passed on, not even as a cause."""
    import duckdb

    try:
        return cursor.execute(sql, parameters)
    except duckdb.Error as error:
        kind = type(error).__name__
    raise TableError(f"DuckDB could not read {name} ({kind}); its message is withheld because it may quote rows")


def _problem_tests(statement: Statement, attribute: Attribute, column: str, kind: Kind, name: str) -> Iterator[tuple[What, str]]:
    """Conditions that hold for a row that does not fit."""
    quoted_column = f"t.{quoted(column)}"
    expected = attribute.on_unknown is not None
    if isinstance(attribute, Numeric):
        number = text_number(quoted_column) if kind == "text" else f"CAST({quoted_column} AS DOUBLE)"
        if kind == "text" and attribute.missing is None:
            yield "not a number", f"{quoted_column} IS NOT NULL AND {number} IS NULL"
        if not expected:
            low, high = statement.bind(f"{name}_low", attribute.low), statement.bind(f"{name}_high", attribute.high)
            yield "out of range", f"NOT isnan({number}) AND ({number} < {low} OR {number} > {high})"
        if attribute.missing is None and attribute.on_unknown != "drop":
            yield "null", f"{quoted_column} IS NULL OR isnan({number})"
        return
    if not expected and attribute.other is None:
        strict = Categorical(attribute.values)
        code = code_expression(statement, strict, column, kind, name)
        not_null = f"{quoted_column} IS NOT NULL" + (f" AND NOT isnan(CAST({quoted_column} AS DOUBLE))" if kind == "number" else "")
        yield "unlisted", f"{not_null} AND {code} = {strict.size}"
        if attribute.missing is None:
            yield "null", f"NOT ({not_null})"


def _identity(table: DuckDBTable, column: str) -> str:
    """Whose row it is; text is compared as it is, whatever collation the column has."""
    text = kind_of(table.columns[column]) == "text"
    return f'CAST(t.{quoted(column)} AS VARCHAR) COLLATE "binary"' if text else f"t.{quoted(column)}"
