"""All tiny tables of a domain, and all pairs of neighbours among them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from privet.domain import Schema

Row = tuple
Table = tuple[Row, ...]


def all_rows(schema: Schema) -> list[Row]:
    """Every point of the domain with every class, as values."""
    values = [
        getattr(attribute, "values", None) or attribute.labels
        for attribute in schema.attributes.values()
    ]
    return list(product(*values, schema.classes))


def all_tables(rows: list[Row], most: int) -> Iterator[Table]:
    """Every table of at most so many rows, in one order of its rows."""
    for size in range(most + 1):
        yield from combinations_with_replacement(rows, size)


def with_one_more(table: Table, row: Row, rows: list[Row]) -> Table:
    return tuple(sorted((*table, row), key=rows.index))


def added(rows: list[Row], most: int) -> Iterator[tuple[Table, Table]]:
    """Every table of at most so many rows, and every table with one row more."""
    for table in all_tables(rows, most):
        for row in rows:
            yield table, with_one_more(table, row, rows)


def replaced(rows: list[Row], most: int) -> Iterator[tuple[Table, Table]]:
    """Every two tables that differ in what one row holds, beside at most so many others."""
    for table in all_tables(rows, most):
        for one, other in combinations_with_replacement(rows, 2):
            if one != other:
                yield with_one_more(table, one, rows), with_one_more(table, other, rows)


def columns(schema: Schema, table: Table) -> dict[str, list]:
    """A table by its columns."""
    return {
        name: [row[i] for row in table] for i, name in enumerate([*schema.names, schema.target])
    }
