"""The loop that counts rows one by one, compiled by Numba. It runs without the interpreter lock, so that plain threads use all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BLOCK = 8192  # rows whose codes stay in the cache while every tree looks at them

# A word of a walk (:mod:`privet.counts.histograms`): the attribute, whether it matters, and where the next words are.
ATTRIBUTE, MOVES = np.uint64(33), np.uint64(32)
_PLACE, _ONE = np.uint64((1 << 32) - 1), np.uint64(1)


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_rows(
    codes: Any, classes: Any, weights: Any, start: int, stop: int,
    root: Any, steps: Any, words: Any, first_leaf: int, cell: Any,
    histogram_start: Any, by_start: Any, by: Any, by_step: Any, cell_step: Any, base: Any, out: Any,
) -> None:  # fmt: skip
    """Add the rows from start to stop to the histograms in ``out``.

    Tree t is walked from the word ``root[t]`` in so many steps, and has the histograms ``histogram_start[t]`` to
    ``histogram_start[t + 1]``. Histogram h begins at ``base[h]``; in it a cell counts by ``cell_step[h]``, and the attributes
    ``by[by_start[h]]`` to ``by[by_start[h + 1]]`` by their ``by_step``. No weights: every row counts once.
    """
    at = np.empty(BLOCK, dtype=np.uint64)
    reached = np.empty(BLOCK, dtype=np.uint32)
    inside = np.empty(BLOCK, dtype=np.uint32)
    for low in range(start, stop, BLOCK):
        n = min(BLOCK, stop - low)
        for t in range(len(root)):
            _walk(codes, low, n, root[t], steps[t], words, at)
            for i in range(n):
                reached[i] = cell[(at[i] & _PLACE) - first_leaf]
            for h in range(histogram_start[t], histogram_start[t + 1]):
                _inside(codes, classes, low, n, by_start[h], by_start[h + 1], by, by_step, inside)
                counts, step = out[base[h] : base[h + 1]], cell_step[h]
                if len(weights) == 0:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += 1
                else:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += weights[low + i]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _walk(codes: Any, low: int, n: int, root: Any, steps: int, words: Any, at: Any) -> None:
    """Let all rows of a block take one step after the other: no row waits for another, nor is a leaf a surprise."""
    column, moves, place = codes[root >> ATTRIBUTE, low : low + n], (root >> MOVES) & _ONE, root & _PLACE
    for i in range(n):
        at[i] = words[place + column[i] * moves]
    for _ in range(1, steps):
        for i in range(n):
            word = at[i]
            code = codes[word >> ATTRIBUTE, np.uint64(low + i)]
            at[i] = words[(word & _PLACE) + code * ((word >> MOVES) & _ONE)]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _inside(codes: Any, classes: Any, low: int, n: int, first: int, last: int, by: Any, by_step: Any, inside: Any) -> None:
    """Where each row is in its cell's part of a histogram."""
    column = classes[low : low + n]
    for i in range(n):
        inside[i] = column[i]
    for b in range(first, last):
        values, step = codes[by[b], low : low + n], by_step[b]
        for i in range(n):
            inside[i] += values[i] * step
