"""The walks of many rows (:mod:`privet.counts.walks`), compiled by Numba. They run without the
interpreter lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from privet.compiled import compiled
from privet.counts.walks import ATTRIBUTE, BLOCK, MOVES, ONE, PLACE


@njit(nogil=True)  # type: ignore[untyped-decorator]
def walk(
    codes: Any, low: int, n: int, root: Any, steps: int, words: Any, first_leaf: Any, leaf: Any
) -> None:
    """The leaf that each row of a block ends in. All rows take one step after the other: none waits
    for another.
    """
    column, moves, place = (
        codes[root >> ATTRIBUTE, low : low + n],
        (root >> MOVES) & ONE,
        root & PLACE,
    )
    for i in range(n):
        leaf[i] = words[place + column[i] * moves]
    for _ in range(1, steps):
        for i in range(n):
            word = leaf[i]
            code = codes[word >> ATTRIBUTE, np.uint64(low + i)]
            leaf[i] = words[(word & PLACE) + code * ((word >> MOVES) & ONE)]
    for i in range(n):
        leaf[i] = (leaf[i] & PLACE) - first_leaf


@compiled
def add_scores(
    codes: Any,
    low: int,
    high: int,
    root: Any,
    steps: Any,
    words: Any,
    first_leaf: Any,
    scores: Any,
    total: Any,
) -> None:
    """Add the scores of the leaves that the rows from ``low`` to ``high`` end in, tree by tree.
    Rows that count have known codes only.
    """
    leaf = np.empty(BLOCK, dtype=np.uint64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        for t in range(len(root)):
            walk(codes, first, n, root[t], steps[t], words, first_leaf, leaf)
            for i in range(n):
                for c in range(total.shape[1]):
                    total[first + i, c] += scores[leaf[i], c]
