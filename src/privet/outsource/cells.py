"""Cells: the entries of a table as texts, None for null, so that they are stored, sent and sealed
in one form.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import SchemaError
from privet.outsource.anatomy import Anatomy
from privet.schema import Attribute, Categorical, Schema, text_of
from privet.schema.encode import encode

CellText = str | None
#: Longer than any entry that a learner could use; an entry that is longer does not belong in such a
#: table.
MAX_CELL = 10_000


def people_cells(frame: Any, anatomy: Anatomy) -> list[list[CellText]]:
    """The columns of ``Anatomy.columns`` and the sensitive one, last, as the schema spells them."""
    names = [*anatomy.columns, anatomy.sensitive]
    domains = {**anatomy.schema.attributes, anatomy.schema.target: anatomy.schema.label}
    columns = cells_of(frame, names)
    return [
        canonicalize_cells(domains[name], column) if name in domains else column
        for name, column in zip(names, columns, strict=True)
    ]


def cells_of(frame: Any, names: Sequence[str]) -> list[list[CellText]]:
    """The columns of a data frame as texts, column by column. A number or truth value has the text
    of its category.
    """
    absent = [name for name in names if name not in frame.columns]
    if absent:
        raise SchemaError(
            f"the table has no column {absent[0]!r}; it has {', '.join(map(str, frame.columns))}"
        )
    return [_extract_column(name, frame[name]) for name in names]


def _extract_column(name: str, column: Any) -> list[CellText]:
    import pandas as pd

    positions, uniques = pd.factorize(column)
    texts = [_cell_text(name, entry) for entry in uniques.tolist()]
    return [None if at < 0 else texts[at] for at in positions.tolist()]


def _cell_text(name: str, entry: Any) -> str:
    if not isinstance(entry, str | bool | int | float | np.number | np.bool_):
        raise SchemaError(
            f"column {name!r} must hold text, numbers or truth values, but one entry is a "
            f"{type(entry).__name__}"
        )
    text = text_of(entry.item() if isinstance(entry, np.generic) else entry)
    if (
        len(text) > MAX_CELL
        or "\x00" in text
        or any("\ud800" <= character <= "\udfff" for character in text)
    ):
        raise SchemaError(
            f"column {name!r} must hold texts of at most {MAX_CELL} characters without NUL and "
            "lone surrogates"
        )
    return text


def canonicalize_cells(domain: Attribute, cells: Sequence[CellText]) -> list[CellText]:
    """Cells as the schema spells them. A source that writes 30.0 where another writes 30 would mark
    its rows in both halves alike.
    """
    known = {cell: _canonicalize_cell(domain, cell) for cell in set(cells)}
    return [known[cell] for cell in cells]


def _canonicalize_cell(domain: Attribute, cell: CellText) -> CellText:
    if isinstance(domain, Categorical):
        code = domain.missing_code if cell is None else domain.code_of_text.get(cell)
        return cell if code is None or code >= domain.size else domain.labels[code]
    try:
        number = float(cell) if cell is not None and "_" not in cell else math.nan
    except ValueError:
        number = math.nan
    return text_of(number) if math.isfinite(number) else domain.missing


def codes_of(domain: Attribute, cells: Sequence[CellText]) -> npt.NDArray[np.int64]:
    """The code of each cell in one attribute's domain; the domain's size where it is unknown."""
    schema = Schema({"cell": domain}, "class", ["no", "yes"])
    return np.asarray(
        encode(schema, {"cell": np.array(cells, dtype=object)}, target=False).codes[0],
        dtype=np.int64,
    )
