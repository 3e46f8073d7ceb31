"""Random trees are drawn before any data is seen: their law is that of the papers, and the same
whatever the table.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.learners import RandomTreesClassifier
from privet.learners.random_trees.drawing import draw_tree
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from tests.exact.enumeration import law_of
from tests.exact.tables import all_tables, columns

SCHEMA = Schema({"a": Categorical(["x", "y"]), "n": Numeric(0, 3, bins=3)}, "class", ["c", "d"])


def shape(cells, node=0):
    """The tests of a tree: the attribute, and what each code leads to."""
    a = int(cells.attribute[node])
    if a < 0:
        return "leaf"
    below = cells.branch[cells.offset[node] : cells.offset[node] + cells.schema.sizes[a]].tolist()
    return (
        a,
        tuple(shape(cells, child) for child in dict.fromkeys(below)),
        tuple(child == below[0] for child in below),
    )


@pytest.mark.parametrize("height", [1, 2])
def test_the_law_of_a_random_tree(height):
    """Of the attributes that can still be asked a uniform one; of a number a uniform threshold."""

    def expected(left, codes):
        """The law below a node: ``codes`` are what a and n can still be."""
        if left == 0:
            return {"leaf": F(1)}
        able = [a for a in (0, 1) if len(codes[a]) > 1]
        if not able:
            return {"leaf": F(1)}
        found: dict = {}
        for a in able:
            if a == 0:
                ways = [((True, False), [[0], [1]])]
            else:
                low, high = codes[1][0], codes[1][-1]
                ways = [
                    (
                        tuple(code < cut for code in range(3)),
                        [[c for c in codes[1] if c < cut], [c for c in codes[1] if c >= cut]],
                    )
                    for cut in range(low + 1, high + 1)
                ]
            for first, parts in ways:
                below = [
                    expected(left - 1, (part, codes[1]) if a == 0 else (codes[0], part))
                    for part in parts
                ]
                for one, p in below[0].items():
                    for other, q in below[1].items():
                        key = (a, (one, other), first)
                        found[key] = found.get(key, 0) + p * q / (len(able) * len(ways))
        return found

    law = law_of(lambda bits: shape(draw_tree(SCHEMA, height, bits)))
    assert law.rest == 0
    assert law.low == expected(height, ([0, 1], [0, 1, 2]))


def test_no_table_changes_it():
    """The same words give the same structures for every table of one row, and for an empty one."""
    seen = set()
    with unlock_test_seeds():
        for table in all_tables(list(product(["x", "y"], [0.5, 1.5, 2.5], ["c", "d"])), 1):
            curator = Curator(columns(SCHEMA, table), SCHEMA, Budget(1), bits=SeededBits(5))
            model = RandomTreesClassifier(1, n_trees=3, height=2).fit_from(curator).model_
            seen.add(tuple(shape(tree.cells) for tree in model.trees))
    assert len(seen) == 1
