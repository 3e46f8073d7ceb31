"""Encode column values in Spark's SQL.

Columns are renamed by their position, so no name of a table stands in an expression. Listed values
and bin edges are bound, one JSON array for each column, which Spark parses once: expressions hold
nothing but names and integers of our own. Nothing in a row raises an error, in whatever mode the
session is: an error, and the log of an executor, would quote the row.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.encode.encoding import ValueKind
from privet.domain.encode.values import What

_INTEGERS = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double")
#: Types whose text tells their values apart. Others (maps, arrays, ...) cannot say whose row it is.
_SPARK_IDENTITIES = (
    *_INTEGERS,
    "decimal",
    "string",
    "char",
    "varchar",
    "boolean",
    "date",
    "timestamp_ntz",
    "void",
)
#: A number that is never negative, for a reader who uses it: it keeps what is selected beside it
#: apart. As it differs by partition, Spark computes that once for each row, and not again for every
#: condition on it. As ``zip_with`` is a function that Spark does not compile, it compiles the rest
#: piece by piece, and not into one method with all that comes before and after: Java runs a method
#: of more than 8 KB slowly, and allows none of 64 KB.
SPARK_FENCE = (
    "get(zip_with(array(spark_partition_id()), array(0), (number, zero) -> number), 0) AS fence"
)
# keys: more are searched by a loop, as an expression for each would be too long to compile
_FEW = 64

# No backslash: what one means in a literal depends on the session.
_NUMBER = "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_INFINITY = "[iI][nN][fF]([iI][nN][iI][tT][yY])?$"
_NAN = "^[+-]?[nN][aA][nN]$"
_SPACES = " \t\n\v\f\r"


@dataclass(frozen=True)
class SparkColumn:
    """Where a column stands in the table, and Spark's name of its type."""

    position: int
    type: str

    @property
    def value(self) -> str:
        """The column after :func:`name_by_position`."""
        return f"v{self.position}"

    @property
    def kind(self) -> ValueKind | None:
        """What it holds; None where it cannot match."""
        # the last: a column that holds nothing at all
        if self.type in ("string", "char", "varchar", "void"):
            return "text"
        if self.type == "boolean":
            return "bool"
        return "number" if self.type in (*_INTEGERS, *_FRACTIONS, "decimal") else None

    @property
    def fraction(self) -> bool:
        """Whether it is of floating point."""
        return self.type in _FRACTIONS

    @property
    def identity(self) -> str | None:
        """Text that differs where the values do: whose row it is.

        None for types that have no such text.
        """
        if self.type == "binary":
            return f"hex({self.value})"
        if self.type == "timestamp":
            # its text depends on the session, and leaves an hour out once a year
            return f"CAST(unix_micros({self.value}) AS STRING)"
        return _bytewise_text(self.value) if self.type in _SPARK_IDENTITIES else None


def _bytewise_text(value: str) -> str:
    """Return a value as text that is compared bytewise, whatever collation the column has."""
    return f"CAST({value} AS STRING) COLLATE UTF8_BINARY"


def name_by_position(rows: Any, places: Iterable[SparkColumn]) -> Any:
    """Return some columns, named v0, v1, ... by their position, whatever names they had, also where
    Spark cannot tell two of them apart.
    """
    renamed = rows.toDF(*(f"v{i}" for i in range(len(rows.columns))))
    return renamed.select(*dict.fromkeys(place.value for place in places))


@dataclass(frozen=True)
class Coder:
    """The codes of one column. ``name`` is unique in the statement.

    It makes columns in turn: ``s_name`` for text that may spell a number, the value ``x_name`` and
    beside it what the schema lists, and where that is much, how many of these are not above the
    value (``p_name``).
    """

    name: str
    attribute: Attribute
    place: SparkColumn

    @property
    def text(self) -> str | None:
        """What a number is read from, where it is spelled."""
        if self.place.kind != "text" or self._type == "string":
            return None
        return f"{_plain_text_expression(_bytewise_text(self.place.value))} AS s_{self.name}"

    @property
    def value(self) -> str:
        """The value in the type in which it is compared. NaN is still NaN."""
        value = self.place.value
        if self._type == "string":
            return f"{_bytewise_text(value)} AS x_{self.name}"
        if self.place.kind == "text":
            return f"{_number_of_text(f's_{self.name}')} AS x_{self.name}"
        if self.place.kind == "bool" and self._type == "double":
            value = f"CAST({value} AS INT)"
        return f"CAST({value} AS {self._type}) AS x_{self.name}"

    @property
    def constants(self) -> dict[str, tuple[list[Any], str]]:
        """Arrays that are bound, by their names, with the type of an entry."""
        out: dict[str, tuple[list[Any], str]] = {}
        keys, codes = self._sorted_keys
        if keys:
            out[f"k_{self.name}"] = (keys, self._type)
        if self._has_many_keys:
            out[f"o_{self.name}"] = (codes, "int")
        if isinstance(self.attribute, Numeric):
            out[f"b_{self.name}"] = ([self.attribute.low, self.attribute.high], "double")
        return out

    @property
    def position(self) -> str | None:
        """How many keys are not above the value, for many keys: by halves, with no step beyond the
        last.
        """
        if not self._has_many_keys:
            return None
        bits = len(self._sorted_keys[0]).bit_length()
        steps = ", ".join(str(1 << bit) for bit in reversed(range(bits)))
        inside = f"get(k_{self.name}, p + s - 1) <= x_{self.name}"
        return (
            f"aggregate(array({steps}), 0, (p, s) -> CASE WHEN {inside} THEN p + s ELSE p END) AS "
            f"p_{self.name}"
        )

    @property
    def code(self) -> str:
        """The code, as :mod:`privet.domain.encode.rows` would give it."""
        x, unknown, missing = (
            f"x_{self.name}",
            self.attribute.unknown_code,
            self.attribute.missing_code,
        )
        if self._type == "boolean":
            assert isinstance(self.attribute, Categorical)
            lookup = self.attribute.lookup("bool")
            yes, no = (lookup.get(truth, unknown) for truth in (True, False))
            return f"CASE WHEN {x} THEN {yes} WHEN NOT {x} THEN {no} ELSE {missing} END"
        code = self._found(unknown)
        if isinstance(self.attribute, Numeric) and self.attribute.on_unknown == "drop":
            code = f"CASE WHEN {self.outside} THEN {unknown} ELSE {code} END"
        return f"CASE WHEN {self.null} THEN {missing} ELSE {code} END"

    @property
    def null(self) -> str:
        """Whether the value is missing: null, NaN, or text that is no number where one is
        expected.
        """
        x = f"x_{self.name}"
        return f"{x} IS NULL OR isnan({x})" if self._type == "double" else f"{x} IS NULL"

    @property
    def outside(self) -> str:
        """Whether a number is out of bounds."""
        x, b = f"x_{self.name}", f"b_{self.name}"
        return f"{x} < get({b}, 0) OR {x} > get({b}, 1)"

    @property
    def droppable(self) -> bool:
        """Whether some value has a code that is not counted."""
        return self.attribute.size in (self.attribute.unknown_code, self.attribute.missing_code)

    def problem_tests(self) -> Iterator[tuple[What, str]]:
        """Yield conditions that hold for a row that does not fit."""
        attribute, value = self.attribute, self.place.value
        expected = attribute.on_unknown is not None
        if isinstance(attribute, Numeric):
            if self.place.kind == "text" and attribute.missing is None:
                yield "not a number", f"{value} IS NOT NULL AND x_{self.name} IS NULL"
            if not expected:
                yield "out of range", f"NOT ({self.null}) AND ({self.outside})"
            if attribute.missing is None and attribute.on_unknown != "drop":
                yield "null", f"{value} IS NULL OR isnan(x_{self.name})"
        elif not expected and attribute.other is None:
            yield "unlisted", f"NOT ({self.null}) AND ({self.code}) = {attribute.size}"
            if attribute.missing is None:
                yield "null", self.null

    @property
    def _type(self) -> str:
        """In which type values are compared.

        Integers stay whole: large ones differ where their floats do not.
        """
        if isinstance(self.attribute, Numeric):
            return "double"
        if self.place.kind == "number":
            return "bigint" if self.place.type in _INTEGERS else "double"
        return "boolean" if self.place.kind == "bool" else "string"

    @cached_property
    def _sorted_keys(self) -> tuple[list[Any], list[int]]:
        """What values are compared with, in increasing order: bin edges, or listed values and their
        codes.
        """
        if isinstance(self.attribute, Numeric):
            return list(self.attribute.cuts[1:-1]), []
        if self._type == "boolean":
            return [], []
        if self._type == "string":
            pairs = sorted(self.attribute.lookup("text").items(), key=lambda pair: pair[0].encode())
        elif self._type == "bigint":
            pairs = sorted(
                (int(label), code)
                for code, label in enumerate(self.attribute.labels)
                if _is_int64_label(label)
            )
        else:
            pairs = sorted(self.attribute.lookup("number").items())
        return [key for key, _ in pairs], [code for _, code in pairs]

    @property
    def _has_many_keys(self) -> bool:
        return len(self._sorted_keys[0]) > _FEW

    def _found(self, unknown: int) -> str:
        """Return the code of a value that is there."""
        _, codes = self._sorted_keys
        k, o, p, x = (f"{kind}_{self.name}" for kind in "kopx")
        if isinstance(self.attribute, Numeric):
            return p if self._has_many_keys else self._search(str)
        if self._has_many_keys:
            return f"CASE WHEN get({k}, {p} - 1) = {x} THEN get({o}, {p} - 1) ELSE {unknown} END"
        return self._search(
            lambda n: (
                f"CASE WHEN {x} = get({k}, {n - 1}) THEN {codes[n - 1]} ELSE {unknown} END"
                if n
                else str(unknown)
            )
        )

    def _search(self, leaf: Callable[[int], str]) -> str:
        """Return what ``leaf`` says for the number of keys that are not above the value."""

        def search(low: int, high: int) -> str:
            if low == high:
                return leaf(low)
            middle = (low + high + 1) // 2
            below = f"x_{self.name} < get(k_{self.name}, {middle - 1})"
            return (
                f"CASE WHEN {below} THEN {search(low, middle - 1)} ELSE {search(middle, high)} END"
            )

        return search(0, len(self._sorted_keys[0]))


def _is_int64_label(label: str) -> bool:
    """Return whether a column of 64-bit numbers could hold what this text stands for."""
    digits = label.removeprefix("-")
    return (
        digits.isdecimal()
        and digits.isascii()
        and len(digits) < 20
        and label == str(int(label))
        and -(1 << 63) <= int(label) < 1 << 63
    )


def _plain_text_expression(text: str) -> str:
    """Return a text that may spell a number, without spaces around it and with our digits."""
    foreign, ours = _foreign_characters()
    ours_only = f"translate({text}, {_literal(foreign)}, '{ours}')"
    plain = f"CASE WHEN octet_length({text}) > char_length({text}) THEN {ours_only} ELSE {text} END"
    return f"btrim({plain}, {_literal(_SPACES)})"


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


@cache
def _foreign_characters() -> tuple[str, str]:
    """Return spaces and digits of other scripts, which Python takes for ours, and ours."""
    ours = {}
    for character in map(chr, range(128, sys.maxunicode + 1)):
        if character.isspace():
            ours[character] = " "
        elif (digit := unicodedata.decimal(character, None)) is not None:
            ours[character] = str(digit)
    return "".join(ours), "".join(ours.values())


def _literal(text: str) -> str:
    """Return text of our own as a literal that no setting of the session reads otherwise."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


def add_value_columns(rows: Any, coders: list[Coder], functions: Any, *others: SparkColumn) -> Any:
    """Return the columns by position, with others, and beside them what the coders look at.

    ``functions`` are those of the session's kind.
    """
    values = name_by_position(rows, [*(coder.place for coder in coders), *others])
    values = values.selectExpr("*", *(coder.text for coder in coders if coder.text is not None))
    values = values.selectExpr("*", *(coder.value for coder in coders))
    bound = [
        functions.from_json(functions.lit(json.dumps(entries)), f"array<{sql_type}>").alias(name)
        for coder in coders
        for name, (entries, sql_type) in coder.constants.items()
    ]
    values = values.select("*", *bound)
    positions = [coder.position for coder in coders if coder.position is not None]
    return values.selectExpr("*", *positions) if positions else values


def encode_spark_rows(
    rows: Any, places: Mapping[str, SparkColumn], schema: Schema, functions: Any
) -> Any:
    """Return a DataFrame of the code columns c0, c1, ... and the class y, of the rows that count;
    with ``who`` where people are named.
    """
    coders = [
        Coder(f"c{a}", schema.attributes[name], places[name]) for a, name in enumerate(schema.names)
    ]
    coders.append(Coder("y", schema.label, places[schema.target]))
    codes = [f"{coder.code} AS {coder.name}" for coder in coders]
    conditions = [f"{coder.name} < {coder.attribute.size}" for coder in coders if coder.droppable]
    people = [] if schema.person is None else [places[schema.person]]
    for place in people:
        codes.append(f"{place.identity} AS who")
        conditions.append("who IS NOT NULL")
    encoded = (
        add_value_columns(rows, coders, functions, *people)
        .selectExpr(*codes, SPARK_FENCE)
        .where(" AND ".join([*conditions, "fence >= 0"]))
    )
    if not people:
        return encoded
    order = ", ".join(coder.name for coder in coders)
    turn = f"row_number() OVER (PARTITION BY who ORDER BY {order}) AS turn"
    return (
        encoded.selectExpr("*", turn).where(f"turn <= {int(schema.rows_per_person)}").drop("turn")
    )


def part_of(who: str, key: str, n_parts: int) -> str:
    """Return SQL for a part, by a keyed hash of whose row it is.

    ``key`` names a column of bytes.
    """
    digest = f"sha2(concat({key}, CAST(CAST({who} AS STRING) AS BINARY)), 256)"
    return f"CAST(conv(substr({digest}, 1, 15), 16, 10) AS BIGINT) % {int(n_parts)}"
