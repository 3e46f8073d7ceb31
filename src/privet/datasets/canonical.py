"""Write a table canonically: one text per cell, and a hash that ignores row order and formatting.

Formatting is that of numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from privet.domain import Schema, text_of
from privet.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd

#: Canonical text of each cell, by column, in order.
CellTexts = dict[str, list[str]]
#: The columns of a raw table in order, and whether each one holds numbers.
NumericColumns = Mapping[str, bool]

MISSING = "?"
_CELL_END, _ROW_END = "\x1f", "\x1e"


def columns_of(schema: Schema) -> dict[str, bool]:
    """Return the attributes of a schema, then its target, and which of them hold numbers."""
    return {name: attribute.holds_numbers for name, attribute in schema.attributes.items()} | {
        schema.target: False
    }


def canonical_hash(frame: pd.DataFrame, schema: Schema) -> str:
    """Return the SHA-256 of the canonical table.

    It covers the header and the sorted rows, attributes in schema order and then the target.

    A number counts by its value, so ``00202``, ``202`` and ``202.0`` are the same; a category
    counts by its text without surrounding blanks; null, NaN, the empty text and ``?`` are all a
    missing entry. Columns that the schema does not name are left out.
    """
    return hash_cells(canonical_cells(frame, columns_of(schema)))


def canonical_cells(frame: pd.DataFrame, columns: NumericColumns) -> CellTexts:
    """Return the canonical text of every cell of these columns, in the row order of the frame."""
    if absent := [name for name in columns if name not in frame.columns]:
        raise DatasetError(
            f"the table has no column {absent[0]!r}; expected are {', '.join(columns)}"
        )
    return {
        name: _canonicalize_column(name, frame[name].tolist(), numeric)
        for name, numeric in columns.items()
    }


def hash_cells(cells: CellTexts) -> str:
    """Return the SHA-256 of the header and the sorted rows."""
    rows = sorted(_CELL_END.join(row) for row in zip(*cells.values(), strict=True))
    text = _ROW_END.join([_CELL_END.join(cells), *rows])
    return hashlib.sha256(text.encode()).hexdigest()


def _canonicalize_column(name: str, values: Iterable[object], numeric: bool) -> list[str]:
    # typed: 1 and True are equal as keys, but not the same category
    text = lru_cache(maxsize=None, typed=True)(
        _canonicalize_number if numeric else _canonicalize_category
    )
    try:
        return [text(value) for value in values]
    except (ValueError, TypeError) as error:
        raise DatasetError(f"column {name!r}: {error}") from None


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return value.strip() in ("", MISSING) if isinstance(value, str) else bool(pd.isna(value))


def _canonicalize_category(value: Any) -> str:
    if _is_missing(value):
        return MISSING
    text = text_of(value).strip()
    if _CELL_END in text or _ROW_END in text:
        raise ValueError("a value must not hold the control characters U+001E and U+001F")
    return text


def _canonicalize_number(value: Any) -> str:
    if _is_missing(value):
        return MISSING
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a number must be finite")
    return text_of(number)
