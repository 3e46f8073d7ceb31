"""Look up which leaves of a forest a row reaches, for hundreds of leaves at a time.

All leaves of a forest are one string of bits. A leaf is reached by a product of sets of codes, one
per attribute. So each code of an attribute is compatible with some leaves, and a row reaches those
that are compatible with all of its codes: one of every tree. The leaves of all trees are laid end
to end and cut into strips of 256. Attributes are put together into groups of few joint codes
(:class:`JointCodes`); a table per strip and group says which leaves of the strip are compatible
with each joint code. The compiled loop (:mod:`privet.tables.counting.kernels`) intersects these
sets and counts how many rows have each bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.cells import Cells

#: Joint codes of a group: few enough for the tables of a strip to stay in the cache. Larger
#: attributes are groups of their own; none has more values than 16 bits can tell apart.
MOST_CODES = 1024
#: Trees of more leaves than this for each step of a walk are walked: their strips would take
#: longer.
MOST_LEAVES = 64
#: Bytes of all tables, and of what they are made from.
MOST_BYTES = 1 << 26

STRIP = 256


class LeafBits:
    """The tables of some trees that :func:`choose_fitting_trees` has chosen."""

    def __init__(self, trees: Sequence[Cells]) -> None:
        self._trees = trees
        attributes = sorted({a for cells in trees for a in cells.used})
        self._ends = starts([_n_leaves(cells) for cells in trees])
        self.n_strips = -(-int(self._ends[-1]) // STRIP)
        sets = _pack_bits(_find_compatible_leaves(trees, attributes), self.n_strips * STRIP)
        joint = JointCodes(attributes, trees[0].schema.sizes, MOST_CODES)
        tables = [
            _intersect_joint_codes(joint.codes(g), sets).reshape(-1, self.n_strips, STRIP // 64)
            for g in range(len(joint.groups))
        ]
        entries: list[list[tuple[int, int]]] = []
        filled, used = 0, []
        for s in range(self.n_strips):
            # A group that excludes no leaf of the strip need not be looked up; one must be, to have
            # bits at all.
            telling = [
                g for g, table in enumerate(tables) if not (table[:, s] == ~np.uint64(0)).all()
            ] or [0]
            entries.append([])
            for g in telling:
                entries[-1].append((g, filled))
                used.append(tables[g][:, s].ravel())
                filled += len(used[-1])
        self.arrays: tuple[npt.NDArray[Any], ...] = (
            *joint.arrays,
            starts([len(pairs) for pairs in entries]),
            np.array([g for pairs in entries for g, _ in pairs], dtype=np.int64),
            np.array([start for pairs in entries for _, start in pairs], dtype=np.uint64),
            _align_tables(used),
        )

    def tables(self, counts: npt.NDArray[np.int64]) -> list[tuple[npt.NDArray[np.int64], int]]:
        """Return for each tree the class counts of its cells, and how many rows are in none.

        They come from the rows of each class with each bit.
        """
        tables = []
        for low, high, cells in zip(self._ends[:-1], self._ends[1:], self._trees, strict=True):
            table = np.zeros((len(cells) + 1, len(counts)), dtype=np.int64)
            # the last line is that of no cell, -1
            np.add.at(table, cells.cell[cells.attribute < 0], counts[:, low:high].T)
            tables.append((table[:-1], int(table[-1].sum())))
        return tables


def choose_fitting_trees(trees: Sequence[Cells]) -> list[int]:
    """Return which trees have tables of a moderate size, all together: first come, first served."""
    sizes = trees[0].schema.sizes if trees else ()
    chosen: list[int] = []
    attributes: set[int] = set()
    n_nodes = 0
    for t, cells in enumerate(trees):
        if not (cells.used and 1 < _n_leaves(cells) <= MOST_LEAVES * (int(cells.depths.max()) + 2)):
            continue  # two steps: to look at the row, and to count it
        tested = attributes.union(cells.used)
        nodes = n_nodes + len(cells.attribute)
        # The tables have at most this many joint codes; what they are made from has a byte for
        # every node and code.
        n_joint = sum(max(sizes[a], MOST_CODES) for a in tested)
        if nodes * max(n_joint // 8, sum(sizes[a] for a in tested)) <= MOST_BYTES:
            chosen.append(t)
            attributes, n_nodes = tested, nodes
    return chosen


def _n_leaves(cells: Cells) -> int:
    return int((cells.attribute < 0).sum())


def _find_compatible_leaves(
    trees: Sequence[Cells], attributes: Sequence[int]
) -> dict[int, npt.NDArray[np.bool_]]:
    """Return by attribute whether a row with a code (matrix row) can reach a leaf (column).

    The columns are the leaves of all trees.
    """
    sizes = np.array(trees[0].schema.sizes, dtype=np.int64)
    first = starts([len(cells.attribute) for cells in trees])
    attribute = np.concatenate([cells.attribute for cells in trees])
    parent = np.concatenate(
        [
            np.where(cells.parents < 0, -1, cells.parents + low)
            for cells, low in zip(trees, first, strict=False)
        ]
    )
    depth = np.concatenate([cells.depths for cells in trees])
    # A column for every code of every attribute, a line for every node: what its parent's test lets
    # through ...
    column = dict(
        zip(attributes, starts([int(sizes[a]) for a in attributes]).tolist(), strict=False)
    )
    tested_in = np.repeat(attributes, sizes[list(attributes)])
    possible = tested_in != attribute[parent][:, None]
    possible[parent < 0] = False  # only a root is reached without a test
    possible[first[:-1]] = True
    for cells, low in zip(trees, first, strict=False):
        inner = np.flatnonzero(cells.attribute >= 0)
        size = sizes[cells.attribute[inner]]
        code = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        target = cells.branch[np.repeat(cells.offset[inner], size) + code]
        start = np.array([column[a] for a in cells.attribute[inner].tolist()], dtype=np.int64)
        possible[low + target, np.repeat(start, size) + code] = True
    # ... and the tests before.
    for level in range(1, int(depth.max()) + 1):
        nodes = np.flatnonzero(depth == level)
        possible[nodes] &= possible[parent[nodes]]
    leaves = possible[attribute < 0].T
    return {a: leaves[start : start + sizes[a]] for a, start in column.items()}


def _pack_bits(
    sets: dict[int, npt.NDArray[np.bool_]], n_bits: int
) -> dict[int, npt.NDArray[np.uint64]]:
    """Pack rows of booleans into words, first entry lowest.

    Bits of no leaf are set: they exclude nothing.
    """
    words = {}
    for a, lines in sets.items():
        padded = np.ones((len(lines), n_bits), dtype=bool)
        padded[:, : lines.shape[1]] = lines
        words[a] = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return words


def _intersect_joint_codes(
    codes: dict[int, npt.NDArray[np.int64]], sets: dict[int, npt.NDArray[np.uint64]]
) -> npt.NDArray[np.uint64]:
    """Return, per joint code of a group, the leaves that are compatible with all of its codes."""
    (a, code), *rest = codes.items()
    table = sets[a][code]
    for a, code in rest:
        table &= sets[a][code]
    return table


def _align_tables(tables: list[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    """Return all tables in a row, aligned with the lines of the cache.

    Entries that lie in two lines would take a third longer.
    """
    line = 64
    n_words = sum(map(len, tables))
    room = np.empty(n_words + line // 8, dtype=np.uint64)
    first = -room.ctypes.data % line // 8
    return np.concatenate(tables, out=room[first : first + n_words])


# -- joint codes: codes of a few attributes as one number, computed once per row --


class JointCodes:
    """Attributes in groups of few joint codes.

    Within a group the first attribute counts by ones.
    """

    def __init__(self, attributes: Iterable[int], sizes: Sequence[int], most_codes: int) -> None:
        self._sizes = sizes
        self.groups: list[list[int]] = []
        self.n_codes: list[int] = []
        # large ones first: the small ones fill the gaps
        for a in sorted(attributes, key=lambda a: (-sizes[a], a)):
            g = next(
                (g for g, n in enumerate(self.n_codes) if n * sizes[a] <= most_codes),
                len(self.groups),
            )
            if g == len(self.groups):
                self.groups.append([])
                self.n_codes.append(1)
            self.groups[g].append(a)
            self.n_codes[g] *= sizes[a]

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """For the compiled loops: where each group starts, its attributes, and by how much each of
        them counts.
        """
        return (
            starts([len(group) for group in self.groups]),
            np.array([a for group in self.groups for a in group], dtype=np.int64),
            np.array(
                [self._step(group, place) for group in self.groups for place in range(len(group))],
                dtype=np.uint32,
            ),
        )

    def codes(self, g: int) -> dict[int, npt.NDArray[np.int64]]:
        """Return, for each attribute of a group, its code in every joint code."""
        joint = np.arange(self.n_codes[g])
        return {
            a: joint // self._step(self.groups[g], place) % self._sizes[a]
            for place, a in enumerate(self.groups[g])
        }

    def _step(self, group: list[int], place: int) -> int:
        return math.prod(self._sizes[a] for a in group[:place])


def starts(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return where things of these lengths start, and where the last one ends."""
    return np.array([0, *np.cumsum(lengths, dtype=np.int64)], dtype=np.int64)
