"""Compiled loops that walk many rows down trees (:mod:`privet.domain.routing`).

They run without the interpreter lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from privet._numba import compile_kernel
from privet.domain.routing import ATTRIBUTE, BLOCK, MOVES, ONE, PLACE


@njit(nogil=True)  # type: ignore[untyped-decorator]
def walk(
    codes: Any, low: int, n: int, root: Any, steps: int, words: Any, first_end: Any, node: Any
) -> None:
    """Find the node, counted over all trees, that each row of a block ends in.

    All rows take one step after the other: none waits for another.
    """
    column, moves, place = (
        codes[root >> ATTRIBUTE, low : low + n],
        (root >> MOVES) & ONE,
        root & PLACE,
    )
    for i in range(n):
        node[i] = words[place + column[i] * moves]
    for _ in range(1, steps):
        for i in range(n):
            word = node[i]
            code = codes[word >> ATTRIBUTE, np.uint64(low + i)]
            node[i] = words[(word & PLACE) + code * ((word >> MOVES) & ONE)]
    for i in range(n):
        node[i] = (node[i] & PLACE) - first_end


@compile_kernel
def find_nodes(
    codes: Any,
    low: int,
    high: int,
    root: Any,
    steps: Any,
    words: Any,
    first_end: Any,
    out: Any,
) -> None:
    """Find the node of the first tree that the rows from ``low`` to ``high`` end in."""
    node = np.empty(BLOCK, dtype=np.uint64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        walk(codes, first, n, root[0], steps[0], words, first_end, node)
        for i in range(n):
            out[first + i] = node[i]


@compile_kernel
def add_values(
    codes: Any,
    low: int,
    high: int,
    root: Any,
    steps: Any,
    words: Any,
    first_end: Any,
    values: Any,
    total: Any,
) -> None:
    """Add the values of the nodes that the rows from ``low`` to ``high`` end in, tree by tree."""
    node = np.empty(BLOCK, dtype=np.uint64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        for t in range(len(root)):
            walk(codes, first, n, root[t], steps[t], words, first_end, node)
            for i in range(n):
                for c in range(total.shape[1]):
                    total[first + i, c] += values[node[i], c]
