"""Rows to columns of small unsigned integers.

Encoding is total: whatever a row holds, it gets a code, and the code depends on that row alone. What may fail
(a column that is absent or of a type that cannot match) does not depend on the rows. :func:`problems` is for the
owner, who wants to know how well a table fits before it is registered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.schema.attributes import Attribute, Categorical, Kind, Numeric, text_of
from privet.schema.problems import What, raise_if_any
from privet.schema.schema import Schema

Codes = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """The code columns of a table, in schema order, each of the smallest type; ``classes`` where there is a target."""

    codes: list[Codes]
    classes: Codes | None
    person: npt.NDArray[Any] | None

    def known(self, schema: Schema) -> npt.NDArray[np.bool_]:
        """Which rows have a known code in every column, and a person where people are told apart."""
        keep = np.ones(len(self.codes[0]), dtype=bool) if self.person is None else self.person >= 0
        for column, size in zip(self.codes, schema.sizes, strict=True):
            keep &= column < size
        if self.classes is not None:
            keep &= self.classes < schema.n_classes
        return keep


def encode(schema: Schema, table: object, y: object = None, *, target: bool = True) -> Encoded:
    """Encode a pandas, Polars or Arrow table, a mapping of columns, or a two-dimensional array (columns in schema order).

    The class column is ``y``, or the column of ``table`` that the schema names. ``target=False`` leaves it out.
    """
    columns = _Columns(schema, table, y, target)
    raise_if_any(columns.structure())
    codes = [_codes(attribute, columns[name]) for name, attribute in schema.attributes.items()]
    classes = _codes(schema.label, columns[schema.target]) if target else None
    person = None if schema.person is None or not target else _identities(columns[schema.person])
    return Encoded(codes, classes, person)


def check_structure(schema: Schema, table: object, y: object = None) -> None:
    """Raise where columns are absent or of a type that cannot match. Looks at no row."""
    raise_if_any(_Columns(schema, table, y, True).structure())


def problems(schema: Schema, table: object, y: object = None) -> list[tuple[str, What]]:
    """How the table fails to fit its schema. For the owner: the answer depends on the rows."""
    columns = _Columns(schema, table, y, True)
    found = list(columns.structure())
    broken = {name for name, _ in found}
    attributes: dict[str, Attribute] = {**schema.attributes, schema.target: Categorical(schema.classes)}
    for name, attribute in attributes.items():
        if name not in broken:
            found += [(name, what) for what in _column_problems(attribute, columns[name])]
    return found


# -- columns of any kind of table ------------------------------------------------------------------------------------------


class _Columns:
    """Named columns as pandas Series, whatever the table is."""

    def __init__(self, schema: Schema, table: object, y: object, target: bool) -> None:
        self._schema, self._table, self._y, self._with_target = schema, table, y, target
        self._library = type(table).__module__.partition(".")[0]
        if isinstance(table, np.ndarray) or (isinstance(table, Sequence) and not isinstance(table, str | bytes)):
            array = table if isinstance(table, np.ndarray) else _object_table(table, len(schema.names))
            if array.ndim != 2 or array.shape[1] != len(schema.names):
                k = len(schema.names)
                raise ParameterError(f"an array must have two dimensions and {k} columns (the attributes), got {_shape(array)}")
            self._table = {name: array[:, i] for i, name in enumerate(schema.names)}
        elif self._library == "polars" and hasattr(table, "collect"):
            raise ParameterError("a lazy Polars frame is not a table yet; collect() it first")
        elif not (self._library in ("pandas", "polars", "pyarrow") or isinstance(table, Mapping)):
            raise ParameterError(
                f"a table must be a pandas, Polars or Arrow table, a mapping of columns or a two-dimensional array, "
                f"got {type(table).__name__}"
            )
        self._cache: dict[str, Any] = {}

    def _present(self) -> list[str]:
        table: Any = self._table
        if self._library == "pyarrow":
            return list(table.column_names)
        return list(table.columns) if self._library in ("pandas", "polars") else list(table)

    def structure(self) -> Iterator[tuple[str, What]]:
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
                if _kind(self[name]) == "number" and not _is_whole(self[name]):
                    yield name, "identity"
            elif _kind(self[name]) is None:
                yield name, "dtype"
        if self._with_target and self._y is not None and _kind(self[self._schema.target]) is None:
            yield self._schema.target, "dtype"
        if len({len(column) for column in self._cache.values()}) > 1:
            raise ParameterError("all columns, and y, must have the same length")

    def __getitem__(self, name: str) -> Any:
        if name not in self._cache:
            table: Any = self._table
            from_y = name == self._schema.target and self._y is not None
            self._cache[name] = _series(self._y if from_y else table[name])
        return self._cache[name]


def _series(column: Any) -> Any:
    """A column as a pandas Series in which every entry is what it was: nothing is coerced because of another entry."""
    import pandas as pd

    library = type(column).__module__.partition(".")[0]
    if library == "pandas":
        return column
    if library == "polars":
        # With a null in it, to_numpy would turn whole numbers into fractions.
        column = column.to_list() if column.null_count() and not column.dtype.is_float() else column.to_numpy()
    elif library == "pyarrow":
        return column.to_pandas(integer_object_nulls=True)
    if not isinstance(column, np.ndarray):
        column = _object_column(column)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ParameterError(f"a column must have one dimension, got {column.ndim}")
    return pd.Series(column)


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


def _shape(array: npt.NDArray[Any]) -> str:
    """The shape without the number of rows."""
    return f"{array.shape[1]} columns" if array.ndim == 2 else f"{array.ndim} dimensions"


def _is_whole(column: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_integer_dtype(column.dtype))


def _kind(column: Any) -> Kind | None:
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


# -- entries to codes -------------------------------------------------------------------------------------------------------


def _distinct(column: Any) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Positions into a list of distinct entries; -1 is null. Entries that compare equal but differ (1, True) stay apart."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes, dtype=np.intp), column.cat.categories.tolist()
    if pd.api.types.is_object_dtype(column.dtype) and pd.api.types.infer_dtype(column, skipna=True) != "string":
        column = pd.Series([_text_or_none(entry) for entry in column], dtype=object)
    positions, uniques = pd.factorize(column)
    return np.asarray(positions, dtype=np.intp), uniques.tolist()


def _text_or_none(entry: Any) -> str | None:
    """The text of one entry of a mixed column; None for null. What is no value at all gets a text that nobody lists."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(entry, float) and entry != entry:
        return None
    if isinstance(entry, str | bool | int | float | np.generic):
        try:
            return text_of(entry)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return "\x00"
    return "\x00"


def _codes(attribute: Attribute, column: Any) -> Codes:
    import pandas as pd

    if isinstance(attribute, Numeric) and pd.api.types.is_numeric_dtype(column.dtype):
        return attribute.codes_of(column.to_numpy(dtype=np.float64, na_value=np.nan))
    positions, uniques = _distinct(column)
    if isinstance(attribute, Numeric):
        numbers = np.array([_number(entry) for entry in uniques] + [np.nan])
        return attribute.codes_of(numbers)[positions]  # position -1 is the last entry, null
    listed = [_match(attribute, entry) for entry in uniques]
    table = [attribute.unknown_code if code is None else code for code in listed]
    return np.array([*table, attribute.missing_code], dtype=attribute.dtype)[positions]


def _match(attribute: Categorical, entry: Any) -> int | None:
    """The code of an entry, or None where it is not listed."""
    if isinstance(entry, float) and not np.isfinite(entry):
        return None
    return attribute.code_of_text.get(text_of(entry)) if isinstance(entry, str | bool | int | float) else None


def _number(entry: Any) -> float:
    """The number that an entry is or spells; NaN for what is no number."""
    try:
        return np.nan if isinstance(entry, str) and "_" in entry else float(entry)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _column_problems(attribute: Attribute, column: Any) -> list[What]:
    positions, uniques = _distinct(column)
    used = set(np.unique(positions).tolist())
    entries = [entry for i, entry in enumerate(uniques) if i in used]
    expected = attribute.on_unknown is not None
    found: list[What] = []
    if isinstance(attribute, Categorical):
        catches = expected or attribute.other is not None
        if not catches and any(_match(attribute, entry) is None for entry in entries):
            found.append("unlisted")
        if not catches and attribute.missing is None and -1 in used:
            found.append("null")
        return found
    numbers = np.array([_number(entry) for entry in entries if entry != attribute.missing])
    if np.isnan(numbers).any() and attribute.missing is None:
        found.append("not a number")
    if not expected and ((numbers < attribute.low) | (numbers > attribute.high)).any():
        found.append("out of range")
    if attribute.missing is None and attribute.on_unknown != "drop" and -1 in used:
        found.append("null")
    return found


def _identities(column: Any) -> npt.NDArray[np.intp]:
    """A number per person; -1 for a row without one. Entries are the same person only if type and value are the same."""
    import pandas as pd

    if pd.api.types.is_object_dtype(column.dtype):
        column = pd.Series([_identity(entry) for entry in column], dtype=object)
    return np.asarray(pd.factorize(column)[0], dtype=np.intp)


def _identity(entry: Any) -> tuple[str, Any] | None:
    """What tells people apart; None for null and for what cannot be compared."""
    if _text_or_none(entry) is None:
        return None
    entry = entry.item() if isinstance(entry, np.generic) else entry
    try:
        hash(entry)
    except TypeError:
        return None
    return type(entry).__qualname__, entry
