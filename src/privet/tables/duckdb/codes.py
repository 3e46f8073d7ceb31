"""Connect to DuckDB, and write the statements that encode a table's rows.

Connections are read-only, bounded in memory, and silent about rows.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from privet._scratch import ScratchFolder
from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.attributes import ValueKind
from privet.domain.encode.steps import look_up_many
from privet.domain.encode.values import What
from privet.errors import TableError
from privet.tables.dialect import (
    MAX_SEARCHED,
    Statement,
    code_expression,
    code_type,
    make_with_clause,
    number_of,
    place_expression,
    quote_identifier,
    text_number,
)

if TYPE_CHECKING:
    import duckdb


#: Types that come as NumPy has them.
_NATIVE = {
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "FLOAT",
    "DOUBLE",
}


#: Types of people's identities beside texts, numbers and booleans.
_DUCKDB_IDENTITIES = {"UUID", "DATE", "BLOB", "UHUGEINT"}


class Relation(Protocol):
    """What a statement reads: SQL of our own with its bound values, or a quoted name, and the type
    of each column.
    """

    @property
    def relation(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def columns(self) -> dict[str, str]: ...


def duckdb_kind_of(sql_type: str) -> ValueKind | None:
    """Return what a DuckDB column holds; None where it cannot match."""
    family = sql_type.partition("(")[0]
    if family in ("VARCHAR", "ENUM", '"NULL"'):  # the last: a column that holds nothing at all
        return "text"
    if family == "BOOLEAN":
        return "bool"
    numbers = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"}
    return "number" if family in numbers or family.removeprefix("U") in numbers else None


def is_identity_type(sql_type: str) -> bool:
    """Return whether equal people are equal texts: intervals of a month and of 30 days are equal,
    and nested types may hold fractions.
    """
    family = sql_type.partition("(")[0]
    return "[" not in sql_type and (
        duckdb_kind_of(sql_type) is not None
        or family in _DUCKDB_IDENTITIES
        or family.startswith("TIMESTAMP")
    )


def encode_duckdb_rows(table: Relation, schema: Schema) -> tuple[Statement, str]:
    """Return a SELECT of the code columns c0, c1, ... and the class y, of the rows that count."""
    statement = Statement(dict(table.parameters))
    columns, conditions = [], []
    for alias, column, attribute in _columns_of(schema):
        kind = duckdb_kind_of(table.columns[column])
        assert kind is not None
        code = code_expression(statement, attribute, column, kind, f"d_{alias}")
        columns.append(f"CAST({code} AS {code_type(attribute)}) AS {alias}")
        if attribute.size in (attribute.unknown_code, attribute.missing_code):
            conditions.append(f"{alias} < {attribute.size}")
    person = (
        "" if schema.person is None else f", {_duckdb_identity(table, schema.person)} AS person"
    )
    inner = (
        f"SELECT {', '.join(columns)}{person} FROM {table.relation} AS t "
        f"{' '.join(statement.joins)}"
    )
    kept = f"SELECT * FROM ({inner}) WHERE {' AND '.join(conditions) or 'true'}"
    if schema.person is not None:
        order = ", ".join(alias for alias, _, _ in _columns_of(schema))
        kept += " AND person IS NOT NULL"
        kept += (
            f" QUALIFY row_number() OVER (PARTITION BY person ORDER BY {order}) <= "
            f"{int(schema.rows_per_person)}"
        )
    statement.joins = []
    return statement, kept


def encode_duckdb_people(table: Relation, schema: Schema) -> tuple[Statement, str]:
    """Return the encoded rows, each with a number for its person that tells nobody who it is."""
    statement, encoded = encode_duckdb_rows(table, schema)
    who = (
        f"md5_number_lower({statement.bind('secret', secrets.token_hex(32))} || CAST(person AS "
        "VARCHAR))"
    )
    codes = ", ".join([*(f"c{a}" for a in range(len(schema.names))), "y"])
    return (
        statement,
        f"{make_with_clause(statement.tables)}SELECT {codes}, {who} AS who FROM ({encoded})",
    )


@dataclass(frozen=True)
class Reading:
    """A column as it comes out of DuckDB, and how it becomes codes then: DuckDB does what it does
    best, and compiled loops the rest.
    """

    sql: str
    _codes: Callable[[npt.NDArray[Any], npt.NDArray[Any]], None]
    _missing: int = 0  #: where nulls can come

    def write(self, column: Any, out: npt.NDArray[Any]) -> None:
        """Write the codes of a pandas column into an array."""
        if isinstance(column.dtype, np.dtype):
            self._codes(column.to_numpy(), out)
            return
        # Integers with nulls, which must not become fractions because of them.
        self._codes(column.to_numpy(dtype=column.dtype.numpy_dtype, na_value=0), out)
        out[column.isna().to_numpy()] = self._missing


def copy_codes(column: npt.NDArray[Any], out: npt.NDArray[Any]) -> None:
    """Write a column that holds codes already."""
    out[:] = column


def plan_reading(
    statement: Statement, attribute: Attribute, column: str, sql_type: str, name: str
) -> Reading:
    """Plan how a column is read: numbers come as they are, and compiled loops encode them.

    Of few texts, the place in the list comes: DuckDB then looks at each entry of a dictionary once.
    """
    value, kind = f"t.{quote_identifier(column)}", duckdb_kind_of(sql_type)
    assert kind is not None
    if kind == "number" or (kind == "text" and isinstance(attribute, Numeric)):
        number = value if sql_type in _NATIVE else number_of(value, kind)
        return Reading(
            number,
            lambda numbers, out: attribute.steps(numbers.dtype).write(numbers, out),
            attribute.missing_code,
        )
    if isinstance(attribute, Categorical) and kind == "text":
        lookup = attribute.lookup("text")
        if len(lookup) <= MAX_SEARCHED and attribute.missing_code == attribute.unknown_code:
            # which is 0 for null
            place = f"greatest({place_expression(statement, lookup, column, kind, name)}, 0)"
            table = np.array([attribute.unknown_code, *lookup.values()], dtype=attribute.dtype)
            return Reading(
                f"CAST({place} AS UTINYINT)",
                lambda places, out: look_up_many(0, table, places, out),
            )
    code = code_expression(statement, attribute, column, kind, name)
    return Reading(f"CAST({code} AS {code_type(attribute)})", copy_codes)


def plan_readings(table: Relation, schema: Schema) -> tuple[Statement, str, list[Reading]]:
    """Plan how all rows of a table whose people are not named are read.

    The columns are c0, c1, ... and y.
    """
    statement = Statement(dict(table.parameters))
    readings = []
    for alias, column, attribute in _columns_of(schema):
        readings.append(
            plan_reading(statement, attribute, column, table.columns[column], f"d_{alias}")
        )
    aliases = [alias for alias, _, _ in _columns_of(schema)]
    columns = ", ".join(
        f"{reading.sql} AS {alias}" for reading, alias in zip(readings, aliases, strict=True)
    )
    sql = (
        f"{make_with_clause(statement.tables)}SELECT {columns} FROM {table.relation} AS t "
        f"{' '.join(statement.joins)}"
    )
    return statement, sql, readings


def _columns_of(schema: Schema) -> list[tuple[str, str, Attribute]]:
    attributes: list[tuple[str, str, Attribute]] = [
        (f"c{a}", name, schema.attributes[name]) for a, name in enumerate(schema.names)
    ]
    return [*attributes, ("y", schema.target, schema.label)]


def duckdb_problem_tests(
    statement: Statement, attribute: Attribute, column: str, kind: ValueKind, name: str
) -> Iterator[tuple[What, str]]:
    """Yield conditions that hold for a row that does not fit."""
    quoted_column = f"t.{quote_identifier(column)}"
    expected = attribute.on_unknown is not None
    if isinstance(attribute, Numeric):
        number = (
            text_number(quoted_column) if kind == "text" else f"CAST({quoted_column} AS DOUBLE)"
        )
        if kind == "text" and attribute.missing is None:
            yield "not a number", f"{quoted_column} IS NOT NULL AND {number} IS NULL"
        if not expected:
            low, high = (
                statement.bind(f"{name}_low", attribute.low),
                statement.bind(f"{name}_high", attribute.high),
            )
            yield "out of range", f"NOT isnan({number}) AND ({number} < {low} OR {number} > {high})"
        if attribute.missing is None and attribute.on_unknown != "drop":
            yield "null", f"{quoted_column} IS NULL OR isnan({number})"
        return
    if not expected and attribute.other is None:
        strict = Categorical(attribute.values)
        code = code_expression(statement, strict, column, kind, name)
        not_null = f"{quoted_column} IS NOT NULL" + (
            f" AND NOT isnan(CAST({quoted_column} AS DOUBLE))" if kind == "number" else ""
        )
        yield "unlisted", f"{not_null} AND {code} = {strict.size}"
        if attribute.missing is None:
            yield "null", f"NOT ({not_null})"


def _duckdb_identity(table: Relation, column: str) -> str:
    """Return SQL for whose row it is; text is compared as it is, whatever its collation."""
    text = duckdb_kind_of(table.columns[column]) == "text"
    return (
        f'CAST(t.{quote_identifier(column)} AS VARCHAR) COLLATE "binary"'
        if text
        else f"t.{quote_identifier(column)}"
    )


# -- connections --

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
    """Bound the memory of a connection.

    What does not fit goes to files that only this process can read, in the folder for temporary
    files, not in the current one.
    """
    folder = ScratchFolder()
    weakref.finalize(connection, folder.remove)
    connection.execute("SET temp_directory = $folder", {"folder": str(folder.path)})
    connection.execute("SET temp_file_encryption = true")
    connection.execute(f"SET memory_limit = '{_MEMORY >> 20}MiB'")
    # How far a statement has come can be asked; nothing is printed.
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")


def execute(
    cursor: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, Any], name: str
) -> duckdb.DuckDBPyConnection:
    """Run a statement.

    What the engine says about an error may quote rows, so it is not passed on, not even as a cause.
    """
    return _run_without_details(lambda: cursor.execute(sql, parameters), name)


def fetch_chunks(cursor: duckdb.DuckDBPyConnection, vectors: int, name: str) -> Iterator[Any]:
    """Return the rows of a statement, as pandas DataFrames of so many vectors."""
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
