"""What people see of a tree of scores says the same as the tree, in fewer branches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree, domain_shares
from privet.report import collapse_tree
from tests.report.models import SCHEMA, random_schema, random_tree
from tests.report.scored import drawn_tree, labelled, small_drawn


def scores_of(tree: Tree) -> np.ndarray:
    """The scores of every point of the domain."""
    return tree.counts[tree.reach([axis.reshape(-1) for axis in np.indices(tree.schema.sizes)])]


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_it_answers_the_whole_domain_alike_and_nothing_is_left_to_collapse(seed, drawn):
    rng = np.random.default_rng(seed)
    schema = random_schema(rng)
    tree = (
        drawn_tree(rng, schema, depth=3)
        if drawn
        else random_tree(rng, schema, whole=True, levels=3)
    )
    short = collapse_tree(tree)
    assert scores_of(short).tolist() == scores_of(tree).tolist()
    assert short.n_nodes <= tree.n_nodes
    assert (domain_shares(short.cells) > 0).all()
    for node in np.flatnonzero(short.cells.attribute >= 0).tolist():
        children = [child for child, _ in short.children(node)]
        leaves = [
            tuple(short.counts[child]) for child in children if short.cells.attribute[child] < 0
        ]
        assert len(children) > 1
        assert len(set(leaves)) == len(leaves)
    again = collapse_tree(short)
    assert again.cells.branch.tolist() == short.cells.branch.tolist()
    assert again.counts.tolist() == short.counts.tolist()


def test_a_tree_collapsed_by_hand():
    short = collapse_tree(small_drawn())
    # incomplete and foster both say yes everywhere.
    assert [codes for _, codes in short.children(0)] == [(0,), (1, 2)]
    assert short.cells.attribute.tolist() == [0, 3, -1, -1, -1]
    assert short.counts.argmax(axis=1).tolist() == [0, 0, 1, 2, 0]


def test_inner_labels_do_not_count_and_a_tree_that_agrees_is_one_leaf():
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "form")})
    assert collapse_tree(labelled(cells, [0, 2, 2, 2])).counts.tolist() == [[0, 0, 0.7]]


def test_what_is_ruled_out_is_gone():
    schema = Schema({"a": Categorical(["u", "v", "w"])}, "class", ["n", "p"])
    cells = Cells.everything(schema).refine({0: Split.value(schema, "a", code=0)})  # v or w, and u
    cells = cells.refine({0: Split.multiway(schema, "a")})
    leaves = {
        codes: child
        for child, codes in Tree(cells, np.zeros((cells.attribute.size, 2))).children(1)
    }
    labels = np.zeros(cells.attribute.size, dtype=int)
    labels[leaves[1,]] = labels[leaves[0,]] = 1  # u cannot be here: what it says does not matter
    short = collapse_tree(labelled(cells, labels))
    inner = int(np.flatnonzero(short.cells.attribute >= 0)[1])
    assert [codes for _, codes in short.children(inner, possible_only=True)] == [(1,), (2,)]
    labels[leaves[1,]] = 0
    assert collapse_tree(labelled(cells, labels)).n_nodes == 1


@pytest.mark.parametrize("depth", [0, 1, 3000])
def test_trees_of_any_depth(depth):
    schema = Schema({"a": Categorical(["x"])}, "class", ["n", "y"])
    attribute = np.array([0] * depth + [-1])
    cells = Cells(
        schema,
        attribute,
        np.append(np.arange(depth), 0),
        np.arange(1, depth + 1),
        np.array([-1] * depth + [0]),
        1,
    )
    assert collapse_tree(labelled(cells, [0] * (depth + 1))).n_nodes == 1
