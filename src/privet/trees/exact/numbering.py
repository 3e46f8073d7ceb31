"""Flat arrays to cells: every leaf is a cell of its own, numbered in the order of the nodes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.schema import Schema
from privet.typed import Ints


def number_leaves(
    schema: Schema, attribute: Ints, offset: Ints, branch: Ints, is_cell: npt.NDArray[np.bool_]
) -> Cells:
    """The structure, with cells 0, 1, 2, ... at the nodes where ``is_cell`` holds."""
    cell = np.where(is_cell, np.cumsum(is_cell) - 1, -1)
    return Cells(
        schema,
        attribute.astype(np.int32),
        offset,
        branch.astype(np.int32),
        cell.astype(np.int32),
        int(is_cell.sum()),
    )
