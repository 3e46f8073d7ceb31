"""What people read: a branch shows only the values that the tests above it leave possible."""

from __future__ import annotations

import numpy as np

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.report import tree_text

SCHEMA = Schema({"a": Categorical(["u", "v", "w"])}, "class", ["n", "p"])


def test_values_that_were_ruled_out_are_not_shown():
    cells = (
        Cells.everything(SCHEMA)
        .refine({0: Split.value(SCHEMA, "a", code=2)})
        .refine({0: Split.value(SCHEMA, "a", code=1)})
    )
    tree = Tree.from_leaves(cells, np.ones((3, 2)))
    inner = next(child for child, codes in tree.children(0) if codes == (0, 1))
    assert [codes for _, codes in tree.children(inner)] == [(0, 2), (1,)]
    assert [codes for _, codes in tree.children(inner, possible_only=True)] == [(0,), (1,)]
    assert "u | w" not in tree_text(tree)
