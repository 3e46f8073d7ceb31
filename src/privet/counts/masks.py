"""Sets of leaves for joint codes: how a row finds its leaf without walking down the tree.

A table per tree and group of attributes has the set of leaves that are compatible with every joint code, as bits of one word
(see :mod:`privet.counts.leaf_bits`). What is left of the intersection is one bit, whose position is the leaf's number. A tree then
needs a handful of independent look-ups, where a walk needs one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.joint import JointCodes, starts
from privet.counts.leaf_bits import compatible, joint_table, packed

#: Joint codes of a group: their tables should stay in the cache.
MOST_CODES = 1024
#: Trees of more leaves are walked: their sets would take several words.
MOST_LEAVES = 64
#: Bytes of all tables.
MOST_BYTES = 1 << 26

_DE_BRUIJN = 0x03F79D71B4CB0A89  # its products with powers of two differ in their first six bits


class Masks:
    """The tables of some trees, as flat arrays for the counting loop. A tree without tables is walked."""

    def __init__(self, trees: Sequence[Cells], look_up: bool) -> None:
        few = [t for t, cells in enumerate(trees) if 1 < int((cells.attribute < 0).sum()) <= MOST_LEAVES and cells.used]
        joint = JointCodes(sorted({a for t in few for a in trees[t].used}) if look_up else (), trees[0].schema.sizes, MOST_CODES)
        tables: list[npt.NDArray[np.uint64]] = []
        entries: list[list[tuple[int, int]]] = [[] for _ in trees]
        leaf_cell: list[npt.NDArray[np.int32]] = [np.empty(0, dtype=np.int32) for _ in trees]
        filled = 0
        for t in few if look_up else ():
            mine = [g for g, group in enumerate(joint.groups) if any(a in trees[t].used for a in group)]
            if 8 * (filled + sum(joint.n_codes[g] for g in mine)) > MOST_BYTES:
                break
            sets = packed(compatible([trees[t]], trees[t].used), MOST_LEAVES, rest=False)
            leaf_cell[t] = trees[t].cell[trees[t].attribute < 0]
            for g in mine:
                entries[t].append((g, filled))
                tables.append(joint_table(joint.codes(g), sets).ravel())
                filled += joint.n_codes[g]
        #: By tree: whether its leaves are looked up.
        self.looked_up = [bool(pairs) for pairs in entries]
        self.arrays: tuple[npt.NDArray[Any], ...] = (
            *joint.arrays,
            starts([len(pairs) for pairs in entries]),
            np.array([g for pairs in entries for g, _ in pairs], dtype=np.int64),
            np.array([start for pairs in entries for _, start in pairs], dtype=np.int64),
            np.concatenate([*tables, np.empty(0, dtype=np.uint64)]),
            starts([len(cells) for cells in leaf_cell]),
            # Rows of no cell (-1) are counted behind the last one.
            np.concatenate([np.where(of < 0, len(cells), of) for of, cells in zip(leaf_cell, trees, strict=True)]).astype(np.uint32),
            _POSITIONS,
        )


def _positions() -> npt.NDArray[np.int64]:
    """Where the one bit of a word is, by the first six bits of its product with the de Bruijn number."""
    found = np.empty(64, dtype=np.int64)
    for bit in range(64):
        found[((1 << bit) * _DE_BRUIJN % (1 << 64)) >> (64 - 6)] = bit
    return found


_POSITIONS = _positions()
