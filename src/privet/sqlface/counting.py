"""The statement that counts a data set, with every name quoted and every value bound.

It is made once, from the schema. A question changes its last parameter only: a list that says of
every code of every attribute whether it is allowed. So all questions do the same work for every
row, and none has a say in the text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from privet.counts.postgres import PostgresTable
from privet.counts.postgres_codes import Bound, encode_postgres_rows
from privet.schema import Attribute, Schema


@dataclass
class Stored(Bound):
    """Values in lists of one type each, as ``privet.datasets`` holds them: how many a statement
    binds is not known beforehand.
    """

    texts: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    def bind(self, value: Any, sql_type: str) -> str:
        if sql_type == "jsonb":
            self.texts.append(value)
            return f"($1)[{len(self.texts)}]::jsonb"
        place, stored = {"float8[]": (2, self.numbers), "int[]": (3, self.codes)}[sql_type]
        stored += value
        return f"(${place})[{len(stored) - len(value) + 1}:{len(stored)}]"


def counting_statement(table: PostgresTable, schema: Schema) -> tuple[Stored, str]:
    """A statement for the number of rows whose codes are all allowed, and what it binds to $1, $2
    and $3; $4 says what is allowed.

    Sensitivity: 1, for one row (of those that the schema keeps) added or removed.
    """
    stored = Stored()
    _, encoded = encode_postgres_rows(table.relation, table.columns, schema, bound=stored)
    allowed, start = [], 1
    for column, attribute in zip(
        [*(f"c{a}" for a in range(len(schema.names))), "y"],
        asked_attributes(schema).values(),
        strict=True,
    ):
        allowed.append(f"($4)[{start} + {column}]")
        start += attribute.size
    return stored, f"SELECT sum({' * '.join(allowed)}) FROM ({encoded}) AS counted"


def asked_attributes(schema: Schema) -> dict[str, Attribute]:
    """What a condition can name: the attributes, and the target."""
    return {**schema.attributes, schema.target: schema.label}
