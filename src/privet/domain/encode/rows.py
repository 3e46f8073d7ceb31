"""Encode rows as columns of small unsigned integers.

Encoding is total: whatever a row holds, it gets a code, and the code depends on that row alone.
What may fail (a column that is absent or of a type that cannot match) does not depend on the rows.
:func:`find_problems` is for the owner, who wants to know how well a table fits before it is
registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Codes
from privet.domain.attributes import Attribute
from privet.domain.attributes.base import PROBLEMS, What
from privet.domain.encode import steps
from privet.domain.encode.columns import Column, Columns, kind_of
from privet.domain.encode.encoding import DatePart, Encodings
from privet.domain.encode.scalars import numbers_as_parts, parts_of
from privet.domain.encode.steps import for_each_block, take
from privet.domain.encode.values import (
    codes_of_plain,
    identity_of,
    plain_value_of,
    raise_if_any,
)
from privet.domain.schema import Schema


@dataclass(frozen=True)
class Encoded:
    """The code columns of a table, in schema order, each of the smallest type; ``classes`` where
    there is a target.

    ``absent`` names the attributes that the table does not have, where that was allowed. ``matrix``
    holds the columns as its lines where that was asked for.
    """

    codes: list[Codes]
    classes: Codes | None
    person: npt.NDArray[np.intp] | None
    absent: tuple[str, ...] = ()
    matrix: Codes | None = None

    def known(self, schema: Schema) -> npt.NDArray[np.bool_]:
        """Return which rows have a known code in every column, and a person where people are told
        apart.
        """
        keep = np.ones(len(self.codes[0]), dtype=bool) if self.person is None else self.person >= 0
        columns, sizes = list(self.codes), list(schema.sizes)
        if self.classes is not None:
            columns.append(self.classes)
            sizes.append(schema.n_classes)

        def known(low: int, high: int) -> None:
            for column, size in zip(columns, sizes, strict=True):
                keep[low:high] &= column[low:high] < size

        for_each_block(len(keep), known)
        return keep


def encode(
    schema: Schema,
    table: object,
    y: object = None,
    *,
    target: bool = True,
    partial: bool = False,
    matrix: bool = False,
) -> Encoded:
    """Encode a pandas, Polars or Arrow table, a mapping of columns, or a two-dimensional array
    (columns in schema order).

    The class column is ``y``, or the column of ``table`` that the schema names. ``target=False``
    leaves it out. With ``partial``, some attributes may be absent: nothing is known about them
    then. With ``matrix``, the code columns are of one type, and the lines of one matrix.
    """
    columns = Columns(schema, table, y, with_target=target)
    problems = list(columns.structure())
    absent = columns.absent() if partial else set()
    if absent and absent != set(schema.attributes):
        problems = [
            (column, what)
            for column, what in problems
            if what != "absent" or column in (schema.target, schema.person)
        ]
    raise_if_any(problems, columns.names())
    present = {name: columns[name] for name in schema.names if name not in absent}
    n_rows = max(map(len, present.values()))
    dtypes = [attribute.dtype for attribute in schema.attributes.values()]
    whole = np.empty((len(dtypes), n_rows), dtype=np.result_type(*dtypes)) if matrix else None
    codes = [np.empty(n_rows, dtype=dtype) for dtype in dtypes] if whole is None else list(whole)
    work: list[tuple[ColumnCodes, Codes]] = []
    for (name, attribute), line in zip(schema.attributes.items(), codes, strict=True):
        if name in present:
            work.append((ColumnCodes(attribute.encoding, present[name]), line))
        else:
            line[:] = attribute.size
    classes = np.empty(n_rows, dtype=schema.label.dtype) if target else None
    if classes is not None:
        work.append((ColumnCodes(schema.label.encoding, columns[schema.target]), classes))

    def write(low: int, high: int) -> None:
        for column, line in work:
            column.write(low, high, line[low:high])

    for_each_block(n_rows, write)
    person = None if schema.person is None or not target else _number_people(columns[schema.person])
    return Encoded(
        codes, classes, person, tuple(name for name in schema.names if name in absent), whole
    )


def encode_entries(
    attributes: Iterable[Attribute], columns: Iterable[Sequence[Any]]
) -> list[Codes]:
    """Return the codes of plain columns (lists of texts, numbers or None), as :func:`encode` gives
    them, without a data frame.

    A data frame costs more than a hundred rows; for one row, this is many times faster.
    """
    return [
        _codes_of_entries(attribute, column)
        for attribute, column in zip(attributes, columns, strict=True)
    ]


def _codes_of_entries(attribute: Attribute, column: Sequence[Any]) -> Codes:
    known: dict[tuple[type, Any], int] = {}
    positions = [
        -1 if value is None else known.setdefault((type(value), value), len(known))
        for value in map(plain_value_of, column)
    ]
    # position -1 is the last entry, null
    codes = codes_of_plain(attribute.encoding, [value for _, value in known])
    return codes[positions].astype(attribute.dtype)


def check_structure(schema: Schema, table: object, y: object = None) -> None:
    """Raise where columns are absent or of a type that cannot match. Looks at no row."""
    columns = Columns(schema, table, y, with_target=True)
    raise_if_any(columns.structure(), columns.names())


def find_problems(schema: Schema, table: object, y: object = None) -> list[tuple[str, What]]:
    """Return how the table fails to fit its schema.

    For the owner: the answer depends on the rows.
    """
    columns = Columns(schema, table, y, with_target=True)
    problems = list(columns.structure())
    broken = {column for column, _ in problems}
    for name, column, attribute in schema.list_checks(columns.names()):
        if column not in broken:
            problems += [(column, what) for what in _find_column_problems(attribute, columns[name])]
    return list(dict.fromkeys(problems))


def _find_column_problems(attribute: Attribute, column: Column) -> list[What]:
    codes = ColumnCodes(attribute.diagnosis, column)
    found = np.zeros(len(PROBLEMS), dtype=bool)

    def look(low: int, high: int) -> None:
        block = np.zeros(high - low, dtype=np.uint8)
        codes.write(low, high, block)
        found[np.unique(block)] = True

    for_each_block(len(column), look)
    return [what for what, there in zip(PROBLEMS, found, strict=True) if there and what]


def _number_people(column: Column) -> npt.NDArray[np.intp]:
    """Return a number per person; -1 for a row without one.

    Entries are the same person only if type and value are the same.
    """
    import pandas as pd

    series = column.series(0, len(column))  # as a whole: a person may have rows in several blocks
    if pd.api.types.is_object_dtype(series.dtype):
        series = pd.Series([identity_of(entry) for entry in series], dtype=object)
    return np.asarray(pd.factorize(series)[0], dtype=np.intp)


# -- one column, block by block, by the quickest way that its storage allows --


class ColumnCodes:
    """The encoder of one column.

    Whatever way is taken, the code of an entry depends on that entry alone.
    """

    def __init__(self, encodings: Encodings, column: Column) -> None:
        kind = kind_of(column)
        assert kind is not None
        encoding = encodings(kind)
        assert encoding is not None
        self._encodings, self._encoding, self._column = encodings, encoding, column
        self._values: tuple[list[Any] | None, npt.NDArray[Any]] = None, np.empty(0)
        self._find = None
        searched = encoding.reads == "text" and encoding.prefix is None
        if searched and len(column) >= steps.MANY_ROWS:
            assert encoding.listed is not None
            self._find = column.finder(list(encoding.listed))
            codes = [*encoding.listed.values(), encoding.unknown, encoding.missing]
            self._found = np.array(
                codes if self._find else [], dtype=np.min_scalar_type(max(codes))
            )

    def write(self, low: int, high: int, out: npt.NDArray[Any]) -> None:
        """Write the codes of these rows into ``out``."""
        encoding = self._encoding
        if self._find is not None:
            take(self._found, self._find(low, high), out)
        elif (numbers := self._column.numbers(low, high)) is not None:
            values, nulls = numbers
            if isinstance(encoding.reads, DatePart):
                if values.dtype.kind == "f":
                    nulls = np.isnan(values) if nulls is None else nulls | np.isnan(values)
                values = numbers_as_parts(values, encoding.reads)
            encoding.steps(values.dtype).write(values, out)
            if nulls is not None:
                out[nulls] = encoding.missing
        elif (
            isinstance(encoding.reads, DatePart)
            and (moments := self._column.moments(low, high)) is not None
        ):
            encoding.ranges.write(parts_of(moments, encoding.reads), out)
            out[np.isnat(moments)] = encoding.missing
        else:
            positions, entries = self._column.distinct(low, high)
            take(self._codes_of(entries), positions, out)

    def _codes_of(self, values: list[Any]) -> npt.NDArray[Any]:
        """Return the codes of plain values, and of null.

        Those of categories, which stay the same list, are computed only once.
        """
        known, codes = self._values
        if known is not values:
            codes = codes_of_plain(self._encodings, values)
            codes = codes.astype(np.min_scalar_type(int(codes.max())))
            self._values = values, codes
        return codes
