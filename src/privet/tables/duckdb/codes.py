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
from privet.domain import Attribute, Schema
from privet.domain.encode.encoding import Encoding, ValueKind
from privet.domain.encode.scalars import ISO_MOMENT, MAX_NUMBER_TEXT
from privet.domain.encode.steps import look_up_many
from privet.errors import TableError
from privet.tables.dialect import (
    ColumnSQL,
    Dialect,
    columns_of,
    quote_identifier,
    search_ranges,
    select_encoded,
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


_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
_INTEGERS |= {f"U{name}" for name in _INTEGERS} - {"UHUGEINT"}
_NUMBERS = {"FLOAT", "DOUBLE", "DECIMAL", "UHUGEINT"}
_MOMENTS = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"}
_HOUR = 3600 * 10**9  # nanoseconds
_ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS")
_FIELDS = {
    "date": "date_diff('day', DATE '1970-01-01', CAST({} AS DATE))",
    "year": "year({})",
    "month": "month({})",
    "day": "day({})",
    "weekday": "isodow({})",
    "hour": "hour({})",
}
#: Values that are searched one after the other; more are joined.
MAX_SEARCHED = 32


class DuckDBDialect(Dialect):
    """The SQL of DuckDB. Values are bound by name."""

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.parameters: dict[str, Any] = dict(parameters or {})

    @staticmethod
    def kind_of(sql_type: str) -> ValueKind | None:
        family = sql_type.partition("(")[0]
        if sql_type.endswith("]"):
            return None
        if family in ("VARCHAR", "ENUM", '"NULL"'):  # the last: a column that holds nothing at all
            return "text"
        if family == "BOOLEAN":
            return "bool"
        if family in _MOMENTS or sql_type in _ZONED:
            return "date"
        return "integer" if family in _INTEGERS else "number" if family in _NUMBERS else None

    @staticmethod
    def is_fraction(sql_type: str) -> bool:
        return sql_type in ("FLOAT", "DOUBLE")

    def bind(self, value: Any, sql_type: str) -> str:
        name = f"p{len(self.parameters)}"
        self.parameters[name] = value
        return f"CAST(${name} AS {sql_type})"

    def read_text(self, column: ColumnSQL) -> str:
        return f'CAST({column.sql} AS VARCHAR) COLLATE "binary"'

    def read_integer(self, column: ColumnSQL) -> str:
        return f"CAST({column.sql} AS HUGEINT)"

    def read_number(self, column: ColumnSQL) -> str:
        kind = self.kind_of(column.type)
        if kind == "text":
            # DuckDB alone would take 1_000 and +-1 for numbers
            text = f"CAST({column.sql} AS VARCHAR)"
            plain = f"NOT contains({text}, '_') AND NOT contains({text}, '+-')"
            short = f"length({text}) <= {MAX_NUMBER_TEXT}"
            return f"CASE WHEN {plain} AND {short} THEN TRY_CAST({text} AS DOUBLE) END"
        value = f"CAST({column.sql} AS INTEGER)" if kind == "bool" else column.sql
        return f"CAST({value} AS DOUBLE)"

    def read_moment(self, column: ColumnSQL) -> str:
        if self.kind_of(column.type) == "text":
            return self._moment_of_text(f"CAST({column.sql} AS VARCHAR)")
        if column.type.endswith("_NS"):
            # DuckDB alone would round moments before 1970 up; no part of a date is finer than hours
            since = f"epoch_ns({column.sql})"
            begun = f"{since} - ({since} % {_HOUR} + {_HOUR}) % {_HOUR}"
            return f"make_timestamp(({begun}) // 1000)"
        # a date may lie beyond what a timestamp holds
        moment = column.sql if column.type == "DATE" else f"TRY_CAST({column.sql} AS TIMESTAMP)"
        if column.type in _ZONED:  # the clock of UTC, whatever the session's time zone is
            moment = f"make_timestamp(epoch_us({column.sql}))"
        return f"CASE WHEN isfinite({column.sql}) THEN {moment} END"

    def field(self, moment: str, name: str) -> str:
        return _FIELDS[name].format(moment)

    def is_nan(self, number: str) -> str:
        return f"isnan(CAST({number} AS DOUBLE))"

    def find_listed(self, value: str, encoding: Encoding, name: str) -> str:
        values, listed = self._bind_values(encoding), _integers_in_reach(encoding)
        codes = self.bind(list(listed.values()), "INTEGER[]")
        if len(listed) <= MAX_SEARCHED:
            return f"{codes}[list_position({values}, {value})]"
        self.tables.append(f"{name} AS (SELECT unnest({values}) AS value, unnest({codes}) AS code)")
        self.joins.append(f"LEFT JOIN {name} ON {value} = {name}.value")
        return f"{name}.code"

    def cut_text(self, text: str, length: int) -> str:
        return f'left({text}, {int(length)}) COLLATE "binary"'

    def place(self, value: str, encoding: Encoding) -> str:
        """Return the place (from 1) of a value among those that are listed; null where it is none
        of them.
        """
        return f"list_position({self._bind_values(encoding)}, {value})"

    def _bind_values(self, encoding: Encoding) -> str:
        kinds = {"text": "VARCHAR[]", "integer": "HUGEINT[]", "number": "DOUBLE[]"}
        assert isinstance(encoding.reads, str)
        values = list(_integers_in_reach(encoding))
        if encoding.reads == "integer":
            values = [str(n) for n in values]  # the client binds no integers of more than 64 bits
        return self.bind(values, kinds[encoding.reads])

    def find_range(self, number: str, encoding: Encoding, name: str) -> str:  # noqa: ARG002
        points = [self.bind(point, "DOUBLE") for point in encoding.ranges.points.tolist()]
        return search_ranges(number, points, encoding.ranges.codes.tolist())

    def _moment_of_text(self, text: str) -> str:
        """Return the moment that a text spells; DuckDB alone would not look at its time zone."""
        self.parameters |= {"iso": ISO_MOMENT, "zone": "[+-][0-9]{2}:[0-9]{2}$"}
        clock = f"TRY_CAST(left({text}, 16) AS TIMESTAMP)"
        minutes = f"60 * CAST({text}[-5:-4] AS INTEGER) + CAST({text}[-2:] AS INTEGER)"
        offset = f"CASE {text}[-6] WHEN '-' THEN -1 ELSE 1 END * ({minutes})"
        return (
            f"CASE WHEN NOT regexp_full_match({text}, $iso) THEN NULL WHEN regexp_matches({text}, "
            f"$zone) THEN {clock} - to_minutes({offset}) ELSE {clock} END"
        )


def _integers_in_reach(encoding: Encoding) -> dict[Any, int]:
    """Return the listed values without integers that no column of DuckDB holds."""
    assert encoding.listed is not None
    if encoding.reads != "integer":
        return dict(encoding.listed)
    return {n: code for n, code in encoding.listed.items() if abs(n) < 1 << 126}


duckdb_kind_of = DuckDBDialect.kind_of


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


def encode_duckdb_people(table: Relation, schema: Schema) -> tuple[dict[str, Any], str]:
    """Return bound values, and a SELECT of the encoded rows.

    Each row has a number for its person that tells nobody who it is.
    """
    assert schema.person is not None
    dialect = DuckDBDialect(table.parameters)
    person = _duckdb_identity(table, schema.person)
    encoded = select_encoded(dialect, table.relation, table.columns, schema, person=person)
    secret = dialect.bind(secrets.token_hex(32), "VARCHAR")
    who = f"md5_number_lower({secret} || CAST(person AS VARCHAR))"
    codes = ", ".join(
        f"CAST({alias} AS {code_type(attribute)}) AS {alias}"
        for alias, _, attribute in columns_of(schema, table.columns)
    )
    return (
        dialect.parameters,
        f"{dialect.with_clause()}SELECT {codes}, {who} AS who FROM ({encoded})",
    )


def code_type(attribute: Attribute) -> str:
    """Return the SQL type of an attribute's codes."""
    return {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}[attribute.dtype.itemsize]


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
    dialect: DuckDBDialect, attribute: Attribute, column: ColumnSQL, name: str
) -> Reading:
    """Plan how a column is read: numbers come as they are, and compiled loops encode them.

    Of few texts, the place in the list comes: DuckDB then looks at each entry of a dictionary once.
    """
    encoding = dialect.encoding_of(attribute, column)
    native = column.type in _NATIVE and encoding.reads in ("integer", "number")
    if encoding.listed is None or native or encoding.reads == "number":
        scalar = column.sql if native else dialect.read(column, encoding.reads)
        return Reading(
            scalar if native else f"CAST({scalar} AS DOUBLE)",
            lambda numbers, out: encoding.steps(numbers.dtype).write(numbers, out),
            encoding.missing,
        )
    if (
        encoding.reads == "text"
        and len(encoding.listed) <= MAX_SEARCHED
        and encoding.missing == encoding.unknown
        and encoding.prefix is None
    ):
        # which is 0 for null
        place = f"greatest({dialect.place(dialect.read_text(column), encoding)}, 0)"
        table = np.array([encoding.unknown, *encoding.listed.values()], dtype=attribute.dtype)
        return Reading(
            f"CAST({place} AS UTINYINT)",
            lambda places, out: look_up_many(0, table, places, out),
        )
    code = dialect.code(column, encoding, name)
    return Reading(f"CAST({code} AS {code_type(attribute)})", copy_codes)


def plan_readings(table: Relation, schema: Schema) -> tuple[dict[str, Any], str, list[Reading]]:
    """Plan how all rows of a table whose people are not named are read.

    Returns bound values, a SELECT of the columns c0, c1, ... and y, and how each one is read.
    """
    dialect = DuckDBDialect(table.parameters)
    columns = columns_of(schema, table.columns)
    readings = [
        plan_reading(dialect, attribute, column, f"d_{alias}")
        for alias, column, attribute in columns
    ]
    selected = ", ".join(
        f"{reading.sql} AS {alias}"
        for reading, (alias, _, _) in zip(readings, columns, strict=True)
    )
    sql = (
        f"{dialect.with_clause()}SELECT {selected} FROM {table.relation} AS t "
        f"{' '.join(dialect.joins)}"
    )
    return dialect.parameters, sql, readings


def readable_expression(column: str, sql_type: str) -> str:
    """Return a column as it is handed to those who may see it.

    Timestamps with a time zone come in UTC, whatever the zone of the session is.
    """
    value = f"t.{quote_identifier(column)}"
    if sql_type == "TIMESTAMPTZ_NS":
        value = f"make_timestamp_ns(epoch_ns({value}))"
    elif sql_type in _ZONED:
        value = DuckDBDialect().read_moment(ColumnSQL(value, sql_type))
    return f"{value} AS {quote_identifier(column)}"


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
        # nothing is fetched from the internet, whatever a file holds
        config: dict[str, Any] = {"autoinstall_known_extensions": False}
        connection = duckdb.connect(
            database or ":memory:", read_only=database is not None, config=config
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
    # which holds on to the folder: it would go with the last reference to it
    weakref.finalize(connection, ScratchFolder.__exit__, folder)
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
