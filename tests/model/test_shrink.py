"""Shrinkage towards ancestors, and schedules."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.errors import ParameterError
from privet.learners.greedy import split_epsilon
from privet.model.leaf_vectors import shrink_tree

SCHEMA = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["u", "v"])}, "class", ["n", "p"])
CELLS = (
    Cells.everything(SCHEMA)
    .refine({0: Split.multiway(SCHEMA, "a")})
    .refine({1: Split.multiway(SCHEMA, "b")})
)


def shares_of(tree) -> np.ndarray:
    return tree.counts / tree.counts.sum(axis=1, keepdims=True)


def test_thin_leaves_take_after_their_parents_and_full_ones_do_not():
    counts = np.array([[900, 100], [0, 3], [400, 600]])
    tree = shrink_tree(CELLS, counts, deviation=20.0, strength=1.0)
    leaf = {int(tree.cells.cell[node]): shares_of(tree)[node] for node in tree.leaves}
    assert leaf[0][0] == pytest.approx(0.9, abs=0.01)
    parent = shares_of(tree)[2]
    assert abs(leaf[1][1] - parent[1]) < 0.2  # three rows against noise of 20: mostly the parent
    assert shares_of(shrink_tree(CELLS, counts, 20.0, 0.0))[tree.leaves[1]][1] == pytest.approx(
        1, abs=1e-6
    )


def test_negative_counts_never_come_out():
    tree = shrink_tree(CELLS, np.array([[-50, 20], [-3, -4], [10, -80]]), 30.0)
    assert (tree.counts >= 0).all()
    np.testing.assert_allclose(shares_of(tree).sum(axis=1), 1)


@given(
    st.sampled_from(["thesis", "even", "deep"]),
    st.integers(0, 8),
    st.fractions(F(1, 9), 9, max_denominator=9),
)
def test_a_schedule_spends_epsilon_exactly(schedule, depth, epsilon):
    plan = split_epsilon(schedule, epsilon, depth)
    assert len(plan.splits) == depth
    assert len(plan.counts) == depth + 1
    assert sum(plan.splits, F(0)) + sum(plan.counts, F(0)) == epsilon
    assert plan.counts[-1] > 0


def test_the_schedules():
    thesis = split_epsilon("thesis", F(1), 5)
    assert set(thesis.splits + thesis.counts) == {F(1, 11)}
    deep = split_epsilon("deep", F(1), 3).splits
    assert deep[1] / deep[0] == deep[2] / deep[1] == F(3, 2)
    assert split_epsilon("even", None, 2).counts == (0, 0, math.inf)
    with pytest.raises(ParameterError, match="schedule"):
        split_epsilon("late", F(1), 2)
