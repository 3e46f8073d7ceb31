"""Counting loops, compiled by Numba. They run without the interpreter lock, so that plain threads use all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

BLOCK = 8192  # rows whose codes stay in the cache while every tree looks at them

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_FIRST_SIX = np.uint64(58)


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def count_rows(
    codes: Any, classes: Any, weights: Any, start: int, stop: int,
    tree_start: Any, attribute: Any, offset: Any, branch_start: Any, branch: Any, cell: Any,
    histogram_start: Any, by_start: Any, by: Any, by_step: Any, cell_step: Any, base: Any,
    group_start: Any, group_attribute: Any, stride: Any,
    entry_start: Any, entry_group: Any, entry_table: Any, table: Any, leaf_start: Any, leaf_cell: Any, position: Any,
    out: Any,
) -> None:  # fmt: skip
    """Add the rows from start to stop to the histograms in ``out`` (:mod:`privet.counts.histograms`).

    Tree t has the nodes ``tree_start[t]`` to ``tree_start[t + 1]`` of the flat arrays, and the histograms ``histogram_start[t]`` to
    ``histogram_start[t + 1]``. Histogram h begins at ``base[h]``; in it a cell counts by ``cell_step[h]``, and the attributes
    ``by[by_start[h]]`` to ``by[by_start[h + 1]]`` by their ``by_step``. No weights: every row counts once.

    A tree with entries ``entry_start[t]`` to ``entry_start[t + 1]`` looks its leaves up (:mod:`privet.counts.masks`); one without
    is walked.
    """
    reached = np.empty(BLOCK, dtype=np.uint32)
    inside = np.empty(BLOCK, dtype=np.uint32)
    left = np.empty(BLOCK, dtype=np.uint64)
    joint = np.empty((len(group_start) - 1, BLOCK), dtype=np.uint32)
    for low in range(start, stop, BLOCK):
        high = min(low + BLOCK, stop)
        join(codes, low, high, group_start, group_attribute, stride, joint)
        for t in range(len(tree_start) - 1):
            if entry_start[t] == entry_start[t + 1]:
                root, first = tree_start[t], branch_start[t]
                for row in range(low, high):
                    node = root
                    while attribute[node] >= 0:
                        node = root + branch[first + offset[node] + codes[attribute[node], row]]
                    reached[row - low] = cell[node]
            else:
                _intersect(entry_start[t], entry_start[t + 1], high - low, entry_group, entry_table, table, joint, left)
                leaf = leaf_cell[leaf_start[t] : leaf_start[t + 1]]
                for i in range(high - low):
                    reached[i] = leaf[position[(left[i] * _DE_BRUIJN) >> _FIRST_SIX]]
            for h in range(histogram_start[t], histogram_start[t + 1]):
                _inside(codes, classes[low:high], low, by_start[h], by_start[h + 1], by, by_step, inside)
                counts, step = out[base[h] : base[h + 1]], cell_step[h]
                if len(weights) == 0:
                    for i in range(high - low):
                        counts[reached[i] * step + inside[i]] += 1
                else:
                    for i in range(high - low):
                        counts[reached[i] * step + inside[i]] += weights[low + i]


@njit(nogil=True)  # type: ignore[untyped-decorator]
def join(codes: Any, low: int, high: int, group_start: Any, group_attribute: Any, stride: Any, joint: Any) -> None:
    """The joint codes of every group of attributes."""
    for g in range(len(group_start) - 1):
        line, column = joint[g], codes[group_attribute[group_start[g]], low:high]
        for i in range(high - low):
            line[i] = column[i]
        for place in range(group_start[g] + 1, group_start[g + 1]):
            column, step = codes[group_attribute[place], low:high], stride[place]
            for i in range(high - low):
                line[i] += column[i] * step


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _inside(codes: Any, classes: Any, low: int, first: int, last: int, by: Any, by_step: Any, inside: Any) -> None:
    """Where each row is in its cell's part of a histogram."""
    for i in range(len(classes)):
        inside[i] = classes[i]
    for place in range(first, last):
        column, step = codes[by[place], low : low + len(classes)], by_step[place]
        for i in range(len(classes)):
            inside[i] += column[i] * step


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _intersect(low: int, high: int, n: int, entry_group: Any, entry_table: Any, table: Any, joint: Any, left: Any) -> None:
    """The leaves of a tree that are compatible with all joint codes of a row, two groups at a time."""
    for entry in range(low, high, 2):
        other = min(entry + 1, high - 1)
        first, second = joint[entry_group[entry]], joint[entry_group[other]]
        one, two = table[entry_table[entry] :], table[entry_table[other] :]
        if entry == low:
            for i in range(n):
                left[i] = one[first[i]] & two[second[i]]
        else:
            for i in range(n):
                left[i] &= one[first[i]] & two[second[i]]
