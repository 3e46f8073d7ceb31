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
        """Which rows have a known code in every column."""
        keep = np.ones(len(self.codes[0]), dtype=bool)
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
            array = np.asarray(table)
            if array.ndim != 2 or array.shape[1] != len(schema.names):
                k = len(schema.names)
                raise ParameterError(
                    f"an array must have two dimensions and {k} columns (the attributes), got shape {array.shape}"
                )
            self._table = {name: array[:, i] for i, name in enumerate(schema.names)}
        elif self._library == "polars" and hasattr(table, "collect"):
            self._table = table.collect()
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
            elif name != self._schema.person and _kind(self[name]) is None:
                yield name, "dtype"
        if self._with_target and self._y is not None and _kind(self[self._schema.target]) is None:
            yield self._schema.target, "dtype"
        if len({len(column) for column in self._cache.values()}) > 1:
            raise ParameterError("all columns, and y, must have the same length")

    def __getitem__(self, name: str) -> Any:
        import pandas as pd

        if name not in self._cache:
            table: Any = self._table
            if name == self._schema.target and self._y is not None:
                column: Any = self._y
                if type(column).__module__.partition(".")[0] not in ("pandas", "polars", "pyarrow"):
                    column = np.asarray(column)
                    column = column.reshape(-1) if column.ndim == 2 and column.shape[1] == 1 else column
                if getattr(column, "ndim", 1) != 1:
                    raise ParameterError(f"y must be one column, got {column.ndim} dimensions")
            else:
                column = table[name]
            if type(column).__module__.startswith("polars"):
                column = column.to_numpy()  # to_pandas would need pyarrow
            elif type(column).__module__.startswith("pyarrow"):
                column = column.to_pandas()
            self._cache[name] = column if isinstance(column, pd.Series) else pd.Series(np.asarray(column))
        return self._cache[name]


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
    """A number per person; null is one person."""
    return _distinct(column)[0]
