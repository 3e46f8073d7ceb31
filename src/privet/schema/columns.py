"""Named columns of any kind of table, as pandas Series. Nothing is coerced because of another entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema.attributes import Kind
from privet.schema.problems import What
from privet.schema.schema import Schema


class Columns:
    """The columns of a pandas, Polars or Arrow table, a mapping, or a two-dimensional array in schema order."""

    def __init__(self, schema: Schema, table: object, y: object, *, with_target: bool) -> None:
        self._schema, self._table, self._y, self._with_target = schema, table, y, with_target
        self._library = _library(table)
        if isinstance(table, np.ndarray) or (isinstance(table, Sequence) and not isinstance(table, str | bytes)):
            k = len(schema.names)
            array = table if isinstance(table, np.ndarray) else _object_table(table, k)
            if array.ndim != 2 or array.shape[1] != k:
                shape = f"{array.shape[1]} columns" if array.ndim == 2 else f"{array.ndim} dimensions"
                raise ParameterError(f"an array must have two dimensions and {k} columns (the attributes), got {shape}")
            self._table = {name: array[:, i] for i, name in enumerate(schema.names)}
        elif self._library == "polars" and hasattr(table, "collect"):
            raise ParameterError("a lazy Polars frame is not a table yet; collect() it first")
        elif not (
            isinstance(table, Mapping)
            or (self._library in ("pandas", "polars") and hasattr(table, "columns"))
            or (self._library == "pyarrow" and hasattr(table, "column_names"))
        ):
            raise ParameterError(
                f"a table must be a pandas, Polars or Arrow table, a mapping of columns or a two-dimensional array, "
                f"got {type(table).__name__}"
            )
        self._cache: dict[str, Any] = {}

    def structure(self) -> Iterator[tuple[str, What]]:
        """Columns that are absent or of a type that cannot match. Looks at no entry."""
        present = self._present()
        needed = list(self._schema.names)
        if self._with_target:
            needed += [self._schema.target] if self._y is None else []
            needed += [] if self._schema.person is None else [self._schema.person]
        for name in needed:
            if name not in present:
                yield name, "absent"
            elif present.count(name) > 1:
                raise ParameterError(f"column {name!r} stands more than once in the table")
            elif name == self._schema.person:
                if kind_of(self[name]) == "number" and not _is_whole(self[name]):
                    yield name, "identity"
            elif kind_of(self[name]) is None:
                yield name, "dtype"
        if self._with_target and self._y is not None and kind_of(self[self._schema.target]) is None:
            yield self._schema.target, "dtype"
        if len({len(column) for column in self._cache.values()}) > 1:
            raise ParameterError("all columns, and y, must have the same length")

    def _present(self) -> list[str]:
        table: Any = self._table
        if self._library == "pyarrow":
            return list(table.column_names)
        return list(table.columns) if self._library in ("pandas", "polars") else list(table)

    def __getitem__(self, name: str) -> Any:
        if name not in self._cache:
            table: Any = self._table
            if name == self._schema.target and self._y is not None:
                column: Any = self._y
                if isinstance(column, np.ndarray) and column.ndim == 2 and column.shape[1] == 1:
                    column = column[:, 0]  # a column vector of labels
            else:
                column = table[name]
            self._cache[name] = _series(name, column)
        return self._cache[name]


def kind_of(column: Any) -> Kind | None:
    """What a Series holds by its type; an object column is text until its entries say otherwise. None: cannot match."""
    import pandas as pd

    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return "bool"
    if pd.api.types.is_complex_dtype(dtype):
        return None
    if pd.api.types.is_numeric_dtype(dtype):
        return "number"
    if pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype):
        return "text"
    return None


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _is_whole(column: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_integer_dtype(column.dtype))


def _series(name: str, column: Any) -> Any:
    """A column as a Series in which every entry is what it was."""
    import pandas as pd

    library = _library(column)
    if library == "pandas":
        return column.sparse.to_dense() if isinstance(column.dtype, pd.SparseDtype) else column
    if library == "pyarrow":
        return column.to_pandas(integer_object_nulls=True)
    if library == "polars":
        # With a null in it, to_numpy would turn whole numbers into fractions.
        column = column.to_list() if column.null_count() and not column.dtype.is_float() else column.to_numpy()
    if not isinstance(column, np.ndarray):
        column = _object_column(column)
    if column.ndim != 1:
        raise ParameterError(f"column {name!r} must have one dimension, got {column.ndim}")
    return pd.Series(column, dtype=object if column.dtype == object else None)


def _object_column(values: Any) -> npt.NDArray[Any]:
    """A list as an array of its very entries."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    for i, value in enumerate(listed):
        array[i] = value
    return array


def _object_table(lines: Sequence[Any], width: int) -> npt.NDArray[Any]:
    """A list of lines as an array of their very entries."""
    if not all(isinstance(line, list | tuple | np.ndarray) and len(line) == width for line in lines):
        raise ParameterError(f"the lines of a table must be lists of {width} entries (the attributes)")
    array = np.empty((len(lines), width), dtype=object)
    for i, line in enumerate(lines):
        array[i] = _object_column(line)
    return array
