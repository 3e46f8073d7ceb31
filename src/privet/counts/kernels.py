"""The loop that counts rows one by one, compiled by Numba. It runs without the interpreter lock, so
that plain threads use all cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from privet.compiled import compile_kernel
from privet.routing import BLOCK
from privet.routing_loops import walk


@compile_kernel
def count_rows(
    codes: Any,
    classes: Any,
    weights: Any,
    start: int,
    stop: int,
    root: Any,
    steps: Any,
    words: Any,
    first_end: Any,
    cell: Any,
    histogram_start: Any,
    by_start: Any,
    by: Any,
    by_step: Any,
    cell_step: Any,
    base: Any,
    out: Any,
) -> None:
    """Add the rows from start to stop to the histograms in ``out``.

    Tree t is walked from the word ``root[t]`` in so many steps, and has the histograms
    ``histogram_start[t]`` to ``histogram_start[t + 1]``. Histogram h begins at ``base[h]``; in it a
    cell counts by ``cell_step[h]``, and the attributes ``by[by_start[h]]`` to ``by[by_start[h +
    1]]`` by their ``by_step``. No weights: every row counts once.
    """
    node = np.empty(BLOCK, dtype=np.uint64)
    reached = np.empty(BLOCK, dtype=np.uint32)
    inside = np.empty(BLOCK, dtype=np.uint32)
    for low in range(start, stop, BLOCK):
        n = min(BLOCK, stop - low)
        for t in range(len(root)):
            walk(codes, low, n, root[t], steps[t], words, first_end, node)
            for i in range(n):
                reached[i] = cell[node[i]]
            for h in range(histogram_start[t], histogram_start[t + 1]):
                _place_in_histogram(
                    codes, classes, low, n, by_start[h], by_start[h + 1], by, by_step, inside
                )
                counts, step = out[base[h] : base[h + 1]], cell_step[h]
                if len(weights) == 0:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += 1
                else:
                    for i in range(n):
                        counts[reached[i] * step + inside[i]] += weights[low + i]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _place_in_histogram(
    codes: Any,
    classes: Any,
    low: int,
    n: int,
    first: int,
    last: int,
    by: Any,
    by_step: Any,
    inside: Any,
) -> None:
    """Where each row is in its cell's part of a histogram."""
    column = classes[low : low + n]
    for i in range(n):
        inside[i] = column[i]
    for b in range(first, last):
        values, step = codes[by[b], low : low + n], by_step[b]
        for i in range(n):
            inside[i] += values[i] * step
