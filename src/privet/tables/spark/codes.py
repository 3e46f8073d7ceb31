"""Encode rows in Spark's SQL.

Columns are renamed by their position, so no name of a table stands in an expression. Listed values
and bin edges are bound, as JSON arrays that Spark parses once: expressions hold nothing but names,
patterns and integers of our own. Nothing in a row raises an error, in whatever mode the session is:
an error, and the log of an executor, would quote the row. No setting of the session changes a code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from privet.domain import Schema
from privet.domain.encode.encoding import Encoding, SpelledNumber, ValueKind
from privet.domain.encode.scalars import ISO_MOMENT, MAX_NUMBER_TEXT
from privet.tables.dialect import ColumnSQL, Dialect, encode_columns, list_codes, search_ranges

_TEXTS = ("string", "char", "varchar", "void")  # the last: a column that holds nothing at all
_INTEGERS = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double")
_MOMENTS = ("date", "timestamp", "timestamp_ntz")
#: Types whose text tells their values apart. Others (maps, arrays, ...) cannot say whose row it is.
_SPARK_IDENTITIES = (*_TEXTS, *_INTEGERS, "decimal", "boolean", "date", "timestamp_ntz")
#: A number that is never negative, for a reader who uses it: it keeps what is selected beside it
#: apart. As it differs by partition, Spark computes that once for each row, and not again for every
#: condition on it. As ``zip_with`` is a function that Spark does not compile, it compiles the rest
#: piece by piece, and not into one method with all that comes before and after: Java runs a method
#: of more than 8 KB slowly, and allows none of 64 KB.
SPARK_FENCE = (
    "get(zip_with(array(spark_partition_id()), array(0), (number, zero) -> number), 0) AS fence"
)
# points: more are searched by a loop, as an expression for each would be too long to compile
_FEW = 64

# No backslash: what one means in a literal depends on the session.
_NUMBER = "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITY = "[iI][nN][fF]([iI][nN][iI][tT][yY])?$"
_NAN = "^[+-]?[nN][aA][nN]$"
_SPACES = " \t\n\v\f\r"

_HOUR = 3_600_000_000  # microseconds
_DAYS = "(({0} - pmod({0}, 24)) div 24)"
_CALENDAR_DATE = f"date_from_unix_date(CAST({_DAYS} AS INT))"
_FIELDS = {
    "date": _DAYS,
    "year": f"year({_CALENDAR_DATE})",
    "month": f"month({_CALENDAR_DATE})",
    "day": f"day({_CALENDAR_DATE})",
    "weekday": f"(pmod({_DAYS} + 3, 7) + 1)",  # 1970 began on a Thursday
    "hour": "pmod({0}, 24)",
}


class SparkDialect(Dialect):
    """The SQL of Spark. Arrays are bound as columns of their own.

    What an expression looks at several times is a column, too, so that Spark computes it once for
    each row. These columns are added in turn: plain texts and moments of the table's columns
    (``s_v0``, ``m_v0``), the scalar of each code (``x_name``), bound arrays (``k0``, ``k1``, ...),
    and among many points, how many are not above a scalar (``p_name``). A moment is a number of
    hours from 1970-01-01 in UTC: no part of a date is finer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.readings: dict[str, str] = {}
        self.scalars: dict[str, str] = {}
        #: Arrays by their names, with their types.
        self.constants: dict[str, tuple[Sequence[Any], str]] = {}
        self.positions: dict[str, str] = {}

    @staticmethod
    def kind_of(sql_type: str) -> ValueKind | None:
        if sql_type in _TEXTS:
            return "text"
        if sql_type == "boolean":
            return "bool"
        if sql_type in _MOMENTS:
            return "date"
        if sql_type in _INTEGERS:
            return "integer"
        return "number" if sql_type in (*_FRACTIONS, "decimal") else None

    @staticmethod
    def is_fraction(sql_type: str) -> bool:
        return sql_type in _FRACTIONS

    def bind(self, value: Any, sql_type: str) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value, sql_type
        return name

    def read_text(self, column: ColumnSQL) -> str:
        return f"CAST({column.sql} AS STRING) COLLATE UTF8_BINARY"

    def read_integer(self, column: ColumnSQL) -> str:
        return f"CAST({column.sql} AS BIGINT)"

    def read_number(self, column: ColumnSQL) -> str:
        kind = self.kind_of(column.type)
        if kind == "text":
            plain = f"s_{column.sql}"
            self.readings[plain] = _plain_text_expression(self.read_text(column))
            return _number_of_text(plain)
        value = f"CAST({column.sql} AS INT)" if kind == "bool" else column.sql
        return f"CAST({value} AS DOUBLE)"

    def read_spelled(self, column: ColumnSQL, spelled: SpelledNumber) -> str:
        text = self.read_text(column)
        changes = [(part, "") for part in spelled.removed]
        if spelled.decimal != ".":
            changes.append((spelled.decimal, "."))
        for old, new in changes:
            text = f"replace({text}, {_literal(old)}, {_literal(new)})"
        plain = f"n{len(self.readings)}_{column.sql}"
        self.readings[plain] = _plain_text_expression(text)
        return _number_of_text(plain)

    def read_moment(self, column: ColumnSQL) -> str:
        moment = f"m_{column.sql}"
        self.readings[moment] = self._hours_of(column)
        return moment

    def _hours_of(self, column: ColumnSQL) -> str:
        """Return the hours from 1970-01-01 in UTC to a date, a timestamp or what a text spells."""
        if column.type == "date":
            return f"24 * CAST(unix_date({column.sql}) AS BIGINT)"
        if column.type == "timestamp_ntz":  # a clock, which no time zone changes
            days = f"CAST(unix_date(CAST({column.sql} AS DATE)) AS BIGINT)"
            return f"24 * {days} + hour({column.sql})"
        if column.type == "timestamp":  # an instant: its fields depend on the session's time zone
            instant = f"unix_micros({column.sql})"
            before = f"CASE WHEN {instant} % {_HOUR} < 0 THEN 1 ELSE 0 END"
            return f"{instant} div {_HOUR} - {before}"
        return _hours_of_text(self.read_text(column))

    def field(self, moment: str, name: str) -> str:
        return _FIELDS[name].format(moment)

    def cut_text(self, text: str, length: int) -> str:
        return f"substr({text}, 1, {int(length)})"

    def is_nan(self, number: str) -> str:
        return f"isnan({number})"

    def code(
        self, column: ColumnSQL, encoding: Encoding, name: str, value: str | None = None
    ) -> str:
        if value is None:
            value, scalar = f"x_{name}", self.read(column, encoding.reads)
            # parts of dates are integers; points between ranges are not
            ranges = encoding.listed is None
            self.scalars[value] = f"CAST({scalar} AS DOUBLE)" if ranges else scalar
        return super().code(column, encoding, name, value)

    def find_listed(self, value: str, encoding: Encoding, name: str) -> str:
        listed, sql_type = _sort_listed(encoding)
        codes, points = list(listed.values()), self.bind(list(listed), f"array<{sql_type}>")
        if len(codes) > _FEW:
            last = f"{self._find_position(value, points, len(codes), name)} - 1"
            found = f"get({self.bind(codes, 'array<int>')}, {last})"
            return f"CASE WHEN get({points}, {last}) = {value} THEN {found} END"
        entries = [f"get({points}, {i})" for i in range(len(codes))]
        found_codes = [
            f"CASE WHEN {value} = {entry} THEN {code} END"
            for entry, code in zip(entries, codes, strict=True)
        ]
        return search_ranges(value, entries, ["NULL", *found_codes])

    def find_range(self, number: str, encoding: Encoding, name: str) -> str:
        edges, codes = encoding.ranges.points.tolist(), encoding.ranges.codes.tolist()
        points = self.bind(edges, "array<double>")
        if len(edges) <= _FEW:
            return search_ranges(number, [f"get({points}, {i})" for i in range(len(edges))], codes)
        position = self._find_position(number, points, len(edges), name)
        if codes == list(range(len(codes))):
            return position
        return f"get({self.bind(codes, 'array<int>')}, {position})"

    def _find_position(self, value: str, points: str, count: int, name: str) -> str:
        """Return how many of many points are not above a value: by halves, with no step beyond the
        last.
        """
        steps = ", ".join(str(1 << bit) for bit in reversed(range(count.bit_length())))
        inside = f"get({points}, p + s - 1) <= {value}"
        self.positions[f"p_{name}"] = (
            f"aggregate(array({steps}), 0, (p, s) -> CASE WHEN {inside} THEN p + s ELSE p END)"
        )
        return f"p_{name}"

    def select(
        self,
        rows: Any,
        columns: Iterable[ColumnSQL],
        selected: Iterable[str],
        functions: Any,
        conditions: Iterable[str] = (),
    ) -> Any:
        """Return a DataFrame of what is selected from some columns, where the conditions hold.

        Args:
            rows: a DataFrame.
            columns: those that are looked at, as :func:`columns_by_position` names them.
            selected: expressions of this dialect.
            functions: those of the session's kind.
            conditions: on what is selected.
        """
        staged = _name_by_position(rows, columns)
        for stage in (self.readings, self.scalars):
            staged = staged.selectExpr("*", *_with_aliases(stage))
        bound = [
            functions.from_json(functions.lit(json.dumps(entries)), sql_type).alias(name)
            for name, (entries, sql_type) in self.constants.items()
        ]
        staged = staged.select("*", *bound).selectExpr("*", *_with_aliases(self.positions))
        kept = " AND ".join([*conditions, "fence >= 0"])
        return staged.selectExpr(*selected, SPARK_FENCE).where(kept)


def columns_by_position(types: Mapping[str, str]) -> dict[str, ColumnSQL]:
    """Return each column of a table under a name that its position gives it: v0, v1, ..."""
    return {name: ColumnSQL(f"v{i}", sql_type) for i, (name, sql_type) in enumerate(types.items())}


def _name_by_position(rows: Any, columns: Iterable[ColumnSQL]) -> Any:
    """Return some columns of a DataFrame, named v0, v1, ... whatever names they had, also where
    Spark cannot tell two of them apart.
    """
    renamed = rows.toDF(*(f"v{i}" for i in range(len(rows.columns))))
    return renamed.select(*dict.fromkeys(column.sql for column in columns))


def _with_aliases(expressions: Mapping[str, str]) -> list[str]:
    return [f"{expression} AS {alias}" for alias, expression in expressions.items()]


def _sort_listed(encoding: Encoding) -> tuple[dict[Any, int], str]:
    """Return the codes of listed values in the order in which Spark compares them, and the type of
    the values. Integers that no column holds are left out.
    """
    assert encoding.listed is not None
    pairs = list(encoding.listed.items())
    if encoding.reads == "text":
        return dict(sorted(pairs, key=lambda pair: pair[0].encode())), "string"
    if encoding.reads == "number":
        return dict(sorted(pairs)), "double"
    return dict(sorted(pair for pair in pairs if -(1 << 63) <= pair[0] < 1 << 63)), "bigint"


def _plain_text_expression(text: str) -> str:
    """Return a text that may spell a number, without spaces around it; null where it is long."""
    short = f"CASE WHEN char_length({text}) <= {MAX_NUMBER_TEXT} THEN {text} END"
    return f"btrim({short}, {_literal(_SPACES)})"


def _number_of_text(text: str) -> str:
    """Return the number that a plain text spells as Python reads it, so without Java's suffixes and
    hexadecimals; null where it spells none.
    """
    return (
        f"CASE WHEN {text} RLIKE '{_NUMBER}' THEN try_cast({text} AS DOUBLE) "
        f"WHEN {text} RLIKE '^[+]?{_INFINITY}' THEN CAST('Infinity' AS DOUBLE) "
        f"WHEN {text} RLIKE '^-{_INFINITY}' THEN CAST('-Infinity' AS DOUBLE) "
        f"WHEN {text} RLIKE '{_NAN}' THEN CAST('NaN' AS DOUBLE) END"
    )


def _hours_of_text(text: str) -> str:
    """Return the hours from 1970-01-01 in UTC to the moment that a text spells; null where it
    spells none.
    """

    def number(first: int, length: int) -> str:
        return f"coalesce(try_cast(substr({text}, {first}, {length}) AS INT), 0)"

    # Java's $ would let the end of a line follow.
    moment = _literal(ISO_MOMENT.removesuffix("$") + r"\z")
    days = f"CAST(unix_date(try_cast(substr({text}, 1, 10) AS DATE)) AS BIGINT)"
    sign = f"CASE substr({text}, -6, 1) WHEN '-' THEN -1 ELSE 1 END"
    offset = (
        f"CASE WHEN {text} RLIKE '[+-][0-9]{{2}}:[0-9]{{2}}$' THEN "
        f"{sign} * (60 * {number(-5, 2)} + {number(-2, 2)}) ELSE 0 END"
    )
    minutes = f"1440 * {days} + 60 * {number(12, 2)} + {number(15, 2)} - {offset}"
    return f"CASE WHEN {text} RLIKE {moment} THEN floor(({minutes}) / 60) END"


def _literal(text: str) -> str:
    """Return text of our own as a literal that no setting of the session reads otherwise."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def encode_spark_rows(
    rows: Any, columns: Mapping[str, ColumnSQL], schema: Schema, functions: Any
) -> Any:
    """Return a DataFrame of the code columns c0, c1, ... and the class y, of the rows that count;
    with ``who`` where people are named.
    """
    dialect = SparkDialect()
    encoded = [
        (alias, columns[name], attribute) for alias, name, attribute in list_codes(schema, columns)
    ]
    selected, conditions = encode_columns(dialect, encoded)
    read = [column for _, column, _ in encoded]
    if schema.person is not None:
        person = columns[schema.person]
        read.append(person)
        selected.append(f"{identity_expression(person)} AS who")
        conditions.append("who IS NOT NULL")
    coded = dialect.select(rows, read, selected, functions, conditions)
    if schema.person is None:
        return coded
    order = ", ".join(alias for alias, _, _ in encoded)
    turn = f"row_number() OVER (PARTITION BY who ORDER BY {order}) AS turn"
    return coded.selectExpr("*", turn).where(f"turn <= {int(schema.rows_per_person)}").drop("turn")


def identity_expression(column: ColumnSQL) -> str | None:
    """Return text that differs where the values do: whose row it is.

    None for types that have no such text.
    """
    if column.type == "binary":
        return f"hex({column.sql})"
    if column.type == "timestamp":
        # its text depends on the session, and leaves an hour out once a year
        return f"CAST(unix_micros({column.sql}) AS STRING)"
    return SparkDialect().read_text(column) if column.type in _SPARK_IDENTITIES else None


def part_of(who: str, key: str, n_parts: int) -> str:
    """Return SQL for a part, by a keyed hash of whose row it is.

    ``key`` names a column of bytes.
    """
    digest = f"sha2(concat({key}, CAST(CAST({who} AS STRING) AS BINARY)), 256)"
    return f"CAST(conv(substr({digest}, 1, 15), 16, 10) AS BIGINT) % {int(n_parts)}"
