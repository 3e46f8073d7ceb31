"""Say what DuckDB's catalog, or the head of a file, tells about columns. No row is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from privet.domain.drafting.facts import ColumnFacts
from privet.tables.catalog.rules import apply_rules
from privet.tables.duckdb.codes import DuckDBDialect

_LABEL = re.compile("'((?:[^']|'')*)'")
#: Bounds that follow from a type.
_BOUNDS = {"TINYINT": (-128.0, 127.0), "UTINYINT": (0.0, 255.0)}


def describe_duckdb_columns(
    types: Mapping[str, str],
    rules: Sequence[tuple[str, list[str], str | None]],
    *,
    spelled: bool,
    enumerations: Collection[tuple[str, ...]] = (),
) -> list[ColumnFacts]:
    """Return the facts of columns of these types.

    Args:
        types: the type of each column.
        rules: the kind, the columns and the expression of each constraint.
        spelled: whether the source is a file of text.
        enumerations: the labels of each type that somebody named. A column of no such type may have
            got its labels from rows, as ``CREATE TABLE t AS SELECT`` gives them of a data frame.
    """
    alone = {
        columns[0]
        for kind, columns, _ in rules
        if kind in ("PRIMARY KEY", "UNIQUE") and len(columns) == 1
    }
    facts = {}
    for name, sql_type in types.items():
        low, high = _BOUNDS.get(sql_type, (None, None))
        labels = _labels_of(sql_type)
        facts[name] = ColumnFacts(
            name,
            DuckDBDialect.kind_of(sql_type),
            sql_type.partition("(")[0],
            spelled,
            labels if labels in enumerations else (),
            low,
            high,
            unique=name in alone,
        )
    checks = [expression for kind, _, expression in rules if kind == "CHECK" and expression]
    return list(apply_rules(facts, checks).values())


def _labels_of(sql_type: str) -> tuple[str, ...]:
    """Return the labels of an enumeration, which are part of its type."""
    if not sql_type.startswith("ENUM("):
        return ()
    return tuple(label.replace("''", "'") for label in _LABEL.findall(sql_type))
