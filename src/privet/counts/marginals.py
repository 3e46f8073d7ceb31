"""Contingency tables of sets of attributes, with fixed-point weights: what the dynamic program over trees stands on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

BLOCK = 1 << 15  # rows whose codes stay in the cache while every set of attributes looks at them


class Marginals:
    """Running class counts of every combination of values, for several sets of attributes.

    ``flat[base[s]:base[s + 1]]`` is the table of set s: values in the order of its attributes, classes last.
    """

    def __init__(self, sets: Sequence[tuple[int, ...]], sizes: Sequence[int], n_classes: int) -> None:
        self._starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])]).astype(np.int64)
        self._attributes = np.array([a for one in sets for a in one], dtype=np.int64)
        self._strides = np.array([stride for one in sets for stride in _strides(one, sizes, n_classes)], dtype=np.int64)
        entries = [n_classes * int(np.prod([sizes[a] for a in one], dtype=object)) for one in sets]
        self.base = np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)
        self.flat = np.zeros(int(self.base[-1]), dtype=np.int64)

    def add(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64]) -> None:
        """Count these rows: ``codes`` has one line per attribute, and a row counts with its weight."""
        n_sets = len(self._starts) - 1
        workers = max(1, min(os.cpu_count() or 1, n_sets, n_sets * len(classes) >> 18))

        # Each thread has sets of its own, so that nobody shares a table.
        def part(worker: int) -> None:
            _count(codes, classes, weights, worker, workers, self._starts, self._attributes, self._strides, self.base, self.flat)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(part, range(workers)))


def _strides(attributes: tuple[int, ...], sizes: Sequence[int], n_classes: int) -> list[int]:
    strides, stride = [], n_classes
    for a in reversed(attributes):
        strides.append(stride)
        stride *= sizes[a]
    return strides[::-1]


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _count(
    codes: Any, classes: Any, weights: Any, worker: int, workers: int, starts: Any, attributes: Any, strides: Any, base: Any, out: Any
) -> None:
    at = np.empty(BLOCK, dtype=np.int64)
    for low in range(0, len(classes), BLOCK):
        high = min(low + BLOCK, len(classes))
        for s in range(worker, len(starts) - 1, workers):
            for row in range(low, high):
                at[row - low] = base[s] + classes[row]
            for i in range(starts[s], starts[s + 1]):
                line, stride = codes[attributes[i]], strides[i]
                for row in range(low, high):
                    at[row - low] += line[row] * stride
            for row in range(low, high):
                out[at[row - low]] += weights[row]
