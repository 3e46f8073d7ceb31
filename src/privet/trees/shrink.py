"""Post-processing that pays nothing: thin nodes borrow from their ancestors.

A leaf's noisy class counts are mostly noise where few rows are. Its class shares are therefore drawn towards those of its
parent, which are drawn towards its own parent's, as if the parent had contributed ``strength`` standard deviations of the
node's noise as rows of its own. Shares are taken of non-negative counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.tree import Floats, Tree, parents_of

#: How many standard deviations of noise an ancestor's shares weigh. Fixed before any data was seen by a learner.
STRENGTH = 0.15


def shrunk(cells: Cells, leaf_counts: npt.NDArray[np.int64], deviation: float, strength: float = STRENGTH) -> Tree:
    """A tree whose counts are each node's noisy size times its shrunk class shares.

    Args:
        cells: the structure; every leaf is a cell.
        leaf_counts: the noisy class counts of the cells.
        deviation: the standard deviation of each count's noise.
        strength: the weight of an ancestor, in standard deviations; 0 only clips negative counts.
    """
    raw = Tree.from_leaves(cells, leaf_counts)
    positive = np.maximum(raw.counts, 0.0)
    n_leaves = _leaves_below(cells)
    shares: Floats = np.empty_like(positive)
    shares[0] = (positive[0] + 1) / (positive[0].sum() + positive.shape[1])
    parents = parents_of(cells)
    for depth in range(1, int(raw.depths.max()) + 1):
        nodes = np.flatnonzero(raw.depths == depth)
        weight = (strength * deviation * np.sqrt(n_leaves[nodes]) + 1e-9)[:, None]
        shares[nodes] = (positive[nodes] + weight * shares[parents[nodes]]) / (positive[nodes].sum(axis=1, keepdims=True) + weight)
    sizes = np.maximum(raw.counts.sum(axis=1, keepdims=True), 1e-3)  # a node of no rows still has its shares
    return Tree(cells, shares * sizes)


def _leaves_below(cells: Cells) -> Floats:
    """How many leaves each node has; a leaf has itself."""
    count = (cells.attribute < 0).astype(np.float64)
    parents = parents_of(cells)
    for node in range(len(parents) - 1, 0, -1):
        count[parents[node]] += count[node]
    return count
