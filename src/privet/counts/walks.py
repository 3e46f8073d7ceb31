"""Trees laid out for walking many rows at once.

A walk goes from word to word. A word says which attribute is tested and where the next words begin,
one for each of its codes. The word of a leaf leads to itself whatever the code is, so that all rows
take as many steps and none has to ask whether it is there. The compiled loops are in
:mod:`privet.counts.walk_loops`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.joint import starts

BLOCK = 8192  # rows whose codes stay in the cache while every tree looks at them

# A word: the attribute, whether it matters, and where the next words are.
ATTRIBUTE, MOVES = np.uint64(33), np.uint64(32)
PLACE, ONE = np.uint64((1 << 32) - 1), np.uint64(1)


class Walks(NamedTuple):
    """Per tree its first word and its steps; the words; where the words of leaves begin, which lie
    in the order of trees and nodes.
    """

    root: npt.NDArray[np.uint64]
    steps: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint64]
    first_leaf: np.uint64


def walks_of(trees: Sequence[Cells]) -> Walks:
    """The walks through some trees."""
    first_node, first_branch = (
        starts([len(cells.attribute) for cells in trees]),
        starts([len(cells.branch) for cells in trees]),
    )
    attribute = np.concatenate([cells.attribute for cells in trees])
    offset = np.concatenate([cells.offset for cells in trees]) + np.repeat(
        first_branch[:-1], np.diff(first_node)
    )
    branch = np.concatenate([cells.branch for cells in trees]) + np.repeat(
        first_node[:-1], np.diff(first_branch)
    )
    leaf = attribute < 0
    place = np.where(leaf, len(branch) + np.cumsum(leaf) - 1, offset).astype(np.uint64)
    words = np.where(leaf, 0, (attribute.astype(np.uint64) << ATTRIBUTE) | (ONE << MOVES)) | place
    steps = np.array([max(1, int(cells.depths.max())) for cells in trees], dtype=np.int64)
    return Walks(
        words[first_node[:-1]],
        steps,
        np.concatenate([words[branch], words[leaf]]),
        np.uint64(len(branch)),
    )


def in_parts(n_rows: int, steps: int, work: Callable[[int, int], None]) -> None:
    """Do work on rows from ``low`` to ``high``, on all cores where so many steps for each row are
    worth it.
    """
    workers = max(1, min(os.cpu_count() or 1, steps * n_rows >> 17))
    if workers == 1:
        work(0, n_rows)
        return
    ends = [n_rows * worker // workers for worker in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))
