"""Encode rows in PostgreSQL's SQL, with every name quoted and every value bound."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from privet.domain import Schema
from privet.domain.encode.encoding import DatePart, Encoding, ValueKind
from privet.domain.encode.scalars import ISO_MOMENT
from privet.tables.base import Division
from privet.tables.dialect import ColumnSQL, Dialect, quote_identifier, select_encoded

#: Keeps a subquery apart, so that what it selects is computed once for each row. In quotes, as
#: parallel plans do not see through a cast.
POSTGRES_FENCE = "OFFSET '0'"

_SPACE = r"[ \t\n\v\f\r]*"
_DIGITS = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)"
#: Up to 100 characters with these exponents are in the range of a float; PostgreSQL raises an error
#: for others, and quotes them.
_PLAIN_NUMBER = rf"^{_SPACE}{_DIGITS}(e[+-]?0*1?[0-9]?[0-9])?{_SPACE}$"
_ANY_NUMBER = rf"^{_SPACE}{_DIGITS}(e[+-]?[0-9]+)?{_SPACE}$"
_HUGE_EXPONENT = rf"e([+-]?)[0-9]*[1-9][0-9]{{3,}}{_SPACE}$"
_LARGEST = "1.7976931348623157e308"


_OFFSET = "[+-][0-9]{2}:[0-9]{2}$"  # of a text that is a timestamp
_INTEGERS = ("int2", "int4", "int8")
_NUMBERS = ("float4", "float8", "numeric")
_MOMENTS = ("date", "timestamp", "timestamptz")
_FIELDS = {
    "date": "({}::date - DATE '1970-01-01')",
    "year": "extract(year FROM {})::int",
    "month": "extract(month FROM {})::int",
    "day": "extract(day FROM {})::int",
    "weekday": "extract(isodow FROM {})::int",
    "hour": "extract(hour FROM {})::int",
}


class PostgresDialect(Dialect):
    """The SQL of PostgreSQL. Values are bound by number.

    No table is joined, so that codes which a question does not look at are not computed: text is
    looked up in a JSON object (bytewise, whatever the column's collation), numbers by
    ``width_bucket``.
    """

    text_type = plain_text = "text"

    def __init__(self) -> None:
        super().__init__()
        #: The bound values, in the order of their numbers.
        self.values: list[Any] = []

    @staticmethod
    def kind_of(sql_type: str) -> ValueKind | None:
        if sql_type in ("text", "enum"):
            return "text"
        if sql_type == "bool":
            return "bool"
        if sql_type in _MOMENTS:
            return "date"
        return "integer" if sql_type in _INTEGERS else "number" if sql_type in _NUMBERS else None

    @staticmethod
    def is_fraction(sql_type: str) -> bool:
        return sql_type in ("float4", "float8")

    def bind(self, value: Any, sql_type: str) -> str:
        self.values.append(value)
        return f"${len(self.values)}::{sql_type}"

    def read_text(self, column: ColumnSQL) -> str:
        return f"{column.sql}::text"

    def read_integer(self, column: ColumnSQL) -> str:
        return f"{column.sql}::int8"

    def read_number(self, column: ColumnSQL) -> str:
        return number_expression(column)

    def read_moment(self, column: ColumnSQL) -> str:
        value = column.sql
        if self.kind_of(column.type) == "text":
            # only the minute counts: PostgreSQL rounds fractions of a second up
            text = f'{value}::text COLLATE "C"'
            clock, offset = f"left({text}, 16)", f"right({text}, 6)"
            zoned = f"({clock} || {offset})::timestamptz AT TIME ZONE 'UTC'"
            return (
                f"CASE WHEN {text} !~ '{ISO_MOMENT}' THEN NULL WHEN {text} ~ '{_OFFSET}' THEN "
                f"{zoned} ELSE ({clock})::timestamp END"
            )
        moment = f"{value} AT TIME ZONE 'UTC'" if column.type == "timestamptz" else value
        if column.type == "date":  # which may lie beyond what a timestamp holds
            moment = f"least({value}, DATE '294276-12-31')"
        # what is infinite has no parts
        return f"CASE WHEN isfinite({value}) THEN ({moment})::timestamp END"

    def field(self, moment: str, name: str) -> str:
        return _FIELDS[name].format(f"({moment})")

    def is_nan(self, number: str) -> str:
        return f"({number})::float8 = 'NaN'"

    def find_listed(self, value: str, encoding: Encoding, name: str) -> str:  # noqa: ARG002
        assert encoding.listed is not None
        if encoding.reads == "text":
            # The server knows no NUL: a value with one cannot occur.
            listed = {text: code for text, code in encoding.listed.items() if "\x00" not in text}
            found = self.bind(json.dumps(listed, ensure_ascii=False), "jsonb")
            return f"({found} ->> {value})::int"
        cuts, codes = _list_number_steps(encoding)
        array = "int8[]" if encoding.reads == "integer" else "float8[]"
        bucket = f"width_bucket({value}, {self.bind(cuts, array)})"
        return f"({self.bind(codes, 'int[]')})[{bucket} + 1]"

    def find_range(self, number: str, encoding: Encoding, name: str) -> str:  # noqa: ARG002
        points, codes = encoding.ranges.points.tolist(), encoding.ranges.codes.tolist()
        bucket = f"width_bucket({number}, {self.bind(points, 'float8[]')})"
        if codes != list(range(len(codes))):
            bucket = f"({self.bind(codes, 'int[]')})[{bucket} + 1]"
        return bucket

    def range_code(self, column: ColumnSQL, encoding: Encoding, name: str, value: str) -> str:
        # The number may be read from text, which takes long: it stands there once.
        number = f"({value})::float8" if isinstance(encoding.reads, DatePart) else value
        known = f"nullif({number}, 'NaN')"
        found = f"coalesce({self.find_range(known, encoding, name)}, {encoding.unreadable})"
        if encoding.missing == encoding.unreadable:
            return found
        return f"CASE WHEN {self.is_missing(column)} THEN {encoding.missing} ELSE {found} END"


def _list_number_steps(encoding: Encoding) -> tuple[list[Any], list[int]]:
    """Return increasing numbers, and the codes between them.

    A listed number is the interval from itself to the next one of its type.
    """
    assert encoding.listed is not None
    integer = encoding.reads == "integer"
    steps = encoding.steps(np.dtype(np.int64 if integer else np.float64))
    return steps.points.tolist(), steps.codes.tolist()


postgres_kind_of = PostgresDialect.kind_of


def encode_postgres_rows(
    relation: str,
    columns: Mapping[str, str],
    schema: Schema,
    division: Division | None = None,
    dialect: PostgresDialect | None = None,
) -> tuple[list[Any], str]:
    """Return bound values, and a SELECT of the code columns c0, c1, ... and the class y, of the
    rows that count; with their part where they are divided.
    """
    dialect, person = dialect or PostgresDialect(), None
    who = "t.tableoid::int8::text || t.ctid::text"
    if schema.person is not None:
        person = _postgres_identity(schema.person, columns[schema.person])
        who = f"({person})::text"
    part = [] if division is None else [f"{_part_expression(dialect, who, division)} AS part"]
    encoded = select_encoded(
        dialect, relation, columns, schema, person=person, others=part, fence=POSTGRES_FENCE
    )
    return dialect.values, encoded


def number_expression(column: ColumnSQL) -> str:
    """Return a column as float8.

    Text that is no number is null; nothing in a row raises an error.
    """
    value, sql_type = column.sql, column.type
    if sql_type == "numeric":
        return f"CASE WHEN {value} = 'NaN' THEN 'NaN' ELSE {_bounded_number_expression(value)} END"
    if postgres_kind_of(sql_type) == "text":
        text = f'{value}::text COLLATE "C"'
        huge = f"regexp_replace({text}, '{_HUGE_EXPONENT}', 'e\\1999', 'i')::numeric"
        return (
            f"CASE WHEN {text} ~* '{_PLAIN_NUMBER}' AND length({text}) <= 100 THEN "
            f"({text})::float8 WHEN {text} ~* '{_ANY_NUMBER}' AND length({text}) <= 1000 THEN "
            f"{_bounded_number_expression(huge)} WHEN {text} ~* "
            f"'^{_SPACE}[+]?inf(inity)?{_SPACE}$' THEN "
            f"'Infinity' WHEN {text} ~* '^{_SPACE}-inf(inity)?{_SPACE}$' THEN '-Infinity' WHEN "
            f"{text} ~* '^{_SPACE}[+-]?nan{_SPACE}$' THEN 'NaN' END"
        )
    return f"{value}::int::float8" if sql_type == "bool" else f"{value}::float8"


def _bounded_number_expression(number: str) -> str:
    """Return a numeric as float8.

    PostgreSQL raises an error where it is too large or too small for that, and quotes it.
    """
    # which would be a number for null
    clipped = f"least(greatest({number}, -{_LARGEST}), {_LARGEST})::float8"
    return f"CASE WHEN abs({number}) < 1e-300 THEN 0 WHEN {number} IS NOT NULL THEN {clipped} END"


def _postgres_identity(column: str, sql_type: str) -> str:
    """Return SQL for whose row it is.

    Text is compared as it is, whatever collation the column has; other types by their text.
    """
    value = f"t.{quote_identifier(column)}"
    if sql_type in ("int2", "int4", "int8"):
        return value
    return f"trim_scale({value})" if sql_type == "numeric" else f'{value}::text COLLATE "C"'


def _part_expression(dialect: PostgresDialect, who: str, division: Division) -> str:
    """Return SQL for the part that a row is in, by a keyed hash."""
    key = dialect.bind(division.key, "bytea")
    digest = f"encode(sha256({key} || convert_to({who}, getdatabaseencoding())), 'hex')"
    return f"('x' || substr({digest}, 1, 15))::bit(60)::int8 % {int(division.n_parts)}"
