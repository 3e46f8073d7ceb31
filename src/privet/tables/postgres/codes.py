"""Encode column values in PostgreSQL's SQL, with every name quoted and every value bound.

No table is joined, so that the codes a question does not look at are not computed: text is looked
up in a JSON object (bytewise, whatever the column's collation), numbers by ``width_bucket``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.attributes import ValueKind
from privet.domain.encode.values import What
from privet.tables.base import Division
from privet.tables.dialect import quote_identifier

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


@dataclass
class Bound:
    """The values of a statement, in the order of their numbers."""

    values: list[Any] = field(default_factory=list)

    def bind(self, value: Any, sql_type: str) -> str:
        """Bind a value, and return the text that stands for it."""
        self.values.append(value)
        return f"${len(self.values)}::{sql_type}"


def postgres_kind_of(sql_type: str) -> ValueKind | None:
    """Return what a column holds; None where it cannot match."""
    if sql_type in ("text", "enum"):
        return "text"
    if sql_type == "bool":
        return "bool"
    return "number" if sql_type in ("int2", "int4", "int8", "float4", "float8", "numeric") else None


def encode_postgres_rows(
    relation: str,
    columns: Mapping[str, str],
    schema: Schema,
    division: Division | None = None,
    bound: Bound | None = None,
) -> tuple[Bound, str]:
    """Return a SELECT of the code columns c0, c1, ... and the class y, of the rows that count; with
    their part where they are divided.
    """
    bound = bound or Bound()
    selected, conditions = [], []
    attributes: list[tuple[str, str, Attribute]] = [
        (f"c{a}", name, schema.attributes[name]) for a, name in enumerate(schema.names)
    ]
    for alias, column, attribute in [*attributes, ("y", schema.target, schema.label)]:
        selected.append(
            f"{postgres_code_expression(bound, attribute, column, columns[column])} AS {alias}"
        )
        if attribute.size in (attribute.unknown_code, attribute.missing_code):
            conditions.append(f"{alias} < {attribute.size}")
    who = "t.tableoid::int8::text || t.ctid::text"
    if schema.person is not None:
        person = _postgres_identity(schema.person, columns[schema.person])
        who = f"({person})::text"
        selected.append(f"{person} AS person")
        conditions.append("person IS NOT NULL")
    if division is not None:
        selected.append(f"{_part_expression(bound, who, division)} AS part")
    # One condition, of which the planner assumes that half of the rows pass: of many it would
    # assume that none does.
    kept = f"CASE WHEN {' AND '.join(conditions) or 'true'} THEN true ELSE false END"
    rows = f"(SELECT {', '.join(selected)} FROM {relation} AS t {POSTGRES_FENCE}) AS e WHERE {kept}"
    if schema.person is None:
        return bound, f"SELECT * FROM {rows}"
    order = ", ".join([alias for alias, _, _ in attributes] + ["y"])
    ranked = (
        f"SELECT *, row_number() OVER (PARTITION BY person ORDER BY {order}) AS turn FROM {rows}"
    )
    return bound, f"SELECT * FROM ({ranked}) AS p WHERE turn <= {int(schema.rows_per_person)}"


def postgres_code_expression(bound: Bound, attribute: Attribute, column: str, sql_type: str) -> str:
    """Return the code of a column's value, as :mod:`privet.domain.encode.rows` would give it."""
    value, kind = f"t.{quote_identifier(column)}", postgres_kind_of(sql_type)
    unknown, missing = attribute.unknown_code, attribute.missing_code
    if isinstance(attribute, Categorical) and kind == "bool":
        lookup = attribute.lookup("bool")
        yes, no = (lookup.get(truth, unknown) for truth in (True, False))
        return f"CASE WHEN {value} THEN {yes} WHEN NOT {value} THEN {no} ELSE {missing} END"
    if isinstance(attribute, Categorical) and kind == "text":
        # The server knows no NUL: a value with one cannot occur.
        listed = {
            text: code for text, code in attribute.lookup("text").items() if "\x00" not in text
        }
        code = (
            f"coalesce(({bound.bind(json.dumps(listed, ensure_ascii=False), 'jsonb')} ->> "
            f"{value}::text)::int, {unknown})"
        )
        return (
            code
            if missing == unknown
            else f"CASE WHEN {value} IS NULL THEN {missing} ELSE {code} END"
        )
    cuts, codes = _list_code_steps(attribute)
    bucket = (
        f"width_bucket(nullif({number_expression(column, sql_type)}, 'NaN'), "
        f"{bound.bind(cuts, 'float8[]')})"
    )
    if codes != list(range(len(codes))):
        bucket = f"({bound.bind(codes, 'int[]')})[{bucket} + 1]"
    return f"coalesce({bucket}, {missing})"


def _list_code_steps(attribute: Attribute) -> tuple[list[float], list[int]]:
    """Return increasing numbers, and the codes between them.

    The first code is below the first number, the second from there to the second number, and so on.
    """
    if isinstance(attribute, Numeric):
        inner, bins = list(attribute.cuts[1:-1]), list(range(attribute.bins))
        if attribute.on_unknown != "drop":
            return inner, bins
        beyond = math.nextafter(attribute.high, math.inf)
        return [attribute.low, *inner, beyond], [
            attribute.unknown_code,
            *bins,
            attribute.unknown_code,
        ]
    # A listed number is the interval from itself to the next float.
    cuts, codes = [], [attribute.unknown_code]
    for number, code in sorted(attribute.lookup("number").items()):
        cuts += [number, math.nextafter(number, math.inf)]
        codes += [code, attribute.unknown_code]
    return cuts, codes


def number_expression(column: str, sql_type: str) -> str:
    """Return a column as float8.

    Text that is no number is null; nothing in a row raises an error.
    """
    value = f"t.{quote_identifier(column)}"
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


def _part_expression(bound: Bound, who: str, division: Division) -> str:
    """Return SQL for the part that a row is in, by a keyed hash."""
    key = bound.bind(division.key, "bytea")
    digest = f"encode(sha256({key} || convert_to({who}, getdatabaseencoding())), 'hex')"
    return f"('x' || substr({digest}, 1, 15))::bit(60)::int8 % {int(division.n_parts)}"


def postgres_problem_tests(
    bound: Bound, attribute: Attribute, column: str, sql_type: str
) -> Iterator[tuple[What, str]]:
    """Yield conditions that hold for a row that does not fit."""
    value, kind = f"t.{quote_identifier(column)}", postgres_kind_of(sql_type)
    expected = attribute.on_unknown is not None
    number = (
        ""
        if kind == "text" and isinstance(attribute, Categorical)
        else number_expression(column, sql_type)
    )
    if isinstance(attribute, Numeric):
        if kind == "text" and attribute.missing is None:
            yield "not a number", f"{value} IS NOT NULL AND {number} IS NULL"
        if not expected:
            low, high = bound.bind(attribute.low, "float8"), bound.bind(attribute.high, "float8")
            yield "out of range", f"nullif({number}, 'NaN') NOT BETWEEN {low} AND {high}"
        if attribute.missing is None and attribute.on_unknown != "drop":
            yield "null", f"{value} IS NULL OR {number} = 'NaN'"
    elif not expected and attribute.other is None:
        strict = Categorical(attribute.values)
        known = f"{value} IS NOT NULL" + (f" AND {number} <> 'NaN'" if number else "")
        yield (
            "unlisted",
            f"{known} AND {postgres_code_expression(bound, strict, column, sql_type)} = "
            f"{strict.size}",
        )
        if attribute.missing is None:
            yield "null", f"NOT ({known})"
