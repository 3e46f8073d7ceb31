"""Counting loops, compiled by Numba. They run without the interpreter lock, so that plain threads use all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BLOCK = 4096  # rows whose codes stay in the cache while every tree looks at them


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_rows(
    codes: Any, classes: Any, weights: Any, start: int, stop: int, n_classes: int,
    tree_start: Any, attribute: Any, offset: Any, branch_start: Any, branch: Any, cell: Any,
    part_start: Any, by: Any, size: Any, base: Any, out: Any, uncovered: Any,
) -> None:  # fmt: skip
    """Add the rows from start to stop to ``out``.

    Tree t has the nodes ``tree_start[t]`` to ``tree_start[t + 1]`` of the flat arrays, and the partitions
    ``part_start[t]`` to ``part_start[t + 1]``; partition p is split by attribute ``by[p]`` of ``size[p]`` values
    (by -1: not at all) and its table begins at ``base[p]``. No weights: every row counts once.
    """
    reached = np.empty(BLOCK, dtype=np.int64)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        for t in range(len(tree_start) - 1):
            root, first = tree_start[t], branch_start[t]
            for row in range(low, high):
                node = root
                while attribute[node] >= 0:
                    node = root + branch[first + offset[node] + codes[attribute[node], row]]
                reached[row - low] = cell[node]
            for p in range(part_start[t], part_start[t + 1]):
                for row in range(low, high):
                    here = reached[row - low]
                    weight = weights[row] if len(weights) else 1
                    if here < 0:
                        uncovered[p] += weight
                    elif by[p] < 0:
                        out[base[p] + here * n_classes + classes[row]] += weight
                    else:
                        out[base[p] + (here * size[p] + codes[by[p], row]) * n_classes + classes[row]] += weight
