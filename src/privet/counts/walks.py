"""Trees laid out for walking many rows at once: a leaf leads to itself, so that all rows take as many steps.

Without a question at every step whether this is a leaf, a processor need not guess; that takes half the time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from privet.tree import Tree


class Walk(NamedTuple):
    """Where value v leads from a node: ``branch[offset + v * moves]``, for as many steps as the tree is deep (at least one)."""

    steps: int
    attribute: npt.NDArray[np.uint32]
    offset: npt.NDArray[np.uint32]
    branch: npt.NDArray[np.uint32]
    moves: npt.NDArray[np.uint32]  #: 1, and 0 at a leaf
    scores: npt.NDArray[np.float64]


def walk_of(tree: Tree) -> Walk:
    """The walk through a tree of scores."""
    cells = tree.cells
    leaf = cells.attribute < 0
    return Walk(
        max(1, int(cells.depths.max())),
        np.where(leaf, 0, cells.attribute).astype(np.uint32),
        np.where(leaf, len(cells.branch) + np.cumsum(leaf) - 1, cells.offset).astype(np.uint32),
        np.concatenate([cells.branch, np.flatnonzero(leaf)]).astype(np.uint32),
        (~leaf).astype(np.uint32),
        np.ascontiguousarray(tree.counts, dtype=np.float64),
    )


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def add_scores(codes: Any, low: int, high: int, walk: Any, total: Any) -> None:
    """Add the scores of the node that each row from ``low`` to ``high`` ends in. Rows that count have known codes only."""
    attribute, offset, branch, moves, scores = walk.attribute, walk.offset, walk.branch, walk.moves, walk.scores
    line, start, move = codes[attribute[0]], offset[0], moves[0]
    for row in range(low, high):
        node = branch[start + line[row] * move]
        for _ in range(1, walk.steps):
            node = branch[offset[node] + codes[attribute[node], row] * moves[node]]
        for c in range(total.shape[1]):
            total[row, c] += scores[node, c]


def in_parts(n_rows: int, steps: int, work: Callable[[int, int], None]) -> None:
    """Do work on rows from ``low`` to ``high``, on all cores where so many steps for each row are worth it."""
    workers = max(1, min(os.cpu_count() or 1, steps * n_rows >> 17))
    if workers == 1:
        work(0, n_rows)
        return
    ends = [n_rows * worker // workers for worker in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))
