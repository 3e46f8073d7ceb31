"""The way of many rows down many trees, compiled by Numba; loaded only where there are rows enough
to make up for that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.compiled import compiled

BLOCK = 4096  # rows whose codes stay in the cache while every tree looks at them


@compiled
def add_up(
    codes: Any,
    start: int,
    stop: int,
    sizes: Any,
    tree_start: Any,
    attribute: Any,
    offset: Any,
    branch: Any,
    scores: Any,
    total: Any,
) -> None:
    """Add to ``total`` what each tree says about the rows from start to stop, tree by tree.

    Tree t has the nodes ``tree_start[t]`` to ``tree_start[t + 1]``; offsets and branches are
    counted over all trees. A row whose code is unknown at a node stays there.
    """
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        for t in range(len(tree_start) - 1):
            for row in range(low, high):
                node = tree_start[t]
                while attribute[node] >= 0:
                    code = codes[attribute[node], row]
                    if code >= sizes[attribute[node]]:
                        break
                    node = branch[offset[node] + code]
                for c in range(total.shape[1]):
                    total[row, c] += scores[node, c]


def contiguous(codes: list[Any]) -> Any:
    """Columns of codes as one matrix, a line per attribute."""
    matrix = np.empty(
        (len(codes), len(codes[0])), dtype=np.result_type(*(column.dtype for column in codes))
    )
    for line, column in zip(matrix, codes, strict=True):
        line[:] = column
    return matrix
