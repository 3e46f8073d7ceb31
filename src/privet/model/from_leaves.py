"""From released leaf vectors to trees: weighted sums of the batches, then shrinkage.
Post-processing: it pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from privet.cells import Cells
from privet.leaves import Evidence
from privet.model.shrink import shrink_tree
from privet.tree import Tree


def trees_from(forest: Sequence[Cells], evidence: Evidence) -> tuple[Tree, ...]:
    """The trees of a forest with these leaf counts."""
    deviation = evidence.deviation
    return tuple(
        shrink_tree(cells, table, deviation, evidence.borrowing)
        if evidence.shrink
        else Tree.from_leaves(cells, table)
        for cells, table in zip(forest, evidence.tables, strict=True)
    )
