"""Rows to columns of small unsigned integers.

Encoding is total: whatever a row holds, it gets a code, and the code depends on that row alone. What may fail
(a column that is absent or of a type that cannot match) does not depend on the rows. :func:`problems` is for the
owner, who wants to know how well a table fits before it is registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.schema.attributes import MAX_BITS, Attribute, Categorical, Numeric, text_of
from privet.schema.columns import Columns
from privet.schema.problems import What, raise_if_any
from privet.schema.schema import Schema

Codes = npt.NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """The code columns of a table, in schema order, each of the smallest type; ``classes`` where there is a target.

    ``absent`` names the attributes that the table does not have, where that was allowed.
    """

    codes: list[Codes]
    classes: Codes | None
    person: npt.NDArray[np.intp] | None
    absent: tuple[str, ...] = ()

    def known(self, schema: Schema) -> npt.NDArray[np.bool_]:
        """Which rows have a known code in every column, and a person where people are told apart."""
        keep = np.ones(len(self.codes[0]), dtype=bool) if self.person is None else self.person >= 0
        for column, size in zip(self.codes, schema.sizes, strict=True):
            keep &= column < size
        if self.classes is not None:
            keep &= self.classes < schema.n_classes
        return keep


def encode(schema: Schema, table: object, y: object = None, *, target: bool = True, partial: bool = False) -> Encoded:
    """Encode a pandas, Polars or Arrow table, a mapping of columns, or a two-dimensional array (columns in schema order).

    The class column is ``y``, or the column of ``table`` that the schema names. ``target=False`` leaves it out. With ``partial``,
    some attributes may be absent: nothing is known about them then.
    """
    columns = Columns(schema, table, y, with_target=target)
    found = list(columns.structure())
    absent = {name for name, what in found if what == "absent" and name in schema.attributes}
    if partial and absent != set(schema.attributes):
        found = [problem for problem in found if problem[0] not in absent]
    raise_if_any(found)
    known = {name: _codes(attribute, columns[name]) for name, attribute in schema.attributes.items() if name not in absent}
    n_rows = max(map(len, known.values()))
    codes = [
        known[name] if name in known else np.full(n_rows, attribute.size, attribute.dtype) for name, attribute in schema.attributes.items()
    ]
    classes = _codes(schema.label, columns[schema.target]) if target else None
    person = None if schema.person is None or not target else _identities(columns[schema.person])
    return Encoded(codes, classes, person, tuple(name for name in schema.names if name in absent))


def encode_entries(attributes: Iterable[Attribute], columns: Iterable[Sequence[Any]]) -> list[Codes]:
    """The codes of plain columns (lists of texts, numbers or None), as :func:`encode` gives them, without a data frame.

    A data frame costs more than a hundred rows; for one row, this is many times faster.
    """
    return [_codes_of_entries(attribute, column) for attribute, column in zip(attributes, columns, strict=True)]


def check_structure(schema: Schema, table: object, y: object = None) -> None:
    """Raise where columns are absent or of a type that cannot match. Looks at no row."""
    raise_if_any(Columns(schema, table, y, with_target=True).structure())


def problems(schema: Schema, table: object, y: object = None) -> list[tuple[str, What]]:
    """How the table fails to fit its schema. For the owner: the answer depends on the rows."""
    columns = Columns(schema, table, y, with_target=True)
    found = list(columns.structure())
    broken = {name for name, _ in found}
    attributes: dict[str, Attribute] = {**schema.attributes, schema.target: Categorical(schema.classes)}
    for name, attribute in attributes.items():
        if name not in broken:
            found += [(name, what) for what in _column_problems(attribute, columns[name])]
    return found


class _NoValue:
    """Stands for an entry that is no text, number or truth value, and matches nothing."""


_NO_VALUE = _NoValue()


def _entry(entry: Any) -> str | bool | int | float | _NoValue | None:
    """One entry as a plain value; None for null. Looks at nothing else."""
    if entry is None or type(entry).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(entry, np.generic):
        entry = entry.item()
    if isinstance(entry, Decimal):
        entry = _of_decimal(entry)
    if isinstance(entry, float) and entry != entry:
        return None
    return entry if isinstance(entry, str | bool | int | float) else _NO_VALUE


def _of_decimal(number: Decimal) -> float:
    try:
        return float(number)
    except (ValueError, OverflowError):  # a signalling NaN
        return np.nan


def _distinct(column: Any) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Positions into a list of distinct plain values; -1 is null. Entries that compare equal but differ (1, True) stay apart."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.asarray(column.cat.codes, dtype=np.intp), [_entry(entry) for entry in column.cat.categories]
    if pd.api.types.is_object_dtype(column.dtype) and pd.api.types.infer_dtype(column, skipna=False) != "string":
        plain = [_entry(entry) for entry in column]
        keys = pd.Series([None if entry is None else (type(entry).__name__, entry) for entry in plain], dtype=object)
        positions, uniques = pd.factorize(keys)
        return np.asarray(positions, dtype=np.intp), [entry for _, entry in uniques.tolist()]
    positions, uniques = pd.factorize(column)
    return np.asarray(positions, dtype=np.intp), [_entry(entry) for entry in uniques.tolist()]


def _codes(attribute: Attribute, column: Any) -> Codes:
    import pandas as pd

    if isinstance(attribute, Numeric) and pd.api.types.is_numeric_dtype(column.dtype):
        return attribute.codes_of(column.to_numpy(dtype=np.float64, na_value=np.nan))
    positions, uniques = _distinct(column)
    return _codes_of_uniques(attribute, uniques)[positions]  # position -1 is the last entry, null


def _codes_of_entries(attribute: Attribute, column: Sequence[Any]) -> Codes:
    known: dict[tuple[type, Any], int] = {}
    positions = [-1 if entry is None else known.setdefault((type(entry), entry), len(known)) for entry in column]
    uniques = [_entry(entry) for _, entry in known]
    codes = _codes_of_uniques(attribute, uniques)
    null = [entry is None for entry in uniques]  # NaN, in several spellings
    return np.where([*null, True], codes[-1], codes).astype(attribute.dtype)[positions] if any(null) else codes[positions]


def _codes_of_uniques(attribute: Attribute, uniques: list[Any]) -> Codes:
    """The code of each plain value, and that of null as one more entry."""
    if isinstance(attribute, Numeric):
        return attribute.codes_of(np.array([_number(entry) for entry in uniques] + [np.nan]))
    listed = [_match(attribute, entry) for entry in uniques]
    table = [attribute.unknown_code if code is None else code for code in listed]
    return np.array([*table, attribute.missing_code], dtype=attribute.dtype)


def _match(attribute: Categorical, entry: Any) -> int | None:
    """The code of a plain value, or None where it is not listed."""
    if entry is _NO_VALUE or entry is None or (isinstance(entry, float) and not np.isfinite(entry)):
        return None
    if isinstance(entry, int) and entry.bit_length() > MAX_BITS:
        return None  # no listed number is as large
    return attribute.code_of_text.get(text_of(entry))


def _number(entry: Any) -> float:
    """The number that a plain value is or spells; NaN for what is no number."""
    if entry is _NO_VALUE or entry is None or (isinstance(entry, str) and "_" in entry):
        return np.nan
    try:
        return float(entry)
    except ValueError:
        return np.nan
    except OverflowError:
        return np.inf if entry > 0 else -np.inf


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
    if _entry(entry) is None:
        return None
    entry = entry.item() if isinstance(entry, np.generic) else entry
    try:
        hash(entry)
    except TypeError:
        return None
    return type(entry).__qualname__, entry
