"""Encode column values in SQL, with every name quoted and every value bound.

The statements are built from a schema, never from text of an analyst. Parameters are named
``$name``.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from privet.domain import Schema
from privet.domain.attributes import Attribute, Categorical, Numeric, ValueKind
from privet.domain.encode.values import What
from privet.domain.questions import Question
from privet.errors import ParameterError

#: Values that are searched one after the other; more are joined.
MAX_SEARCHED = 32


def quote_identifier(name: str) -> str:
    """Return a name as an SQL identifier, whatever characters it has."""
    if not name or "\x00" in name:
        raise ParameterError(f"a column or table name must be text without NUL, got {name!r}")
    return '"' + name.replace('"', '""') + '"'


@dataclass
class Statement:
    """Pieces of one statement with its bound values."""

    parameters: dict[str, Any] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)

    def bind(self, name: str, value: Any) -> str:
        """Bind a value, and return the text that stands for it."""
        self.parameters[name] = value
        return f"${name}"


def code_expression(
    statement: Statement, attribute: Attribute, column: str, kind: ValueKind, name: str
) -> str:
    """Return the code of a column's value, as :mod:`privet.domain.encode.rows` would give it.

    ``name`` is unique in the statement.
    """
    if isinstance(attribute, Numeric):
        return _numeric_code_expression(
            statement, attribute, f"t.{quote_identifier(column)}", kind, name
        )
    return _categorical_code_expression(statement, attribute, column, kind, name)


def place_expression(
    statement: Statement, lookup: Mapping[Any, int], column: str, kind: ValueKind, name: str
) -> str:
    """Return the place (from 1) of a column's value among those that are looked up; null where it
    is none of them.
    """
    listed = f"CAST({statement.bind(f'{name}_values', list(lookup))} AS {_sql_type_of(kind)}[])"
    return f"list_position({listed}, {_comparable_expression(column, kind)})"


def _comparable_expression(column: str, kind: ValueKind) -> str:
    """Return a column's value to be compared.

    A collation would let one row match two values, and count twice.
    """
    return f"CAST(t.{quote_identifier(column)} AS {_sql_type_of(kind)})" + (
        ' COLLATE "binary"' if kind == "text" else ""
    )


def _sql_type_of(kind: ValueKind) -> str:
    return "VARCHAR" if kind == "text" else "DOUBLE"


def _categorical_code_expression(
    statement: Statement, attribute: Categorical, column: str, kind: ValueKind, name: str
) -> str:
    lookup, value = attribute.lookup(kind), f"t.{quote_identifier(column)}"
    if kind == "bool":
        yes, no = (lookup.get(truth, attribute.unknown_code) for truth in (True, False))
        return (
            f"CASE WHEN {value} THEN {yes} WHEN NOT {value} THEN {no} ELSE "
            f"{attribute.missing_code} END"
        )
    codes = f"CAST({statement.bind(f'{name}_codes', list(lookup.values()))} AS INTEGER[])"
    if len(lookup) <= MAX_SEARCHED:
        code = f"{codes}[{place_expression(statement, lookup, column, kind, name)}]"
    else:
        listed = f"CAST({statement.bind(f'{name}_values', list(lookup))} AS {_sql_type_of(kind)}[])"
        statement.tables.append(
            f"{name} AS (SELECT unnest({listed}) AS value, unnest({codes}) AS code)"
        )
        statement.joins.append(
            f"LEFT JOIN {name} ON {_comparable_expression(column, kind)} = {name}.value"
        )
        code = f"{name}.code"
    if attribute.missing_code == attribute.unknown_code:
        return f"coalesce({code}, {attribute.unknown_code})"
    is_null = (
        f"{value} IS NULL"
        if kind == "text"
        else f"{value} IS NULL OR isnan(CAST({value} AS DOUBLE))"
    )
    return (
        f"CASE WHEN {is_null} THEN {attribute.missing_code} ELSE coalesce({code}, "
        f"{attribute.unknown_code}) END"
    )


def text_number(column: str) -> str:
    """Return a text column as numbers; null where it spells none.

    DuckDB alone would take 1_000 for one.
    """
    return f"CASE WHEN NOT contains({column}, '_') THEN TRY_CAST({column} AS DOUBLE) END"


def number_of(column: str, kind: ValueKind) -> str:
    """Return a column as numbers."""
    if kind == "text":
        return text_number(column)
    return (
        f"CAST(CAST({column} AS INTEGER) AS DOUBLE)"
        if kind == "bool"
        else f"CAST({column} AS DOUBLE)"
    )


def _numeric_code_expression(
    statement: Statement, attribute: Numeric, column: str, kind: ValueKind, name: str
) -> str:
    number = number_of(column, kind)
    cuts = [
        statement.bind(f"{name}_{i}", edge) for i, edge in enumerate(attribute.cuts[1:-1], start=1)
    ]

    def search(low: int, high: int) -> str:
        """The bin of a number that is known to lie in the bins low to high."""
        if low == high:
            return str(low)
        middle = (low + high + 1) // 2
        return (
            f"CASE WHEN {number} < {cuts[middle - 1]} THEN {search(low, middle - 1)} ELSE "
            f"{search(middle, high)} END"
        )

    inside = search(0, attribute.bins - 1)
    if attribute.on_unknown == "drop":
        low, high = (
            statement.bind(f"{name}_low", attribute.low),
            statement.bind(f"{name}_high", attribute.high),
        )
        inside = (
            f"CASE WHEN {number} < {low} OR {number} > {high} THEN {attribute.unknown_code} ELSE "
            f"{inside} END"
        )
    return (
        f"CASE WHEN {number} IS NULL OR isnan({number}) THEN {attribute.missing_code} ELSE "
        f"{inside} END"
    )


def code_type(attribute: Attribute) -> str:
    """Return the SQL type of an attribute's codes."""
    return {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}[attribute.dtype.itemsize]


def make_with_clause(tables: list[str]) -> str:
    """Return the WITH clause of a statement."""
    return f"WITH {', '.join(tables)} " if tables else ""


def structure_problems(
    schema: Schema, kinds: Mapping[str, ValueKind | None], fractions: Container[str]
) -> list[tuple[str, What]]:
    """Return the columns that are absent or cannot match.

    Judged by what the columns of a table hold; ``fractions`` are those of floating point.
    """
    person = [] if schema.person is None else [schema.person]
    problems: list[tuple[str, What]] = []
    for column in (*schema.names, schema.target, *person):
        if column not in kinds:
            problems.append((column, "absent"))
        elif column == schema.person:
            if column in fractions:  # two large identifiers may have become one
                problems.append((column, "identity"))
        elif kinds[column] is None:
            problems.append((column, "dtype"))
    return problems


def used_codes(question: Question) -> list[str]:
    """Return the code columns that a question looks at."""
    used = {a for partition in question.partitions for a in partition.cells.used}
    used |= {
        question.schema.index(partition.by)
        for partition in question.partitions
        if partition.by is not None
    }
    return [f"c{a}" for a in sorted(used)]
