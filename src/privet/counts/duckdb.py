"""CSV and Parquet files and DuckDB databases, read by DuckDB. A table is never loaded into
Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.counts.duckdb_codes import duckdb_kind_of, duckdb_problem_tests, is_identity_type
from privet.counts.duckdb_connection import connect, execute
from privet.counts.duckdb_source import DuckDBSource
from privet.counts.sql import Statement, make_with_clause, quote_identifier, structure_problems
from privet.errors import TableError
from privet.schema import Attribute, Categorical, Schema
from privet.schema.problems import What, raise_if_any

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class DuckDBTable:
    """A relation that DuckDB can read.

    ``relation`` is SQL of our own with ``parameters`` bound in it, or a quoted table name;
    ``database`` is the database file, opened read-only, or None for files that DuckDB reads
    directly; ``broken_lines`` is SQL with its values that tells whether some line of a text file is
    no record.
    """

    name: str
    relation: str
    parameters: dict[str, Any]
    database: str | None = None
    broken_lines: tuple[str, dict[str, Any]] | None = None

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        connection = connect(self.database, self.name)
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
                rows = cursor.execute(
                    f"DESCRIBE SELECT * FROM {self.relation}", self.parameters
                ).fetchall()
        except duckdb.Error:
            raise TableError(
                f"cannot read {self.name}: it is damaged, or not what its name says"
            ) from None
        return {row[0]: row[1] for row in rows}

    def check_structure(self, schema: Schema) -> None:
        raise_if_any(self._structure(schema))

    def check_reachable(self) -> None:
        files = [
            place for place in (self.database, self.parameters.get("path")) if place is not None
        ]
        try:
            there = all(Path(place).is_file() for place in files)
            opened = self.database is None or Path(self.database).stat().st_ino == self._opened_file
        except OSError:  # such as a folder that may not be entered
            there = opened = False
        if not there:
            raise TableError(f"the file of {self.name} is gone")
        if not opened:  # what is open are the old rows
            raise TableError(
                f"the file of {self.name} was replaced; open it again, which for a service means "
                "to start it again"
            )

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        fractions = {
            column for column, sql_type in self.columns.items() if sql_type in ("FLOAT", "DOUBLE")
        }
        found = structure_problems(
            schema,
            {column: duckdb_kind_of(sql_type) for column, sql_type in self.columns.items()},
            fractions,
        )
        if schema.person in self.columns and not is_identity_type(self.columns[schema.person]):
            found.append((schema.person, "dtype"))
        return found

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        found = self._structure(schema)
        self._check_lines()
        broken = {column for column, _ in found}
        statement, tests = Statement(dict(self.parameters)), []
        attributes: dict[str, Attribute] = {
            **schema.attributes,
            schema.target: Categorical(schema.classes),
        }
        for i, (column, attribute) in enumerate(attributes.items()):
            if column not in broken:
                kind = duckdb_kind_of(self.columns[column])
                assert kind is not None
                tests += [
                    (column, what, test)
                    for what, test in duckdb_problem_tests(
                        statement, attribute, column, kind, f"d{i}"
                    )
                ]
        if tests:
            selected = ", ".join(f"coalesce(bool_or({test}), false)" for _, _, test in tests)
            sql = (
                f"{make_with_clause(statement.tables)}SELECT {selected} FROM {self.relation} AS t "
                f"{' '.join(statement.joins)}"
            )
            with self.cursor() as cursor:
                answers = execute(cursor, sql, statement.parameters, self.name).fetchone()
            assert answers is not None
            found += [
                (column, what)
                for (column, what, _), answer in zip(tests, answers, strict=True)
                if answer
            ]
        return found

    def _check_lines(self) -> None:
        if self.broken_lines is not None:
            with self.cursor() as cursor:
                broken = execute(cursor, *self.broken_lines, self.name).fetchone()
            if broken != (False,):
                raise TableError(
                    f"{self.name} has lines that are no complete record (wrong number of fields, "
                    "an unclosed quote, a line break inside quotes); they are not counted. Repair "
                    "them, or store the table as Parquet"
                )

    def estimate_rows(self) -> int:
        """How many rows there are by what is written about the table, to say how far work has come;
        0 where nothing is written.
        """
        if not self.relation.startswith("read_parquet("):
            return 0
        with self.cursor() as cursor:
            sql = "SELECT sum(num_rows) FROM parquet_file_metadata($path)"
            answer = execute(cursor, sql, self.parameters, self.name).fetchone()
        return 0 if answer is None else int(answer[0] or 0)

    def source(self, schema: Schema) -> DuckDBSource:
        return DuckDBSource(self, schema)


def table_of_database(path: Path, name: str) -> DuckDBTable:
    """A table of a DuckDB file, under the one name that the database has for it: case and schema do
    not make another table.
    """
    with connect(str(path), path.name) as connection:
        rows = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = "
            "current_database() "
            "AND lower($name) IN (lower(table_name), lower(table_schema || '.' || table_name))",
            {"name": name},
        ).fetchall()
    if len(rows) > 1:
        rows = [row for row in rows if row[0] == "main"]
    if len(rows) != 1:
        raise TableError(f"no table {name!r} in {path.name}")
    (schema, table) = rows[0]
    return DuckDBTable(
        f"{schema}.{table}",
        f"{quote_identifier(schema)}.{quote_identifier(table)}",
        {},
        database=str(path),
    )
