"""Encode rows in SQL: one encoder for every engine, with every name quoted and every value bound.

An attribute says which scalar it reads from a kind of column and which code each scalar has
(:mod:`privet.domain.encode.encoding`). A :class:`Dialect` says how its engine reads scalars and
looks them up. Statements are built from a schema, never from text of an analyst. Nothing in a row
may raise an error in an engine, as its message could quote the row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from privet.domain import Attribute, Schema
from privet.domain.attributes.base import PROBLEMS, What
from privet.domain.encode.columns import find_mismatch
from privet.domain.encode.encoding import (
    DatePart,
    Encoding,
    Scalar,
    SpelledNumber,
    ValueKind,
)
from privet.domain.questions import Question
from privet.errors import ParameterError


def quote_identifier(name: str) -> str:
    """Return a name as an SQL identifier, whatever characters it has."""
    if not name or "\x00" in name:
        raise ParameterError(f"a column or table name must be text without NUL, got {name!r}")
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class ColumnSQL:
    """A column of a table in a statement: its SQL, and its type as the engine calls it."""

    sql: str
    type: str


class Dialect(ABC):
    """The SQL of one engine, and the values that one statement binds."""

    #: The type that SQL casts to text with, and what the engine calls columns of it.
    text_type: ClassVar[str] = "VARCHAR"
    plain_text: ClassVar[str] = "VARCHAR"

    def __init__(self) -> None:
        #: Small tables for the WITH clause, and how they are joined to the rows.
        self.tables: list[str] = []
        self.joins: list[str] = []

    # -- what an engine says -----------------------------------------------------------------------

    @staticmethod
    @abstractmethod
    def kind_of(sql_type: str) -> ValueKind | None:
        """Return what a column of this type holds; None where no attribute can match."""

    @staticmethod
    @abstractmethod
    def is_fraction(sql_type: str) -> bool:
        """Return whether a column of this type is of floating point."""

    @abstractmethod
    def bind(self, value: Any, sql_type: str) -> str:
        """Bind a value, and return the text that stands for it."""

    @abstractmethod
    def read_text(self, column: ColumnSQL) -> str:
        """Return a column as text that is compared bytewise, whatever its collation."""

    @abstractmethod
    def read_integer(self, column: ColumnSQL) -> str:
        """Return a column of integers as integers that hold all of them."""

    @abstractmethod
    def read_number(self, column: ColumnSQL) -> str:
        """Return a column as numbers of floating point, null where text is no number."""

    @abstractmethod
    def read_moment(self, column: ColumnSQL) -> str:
        """Return a column of dates, timestamps or ISO text as a moment in UTC.

        It is null where there is none, and what :meth:`field` takes.
        """

    @abstractmethod
    def field(self, moment: str, name: str) -> str:
        """Return an integer of a moment: ``date`` (days from 1970-01-01), ``year``, ``month``,
        ``day``, ``weekday`` (1 is Monday) or ``hour``.
        """

    @abstractmethod
    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN."""

    @abstractmethod
    def find_listed(self, value: str, encoding: Encoding, name: str) -> str:
        """Return the code of a text or number that is listed; null where it is not.

        ``name`` is unique in the statement.
        """

    @abstractmethod
    def find_range(self, number: str, encoding: Encoding, name: str) -> str:
        """Return the code of the range that a number lies in, which is neither null nor NaN."""

    def cut_text(self, text: str, length: int) -> str:
        """Return the first characters of a text."""
        return f"left({text}, {int(length)})"

    # -- what all engines share --------------------------------------------------------------------

    def encoding_of(self, attribute: Attribute, column: ColumnSQL) -> Encoding:
        """Return how a column is encoded."""
        encoding = attribute.encoding(self._kind(column))
        assert encoding is not None  # the structure of the table was checked
        return encoding

    def diagnosis_of(self, attribute: Attribute, column: ColumnSQL) -> Encoding:
        """Return how a column is checked."""
        diagnosis = attribute.diagnosis(self._kind(column))
        assert diagnosis is not None
        return diagnosis

    def _kind(self, column: ColumnSQL) -> ValueKind:
        kind = self.kind_of(column.type)
        assert kind is not None
        return kind

    def read(self, column: ColumnSQL, scalar: Scalar) -> str:
        """Return the scalar of a column's entry; null where there is none."""
        if isinstance(scalar, DatePart):
            return self._read_part(column, scalar)
        if isinstance(scalar, SpelledNumber):
            return self.read_spelled(column, scalar)
        if scalar == "text":
            return self.read_text(column)
        if scalar == "integer":
            return self.read_integer(column)
        return self.read_number(column) if scalar == "number" else column.sql

    def read_spelled(self, column: ColumnSQL, spelled: SpelledNumber) -> str:
        """Return the number that a column of text spells in a declared way; null for none."""
        text, kind = f"CAST({column.sql} AS {self.text_type})", self.text_type
        changes = [(part, "") for part in spelled.removed]
        if spelled.decimal != ".":
            changes.append((spelled.decimal, "."))
        for old, new in changes:
            text = f"replace({text}, {self.bind(old, kind)}, {self.bind(new, kind)})"
        return self.read_number(ColumnSQL(text, self.plain_text))

    def _read_part(self, column: ColumnSQL, part: DatePart) -> str:
        kind, number = self._kind(column), "NULL"
        if part.range is not None and kind != "date":
            low, high = part.range
            read = self.read_number(column)
            number = f"CASE WHEN {read} BETWEEN {low} AND {high} THEN {read} END"
        if kind in ("integer", "number"):
            return number
        moment = self.part_of(self.read_moment(column), part)
        return moment if number == "NULL" else f"coalesce({moment}, {number})"

    def part_of(self, moment: str, part: DatePart) -> str:
        """Return one part of a moment, as :func:`privet.domain.encode.scalars.parts_of` does."""
        if part.at is None:
            return self.field(moment, part.part)
        year, month, day = (self.field(moment, name) for name in ("year", "month", "day"))
        birthday = 100 * part.at.month + part.at.day
        comes = f"CASE WHEN 100 * {month} + {day} > {birthday} THEN 1 ELSE 0 END"
        return f"({part.at.year} - {year} - {comes})"

    def code(
        self, column: ColumnSQL, encoding: Encoding, name: str, value: str | None = None
    ) -> str:
        """Return the code of a column's entry, as :mod:`privet.domain.encode.rows` gives it.

        ``name`` is unique in the statement; ``value`` is the scalar where it was selected before.
        """
        value = self.read(column, encoding.reads) if value is None else value
        if encoding.listed is None:
            return self.range_code(column, encoding, name, value)
        if encoding.reads == "truth":
            yes, no = (encoding.listed.get(truth, encoding.unknown) for truth in (True, False))
            return (
                f"CASE WHEN {value} THEN {yes} WHEN NOT {value} THEN {no} ELSE {encoding.missing} "
                "END"
            )
        places = [self.find_listed(value, encoding, name)]
        if encoding.prefix is not None:
            places.append(self.find_prefix(value, encoding, f"{name}_cut"))
        found = f"coalesce({', '.join(places)}, {encoding.unknown})"
        if encoding.missing == encoding.unknown:
            return found
        missing = f"{column.sql} IS NULL"
        if encoding.reads == "number":
            missing = f"{value} IS NULL OR {self.is_nan(value)}"
        return f"CASE WHEN {missing} THEN {encoding.missing} ELSE {found} END"

    def find_prefix(self, value: str, encoding: Encoding, name: str) -> str:
        """Return the code of a text whose first characters are listed; null where they are not."""
        assert encoding.prefix is not None
        return self.find_listed(self.cut_text(value, encoding.prefix), encoding, name)

    def range_code(self, column: ColumnSQL, encoding: Encoding, name: str, value: str) -> str:
        """Return the code of a number that is read from a column."""
        null = ""
        if encoding.missing != encoding.unreadable:
            null = f"WHEN {self.is_missing(column)} THEN {encoding.missing} "
        return (
            f"CASE {null}WHEN {value} IS NULL OR {self.is_nan(value)} THEN {encoding.unreadable} "
            f"ELSE {self.find_range(value, encoding, name)} END"
        )

    def is_missing(self, column: ColumnSQL) -> str:
        """Return whether an entry is missing: null, or NaN in a column of numbers."""
        if self._kind(column) != "number":
            return f"{column.sql} IS NULL"
        return f"{column.sql} IS NULL OR {self.is_nan(self.read_number(column))}"

    def with_clause(self) -> str:
        """Return the WITH clause of the statement, or nothing."""
        return f"WITH {', '.join(self.tables)} " if self.tables else ""


def search_ranges(value: str, points: Sequence[str], codes: Sequence[int | str]) -> str:
    """Return nested CASE expressions that search sorted points by halves.

    The result is ``codes[k]`` for the k points that are not above the value: an integer, or SQL.
    """

    def search(low: int, high: int) -> str:
        if low == high:
            return str(codes[low])
        middle = (low + high + 1) // 2
        return (
            f"CASE WHEN {value} < {points[middle - 1]} THEN {search(low, middle - 1)} ELSE "
            f"{search(middle, high)} END"
        )

    return search(0, len(points))


def list_codes(schema: Schema, present: Collection[str]) -> list[tuple[str, str, Attribute]]:
    """Return the alias, the column's name and the domain of each attribute (c0, c1, ...), and of
    the class (y), in a table that has these columns.
    """
    places = schema.find_columns(present)
    listed: list[tuple[str, str, Attribute]] = [
        (f"c{a}", places[name], attribute)
        for a, (name, attribute) in enumerate(schema.attributes.items())
    ]
    return [*listed, ("y", schema.target, schema.label)]


def columns_of(
    schema: Schema, types: Mapping[str, str], prefix: str = "t."
) -> list[tuple[str, ColumnSQL, Attribute]]:
    """Return what :func:`list_codes` does, with each column quoted."""
    return [
        (alias, ColumnSQL(prefix + quote_identifier(column), types[column]), attribute)
        for alias, column, attribute in list_codes(schema, types)
    ]


def encode_columns(
    dialect: Dialect, columns: Iterable[tuple[str, ColumnSQL, Attribute]]
) -> tuple[list[str], list[str]]:
    """Return the code of each column under its alias, and conditions that hold for the rows that
    count.
    """
    selected, conditions = [], []
    for alias, column, attribute in columns:
        code = dialect.code(column, dialect.encoding_of(attribute, column), f"d_{alias}")
        selected.append(f"{code} AS {alias}")
        if attribute.size in (attribute.unknown_code, attribute.missing_code):
            conditions.append(f"{alias} < {attribute.size}")
    return selected, conditions


def select_encoded(
    dialect: Dialect,
    relation: str,
    types: Mapping[str, str],
    schema: Schema,
    *,
    person: str | None = None,
    others: Iterable[str] = (),
    fence: str = "",
) -> str:
    """Return a SELECT of the code columns c0, c1, ... and the class y, of the rows that count.

    The WITH clause of the dialect stands before it.

    Args:
        dialect: the engine's.
        relation: what is selected from, as quoted SQL.
        types: the type of each column.
        schema: what is encoded.
        person: SQL that tells people apart, where the schema names them: so many rows of each are
            kept, in the order of their codes.
        others: more columns to select.
        fence: what keeps the engine from computing codes several times.
    """
    columns = columns_of(schema, types)
    selected, conditions = encode_columns(dialect, columns)
    if person is not None:
        selected.append(f"{person} AS person")
        conditions.append("person IS NOT NULL")
    inner = " ".join(
        [f"SELECT {', '.join([*selected, *others])} FROM {relation} AS t", *dialect.joins, fence]
    )
    # One condition, of which a planner assumes that half of the rows pass: of many it would assume
    # that none does.
    kept = f"CASE WHEN {' AND '.join(conditions) or '1 = 1'} THEN true ELSE false END"
    rows = f"({inner}) AS e WHERE {kept}"
    if person is None:
        return f"SELECT * FROM {rows}"
    order = ", ".join(alias for alias, _, _ in columns)
    turn = f"row_number() OVER (PARTITION BY person ORDER BY {order}) AS turn"
    return (
        f"SELECT * FROM (SELECT *, {turn} FROM {rows}) AS p WHERE turn <= "
        f"{int(schema.rows_per_person)}"
    )


def select_problems(
    dialect: Dialect,
    relation: str,
    types: Mapping[str, str],
    schema: Schema,
    broken: Iterable[str],
) -> tuple[str, list[tuple[str, What]]]:
    """Return a statement that tells which problems a table has, and the problem of each column.

    A column of the answer is 1 where some row has the problem; null for a table without rows.
    ``broken`` columns are left out, as they cannot be read.
    """
    skipped = set(broken)
    selected, tests, told = diagnose_columns(
        dialect,
        [
            (name, ColumnSQL(f"t.{quote_identifier(name)}", types[name]), attribute)
            for _, name, attribute in schema.list_checks(types)
            if name not in skipped
        ],
    )
    if not tests:
        return "", []
    inner = " ".join([f"SELECT {', '.join(selected)} FROM {relation} AS t", *dialect.joins])
    return f"{dialect.with_clause()}SELECT {', '.join(tests)} FROM ({inner}) AS q", told


def diagnose_columns(
    dialect: Dialect, columns: Iterable[tuple[str, ColumnSQL, Attribute]]
) -> tuple[list[str], list[str], list[tuple[str, What]]]:
    """Return the diagnosis of each column (p0, p1, ...), tests over all rows, and the column and
    problem that each test finds.

    Args:
        dialect: the engine's.
        columns: the name, the column and the domain of each.
    """
    selected, tests, told = [], [], list[tuple[str, What]]()
    for i, (name, column, attribute) in enumerate(columns):
        diagnosis = dialect.diagnosis_of(attribute, column)
        selected.append(f"{dialect.code(column, diagnosis, f'd_p{i}')} AS p{i}")
        for number in possible_problems(diagnosis):
            what = PROBLEMS[number]
            assert what is not None
            told.append((name, what))
            tests.append(f"max(CASE WHEN p{i} = {number} THEN 1 ELSE 0 END)")
    return selected, tests, told


def possible_problems(diagnosis: Encoding) -> list[int]:
    """Return the numbers of the problems that a column can have."""
    codes = {diagnosis.unknown, diagnosis.missing, diagnosis.unreadable}
    return sorted(codes - {0})


def found_problems(
    told: Sequence[tuple[str, What]], answer: Sequence[Any]
) -> list[tuple[str, What]]:
    """Return the problems that a table has, from the answer to :func:`select_problems`."""
    found = [problem for problem, there in zip(told, answer, strict=True) if there]
    return list(dict.fromkeys(found))


def structure_problems(
    schema: Schema, types: Mapping[str, str], dialect: type[Dialect]
) -> list[tuple[str, What]]:
    """Return the columns that are absent or cannot match, judged by their types."""
    problems: list[tuple[str, What]] = []
    places = schema.find_columns(types)
    needed: list[tuple[str, Attribute]] = [
        (places[name], attribute) for name, attribute in schema.attributes.items()
    ]
    for column, attribute in [*needed, (schema.target, schema.label)]:
        kind = dialect.kind_of(types[column]) if column in types else None
        if column not in types:
            problems.append((column, "absent"))
        elif what := find_mismatch(kind, attribute, target=attribute is schema.label):
            problems.append((column, what))
    if schema.person is not None:
        if schema.person not in types:
            problems.append((schema.person, "absent"))
        elif dialect.is_fraction(types[schema.person]):
            # two large identifiers may have become one
            problems.append((schema.person, "identity"))
    return list(dict.fromkeys(problems))


def used_codes(question: Question) -> list[str]:
    """Return the code columns that a question looks at."""
    used = {a for partition in question.partitions for a in partition.cells.used}
    used |= {
        question.schema.index(partition.by)
        for partition in question.partitions
        if partition.by is not None
    }
    return [f"c{a}" for a in sorted(used)]
