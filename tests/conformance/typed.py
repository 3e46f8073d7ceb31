"""Columns of every type, and attributes of every type that are read from them.

A new type of attribute gets examples in ``EXAMPLES``; what it is to read may need a new column.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from privet.domain import Attribute, Boolean, Categorical, Date, Numeric, Ordinal, Schema
from tests.domain.oracle import code_of, problem_of

_EAST, _WEST = timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-8))

#: How a column is stored, and its entries. Sources without such a type store it as text.
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "day": (
        "date",
        [
            date(2019, 12, 31),
            date(2020, 2, 29),
            None,
            date(1899, 7, 1),
            date(2031, 1, 1),
            date(1970, 1, 1),
        ],
    ),
    "seen": (
        "timestamp",
        [
            datetime(2020, 2, 29, 23, 59, 59),
            datetime(2021, 1, 1),
            None,
            datetime(1969, 12, 31, 23, 30),
            datetime(2024, 7, 14, 12, 0, 1, 500_000),
        ],
    ),
    "zoned": (
        "zoned",
        [
            datetime(2020, 1, 1, 2, 15, tzinfo=_EAST),  # in UTC still 2019
            datetime(2020, 12, 31, 20, 0, tzinfo=_WEST),  # in UTC 2021 already
            None,
            datetime(2020, 6, 15, 12, tzinfo=UTC),
        ],
    ),
    "spelled_day": (
        "text",
        [
            *["2020-02-29", "2020-12-31T23:30:00-02:00", "2019-03-01 08:15", "1960-06-01", None],
            *["2021-02-29", "31.12.2020", "2020", "2020-01-01T10", "soon", "2020-6-1", "13"],
        ],
    ),
    "born": ("integer", [1985, 1890, 2031, None, 2000]),
    "born_about": ("number", [1985.0, 1999.5, None, 2000.0, 1800.0]),
    "member": ("bool", [True, False, None, True]),
    "flag": ("integer", [1, 0, 2, None, -1]),
    "flag_about": ("number", [1.0, 0.0, None, 0.5]),
    "answer": (
        "text",
        ["yes", "no", "Y", "TRUE", "false", "f", "1", "0.0", "tRUE", "maybe", None, "unknown"],
    ),
    "count": ("integer", [13, 7, 8, None, 130]),
    "whole": ("number", [13.0, 7.0, None, 0.5, 8.0]),
    "word": ("text", ["13", "7", "13.0", "7.0", "013", "13.00", "x", None, "0.5", "0.50"]),
    "amount": ("number", [0.0, 99.99, 100.0, 100.5, -3.0, None, 55.5]),
    "money": (
        "text",
        [
            "1.234,50 €",
            "12,5",
            "EUR 99",
            "-3,00\u00a0€",
            "1.234",
            "0,5€",
            None,
            "12.5.",
            "viel",
        ],
    ),
    "dollars": ("text", ["$1,234.50", "12.5", "-$3", "1,0", " 7 $", "1e2", "$", None, "12%"]),
    "spelled_amount": ("text", ["0", "99.99", " 100 ", "1e2", "-3", "abc", "1_0", None, "inf"]),
}
TARGET, CLASSES = "label", ["no", "yes"]
N_ROWS = 240


@cache
def typed_frame() -> pd.DataFrame:
    """All columns, in rows that combine their entries in many ways."""
    rng = np.random.default_rng(20)
    dtypes = {
        "date": object,
        "timestamp": "datetime64[us]",
        "zoned": "datetime64[us, UTC]",
        "bool": "boolean",
        "integer": "Int64",
        "number": "float64",
        "text": object,
    }
    frame = {
        name: pd.Series([entries[i] for i in rng.integers(0, len(entries), N_ROWS)]).astype(
            dtypes[kind]
        )
        if kind == "zoned"
        else pd.Series(
            [entries[i] for i in rng.integers(0, len(entries), N_ROWS)], dtype=dtypes[kind]
        )
        for name, (kind, entries) in COLUMNS.items()
    }
    labels = [["no", "yes", "never"][i] for i in rng.choice(3, N_ROWS, p=[0.5, 0.45, 0.05])]
    return pd.DataFrame({**frame, TARGET: pd.Series(labels, dtype=object)})


def _read(make: Callable[..., Attribute], *columns: str, **facts: Any) -> list[Attribute]:
    return [make(column=column, **facts) for column in columns]


_MOMENTS = ("day", "seen", "zoned", "spelled_day")
_LISTS: list[list[Any]] = [[13, 7], ["13", "7"], ["13.0", "7.0"], [13, 7, 0.5]]

#: Attributes of each type, each with the column that it reads.
EXAMPLES: dict[str, list[Attribute]] = {
    "categorical": [
        Categorical(values, column=column, **facts)
        for values in _LISTS
        for column in ("count", "whole", "word")
        for facts in (
            {},
            {"other": "rest"},
            {"missing": "?"},
            {"other": "rest", "missing": "?", "on_unknown": "drop"},
            {"missing": values[1]},
        )
    ]
    + _read(lambda **f: Categorical([True, False], **f), "member", "answer", missing="?")
    + _read(lambda **f: Categorical([1, 0], **f), "flag", "flag_about", "answer", other=2)
    + _read(lambda **f: Categorical(["yes", "no"], **f), "answer", on_unknown="drop")
    + [
        Categorical(values, column=column, prefix=prefix, **facts)
        for column in ("word", "answer", "spelled_day", "spelled_amount")
        for values, prefix in ((["1", "x", "0"], 1), (["20", "fa", "ye", "9", "tru"], 2))
        for facts in ({}, {"other": "rest", "missing": "?"}, {"on_unknown": "drop"})
    ],
    "ordinal": [
        Ordinal(values, column=column, **facts)
        for values in ([7, 13], ["13", "7"], [0.5, 7, 13], ["no", "yes", "Y"])
        for column in ("count", "whole", "word", "answer")
        for facts in ({}, {"missing": "?"}, {"missing": "?", "on_unknown": "drop"})
    ],
    "numeric": [
        attribute
        for column in ("amount", "spelled_amount", "count", "whole", "word", "born")
        for attribute in (
            Numeric(0, 100, bins=4, column=column),
            Numeric(0, 100, bins=4, column=column, missing="?", on_unknown="drop"),
            Numeric(edges=[0, 7, 13, 100], column=column, missing="?"),
            Numeric(edges=[0, 7, 13, 100], column=column, on_unknown="clip"),
        )
    ]
    + [
        Numeric(0, 1300, bins=13, column=column, **spelled, **facts)
        for column in ("money", "dollars", "answer")
        for spelled in (
            {"decimal": ",", "thousands": ".", "unit": ["€", "EUR"]},
            {"thousands": ",", "unit": "$"},
        )
        for facts in ({}, {"missing": "?", "on_unknown": "drop"})
    ],
    "boolean": [
        attribute
        for column in ("member", "flag", "flag_about", "answer")
        for attribute in (
            Boolean(column=column),
            Boolean(column=column, missing="unknown"),
            Boolean(column=column, missing="none", on_unknown="drop"),
            Boolean(column=column, on_unknown="drop"),
        )
    ],
    "date": [
        attribute
        for column in _MOMENTS
        for facts in ({}, {"missing": "?"}, {"on_unknown": "drop"}, {"on_unknown": "clip"})
        for attribute in (
            Date("2019-01-01", "2021-06-30", column=column, **facts),
            Date("1969-12-31", "1970-01-02", bins=3, column=column, **facts),
            Date(1960, 2024, part="year", column=column, **facts),
            Date(part="month", column=column, **facts),
            Date(part="weekday", column=column, **facts),
            Date(part="hour", column=column, **facts),
            Date(0, 99, part="age", at="2024-02-29", column=column, **facts),
            Date(0, 99, part="age", at=date(2021, 1, 1), bins=3, column=column, **facts),
        )
    ]
    + [
        attribute
        for column in ("born", "born_about", "count")
        for attribute in (
            Date(1900, 2024, part="year", column=column),
            Date(1900, 2024, part="year", column=column, missing="?", on_unknown="drop"),
            Date(part="hour", column=column, missing="?"),
        )
    ],
}

#: Several attributes of one table, many of one column.
TOGETHER = Schema(
    {
        "year seen": Date(2019, 2024, part="year", missing="?", column="seen"),
        "hour seen": Date(part="hour", missing="?", column="seen"),
        "weekday seen": Date(part="weekday", missing="?", column="seen"),
        "day seen": Date("2019-01-01", "2021-06-30", missing="?", column="seen"),
        "age": Date(0, 99, part="age", at="2024-02-29", missing="?", column="zoned"),
        "membership": Boolean(missing="?", column="member"),
        "is member": Categorical([True, False], missing="?", column="member"),
        "amount": Categorical(["13.0", "7.0"], other="rest", missing="?", column="count"),
        "size": Numeric(0, 100, bins=4, missing="?", column="count"),
    },
    TARGET,
    CLASSES,
)


@cache
def schema_of(attribute: Attribute) -> Schema:
    """A schema with one attribute."""
    return Schema({"x": attribute}, TARGET, CLASSES)


@cache
def count_by_hand(schema: Schema) -> list[np.ndarray]:
    """The counts of each attribute's values and the classes, of the rows that count."""
    frame = typed_frame()
    tables = [np.zeros((1, size, schema.n_classes), dtype=np.int64) for size in schema.sizes]
    columns = schema.find_columns(list(frame.columns))
    for row in frame.to_dict("records"):
        codes = [code_of(a, row[columns[name]]) for name, a in schema.attributes.items()]
        known = all(code < size for code, size in zip(codes, schema.sizes, strict=True))
        if known and row[TARGET] in schema.classes:
            for table, code in zip(tables, codes, strict=True):
                table[0, code, schema.classes.index(row[TARGET])] += 1
    return tables


@cache
def find_problems_by_hand(schema: Schema) -> set[tuple[str, str]]:
    """What the owner must be told about the table."""
    frame = typed_frame()
    columns = schema.find_columns(list(frame.columns))
    checks = [(columns[name], attribute) for name, attribute in schema.attributes.items()]
    checks.append((TARGET, Categorical(schema.classes)))
    found = {
        (column, problem_of(attribute, entry))
        for column, attribute in checks
        for entry in frame[column].tolist()
    }
    return {(column, what) for column, what in found if what is not None}
