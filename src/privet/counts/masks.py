"""Sets of leaves for joint codes: how a row finds its leaf without walking down the tree.

A leaf is reached by a product of sets of codes, one per attribute. So each code of an attribute is compatible with some leaves of a
tree, and a row's leaf is the one that is compatible with all of its codes. Attributes are put together into groups whose joint codes
number a few thousand; a table per tree and group has the set of leaves for every joint code, as bits. Joint codes are computed
once per row, for all trees; a tree then needs a handful of independent look-ups, where a walk needs one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.bitsets import compatible_leaves

#: Joint codes of a group: their tables should stay in the cache.
MOST_CODES = 1024
#: Trees of more leaves are walked: their sets would take several words, which is no faster.
MOST_LEAVES = 64
#: Bytes of all tables.
MOST_BYTES = 1 << 26
#: With fewer rows, making the tables would take longer than walking.
FEWEST_ROWS = 100_000

_WORD = 64
_DE_BRUIJN = 0x03F79D71B4CB0A89  # its products with powers of two differ in their first six bits


class Masks:
    """The tables of a forest, as flat arrays for the counting loop. Without rows enough, every tree is walked."""

    def __init__(self, trees: Sequence[Cells], n_rows: int) -> None:
        sizes = trees[0].schema.sizes
        few = [t for t, cells in enumerate(trees) if 1 < int((cells.attribute < 0).sum()) <= MOST_LEAVES]
        small = few if n_rows >= FEWEST_ROWS else []
        groups = _groups(sorted({a for t in small for a in trees[t].used}), sizes)
        n_codes = [int(np.prod([sizes[a] for a in group], dtype=np.int64)) for group in groups]
        tables: list[npt.NDArray[np.uint64]] = []
        entries: list[list[tuple[int, int]]] = [[] for _ in trees]
        cells_of: list[npt.NDArray[np.int32]] = [np.empty(0, dtype=np.int32) for _ in trees]
        filled = 0
        for t in small:
            sets = compatible_leaves(trees[t])
            mine = [g for g, group in enumerate(groups) if any(a in sets for a in group)]
            if 8 * (filled + sum(n_codes[g] for g in mine)) > MOST_BYTES:
                break
            cells_of[t] = trees[t].cell[trees[t].attribute < 0]
            for g in mine:
                entries[t].append((g, filled))
                tables.append(_joint(groups[g], sets, sizes, n_codes[g]))
                filled += n_codes[g]
        self.arrays: tuple[npt.NDArray[Any], ...] = (
            _starts([len(group) for group in groups]),
            np.array([a for group in groups for a in group], dtype=np.int64),
            np.array([_stride(group, place, sizes) for group in groups for place in range(len(group))], dtype=np.uint32),
            _starts([len(pairs) for pairs in entries]),
            np.array([g for pairs in entries for g, _ in pairs], dtype=np.int64),
            np.array([start for pairs in entries for _, start in pairs], dtype=np.int64),
            np.concatenate([*tables, np.empty(0, dtype=np.uint64)]),
            _starts([len(leaves) for leaves in cells_of]),
            np.concatenate(cells_of),
            _POSITIONS,
        )


def _groups(attributes: list[int], sizes: tuple[int, ...]) -> list[list[int]]:
    """Attributes one after the other, as long as their joint codes are few."""
    groups: list[list[int]] = []
    codes = MOST_CODES + 1
    for a in attributes:
        if codes * sizes[a] > MOST_CODES:
            groups.append([])
            codes = 1
        groups[-1].append(a)
        codes *= sizes[a]
    return groups


def _stride(group: list[int], place: int, sizes: tuple[int, ...]) -> int:
    return int(np.prod([sizes[a] for a in group[:place]], dtype=np.int64))


def _joint(group: list[int], sets: dict[int, npt.NDArray[np.uint64]], sizes: tuple[int, ...], n_codes: int) -> npt.NDArray[np.uint64]:
    """Per joint code: the leaves that are compatible with all codes of the group."""
    joint = np.full(n_codes, ~np.uint64(0), dtype=np.uint64)
    every = np.arange(n_codes)
    for place, a in enumerate(group):
        if a in sets:
            joint &= sets[a][every // _stride(group, place, sizes) % sizes[a], 0]
    return joint


def _starts(lengths: list[int]) -> npt.NDArray[np.int64]:
    return np.array([0, *np.cumsum(lengths, dtype=np.int64)], dtype=np.int64)


def _positions() -> npt.NDArray[np.int64]:
    """Where the one bit of a word is, by the first six bits of its product with the de Bruijn number."""
    found = np.empty(_WORD, dtype=np.int64)
    for bit in range(_WORD):
        found[((1 << bit) * _DE_BRUIJN % (1 << _WORD)) >> (_WORD - 6)] = bit
    return found


_POSITIONS = _positions()
