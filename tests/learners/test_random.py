"""Random structures: drawn without data, all leaves at one depth, attributes uniform."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privet import datasets
from privet.domain import Categorical, Numeric, Schema
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.random_trees.drawing import draw_forest, draw_tree, height_for
from privet.mechanisms.randomness import SeededBits, SystemBits, unlock_test_seeds
from tests.routes import route

MIXED = Schema(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Numeric(0, 8, bins=8, missing="?"),
        "c": Categorical(["u", "v"]),
        "d": Numeric(0, 3, bins=3),
    },
    "class",
    ["n", "p"],
)


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(5)


@pytest.mark.parametrize(
    ("name", "rows", "height"),
    [
        ("nursery", 12960, 4),
        ("car", 1728, 3),
        ("tic_tac_toe", 958, 4),
        ("monks1", 10, 1),
        ("nursery", 1, 1),
    ],
)
def test_the_height_formula(name, rows, height):
    """min(floor(k/2), floor(log_b n) - 1), at least 1."""
    assert height_for(datasets.load(name).schema, rows) == height


@given(st.integers(1, 4))
def test_every_point_reaches_one_leaf_at_the_same_depth_and_no_category_is_asked_twice(height):
    cells = draw_tree(MIXED, height, SystemBits())
    tree = Tree.from_leaves(cells, np.zeros((len(cells), 2)))
    for leaf in tree.leaves:
        assert tree.depths[leaf] == height or _nothing_left(cells.listed[cells.cell[leaf]])
    for cell in cells:
        asked = [condition.attribute for condition in cell.path if condition.attribute in "ac"]
        assert len(asked) == len(set(asked))
    points = np.array(np.meshgrid(*(range(size) for size in MIXED.sizes))).reshape(4, -1)
    reached = route(cells, list(points))
    assert (reached >= 0).all()
    assert set(reached.tolist()) <= set(range(len(cells)))


def _nothing_left(cell) -> bool:
    return {condition.attribute for condition in cell.path} == set("abcd")


def test_the_first_attribute_is_uniform_and_thresholds_too(bits):
    roots = [draw_tree(MIXED, 1, bits) for _ in range(4000)]
    attributes = np.bincount([int(cells.attribute[0]) for cells in roots], minlength=4)
    assert stats.chisquare(attributes).pvalue > 1e-6
    cuts = [cells.branch[:8].tolist().index(2) for cells in roots if cells.attribute[0] == 1]
    assert stats.chisquare(np.bincount(cuts, minlength=8)[1:]).pvalue > 1e-6
    sides = [int(cells.branch[8]) for cells in roots if cells.attribute[0] == 1]
    assert stats.binomtest(sides.count(1), len(sides)).pvalue > 1e-6


def test_trees_of_a_forest_differ(bits):
    forest = draw_forest(MIXED, 20, 3, bits)
    assert len({cells.attribute.tobytes() + cells.branch.tobytes() for cells in forest}) > 10


def test_a_structure_that_would_not_fit_is_refused():
    wide = Schema(
        {f"a{i}": Categorical([str(v) for v in range(50)]) for i in range(6)}, "class", ["n", "p"]
    )
    with pytest.raises(ParameterError, match="leaves"):
        draw_tree(wide, 5, SystemBits())
