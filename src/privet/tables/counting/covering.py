"""Cover sets of attributes by fewer, larger blocks. Public: no data in here.

The tables of many sets of attributes are sums of the tables of a few blocks that hold them: with 14
attributes, the 470 tables of a draw of depth 3 follow from some 40. A row then adds itself to 40
tables instead of 470. Which blocks there are, and which sums, follows from sizes alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privet._types import Ints

#: Entries of the table of a block: places in it have 16 bits, and it stays in the cache.
MOST_PLACES = 1 << 16
#: Entries of all tables together, those between a block and a set included: 64 MiB.
MOST_TOGETHER = 1 << 23

#: Attributes, in increasing order.
Attributes = tuple[int, ...]


class Cover(NamedTuple):
    """Blocks, and the sums that lead from their tables to those of the sets.

    All tables lie in one array: those of the blocks first. A step sums the middle axis of a table
    of (outer, size, inner) that begins at ``source`` into one that begins at ``target``.
    """

    blocks: tuple[Attributes, ...]
    starts: Ints  #: where the table of each block begins, and where the last one ends
    steps: Ints  #: per step: source, outer, size, inner, target
    tables: Ints  #: where the table of each set begins
    entries: int  #: of all tables


@lru_cache(maxsize=8)
def cover_sets(sets: tuple[Attributes, ...], sizes: tuple[int, ...], n_classes: int) -> Cover:
    """Return blocks that hold all of these sets; the sets themselves where sums would be too many.

    The entries of a set are those of its values, in the order of its attributes, and classes last.
    """
    cover = _plan_sums(_choose_blocks(sets, sizes, n_classes), sets, sizes, n_classes)
    return cover if cover.entries <= MOST_TOGETHER else leave_sets(sets, sizes, n_classes)


@lru_cache(maxsize=8)
def leave_sets(sets: tuple[Attributes, ...], sizes: tuple[int, ...], n_classes: int) -> Cover:
    """Return each set as a block of its own: nothing is to be summed."""
    starts = _find_starts(sets, sizes, n_classes)
    return Cover(sets, starts, np.empty((0, 5), dtype=np.int64), starts[:-1], int(starts[-1]))


def _choose_blocks(
    sets: Sequence[Attributes], sizes: Sequence[int], n_classes: int
) -> tuple[Attributes, ...]:
    """Return few blocks that hold every set, as large as a table may be: each grows by what brings
    most sets that no block holds yet.
    """
    holds = np.zeros((len(sets), len(sizes)), dtype=bool)
    for row, attributes in zip(holds, sets, strict=True):
        row[list(attributes)] = True
    lengths = holds.sum(axis=1)
    most = MOST_PLACES // n_classes
    waiting = np.ones(len(sets), dtype=bool)
    blocks = []
    while waiting.any():
        block = np.zeros(len(sizes), dtype=bool)
        first = int(np.argmax(np.where(waiting, lengths, -1)))
        block[list(sets[first])] = True
        entries = math.prod(sizes[a] for a in sets[first])
        missing = lengths - holds @ block.astype(np.int64)
        while True:
            brings = holds[waiting & (missing == 1)].sum(axis=0)
            fits = ~block & (entries * np.asarray(sizes) <= most)
            brings = np.where(fits, brings, 0)
            chosen = int(np.argmax(brings))
            if not brings[chosen]:
                break
            block[chosen] = True
            entries *= sizes[chosen]
            missing -= holds[:, chosen]
        waiting &= missing > 0
        blocks.append(tuple(np.flatnonzero(block).tolist()))
    return tuple(blocks)


def _plan_sums(
    blocks: tuple[Attributes, ...],
    sets: Sequence[Attributes],
    sizes: Sequence[int],
    n_classes: int,
) -> Cover:
    """Return how the table of each set follows from that of a block that holds it."""
    starts = _find_starts(blocks, sizes, n_classes)
    known = dict(zip(blocks, starts[:-1].tolist(), strict=True))
    holding: dict[int, list[Attributes]] = {}
    for block in blocks:
        for a in block:
            holding.setdefault(a, []).append(block)
    steps: list[tuple[int, int, int, int, int]] = []
    end = int(starts[-1])

    def sum_out(wide: Attributes, a: int) -> Attributes:
        """Plan the table without this attribute, and return what is left."""
        nonlocal end
        narrow = tuple(b for b in wide if b != a)
        if narrow not in known:
            outer = math.prod(sizes[b] for b in wide if b < a)
            inner = n_classes * math.prod(sizes[b] for b in wide if b > a)
            known[narrow] = end
            steps.append((known[wide], outer, sizes[a], inner, end))
            end += outer * inner
        return narrow

    for attributes in sorted(sets, key=len, reverse=True):
        if attributes in known:
            continue
        wider = [
            (sizes[a], wide, a)
            for a in range(len(sizes))
            if a not in attributes and (wide := tuple(sorted((*attributes, a)))) in known
        ]
        if wider:
            _, wide, a = min(wider)
            sum_out(wide, a)
            continue
        candidates = holding[attributes[0]] if attributes else list(blocks)
        wide = min(
            (block for block in candidates if set(attributes) <= set(block)),
            key=lambda block: math.prod(sizes[a] for a in block),
        )
        for a in sorted(set(wide) - set(attributes), key=lambda a: (-sizes[a], a)):
            wide = sum_out(wide, a)
    tables = np.array([known[attributes] for attributes in sets], dtype=np.int64)
    return Cover(blocks, starts, np.array(steps, dtype=np.int64).reshape(-1, 5), tables, end)


def _find_starts(
    sets: Sequence[Attributes], sizes: Sequence[int], n_classes: int
) -> npt.NDArray[np.int64]:
    entries = [n_classes * math.prod(sizes[a] for a in attributes) for attributes in sets]
    return np.concatenate([[0], np.cumsum(entries, dtype=np.int64)]).astype(np.int64)
