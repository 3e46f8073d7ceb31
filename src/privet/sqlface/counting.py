"""The statement that counts a data set, with every name quoted and every value bound.

It is made once, from the schema. A question changes its last parameter only: a list that says of every code of every attribute whether
it is allowed. So all questions do the same work for every row, and none has a say in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privet.counts.sql import quoted
from privet.errors import TableError
from privet.schema import Attribute, Numeric, Schema
from privet.schema.attributes import Kind
from privet.schema.problems import What, raise_if_any

if TYPE_CHECKING:
    import psycopg

Columns = dict[str, str]


def columns_of(connection: psycopg.Connection[Any], table: str) -> tuple[str, Columns]:
    """A table's quoted name, and the type of each column. Looks at no row."""
    rows = connection.execute(
        "SELECT c.oid, n.nspname, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't' "
        "AND ($1 = n.nspname || '.' || c.relname OR (n.nspname = 'public' AND $1 = c.relname))",
        (table,),
    ).fetchall()
    if len(rows) != 1:
        raise TableError(f"no table {table!r} in the database of the ledger")
    oid, namespace, name = rows[0]
    columns = connection.execute(
        "SELECT a.attname, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END "
        "FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid "
        "WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped",
        (oid,),
    ).fetchall()
    return f"{quoted(namespace)}.{quoted(name)}", dict(columns)


def kind_of(sql_type: str) -> Kind | None:
    """What a column holds; None where it cannot match."""
    if sql_type in ("text", "varchar", "bpchar", "name", "enum"):
        return "text"
    if sql_type == "bool":
        return "bool"
    return "number" if sql_type in ("int2", "int4", "int8", "float4", "float8", "numeric") else None


class Counted:
    """A table under a schema, as ``privet.datasets`` and ``privet.attributes`` hold it.

    Sensitivity of the count: 1, for one row added or removed; ``factor`` for the neighbours that the schema declares.
    """

    def __init__(self, schema: Schema, relation: str, columns: Columns) -> None:
        self.relation = relation
        self.texts: list[str] = []
        self.numbers: list[float] = []
        self.codes: list[int] = []
        self.factor = schema.rows_per_person * (2 if schema.neighbours == "replace" else 1)
        attributes: dict[str, Attribute] = {**schema.attributes, schema.target: schema.label}
        self.labels = {name: list(attribute.labels) for name, attribute in attributes.items()}
        self.sql = self._statement(schema, attributes, columns)

    def _statement(self, schema: Schema, attributes: dict[str, Attribute], columns: Columns) -> str:
        raise_if_any(_structure(schema, attributes, columns))
        codes, conditions, allowed, start = [], [], [], 0
        for i, (name, attribute) in enumerate(attributes.items()):
            kind = kind_of(columns[name])
            assert kind is not None
            codes.append(f"{self._code(attribute, f't.{quoted(name)}', kind)} AS c{i}")
            conditions.append(f"c{i} < {attribute.size}")
            allowed.append(f"($4)[{start + 1} + c{i}]")
            start += attribute.size
        person = "" if schema.person is None else f", t.{quoted(schema.person)} AS person"
        # OFFSET 0: each code is computed once.
        rows = f"SELECT {', '.join(codes)}{person} FROM {self.relation} AS t OFFSET 0"
        kept = f"SELECT * FROM ({rows}) AS encoded WHERE {' AND '.join(conditions)}"
        if schema.person is not None:
            order = ", ".join(f"c{i}" for i in range(len(attributes)))
            numbered = (
                f"SELECT *, row_number() OVER (PARTITION BY person ORDER BY {order}) AS place FROM ({kept} AND person IS NOT NULL) AS kept"
            )
            kept = f"SELECT * FROM ({numbered}) AS numbered WHERE place <= {int(schema.rows_per_person)}"
        return f"SELECT sum({' * '.join(allowed)}) FROM ({kept}) AS counted"

    def _code(self, attribute: Attribute, column: str, kind: Kind) -> str:
        if isinstance(attribute, Numeric):
            number = f"{column}::double precision" if kind == "number" else f"{column}::integer::double precision"
            cuts = self._bind_numbers(attribute.cuts[1:-1])
            inside = f"width_bucket({number}, {cuts})" if attribute.bins > 1 else "0"
            if attribute.on_unknown == "drop":
                low, high = self._bind_numbers([attribute.low]), self._bind_numbers([attribute.high])
                inside = f"CASE WHEN {number} < ({low})[1] OR {number} > ({high})[1] THEN {attribute.unknown_code} ELSE {inside} END"
            return f"CASE WHEN {number} IS NULL OR {number} = 'NaN' THEN {attribute.missing_code} ELSE {inside} END"
        lookup: dict[Any, int] = attribute.lookup(kind)
        if kind == "bool":
            yes, no = (lookup.get(truth, attribute.unknown_code) for truth in (True, False))
            return f"CASE WHEN {column} THEN {yes} WHEN NOT {column} THEN {no} ELSE {attribute.missing_code} END"
        if kind == "text":
            value = f'{column}::text COLLATE "C"'
            listed = sorted(lookup, key=str.encode)
            values, missing = self._bind_texts(listed), f"{column} IS NULL"
        else:
            value = f"{column}::double precision"
            listed = sorted(lookup)
            values, missing = self._bind_numbers(listed), f"{column} IS NULL OR {value} = 'NaN'"
        codes = self._bind_codes([lookup[each] for each in listed])
        place = f"width_bucket({value}, {values})"
        return (
            f"CASE WHEN {missing} THEN {attribute.missing_code} WHEN ({values})[{place}] = {value} THEN ({codes})[{place}] "
            f"ELSE {attribute.unknown_code} END"
        )

    def _bind_texts(self, values: list[str]) -> str:
        self.texts += values
        return _slice("$1", len(self.texts), len(values))

    def _bind_numbers(self, values: Any) -> str:
        self.numbers += values
        return _slice("$2", len(self.numbers), len(values))

    def _bind_codes(self, values: list[int]) -> str:
        self.codes += values
        return _slice("$3", len(self.codes), len(values))


def _slice(parameter: str, end: int, length: int) -> str:
    return f"({parameter})[{end - length + 1}:{end}]"


def _structure(schema: Schema, attributes: dict[str, Attribute], columns: Columns) -> list[tuple[str, What]]:
    found: list[tuple[str, What]] = []
    for name in (*attributes, *([] if schema.person is None else [schema.person])):
        if name not in columns:
            found.append((name, "absent"))
        elif name == schema.person:
            if columns[name] in ("float4", "float8"):
                found.append((name, "identity"))
        elif kind_of(columns[name]) is None:
            found.append((name, "dtype"))
    return found
