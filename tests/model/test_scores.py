"""Models that add up scores: softmax, and importances without counts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree, domain_shares
from privet.errors import ParameterError
from privet.model.model import Model, _explained_variance
from tests.report.models import (
    SCHEMA,
    random_codes,
    random_schema,
    random_tree,
    small_model,
    small_tree,
)


def scored(*trees: Tree) -> Model:
    return small_model(trees[0].schema, trees=trees, combine="scores")


def constant(*scores: float) -> Tree:
    return Tree(Cells.everything(SCHEMA), np.array([scores]))


def whole_domain(schema) -> list[np.ndarray]:
    return [axis.reshape(-1) for axis in np.indices(schema.sizes)]


def test_probabilities_are_the_softmax_of_the_sum():
    found = scored(constant(0.7, 0, 0), constant(-1, 0.5, 0.2)).probabilities(
        random_codes(0, SCHEMA, 4)
    )
    odds = [math.exp(-0.3), math.exp(0.5), math.exp(0.2)]
    np.testing.assert_allclose(found, [[x / sum(odds) for x in odds]] * 4, rtol=1e-15)


def test_large_scores_do_not_overflow_and_a_constant_changes_nothing():
    codes = random_codes(0, SCHEMA, 2)
    assert scored(constant(2.0**53, 0, -(2.0**53))).probabilities(codes).tolist() == [[1, 0, 0]] * 2
    np.testing.assert_allclose(
        scored(constant(1000, 1001, 999)).probabilities(codes),
        scored(constant(1, 2, 0)).probabilities(codes),
    )
    np.testing.assert_allclose(scored(constant(-800, -800, -800)).probabilities(codes), 1 / 3)


def test_an_unknown_code_is_answered_by_the_score_of_its_inner_node():
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "form")})
    scores = np.array([[0, 0.7, 0], [0.7, 0, 0], [0, 0, 0.7], [0, 0, 0.7]])
    codes = [np.array([0, 3]), *([np.zeros(2, dtype=int)] * 3)]
    assert scored(Tree(cells, scores)).probabilities(codes).argmax(axis=1).tolist() == [0, 1]


def test_what_combine_may_be():
    with pytest.raises(
        ParameterError, match=r"'counts', 'probabilities', 'vote' or 'scores', got 'logits'"
    ):
        small_model(combine="logits")
    with pytest.raises(ParameterError, match="noise must be 0"):
        small_model(combine="scores", noise=1.0)


@pytest.mark.parametrize("seed", range(20))
def test_domain_shares_are_those_of_the_enumerated_domain(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, random_schema(rng), whole=True)
    codes = whole_domain(tree.schema)
    reached = np.bincount(tree.reach(codes), minlength=tree.n_nodes) / len(codes[0])
    np.testing.assert_allclose(
        domain_shares(tree.cells)[tree.leaves], reached[tree.leaves], atol=1e-12
    )


@pytest.mark.parametrize("seed", range(20))
def test_importances_share_out_the_variance_over_the_domain(seed):
    """Splits explain all of the variance of a tree's centred scores, as counted point by point."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, random_schema(rng), whole=False)
    tree = Tree(tree.cells, rng.normal(size=tree.counts.shape))
    scores = tree.counts[tree.reach(whole_domain(tree.schema))]
    centred = scores - scores.mean(axis=1, keepdims=True)
    variance = ((centred - centred.mean(axis=0)) ** 2).sum(axis=1).mean()
    explained = _explained_variance(tree, domain_shares(tree.cells))
    assert explained.sum() == pytest.approx(variance, abs=1e-9)
    assert scored(tree).importances().sum() == pytest.approx(1 if variance > 1e-9 else 0)


def test_importances_by_hand():
    # Nodes: 0 tests form; 1, 2, 3 are its values, of which 2 tests age; 4, 5 are its halves.
    cells = (
        Cells.everything(SCHEMA)
        .refine({0: Split.multiway(SCHEMA, "form")})
        .refine({1: Split.threshold(SCHEMA, "age", code=2)})
    )
    by_form, by_both = np.zeros((6, 3)), np.zeros((6, 3))
    by_form[1, 0] = by_both[4, 0] = 0.6
    assert scored(Tree(cells, by_form)).importances().tolist() == [1, 0, 0, 0]
    # The thirds' means in the first class are 0, .3, 0: a variance of .02 between them, and .03
    # within the second.
    assert scored(Tree(cells, by_both)).importances() == pytest.approx([0.4, 0.6, 0, 0])


def test_a_constant_on_all_classes_and_equal_leaves_explain_nothing():
    tree = small_tree()
    same = np.tile([0.1, 0.7, 0.3], (tree.n_nodes, 1)) + np.random.default_rng(0).normal(
        size=(tree.n_nodes, 1)
    )
    assert scored(Tree(tree.cells, same)).importances().tolist() == [0, 0, 0, 0]
