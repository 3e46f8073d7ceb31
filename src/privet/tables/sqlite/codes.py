"""Encode rows in SQLite's SQL, with every name quoted and every value bound.

SQLite types entries, not columns: a column of integers may hold a text. So every entry is read by
its own type, as one of a column of Python objects is. What a column is declared as decides whether
an attribute can match it, and whether 0 and 1 are booleans.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any

from privet.domain import Schema
from privet.domain.encode.encoding import Encoding, SpelledNumber, ValueKind
from privet.domain.encode.scalars import spelled_number_of
from privet.tables.base import Division
from privet.tables.dialect import ColumnSQL, Dialect, quote_identifier, select_encoded

#: Keeps a subquery apart, so that what it selects is computed once for each row.
SQLITE_FENCE = "LIMIT -1 OFFSET 0"

_TEXTS = ("CHAR", "CLOB", "TEXT")
_FRACTIONS = ("REAL", "FLOA", "DOUB")
_EXACT = float(1 << 53)  # from here on, a fraction may stand for several integers


class SQLiteDialect(Dialect):
    """The SQL of SQLite. Values are bound by number.

    Codes are looked up by functions of Python, which takes no longer than SQL here, however many
    values are listed. Text is looked up by its bytes, whatever collation its column has.

    Args:
        encoding: how the database stores text.
    """

    def __init__(self, encoding: str = "UTF-8") -> None:
        super().__init__()
        self._encoding = encoding
        #: The bound values, in the order of their numbers.
        self.values: list[Any] = []
        #: The functions of one argument that the statement calls, by name.
        self.functions: dict[str, Callable[[Any], Any]] = {}

    @staticmethod
    def kind_of(sql_type: str) -> ValueKind | None:
        declared = sql_type.upper()
        if "BOOL" in declared:
            return "bool"
        if "INT" in declared:
            return "integer"
        if is_real(declared) or "NUM" in declared or "DEC" in declared:
            return "number"
        return "text"  # dates, too: they are stored as ISO text

    @staticmethod
    def is_fraction(sql_type: str) -> bool:
        return is_real(sql_type.upper())

    def _kind(self, column: ColumnSQL) -> ValueKind:  # noqa: ARG002
        return "text"  # as a column of objects, whose entries say what they are

    def bind(self, value: Any, sql_type: str) -> str:  # noqa: ARG002
        self.values.append(value)
        return f"?{len(self.values)}"

    def read_text(self, column: ColumnSQL) -> str:
        value = column.sql
        integer = f"CAST({value} AS TEXT)"
        if self.kind_of(column.type) == "bool":
            integer = f"CASE {value} WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE {integer} END"
        return (
            f"CAST(CASE typeof({value}) WHEN 'text' THEN {value} WHEN 'integer' THEN {integer} "
            f"WHEN 'real' THEN privet_text({value}) END AS BLOB)"
        )

    def read_integer(self, column: ColumnSQL) -> str:
        return f"CASE typeof({column.sql}) WHEN 'integer' THEN {column.sql} END"

    def read_number(self, column: ColumnSQL) -> str:
        value = column.sql
        return (
            f"CASE typeof({value}) WHEN 'real' THEN {value} WHEN 'integer' THEN CAST({value} AS "
            f"REAL) WHEN 'text' THEN privet_number(CAST({value} AS BLOB)) END"
        )

    def read_spelled(self, column: ColumnSQL, spelled: SpelledNumber) -> str:
        value, stored = column.sql, self._encoding
        name = f"privet_spelled_{len(self.functions)}"

        def read(data: bytes) -> float | None:
            try:
                return spelled_number_of(data.decode(stored), spelled)
            except UnicodeDecodeError:
                return None

        self.functions[name] = read
        plain = self.read_number(column).partition(" WHEN 'text'")[0]
        return f"{plain} WHEN 'text' THEN {name}(CAST({value} AS BLOB)) END"

    def read_moment(self, column: ColumnSQL) -> str:
        value = column.sql
        return f"CASE typeof({value}) WHEN 'text' THEN privet_moment(CAST({value} AS BLOB)) END"

    def field(self, moment: str, name: str) -> str:
        return f"privet_field({moment}, '{name}')"

    def is_nan(self, number: str) -> str:  # noqa: ARG002
        return "FALSE"  # SQLite has null instead

    def find_listed(self, value: str, encoding: Encoding, name: str) -> str:
        assert encoding.listed is not None
        listed = {text.encode(self._encoding): code for text, code in encoding.listed.items()}
        self.functions[f"privet_{name}"] = listed.get
        return f"privet_{name}({value})"

    def find_prefix(self, value: str, encoding: Encoding, name: str) -> str:
        assert encoding.listed is not None
        listed, stored = encoding.listed, self._encoding

        def find(data: bytes | None) -> int | None:
            try:
                return None if data is None else listed.get(data.decode(stored)[: encoding.prefix])
            except UnicodeDecodeError:
                return None

        self.functions[f"privet_{name}"] = find
        return f"privet_{name}({value})"

    def find_range(self, number: str, encoding: Encoding, name: str) -> str:
        points, codes = encoding.ranges.points.tolist(), encoding.ranges.codes.tolist()

        def find(number: float | None) -> int | None:
            return None if number is None else codes[bisect_right(points, number)]

        self.functions[f"privet_{name}"] = find
        return f"privet_{name}({number})"

    def range_code(self, column: ColumnSQL, encoding: Encoding, name: str, value: str) -> str:
        # The number may be read from text, which takes long: it stands there once.
        found = f"coalesce({self.find_range(value, encoding, name)}, {encoding.unreadable})"
        if encoding.missing == encoding.unreadable:
            return found
        return f"CASE WHEN {column.sql} IS NULL THEN {encoding.missing} ELSE {found} END"


def is_real(declared: str) -> bool:
    """Return whether a column that is declared so, in upper case, makes fractions of integers."""
    return any(word in declared for word in _FRACTIONS) and not any(
        word in declared for word in ("INT", *_TEXTS, "BLOB")
    )


def encode_sqlite_rows(
    dialect: SQLiteDialect,
    relation: str,
    columns: Mapping[str, str],
    schema: Schema,
    division: Division | None = None,
    place: str | None = None,
) -> str:
    """Return a SELECT of the code columns c0, c1, ... and the class y, of the rows that count; with
    their part where they are divided.

    ``place`` is the name under which the table has the place of a row, where it has one.
    """
    person, who = None, f"CAST(t.{place} AS BLOB)"
    if schema.person is not None:
        column = ColumnSQL(f"t.{quote_identifier(schema.person)}", columns[schema.person])
        person = _identity(column.sql)
        who = f"coalesce({dialect.read_text(column)}, {column.sql})"  # a blob is no text
    part = []
    if division is not None:
        key = dialect.bind(division.key, "BLOB")
        part = [f"privet_hash({key}, {who}) % {int(division.n_parts)} AS part"]
    return select_encoded(
        dialect, relation, columns, schema, person=person, others=part, fence=SQLITE_FENCE
    )


def _identity(value: str) -> str:
    """Return SQL for whose row it is.

    Text is compared as it is, whatever collation the column has. Of large fractions it is not
    known: they may be several people's integers.
    """
    inexact = f"typeof({value}) = 'real' AND abs({value}) >= {_EXACT!r}"
    return f"CASE WHEN {inexact} THEN NULL ELSE {value} END COLLATE BINARY"
