"""What must hold of rows and values, in files and in changes alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import MAX_CELL, CellText
from privet.schema.encode import Encoded, encode

#: Bytes of a sealed sequence number.
MAX_ESEQ = 256


def fits(anatomy: Anatomy, columns: Sequence[Sequence[CellText]]) -> npt.NDArray[np.bool_]:
    """Which rows fit the schema of the identifier table. The columns are those of
    ``Anatomy.columns``.
    """
    named = {
        name: _object_column(cells) for name, cells in zip(anatomy.columns, columns, strict=True)
    }
    known = encode(anatomy.identifying, named).known(anatomy.identifying)
    for column in columns:
        known &= np.array([is_storable(cell) for cell in column], dtype=bool)
    return known


def encode_identifiers(anatomy: Anatomy, columns: Sequence[Sequence[Any]]) -> Encoded:
    """Codes of the identifying attributes, and of the class where it is there too."""
    schema = replace(anatomy.identifying, person=None)
    names = [*schema.names, schema.target][: len(columns)]
    return encode(
        schema,
        dict(zip(names, map(_object_column, columns), strict=True)),
        target=len(columns) > len(schema.names),
    )


def is_storable(cell: CellText) -> bool:
    """Whether any database can hold it: NUL is no text in PostgreSQL."""
    return cell is None or (len(cell) <= MAX_CELL and "\x00" not in cell)


def _object_column(cells: Sequence[Any]) -> npt.NDArray[Any]:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column
