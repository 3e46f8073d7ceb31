"""Group rows that agree in some columns, and count the values of another column in each group.

The counts are exact, and for the owner alone. DuckDB groups files and its own databases; a
PostgreSQL server groups its table itself, and the groups stream into DuckDB. What Python sees are
three arrays of integers. Names of groups and values stay in DuckDB until they are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Ints
from privet.errors import ParameterError, TableError
from privet.tables.dialect import ColumnSQL, quote_identifier
from privet.tables.duckdb.codes import DuckDBDialect, duckdb_kind_of, execute
from privet.tables.duckdb.table import DuckDBTable
from privet.tables.open import open_table
from privet.tables.postgres.codes import number_expression
from privet.tables.postgres.codes import postgres_kind_of as kind_on_server
from privet.tables.postgres.connections import fetch_blocks
from privet.tables.postgres.table import PostgresTable

if TYPE_CHECKING:
    import duckdb


#: The number that the text of the counted column spells.
_SPELLED = DuckDBDialect().read_number(ColumnSQL("s", "VARCHAR"))
# q0, q1, ..., the value s, and its rows n; never a table of the owner's
_COUNTED = '"temp"."main"."privet_counted"'
# the same with the number of the class and of the value
_NUMBERED = '"temp"."main"."privet_numbered"'


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The equivalence classes of a table: rows that agree in all quasi-identifiers.

    Null is a value like any other.

    Classes are numbered from 0 in the order of their quasi-identifiers, values of the sensitive
    column in their own order: numbers by size, text bytewise, null last.

    Attributes:
        name: what the table is called.
        quasi: the quasi-identifiers.
        sensitive: the sensitive column.
        ordered: whether the sensitive column is read as numbers.
    """

    name: str
    quasi: tuple[str, ...]
    sensitive: str
    ordered: bool
    _cursor: duckdb.DuckDBPyConnection

    def counts(self) -> tuple[Ints, Ints, Ints]:
        """Return a class, a value that occurs in it, and in how many of its rows.

        Three arrays, with each pair once.
        """
        counts = execute(
            self._cursor, f"SELECT class, code, n FROM {_NUMBERED}", {}, self.name
        ).fetchnumpy()
        classes, codes, rows = (
            np.asarray(counts[column], dtype=np.int64) for column in ("class", "code", "n")
        )
        return classes, codes, rows

    def names(self, classes: Iterable[int]) -> dict[int, tuple[str | None, ...]]:
        """Return the quasi-identifiers of some classes, as text."""
        columns = ", ".join(f"any_value(CAST(q{i} AS VARCHAR))" for i in range(len(self.quasi)))
        return {number: tuple(texts) for number, *texts in self._look_up("class", columns, classes)}

    def values(self, codes: Iterable[int]) -> dict[int, str | None]:
        """Return some values of the sensitive column, as text."""
        text = "any_value(CAST(s AS VARCHAR))"
        return dict(
            self._look_up(
                "code", f"regexp_replace({text}, '[.]0$', '')" if self.ordered else text, codes
            )
        )

    def _look_up(
        self, key: str, columns: str, numbers: Iterable[int]
    ) -> list[tuple[int, str | None]]:
        wanted = "SELECT unnest(CAST($numbers AS BIGINT[])) AS number"
        sql = f"SELECT {key}, {columns} FROM {_NUMBERED} WHERE {key} IN ({wanted}) GROUP BY {key}"
        return execute(
            self._cursor, sql, {"numbers": [int(number) for number in numbers]}, self.name
        ).fetchall()


@contextmanager
def equivalence_classes(
    place: object, quasi: Sequence[str], sensitive: str, ordered: bool | None = None
) -> Iterator[EquivalenceClasses]:
    """Group a table. What is found can be looked at until the context is left.

    Args:
        place: where the rows are, as for :func:`~privet.tables.open.open_table`.
        quasi: the columns to group by.
        sensitive: the column whose values are counted in each group.
        ordered: whether it is read as numbers (text in double precision). By default if that is its
            type, which in a CSV file it never is.
    """
    table = open_table(place)
    if not isinstance(table, DuckDBTable | PostgresTable):
        raise ParameterError(
            "a table to group must be a CSV or Parquet file, or in DuckDB or PostgreSQL; got the "
            f"{table.name!r}. Export it to such a file first"
        )
    _check_columns(table.name, list(table.columns), quasi, sensitive)
    kind = (duckdb_kind_of if isinstance(table, DuckDBTable) else kind_on_server)(
        table.columns[sensitive]
    )
    if ordered and kind not in ("integer", "number", "text"):
        raise ParameterError(
            f"ordered is for numbers, or text that spells numbers; column {sensitive!r} is "
            f"{table.columns[sensitive]}"
        )
    by_size = kind in ("integer", "number") if ordered is None else ordered
    with _counted(table, [*quasi, sensitive]) as cursor:
        if by_size and kind == "text":
            _check_numbers(cursor, table.name, sensitive)
        as_text = kind == "text" or isinstance(table, PostgresTable)
        _number_all(cursor, table.name, len(quasi), _SPELLED if by_size and as_text else "s")
        yield EquivalenceClasses(table.name, tuple(quasi), sensitive, by_size, cursor)


def _check_columns(name: str, columns: list[str], quasi: Sequence[str], sensitive: str) -> None:
    hint = f"the columns of {name} are {', '.join(columns)}"
    if not quasi:
        raise ParameterError(f"quasi must name at least one column, got none; {hint}")
    if twice := [column for i, column in enumerate(quasi) if column in quasi[:i]]:
        raise ParameterError(f"quasi must name each column once, got {twice[0]!r} twice")
    for parameter, given in (*(("quasi", column) for column in quasi), ("sensitive", sensitive)):
        if given not in columns:
            raise ParameterError(
                f"{parameter} must name a column of the table, got {given!r}; {hint}"
            )
    if sensitive in quasi:
        raise ParameterError(
            "sensitive must be a column that is not among the quasi-identifiers, got "
            f"{sensitive!r}, which is"
        )


@contextmanager
def _counted(
    table: DuckDBTable | PostgresTable, columns: list[str]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a cursor with the table of counts.

    It has the columns as q0, q1, ... and s, and the number of rows that agree in all of them.
    """
    aliases = [*(f"q{i}" for i in range(len(columns) - 1)), "s"]
    if isinstance(table, DuckDBTable):
        # lines that are no record would be left out, and what is left might look safer than the
        # table is
        table._check_lines()
        selected = ", ".join(
            f"{_value_expression(table, column)} AS {alias}"
            for column, alias in zip(columns, aliases, strict=True)
        )
        rows = f"SELECT {selected} FROM {table.relation} AS t"
        grouped = (
            f"SELECT {', '.join(aliases)}, count(*) AS n FROM ({rows}) GROUP BY "
            f"{', '.join(aliases)}"
        )
        with table.cursor() as cursor:
            execute(
                cursor,
                f"CREATE OR REPLACE TEMP TABLE {_COUNTED} AS {grouped}",
                table.parameters,
                table.name,
            )
            yield cursor
        return
    import duckdb

    with duckdb.connect() as cursor:
        cursor.execute(
            f"CREATE TEMP TABLE {_COUNTED} ({', '.join(f'{alias} VARCHAR' for alias in aliases)}, "
            "n BIGINT)"
        )
        _fetch(table, columns, cursor)
        yield cursor


def _fetch(table: PostgresTable, columns: list[str], cursor: duckdb.DuckDBPyConnection) -> None:
    """Let the server group its rows, and put the groups into DuckDB, block by block."""
    import pandas as pd

    selected = ", ".join(
        f"{_text_expression(column, table.columns[column])} AS c{i}"
        for i, column in enumerate(columns)
    )
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    sql = (
        f"SELECT {names}, count(*) FROM (SELECT {selected} FROM {table.relation} AS t) AS r GROUP "
        f"BY {names}"
    )
    with table.connections.connection() as connection:
        for block in fetch_blocks(connection, sql, (), table.name):
            *texts, rows = zip(*block, strict=True)
            frame = pd.DataFrame(
                {i: pd.Series(text, dtype="object") for i, text in enumerate(texts)}
                | {len(texts): rows}
            )
            cursor.register(
                "privet_block", frame.set_axis([*(f"c{i}" for i in range(len(texts))), "n"], axis=1)
            )
            cursor.execute(f"INSERT INTO {_COUNTED} SELECT {names}, n FROM privet_block")
            cursor.unregister("privet_block")


def _number_all(cursor: duckdb.DuckDBPyConnection, name: str, n_quasi: int, value: str) -> None:
    """Number the classes and the values. Texts that spell the same number are one value then."""
    keys = [f"q{i}" for i in range(n_quasi)]
    counted = (
        f"SELECT {', '.join(keys)}, {value} AS s, CAST(sum(n) AS BIGINT) AS n FROM {_COUNTED} "
        "GROUP BY ALL"
    )
    order = ", ".join(f"{key} NULLS LAST" for key in keys)
    numbers = (
        f"dense_rank() OVER (ORDER BY {order}) - 1 AS class, dense_rank() OVER (ORDER BY s NULLS "
        "LAST) - 1 AS code"
    )
    execute(
        cursor,
        f"CREATE OR REPLACE TEMP TABLE {_NUMBERED} AS SELECT *, {numbers} FROM ({counted})",
        {},
        name,
    )
    if cursor.execute(f"SELECT count(*) FROM {_NUMBERED}").fetchone() == (0,):
        raise TableError(f"{name} has no rows, so that there is nothing to group")


def _check_numbers(cursor: duckdb.DuckDBPyConnection, name: str, sensitive: str) -> None:
    sql = f"SELECT coalesce(bool_or(s IS NOT NULL AND {_SPELLED} IS NULL), false) FROM {_COUNTED}"
    if execute(cursor, sql, {}, name).fetchone() != (False,):
        raise ParameterError(
            f"ordered is for numbers, or text that spells numbers; column {sensitive!r} of {name} "
            "holds other text"
        )


def _value_expression(table: DuckDBTable, column: str) -> str:
    """Return a column as it is grouped by; text is compared as it is, whatever collation the column
    has.
    """
    text = duckdb_kind_of(table.columns[column]) == "text"
    return (
        f'CAST(t.{quote_identifier(column)} AS VARCHAR) COLLATE "binary"'
        if text
        else f"t.{quote_identifier(column)}"
    )


def _text_expression(column: str, sql_type: str) -> str:
    """Return a column of a server as text, such that equal values have equal texts."""
    value = f"t.{quote_identifier(column)}"
    if sql_type == "numeric":
        value = f"({number_expression(ColumnSQL(value, sql_type))})"
    if kind_on_server(sql_type) in ("integer", "number"):  # zero has a sign in some types
        return f"CASE WHEN {value} = 0 THEN '0' ELSE {value}::text END"
    return f'{value}::text COLLATE "C"'
