"""Say what PostgreSQL's catalog tells about columns. No row is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from privet.domain.drafting.facts import ColumnFacts
from privet.tables.catalog.rules import apply_rules
from privet.tables.postgres.codes import PostgresDialect

_LABELS = (
    "WITH RECURSIVE typed AS (SELECT attname, atttypid AS type FROM pg_attribute WHERE attrelid = "
    "$1 AND attnum > 0 AND NOT attisdropped UNION ALL SELECT attname, typbasetype FROM typed JOIN "
    "pg_type ON oid = type WHERE typtype = 'd') SELECT attname::text, enumlabel::text FROM typed "
    "JOIN pg_enum ON enumtypid = type ORDER BY attname, enumsortorder"
)
_UNIQUE = (
    "SELECT a.attname::text FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid "
    "AND a.attnum = i.indkey[0] WHERE i.indrelid = $1 AND i.indisunique AND i.indnkeyatts = 1 AND "
    "i.indpred IS NULL"
)
_CHECKS = (
    "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = $1 AND contype = 'c' AND "
    "convalidated"
)


def describe_postgres_columns(
    answer: Callable[[str, Sequence[Any]], list[tuple[Any, ...]]],
    oid: int,
    types: Mapping[str, str],
) -> list[ColumnFacts]:
    """Return the facts of the columns of a relation.

    Args:
        answer: runs a statement with its values.
        oid: the relation's number.
        types: the type of each column.
    """
    labels: dict[str, tuple[str, ...]] = {}
    for name, label in answer(_LABELS, [oid]):
        labels[name] = (*labels.get(name, ()), label)
    alone = {name for (name,) in answer(_UNIQUE, [oid])}
    facts = {
        name: ColumnFacts(
            name,
            PostgresDialect.kind_of(sql_type),
            sql_type,
            values=labels.get(name, ()),
            unique=name in alone,
        )
        for name, sql_type in types.items()
    }
    checks = [definition for (definition,) in answer(_CHECKS, [oid])]
    return list(apply_rules(facts, checks).values())
