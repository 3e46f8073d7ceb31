"""Whole trees drawn at once, each on the rows that earlier ones leave in doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.budget import Number, Unit
from privet.cells import Cells
from privet.curator import AnyCurator
from privet.privacy import Charge
from privet.queries import Count
from privet.space import TreeSpace
from privet.tree import Tree

#: How much the first tree counts more than the others.
FIRST = 1.001
#: By how much a node's own label is ahead of the other classes at least.
MARGIN = 0.1


def draw_boosted(
    curator: AnyCurator,
    space: TreeSpace,
    rounds: int,
    epsilon: Number,
    strength: float,
    before: Sequence[Tree] = (),
) -> tuple[list[Tree], list[Charge]]:
    """``rounds`` trees of scores at ``epsilon`` each; rows weigh less where the trees so far are
    right about them.

    Cost: rounds times pure epsilon (bounded range each). Neighbours: one row added or removed.
    """
    trees: list[Tree] = []
    charges = []
    for number in range(1, rounds + 1):
        drawn = curator.draw_tree(space, epsilon, weighting=(*before, *trees))
        which = f"tree {number} of {rounds}" if rounds > 1 else "the whole tree"
        charges.append(Charge(f"{which} (depth {space.depth} at most)", drawn.row_cost))
        # Votes of an odd number of trees for two classes are never tied; for more classes the first
        # tree decides.
        first = number == 1 and rounds > 1 and space.schema.n_classes > 2
        trees.append(drawn.tree(strength * FIRST if first else strength))
    return trees, charges


def calibrate_tree(
    curator: AnyCurator, tree: Tree, amount: Number, unit: Unit = "epsilon"
) -> tuple[Tree, Charge]:
    """A labelled tree with class probabilities, the same for all nodes of one label: those of the
    people who get this answer.

    The label of a node keeps the largest score, so predictions stay. Sensitivity: a row is in one
    entry of the label-by-class table. Neighbours: one row added or removed. Cost: pure epsilon, or
    rho.
    """
    n_classes = tree.schema.n_classes
    labels = tree.counts.argmax(axis=1)
    cells = tree.cells
    by_label = Cells(
        cells.schema,
        cells.attribute,
        cells.offset,
        cells.branch,
        np.where(cells.cell >= 0, labels, -1),
        n_classes,
    )
    answer = curator.ask(Count(by_label), **{unit: amount})
    # A number below its noise says little: each borrows as much from "all classes alike".
    counts = np.maximum(answer.tables[0], 0) + max(answer.deviation, 1.0)
    scores = np.log(counts / counts.sum(axis=1, keepdims=True))
    own = np.eye(n_classes, dtype=bool)
    scores[own] = np.maximum(scores[own], np.where(own, -np.inf, scores).max(axis=1) + MARGIN)
    return Tree(cells, scores[labels], "calibrated"), Charge(
        "class counts for each label of the tree", answer.row_cost
    )
