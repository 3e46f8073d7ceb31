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
from privet.domain.attributes import Attribute, Categorical
from privet.domain.encode import steps
from privet.domain.encode.columns import Column, Columns
from privet.domain.encode.steps import for_each_block, take
from privet.domain.encode.values import (
    What,
    codes_of_plain,
    identity_of,
    match,
    number_of,
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
    absent = {name for name, what in problems if what == "absent" and name in schema.attributes}
    if partial and absent != set(schema.attributes):
        problems = [problem for problem in problems if problem[0] not in absent]
    raise_if_any(problems)
    present = {name: columns[name] for name in schema.names if name not in absent}
    n_rows = max(map(len, present.values()))
    dtypes = [attribute.dtype for attribute in schema.attributes.values()]
    whole = np.empty((len(dtypes), n_rows), dtype=np.result_type(*dtypes)) if matrix else None
    codes = [np.empty(n_rows, dtype=dtype) for dtype in dtypes] if whole is None else list(whole)
    work: list[tuple[ColumnCodes, Codes]] = []
    for (name, attribute), line in zip(schema.attributes.items(), codes, strict=True):
        if name in present:
            work.append((ColumnCodes(attribute, present[name]), line))
        else:
            line[:] = attribute.size
    classes = np.empty(n_rows, dtype=schema.label.dtype) if target else None
    if classes is not None:
        work.append((ColumnCodes(schema.label, columns[schema.target]), classes))

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
        -1 if entry is None else known.setdefault((type(entry), entry), len(known))
        for entry in column
    ]
    # position -1 is the last entry, null
    return codes_of_plain(attribute, [plain_value_of(entry) for _, entry in known])[positions]


def check_structure(schema: Schema, table: object, y: object = None) -> None:
    """Raise where columns are absent or of a type that cannot match. Looks at no row."""
    raise_if_any(Columns(schema, table, y, with_target=True).structure())


def find_problems(schema: Schema, table: object, y: object = None) -> list[tuple[str, What]]:
    """Return how the table fails to fit its schema.

    For the owner: the answer depends on the rows.
    """
    columns = Columns(schema, table, y, with_target=True)
    problems = list(columns.structure())
    broken = {name for name, _ in problems}
    attributes: dict[str, Attribute] = {
        **schema.attributes,
        schema.target: Categorical(schema.classes),
    }
    for name, attribute in attributes.items():
        if name not in broken:
            problems += [(name, what) for what in _find_column_problems(attribute, columns[name])]
    return problems


def _find_column_problems(attribute: Attribute, column: Column) -> list[What]:
    problems: set[What] = set()
    for_each_block(
        len(column),
        lambda low, high: problems.update(_find_block_problems(attribute, column, low, high)),
    )
    order: tuple[What, ...] = ("unlisted", "not a number", "out of range", "null")
    return [what for what in order if what in problems]


def _find_block_problems(attribute: Attribute, column: Column, low: int, high: int) -> list[What]:
    positions, uniques = column.distinct(low, high)
    used = set(np.unique(positions).tolist())
    entries = [entry for i, entry in enumerate(uniques) if i in used and entry is not None]
    has_null = -1 in used or any(uniques[i] is None for i in used)
    expected = attribute.on_unknown is not None
    problems: list[What] = []
    if isinstance(attribute, Categorical):
        catches = expected or attribute.other is not None
        if not catches and any(match(attribute, entry) is None for entry in entries):
            problems.append("unlisted")
        if not catches and attribute.missing is None and has_null:
            problems.append("null")
        return problems
    numbers = np.array([number_of(entry) for entry in entries if entry != attribute.missing])
    if np.isnan(numbers).any() and attribute.missing is None:
        problems.append("not a number")
    if not expected and ((numbers < attribute.low) | (numbers > attribute.high)).any():
        problems.append("out of range")
    if attribute.missing is None and attribute.on_unknown != "drop" and has_null:
        problems.append("null")
    return problems


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

    def __init__(self, attribute: Attribute, column: Column) -> None:
        self._attribute, self._column = attribute, column
        self._values: tuple[list[Any] | None, npt.NDArray[Any]] = None, np.empty(0)
        self._find = None
        if isinstance(attribute, Categorical) and len(column) >= steps.MANY_ROWS:
            self._find = column.finder(list(attribute.code_of_text))
            codes = [
                *attribute.code_of_text.values(),
                attribute.unknown_code,
                attribute.missing_code,
            ]
            self._found = np.array(codes if self._find else [], dtype=attribute.dtype)

    def write(self, low: int, high: int, out: npt.NDArray[Any]) -> None:
        """Write the codes of these rows into ``out``."""
        if self._find is not None:
            take(self._found, self._find(low, high), out)
        elif (numbers := self._column.numbers(low, high)) is not None:
            values, nulls = numbers
            self._attribute.steps(values.dtype).write(values, out)
            if nulls is not None:
                out[nulls] = self._attribute.missing_code
        else:
            positions, entries = self._column.distinct(low, high)
            take(self._codes_of(entries), positions, out)

    def _codes_of(self, values: list[Any]) -> npt.NDArray[Any]:
        """Return the codes of plain values, and of null.

        Those of categories, which stay the same list, are computed only once.
        """
        known, codes = self._values
        if known is not values:
            codes = codes_of_plain(self._attribute, values)
            self._values = values, codes
        return codes
