"""Post-processing that pays nothing: thin nodes borrow from their ancestors.

A leaf's noisy class counts are mostly noise where few rows are. Its class shares are therefore
drawn towards those of its parent, which are drawn towards its own parent's, as if the parent had
contributed ``strength`` standard deviations of the node's noise as rows of its own. Shares are
taken of non-negative counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.tree import Tree, node_counts, sum_upwards
from privet.typed import Floats

#: How many standard deviations of noise an ancestor's shares weigh. Fixed before any data was seen
#: by a learner.
STRENGTH = 0.15


def shrink_tree(
    cells: Cells,
    leaf_counts: npt.NDArray[Any],
    deviation: float | Floats,
    strength: float = STRENGTH,
) -> Tree:
    """A tree whose counts are each node's noisy size times its shrunk class shares.

    Args:
        cells: the structure; every leaf is a cell.
        leaf_counts: the noisy class counts of the cells.
        deviation: the standard deviation of each count's noise, independent from leaf to leaf; or,
            for counts whose errors are not, that of the counts of each node.
        strength: the weight of an ancestor, in standard deviations; 0 only clips negative counts.
    """
    raw = node_counts(cells, leaf_counts)
    positive = np.maximum(raw, 0.0)
    shares: Floats = np.empty_like(positive)
    shares[0] = (positive[0] + 1) / (positive[0].sum() + positive.shape[1])
    ones = np.ones((positive.shape[1], 1))  # a product sums short lines faster than a reduction
    sums = positive @ ones
    noise = (
        strength * deviation
        if isinstance(deviation, np.ndarray)
        else strength * deviation * np.sqrt(_n_leaves(cells))
    )
    weights = (noise + 1e-9)[:, None]
    for nodes in cells.levels[1:]:
        weight = weights[nodes]
        shares[nodes] = (positive[nodes] + weight * shares[cells.parents[nodes]]) / (
            sums[nodes] + weight
        )
    sizes = np.maximum(raw @ ones, 1e-3)  # a node of no rows still has its shares
    return Tree(cells, shares * sizes)


def _n_leaves(cells: Cells) -> Floats:
    """How many leaves are below each node, or are the node itself."""
    return sum_upwards(cells, (cells.attribute < 0).astype(np.float64))
