"""Encoding loops, compiled by Numba. They run without the interpreter lock, so that plain threads use all cores."""

from __future__ import annotations

from typing import Any

from numba import njit


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def cell_of(number: float, low: float, scale: float, n_cells: int) -> int:
    """The cell of a number; NaN is in the first. Never falls while the number grows, whatever is rounded."""
    place = (number - low) * scale
    if not place > 0:
        return 0
    return int(place) if place < n_cells - 1 else n_cells - 1


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def search(numbers: Any, points: Any, low: float, scale: float, start: Any, codes: Any, missing: int, out: Any) -> None:
    """Write ``codes[k]`` for each number, where k points are at most as large.

    The points of cell c are ``start[c]`` to ``start[c + 1]``; all before them are smaller than any number of the cell, and all
    after them larger. Most cells have none, so that there is little to search.
    """
    n_cells = len(start) - 1
    for i in range(len(numbers)):
        number = numbers[i]
        cell = cell_of(number, low, scale, n_cells)
        first, last = start[cell], start[cell + 1]
        while first < last:
            middle = (first + last) >> 1
            if points[middle] <= number:
                first = middle + 1
            else:
                last = middle
        out[i] = codes[first] if number == number else missing
