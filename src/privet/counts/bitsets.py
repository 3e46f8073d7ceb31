"""Sets of leaves as bits: which leaves of a tree a row with a certain code can still reach."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.cells import Cells

_WORD = 64  # leaves per word


def compatible_leaves(cells: Cells) -> dict[int, npt.NDArray[np.uint64]]:
    """By tested attribute: for each code, the set of leaves that a row with that code can still reach, as words."""
    sizes = cells.schema.sizes
    leaf_number = np.cumsum(cells.attribute < 0) - 1
    n_leaves = int((cells.attribute < 0).sum())
    allowed = {a: np.zeros((sizes[a], n_leaves), dtype=bool) for a in cells.used}
    # Walk down with the codes that are still possible, per attribute that was tested on the way.
    stack: list[tuple[int, dict[int, npt.NDArray[np.bool_]]]] = [(0, {})]
    while stack:
        node, possible = stack.pop()
        a = int(cells.attribute[node])
        if a < 0:
            for b, table in allowed.items():
                table[:, leaf_number[node]] |= possible.get(b, True)
            continue
        children = cells.branch[cells.offset[node] : cells.offset[node] + sizes[a]]
        for child in dict.fromkeys(children.tolist()):
            here = (children == child) & possible.get(a, True)
            if here.any():
                stack.append((child, {**possible, a: here}))
    return {a: _packed(table) for a, table in allowed.items()}


def _packed(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Lines of booleans to lines of 64-bit words, first entry lowest."""
    n_words = -(-table.shape[1] // _WORD)
    padded = np.zeros((table.shape[0], n_words * _WORD), dtype=bool)
    padded[:, : table.shape[1]] = table
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
