"""Count contingency tables of sets of attributes, with fixed-point weights.

They are what the dynamic program over trees (:mod:`privet.mechanisms.gibbs`) works on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from privet._numba import compile_kernel
from privet._parallel import for_each_range
from privet._types import Ints
from privet.tables.counting.covering import MOST_PLACES, Cover, cover_sets, leave_sets

#: Rows whose places are worked out at a time; they stay in the cache.
MARGINAL_BLOCK = 1 << 13
#: From so many rows on, it takes less time to sum up the tables of larger blocks.
MANY_ROWS = 1 << 16


class Contingency(NamedTuple):
    """Tables of several sets of attributes: that of set s is ``flat[base[s]:base[s + 1]]``."""

    flat: Ints
    base: Ints

    @classmethod
    def of(
        cls, flat: Ints, sets: Sequence[tuple[int, ...]], sizes: Sequence[int], n_classes: int
    ) -> Self:
        """Return all tables, one after the other, with where each begins."""
        return cls(flat, leave_sets(tuple(sets), tuple(sizes), n_classes).starts)


class Marginals:
    """Running class counts of every combination of values, for several sets of attributes.

    ``flat[base[s]:base[s + 1]]`` is the table of set s: values in the order of its attributes,
    classes last. With many rows, tables of fewer and larger sets are counted, and summed up
    (:mod:`~privet.tables.counting.covering`).
    """

    def __init__(
        self, sets: Sequence[tuple[int, ...]], sizes: Sequence[int], n_classes: int
    ) -> None:
        self._facts = tuple(sets), tuple(sizes), n_classes
        self.base = leave_sets(*self._facts).starts
        # Written to, so that the first row in some part of it does not find new memory there.
        self._flat = np.full(int(self.base[-1]), 0, dtype=np.int64)
        self._blocks: _Blocks | None = None

    def add(
        self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64]
    ) -> None:
        """Count these rows: ``codes`` has one line per attribute, and a row counts with its
        weight.
        """
        if self._blocks is None:
            # what comes first tells what comes: sources feed blocks of one size
            plan = cover_sets if len(classes) >= MANY_ROWS else leave_sets
            self._blocks = _Blocks(plan(*self._facts), *self._facts[1:])
        self._blocks.add(codes, classes, weights)

    @property
    def flat(self) -> Ints:
        """All tables, one after the other."""
        if self._blocks is not None:
            self._blocks.sum_into(self._flat, self.base)
            self._blocks = None
        return self._flat


class _Blocks:
    """The tables of the blocks of a cover, while rows are counted."""

    def __init__(self, cover: Cover, sizes: Sequence[int], n_classes: int) -> None:
        self._cover = cover
        self._tables = np.full(cover.entries, 0, dtype=np.int64)
        entries = np.diff(cover.starts)
        short = entries <= MOST_PLACES
        # Places of 16 bits take two thirds of the time of others.
        self._ways = [
            (_lay_out([cover.blocks[b] for b in which], sizes, n_classes, kind), which)
            for which, kind in ((np.flatnonzero(short), "u2"), (np.flatnonzero(~short), "u4"))
            if len(which)
        ]

    def add(
        self, codes: npt.NDArray[Any], classes: npt.NDArray[Any], weights: npt.NDArray[np.int64]
    ) -> None:
        for arrays, which in self._ways:
            starts = self._cover.starts[which]

            # Each thread has blocks of its own, so that nobody shares a table.
            def count(low: int, high: int, arrays: Any = arrays, starts: Ints = starts) -> None:
                _count(codes, classes, weights, low, high, *arrays, starts, self._tables)

            for_each_range(len(which), count, workers=len(which) * len(classes) >> 18)

    def sum_into(self, flat: Ints, base: Ints) -> None:
        """Add the tables of all sets to these."""
        _sum_out(self._cover.steps, self._tables)
        for start, low, high in zip(self._cover.tables.tolist(), base[:-1], base[1:], strict=True):
            flat[low:high] += self._tables[start : start + high - low]


def _lay_out(
    blocks: Sequence[tuple[int, ...]], sizes: Sequence[int], n_classes: int, kind: str
) -> tuple[npt.NDArray[Any], ...]:
    """Return where the attributes of each block begin, these, and by how much each counts."""
    first, attributes, counts = [0], list[int](), list[int]()
    for block in blocks:
        by = n_classes
        for a in reversed(block):
            attributes.append(a)
            counts.append(by)
            by *= sizes[a]
        first.append(len(attributes))
    return (
        np.array(first, dtype=np.int64),
        np.array(attributes, dtype=np.int64),
        np.array(counts, dtype=np.int64).astype(kind),
    )


@compile_kernel
def _count(
    codes: Any,
    classes: Any,
    weights: Any,
    low: int,
    high: int,
    first: Any,
    attributes: Any,
    counts: Any,
    starts: Any,
    out: Any,
) -> None:
    """Add the rows to the tables of the blocks from ``low`` to ``high``.

    Places in a table have as many bits as ``counts``, by how much an attribute counts.
    """
    # Places come from loops of their own, which become vector instructions.
    at = np.empty(MARGINAL_BLOCK, dtype=counts.dtype)
    by = counts.dtype.type
    for block in range(low, high):
        table = out[starts[block] :]
        for row in range(0, len(classes), MARGINAL_BLOCK):
            weight = weights[row : row + MARGINAL_BLOCK]
            line = classes[row : row + MARGINAL_BLOCK]
            for i in range(len(line)):
                at[i] = line[i]
            for j in range(first[block], first[block + 1]):
                code, count = codes[attributes[j], row : row + MARGINAL_BLOCK], counts[j]
                for i in range(len(code)):
                    at[i] += by(code[i]) * count
            for i in range(len(weight)):
                table[at[i]] += weight[i]


@compile_kernel
def _sum_out(steps: Any, tables: Any) -> None:
    """Sum one axis after the other out of tables, as the steps of a cover say."""
    for step in range(len(steps)):
        source, outer, size, inner, target = steps[step]
        for o in range(outer):
            out = tables[target + o * inner : target + (o + 1) * inner]
            for s in range(size):
                at = source + (o * size + s) * inner
                part = tables[at : at + inner]
                for i in range(inner):
                    out[i] += part[i]
