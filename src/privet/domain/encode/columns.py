"""Read the columns of any kind of table, in blocks and as they are stored.

:class:`Columns` finds the columns of a table by name, and says which are absent or of a type that
cannot match. A :class:`Column` hands out blocks of rows. No entry is coerced because of another.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.attributes.base import Attribute, What
from privet.domain.attributes.listed import Listed
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.encoding import ValueKind
from privet.domain.encode.scalars import Moments, in_microseconds
from privet.domain.encode.values import plain_value_of
from privet.domain.schema import Schema
from privet.errors import ParameterError

#: Plain numbers or booleans, and which of them are null (None: none is). A NaN is null too.
MaskedNumbers = tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]
#: Positions into a list of plain values; -1 is null.
Distinct = tuple[npt.NDArray[Any], list[Any]]
#: The positions of a block's texts in a list that was given: -1 for null, one past the end for
#: other texts.
Finder = Callable[[int, int], npt.NDArray[Any]]


class Column(ABC):
    """A column of a table. ``dtype`` is known from its type alone, whatever the entries are."""

    dtype: Any

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def series(self, low: int, high: int) -> Any:
        """Return these rows as a pandas Series in which every entry is what it was."""

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:  # noqa: ARG002
        """Return these rows if the column is stored as plain numbers; None if it is not."""
        return None

    def moments(self, low: int, high: int) -> Moments | None:  # noqa: ARG002
        """Return these rows, in UTC, if the column is stored as dates or timestamps; None if it is
        not. NaT is null.
        """
        return None

    def finder(self, texts: Sequence[str]) -> Finder | None:  # noqa: ARG002
        """Return a function that finds texts, or None.

        Only columns that a library stores as text, and can search, have one.
        """
        return None

    def distinct(self, low: int, high: int) -> Distinct:
        """Return the distinct plain values of these rows.

        Entries that compare equal but differ (1, True) stay apart.
        """
        import pandas as pd

        series = self.series(low, high)
        if pd.api.types.is_object_dtype(series.dtype):
            return distinct_objects(series.to_numpy())
        positions, uniques = pd.factorize(series)
        return positions, [plain_value_of(entry) for entry in uniques.tolist()]


class ArrayColumn(Column):
    """An array, or a list, whose entries stay the very objects they are."""

    def __init__(self, entries: Any) -> None:
        self._entries: Any = (
            entries if isinstance(entries, np.ndarray | list | tuple) else list(entries)
        )
        self.dtype = entries.dtype if isinstance(entries, np.ndarray) else np.dtype(object)
        self._plain = self.dtype.kind in "biuf" and self.dtype.itemsize <= 8

    def __len__(self) -> int:
        return len(self._entries)

    def numbers(self, low: int, high: int) -> MaskedNumbers | None:
        if not self._plain:
            return None
        block = self._entries[low:high]
        if not self.dtype.isnative:
            block = block.astype(self.dtype.newbyteorder("="))
        return np.ma.getdata(block), np.ma.getmaskarray(block) if isinstance(
            block, np.ma.MaskedArray
        ) else None

    def moments(self, low: int, high: int) -> Moments | None:
        if self.dtype.kind != "M" or np.datetime_data(self.dtype)[0] == "generic":
            return None
        block = self._entries[low:high]
        moments = in_microseconds(np.ma.getdata(block))
        if isinstance(block, np.ma.MaskedArray):
            moments[np.ma.getmaskarray(block)] = np.datetime64("NaT")
        return moments

    def series(self, low: int, high: int) -> Any:
        import pandas as pd

        block = self._block(low, high)
        return pd.Series(block, dtype=object if block.dtype == object else None, copy=False)

    def distinct(self, low: int, high: int) -> Distinct:
        block = self._block(low, high)
        return distinct_objects(block) if block.dtype == object else super().distinct(low, high)

    def _block(self, low: int, high: int) -> npt.NDArray[Any]:
        block = self._entries[low:high]
        if not isinstance(block, np.ndarray):
            return object_array(block)
        if isinstance(block, np.ma.MaskedArray):
            # pandas would make fractions of integers
            return np.asarray(np.ma.filled(block.astype(object), None))
        # half a character is no text of pandas
        return block.astype(object) if block.dtype.kind == "U" else block


def distinct_objects(entries: npt.NDArray[Any]) -> Distinct:
    """Return the distinct plain values of any objects, each looked at by itself."""
    import pandas as pd

    # by type() alone: to infer a type, pandas asks objects for their class, which may raise
    if all(map(operator.is_, map(type, entries), repeat(str))):
        positions, uniques = pd.factorize(entries)
        return positions, [plain_value_of(entry) for entry in uniques.tolist()]
    known: dict[tuple[type, Any], int] = {}
    values = [plain_value_of(entry) for entry in entries]
    listed = [
        -1 if value is None else known.setdefault((type(value), value), len(known))
        for value in values
    ]
    return np.array(listed, dtype=np.intp), [value for _, value in known]


def object_array(entries: Sequence[Any]) -> npt.NDArray[Any]:
    """Return a list as an array of its very entries."""
    return np.fromiter(entries, dtype=object, count=len(entries))


class Columns:
    """The columns of a pandas, Polars or Arrow table, a mapping, or a two-dimensional array in
    schema order.
    """

    def __init__(self, schema: Schema, table: object, y: object, *, with_target: bool) -> None:
        self._schema, self._table, self._y, self._with_target = schema, table, y, with_target
        self._library = _library_of(table)
        if isinstance(table, np.ndarray) or (
            isinstance(table, Sequence) and not isinstance(table, str | bytes)
        ):
            k = len(schema.names)
            array = table if isinstance(table, np.ndarray) else _make_object_table(table, k)
            if array.ndim != 2 or array.shape[1] != k:
                shape = (
                    f"{array.shape[1]} columns" if array.ndim == 2 else f"{array.ndim} dimensions"
                )
                wide = array.ndim == 2 and array.shape[1] > k
                raise ParameterError(
                    f"an array must have two dimensions and {k} columns (the attributes), got "
                    f"{shape}"
                    + ("; if it is one-hot encoded, pass the columns as they are" if wide else "")
                )
            self._table = {name: array[:, i] for i, name in enumerate(schema.names)}
        elif self._library == "polars" and hasattr(table, "collect"):
            raise ParameterError("a lazy Polars frame is not a table yet; collect() it first")
        elif not (
            isinstance(table, Mapping)
            or (self._library in ("pandas", "polars") and hasattr(table, "columns"))
            or (self._library == "pyarrow" and hasattr(table, "column_names"))
        ):
            raise ParameterError(
                "a table must be a pandas, Polars or Arrow table, a mapping of columns or a "
                f"two-dimensional array, got {type(table).__name__}"
            )
        self._cache: dict[str, Column] = {}

    def structure(self) -> Iterator[tuple[str, What]]:
        """Return the columns that are absent or of a type that cannot match. Looks at no entry."""
        present = self.names()
        needed = dict(self._column_names)
        if self._with_target:
            if self._y is None:
                needed[self._schema.target] = self._schema.target
            if self._schema.person is not None:
                needed[self._schema.person] = self._schema.person
        for name, column in needed.items():
            if column not in present:
                yield column, "absent"
            elif present.count(column) > 1:
                raise ParameterError(f"column {column!r} stands more than once in the table")
            elif name == self._schema.person:
                if kind_of(self[name]) == "number":
                    yield column, "identity"
            elif (what := self._find_mismatch(name)) is not None:
                yield column, what
        target = self._schema.target
        if (
            self._with_target
            and self._y is not None
            and (what := self._find_mismatch(target)) is not None
        ):
            yield target, what
        if len({len(column) for column in self._cache.values()}) > 1:
            raise ParameterError("all columns, and y, must have the same length")

    def absent(self) -> set[str]:
        """Return the attributes whose column the table does not have."""
        present = set(self.names())
        return {name for name, column in self._column_names.items() if column not in present}

    def _find_mismatch(self, name: str) -> What | None:
        """Return why no entry of a column can match, by its type; None where one can."""
        target = name == self._schema.target
        attribute = self._schema.label if target else self._schema.attributes[name]
        return find_mismatch(kind_of(self[name]), attribute, target=target)

    @cached_property
    def _column_names(self) -> dict[str, str]:
        return self._schema.find_columns(self.names())

    def names(self) -> list[str]:
        """Return the names of the columns, as often as they stand there."""
        table: Any = self._table
        if self._library == "pyarrow":
            return list(table.column_names)
        return list(table.columns) if self._library in ("pandas", "polars") else list(table)

    def __getitem__(self, name: str) -> Column:
        if name not in self._cache:
            table: Any = self._table
            if name == self._schema.target and self._y is not None:
                column: Any = self._y
                if isinstance(column, np.ndarray) and column.ndim == 2 and column.shape[1] == 1:
                    column = column[:, 0]  # a column vector of labels
            else:
                column = table[self._column_names.get(name, name)]
            self._cache[name] = _make_column(name, column)
        return self._cache[name]


def find_mismatch(kind: ValueKind | None, attribute: Attribute, *, target: bool) -> What | None:
    """Return why a column of this kind cannot match, or None.

    A class column in which no entry can be a class would give a model of no rows, unless a class
    stands for all that is not listed.
    """
    if kind is None or attribute.encoding(kind) is None:
        return "dtype"
    if target and isinstance(attribute, Listed) and not attribute.catches_unknown:
        return None if attribute.can_hold(kind) else "classes"
    return None


def describe_frame(table: Any, y: Any = None) -> list[ColumnFacts]:
    """Return the name and the type of each column of a table in memory. Looks at no entry.

    Labels beside it are a column of their own name, or ``y``.
    """
    library = _library_of(table)
    if isinstance(table, np.ndarray) or not (
        isinstance(table, Mapping) or library in ("pandas", "polars", "pyarrow")
    ):
        raise ParameterError(
            "the columns of an array have no names; give a data frame, or a mapping of columns"
        )
    names = list(table.column_names) if library == "pyarrow" else list(table)
    columns = {str(name): _make_column(str(name), table[name]) for name in names}
    if y is not None:
        columns[str(getattr(y, "name", None) or "y")] = _make_column("y", y)
    return [
        ColumnFacts(name, kind_of(column), str(column.dtype)) for name, column in columns.items()
    ]


def kind_of(column: Any) -> ValueKind | None:
    """Return what a column or a Series holds by its type; an object column is text until its
    entries say otherwise. None: no attribute can match.
    """
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return "bool"
    if pd.api.types.is_complex_dtype(dtype):
        return None
    if pd.api.types.is_integer_dtype(dtype):
        return "integer"
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "date"
    if pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype):
        return "text"
    return None


def _library_of(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _make_column(name: str, column: Any) -> Column:
    """Return the column as its library stores it."""
    library = _library_of(column)
    if library == "pandas":
        from privet.domain.encode.pandas_columns import pandas_column

        return pandas_column(column)
    if library == "pyarrow":
        from privet.domain.encode.arrow_columns import ArrowColumn

        return ArrowColumn(column)
    if library == "polars":
        from privet.domain.encode.polars_columns import PolarsColumn

        return PolarsColumn(name, column)
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise ParameterError(f"column {name!r} must have one dimension, got {column.ndim}")
    return ArrayColumn(column)


def _make_object_table(lines: Sequence[Any], width: int) -> npt.NDArray[Any]:
    """Return a list of lines as an array of their very entries."""
    if not all(
        isinstance(line, list | tuple | np.ndarray) and len(line) == width for line in lines
    ):
        raise ParameterError(
            f"the lines of a table must be lists of {width} entries (the attributes)"
        )
    array = np.empty((len(lines), width), dtype=object)
    for i, line in enumerate(lines):
        array[i] = object_array(line)
    return array
