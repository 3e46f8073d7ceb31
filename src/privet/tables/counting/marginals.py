"""Count contingency tables of sets of attributes, with fixed-point weights.

They are what the dynamic program over trees (:mod:`privet.mechanisms.gibbs`) works on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._numba import compile_kernel
from privet._parallel import for_each_range

MARGINAL_BLOCK = (
    1 << 15
)  # rows whose codes stay in the cache while every set of attributes looks at them


class Marginals:
    """Running class counts of every combination of values, for several sets of attributes.

    ``flat[base[s]:base[s + 1]]`` is the table of set s: values in the order of its attributes,
    classes last.
    """

    def __init__(
        self, sets: Sequence[tuple[int, ...]], sizes: Sequence[int], n_classes: int
    ) -> None:
        self._starts = np.concatenate(
            [[0], np.cumsum([len(attributes) for attributes in sets])]
        ).astype(np.int64)
        self._attributes = np.array([a for attributes in sets for a in attributes], dtype=np.int64)
        self._sizes = np.array([*sizes, n_classes], dtype=np.int32)
        #: Where the attributes before the last are not those of the set before.
        self._renew = np.array(
            [not i or sets[i - 1][:-1] != attributes[:-1] for i, attributes in enumerate(sets)]
        )
        entries = [n_classes * math.prod([sizes[a] for a in attributes]) for attributes in sets]
        self.base = np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)
        # Written to, so that the first row in some part of it does not find new memory there.
        self.flat = np.full(int(self.base[-1]), 0, dtype=np.int64)

    def add(
        self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64]
    ) -> None:
        """Count these rows: ``codes`` has one line per attribute, and a row counts with its
        weight.
        """
        n_sets = len(self._starts) - 1

        # Each thread has sets of its own, so that nobody shares a table.
        def count(first: int, last: int) -> None:
            _count(
                codes,
                classes,
                weights,
                first,
                last,
                self._renew,
                self._starts,
                self._attributes,
                self._sizes,
                self.base,
                self.flat,
            )

        for_each_range(n_sets, count, workers=n_sets * len(classes) >> 18)


@compile_kernel
def _count(
    codes: Any,
    classes: Any,
    weights: Any,
    first: int,
    last: int,
    renew: Any,
    starts: Any,
    attributes: Any,
    sizes: Any,
    base: Any,
    out: Any,
) -> None:
    """Add the rows to the tables of sets ``first`` to ``last``.

    Places in a table have 32 bits: one of 2^31 entries would not fit.
    """
    # Places come from loops of their own, which become vector instructions; ``before`` is kept for
    # sets that differ in the last attribute only.
    before, at = np.empty(MARGINAL_BLOCK, dtype=np.int32), np.empty(MARGINAL_BLOCK, dtype=np.int32)
    n_classes = sizes[-1]
    for low in range(0, len(classes), MARGINAL_BLOCK):
        of_class, weight = classes[low : low + MARGINAL_BLOCK], weights[low : low + MARGINAL_BLOCK]
        for s in range(first, last):
            start, stop = starts[s], starts[s + 1]
            if s == first or renew[s]:
                before[:] = 0
                for i in range(start, stop - 1):
                    line, size = (
                        codes[attributes[i], low : low + MARGINAL_BLOCK],
                        sizes[attributes[i]],
                    )
                    for row in range(len(line)):
                        before[row] = before[row] * size + np.int32(line[row])
            if start == stop:
                for row in range(len(of_class)):
                    at[row] = of_class[row]
            else:
                line, size = (
                    codes[attributes[stop - 1], low : low + MARGINAL_BLOCK],
                    sizes[attributes[stop - 1]],
                )
                for row in range(len(line)):
                    at[row] = (before[row] * size + np.int32(line[row])) * n_classes + np.int32(
                        of_class[row]
                    )
            table = out[base[s] : base[s + 1]]
            for row in range(len(weight)):
                table[np.uint32(at[row])] += weight[row]
