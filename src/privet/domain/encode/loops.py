"""Compiled loops that encode numbers.

They run without the interpreter lock, so that plain threads use all cores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet._numba import compile_kernel


@compile_kernel
def look_up_codes(numbers: Any, first: Any, codes: Any, out: Any) -> None:
    """Write the code of each integer, of which the first has ``codes[0]``; those beyond are as
    the first and the last.
    """
    last = first + len(codes) - 1
    for i in range(len(numbers)):
        # unsigned: not counted from the end
        out[i] = codes[np.uint64(min(max(np.int64(numbers[i]), first), last) - first)]


@compile_kernel
def cell_of(number: float, low: float, scale: float, last_cell: float) -> Any:
    """Return the cell of a number; NaN is in the first.

    Never falls while the number grows, whatever is rounded.
    """
    place = (number - low) * scale
    place = place if place > 0.0 else 0.0
    return np.int64(place if place < last_cell else last_cell)


@compile_kernel
def search(
    numbers: Any,
    points: Any,
    low: float,
    scale: float,
    start: Any,
    codes: Any,
    missing: int,
    out: Any,
) -> None:
    """Write ``codes[k]`` for each number, where k points are at most as large.

    The points of cell c are ``start[c]`` to ``start[c + 1]``; all before them are smaller than any
    number of the cell, and all after them larger. Most cells have none, so that there is little to
    search.
    """
    last_cell = np.float64(len(start) - 2)
    for i in range(len(numbers)):
        number = np.float64(numbers[i])
        cell = cell_of(number, low, scale, last_cell)
        first, last = np.uint64(start[cell]), np.uint64(start[cell + 1])
        while first < last:
            middle = (first + last) >> np.uint64(1)
            if points[middle] <= number:
                first = middle + np.uint64(1)
            else:
                last = middle
        out[i] = codes[first]
    for i in range(len(numbers)):
        if numbers[i] != numbers[i]:
            out[i] = missing
