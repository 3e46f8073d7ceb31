"""Which trees have their leaves looked up one by one. That the counts are right: test_counting."""

from __future__ import annotations

import pytest

from privet.cells import Cells, Split
from privet.counts import masks
from privet.counts.masks import Masks
from privet.mechanisms.randomness import SystemBits
from privet.trees.random import draw_tree
from tests.counts.test_counting import schema_of


@pytest.mark.parametrize("n_leaves", [2, 63, 64, 65])
def test_as_many_leaves_as_a_word_has_bits(n_leaves):
    schema = schema_of([n_leaves, 3])
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a0")})
    assert Masks([tree], look_up=True).looked_up == [n_leaves <= 64]
    assert Masks([tree], look_up=False).looked_up == [False]


def test_forests_of_both_kinds_and_trees_of_one_leaf():
    schema = schema_of([70, 5, 4, 9, 2])
    everything = Cells.everything(schema)
    trees = [everything.refine({0: Split.multiway(schema, name)}) for name in schema.names] + [everything]
    assert Masks(trees, look_up=True).looked_up == [False, True, True, True, True, False]


def test_tables_that_would_not_fit_are_not_made(monkeypatch):
    schema = schema_of([8] * 8)
    forest = [draw_tree(schema, 2, SystemBits()) for _ in range(5)]
    monkeypatch.setattr(masks, "MOST_BYTES", 8 * 3000)  # enough for the first tree or two
    found = Masks(forest, look_up=True).looked_up
    assert found[0]
    assert not all(found)
