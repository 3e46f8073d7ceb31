"""Boosted draws, and class probabilities for a single tree."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.learners.boosting import (
    calibrate_tree,
    draw_boosted,
    estimate_shares,
    lean_on_classes,
    measure_classes,
    refine_leaves,
    spread_votes,
    start_from_classes,
)

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(["x", "y"])}, "c", ["n", "p", "q"]
)


def rows(n: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, n), rng.integers(0, 2, n)
    c = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    return pd.DataFrame(
        {"a": np.array(list("xyz"))[a], "b": np.array(list("xy"))[b], "c": np.array(list("npq"))[c]}
    )


ROWS = rows()
BY_A = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})


def labelled(labels) -> Tree:
    return Tree(BY_A, 0.7 * np.eye(3)[labels])


@pytest.mark.parametrize("labels", [[0, 0, 1, 2], [1, 0, 0, 0], [2, 2, 1, 0], [0, 1, 1, 1]])
@pytest.mark.parametrize("epsilon", ["0.001", "0.1", 100])
def test_calibration_keeps_predictions(labels, epsilon):
    for _ in range(5):
        tree, charge = calibrate_tree(Curator(ROWS, SCHEMA, Budget(100)), labelled(labels), epsilon)
        assert tree.counts.argmax(axis=1).tolist() == labels
        assert charge.cost.epsilon == F(str(epsilon))
        assert (
            np.sort(tree.counts, axis=1)[:, -1] - np.sort(tree.counts, axis=1)[:, -2] > 0.05
        ).all()


def test_calibrated_probabilities_are_the_frequencies_of_those_who_get_the_answer():
    tree, _ = calibrate_tree(Curator(ROWS, SCHEMA, Budget(1000)), labelled([0, 0, 1, 1]), 1000)
    p = np.exp(tree.counts) / np.exp(tree.counts).sum(axis=1, keepdims=True)
    for label, values in ((0, "x"), (1, "yz")):
        shares = (
            ROWS[ROWS["a"].isin(list(values))]["c"]
            .value_counts(normalize=True)
            .reindex(list("npq"))
            .to_numpy()
        )
        if shares.argmax() == label:
            np.testing.assert_allclose(
                p[np.array([0, 0, 1, 1]) == label], np.tile(shares, (2, 1)), atol=0.01
            )
    shares = (
        ROWS[ROWS["a"] == "x"]["c"].value_counts(normalize=True).reindex(list("npq")).to_numpy()
    )
    np.testing.assert_allclose(p[0], shares, atol=0.01)
    np.testing.assert_array_equal(p[0], p[1])


def test_calibration_says_little_where_noise_is_large():
    tree, _ = calibrate_tree(Curator(ROWS, SCHEMA, Budget(1)), labelled([0, 0, 1, 2]), "0.00001")
    assert np.abs(tree.counts - np.log(1 / 3)).max() < 3


def test_calibration_of_many_classes_is_not_flat():
    """Ten classes of 100 rows each, all of them told: noise of one row must not cost half of it."""
    labels = [str(number) for number in range(10)]
    schema = Schema({"a": Categorical(labels)}, "c", labels)
    table = pd.DataFrame({"a": labels * 100, "c": labels * 100})
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
    says = Tree(cells, np.eye(10)[[0, *range(10)]], "drawn")
    tree, _ = calibrate_tree(Curator(table, schema, Budget(1)), says, F(1, 10))
    shares = np.exp(tree.counts[1:])[np.arange(10), np.arange(10)]
    assert shares.mean() > 0.55  # about .4 where each class borrows a whole deviation


def test_probabilities_of_one_tree_lean_on_the_classes_and_labels_stay():
    shares = np.array([0.9, 0.09, 0.01])
    drawn = Tree(labelled([0, 0, 1, 2]).cells, 0.7 * np.eye(3)[[0, 0, 1, 2]], "drawn")
    tree = lean_on_classes(drawn, shares)
    p = np.exp(tree.counts) / np.exp(tree.counts).sum(axis=1, keepdims=True)
    assert tree.counts.argmax(axis=1).tolist() == [0, 0, 1, 2]
    # e^.7 sqrt(.9) against sqrt(.09) and sqrt(.01)
    np.testing.assert_allclose(p[0], np.array([1.910, 0.3, 0.1]) / 2.310, atol=0.001)
    assert p[3, 0] > p[3, 1]  # the more common of the others is the more likely one
    alike = lean_on_classes(drawn, np.full(3, 1 / 3))
    np.testing.assert_allclose(alike.counts - alike.counts.min(), drawn.counts, atol=1e-12)


def test_calibration_in_rho():
    curator = Curator(ROWS, SCHEMA, Budget(rho=1))
    tree, charge = calibrate_tree(curator, labelled([0, 0, 1, 2]), F(1, 2), "rho")
    assert charge.cost.rho == F(1, 2) == curator.left
    assert tree.counts.argmax(axis=1).tolist() == [0, 0, 1, 2]


def test_each_round_pays_and_weighs_rows_by_the_rounds_before():
    curator = Curator(ROWS, SCHEMA, Budget(1))
    trees, charges = draw_boosted(curator, TreeSpace(SCHEMA, 1), 4, F(1, 4), 0.5)
    assert curator.left == 0
    assert [charge.cost.epsilon for charge in charges] == [F(1, 4)] * 4
    assert ["weighed" in entry.what for entry in curator.ledger.entries()] == [
        False,
        True,
        True,
        True,
    ]
    assert np.mean([tree.counts.max() for tree in trees]) == pytest.approx(0.5, rel=0.01)
    curator = Curator(ROWS, SCHEMA, Budget(1))
    draw_boosted(curator, TreeSpace(SCHEMA, 1), 1, F(1, 4), 0.5, before=trees)
    assert "weighed" in curator.ledger.entries()[0].what


@pytest.mark.parametrize("rounds", [3, 5, 9])
def test_who_votes_tells_apart_whom_as_many_trees_vote_for(rounds):
    """No two sets of trees count the same, and more trees always count more than fewer."""
    alike = [labelled([0, 0, 1, 2])] * rounds
    counted = [tree.counts.max() / alike[0].counts.max() for tree in spread_votes(alike)]
    assert np.mean(counted) == pytest.approx(1, rel=0.01)
    sums = {}
    for size in range(rounds + 1):
        sums[size] = [sum(votes) for votes in combinations(counted, size)]
    every = sorted(total for some in sums.values() for total in some)
    assert np.diff(every).min() > 1e-9
    assert all(max(sums[size]) < min(sums[size + 1]) for size in range(rounds))


def test_a_later_round_looks_at_what_is_still_in_doubt():
    """Nine rows in ten follow a; b tells about the rest. When a is settled, b is drawn: it gets 342
    right, a and no split 229.
    """
    schema = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["x", "y"])}, "c", ["n", "p"])
    lines = [("x", "x", "n")] * 1500 + [("y", "x", "p")] * 300 + [("x", "y", "p")] * 200
    table = pd.DataFrame(lines, columns=["a", "b", "c"])
    curator = Curator(table, schema, Budget(1), public=True)
    first, second = draw_boosted(curator, TreeSpace(schema, 1), 2, math.inf, 3.0)[0]
    assert [tree.cells.attribute[0] for tree in (first, second)] == [0, 1]


# -- where scores start, and how much leaves count --


def of_shares(*counts: int) -> pd.DataFrame:
    labels = [label for label, count in zip("npq", counts, strict=True) for _ in range(count)]
    return pd.DataFrame({"a": "x", "b": "x", "c": labels})


def test_scores_start_from_the_class_shares_where_one_is_rare_and_pay_for_them():
    curator = Curator(of_shares(1700, 200, 100), SCHEMA, Budget(50))
    shares, noise, charge = measure_classes(curator, 2000, 40)
    start = start_from_classes(SCHEMA, shares, noise)
    np.testing.assert_allclose(np.exp(start.counts[0]), [0.85, 0.1, 0.05], atol=0.01)
    assert start.kind == "constant"
    assert (charge.cost.epsilon, curator.left) == (40, 10)


@pytest.mark.parametrize(
    ("rows_of_class", "epsilon"),
    [((700, 700, 600), 40), ((1500, 400, 100), 40), ((1900, 50, 50), "0.0005")],
    ids=["none is rare", "the first is not common enough", "noise says anything"],
)
def test_scores_start_from_nothing_otherwise_and_that_is_paid_for_too(rows_of_class, epsilon):
    curator = Curator(of_shares(*rows_of_class), SCHEMA, Budget(50))
    shares, noise, charge = measure_classes(curator, 2000, epsilon)
    start = start_from_classes(SCHEMA, shares, noise)
    assert start is None
    assert charge.cost.epsilon == F(str(epsilon)) == 50 - curator.left


def test_shares_add_up_whatever_the_counts_add_up_to():
    """A noise that all counts have in common says nothing about shares."""
    np.testing.assert_allclose(
        estimate_shares(np.array([195.0, 105.0]), 1.0, 100)[0],
        estimate_shares(np.array([95.0, 5.0]), 1.0, 100)[0],
    )
    assert estimate_shares(np.array([95.0, 5.0]), 3.0, 100)[1] == pytest.approx(0.03 / math.sqrt(2))


@pytest.mark.parametrize("counts", [[-400.0, 500.0], [0.0, 0.0], [1e9, -1e9]])
def test_shares_are_positive_whatever_the_noise(counts):
    shares, _ = estimate_shares(np.array(counts), 5.0, 100)
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0.001).all()


def test_refined_leaves_say_what_the_rows_in_them_say():
    """Without noise and after several steps, the scores give the class shares of each leaf.

    Not quite: what the rows say that are most wrong is cut off, so that leaves are a bit too sure.
    """
    curator = Curator(ROWS, SCHEMA, Budget(1), public=True)
    tree = labelled([0, 0, 1, 2])
    before = []
    for _ in range(30):
        tree, _ = refine_leaves(curator, tree, before, {"epsilon": math.inf})
    p = np.exp(tree.counts) / np.exp(tree.counts).sum(axis=1, keepdims=True)
    by_value = ROWS.groupby("a")["c"].value_counts(normalize=True).unstack()[list("npq")]
    np.testing.assert_allclose(p[1:], by_value.loc[list("xyz")].to_numpy(), atol=0.1)
    assert tree.counts[0].tolist() == [0.7, 0.0, 0.0]  # the root is no leaf


def test_refined_leaves_hardly_move_where_noise_is_large():
    curator = Curator(ROWS, SCHEMA, Budget(1))
    tree, charge = refine_leaves(curator, labelled([0, 0, 1, 2]), [], {"epsilon": F(1, 10**5)})
    assert charge.cost.epsilon == F(1, 10**5)
    np.testing.assert_allclose(tree.counts, labelled([0, 0, 1, 2]).counts, atol=0.2)


def test_boosting_with_leaves_pays_for_both():
    curator = Curator(ROWS, SCHEMA, Budget(1))
    trees, charges = draw_boosted(
        curator, TreeSpace(SCHEMA, 1), 2, F(3, 10), 0.5, leaves={"epsilon": F(1, 10)}
    )
    assert curator.left == F(2, 10)
    assert [charge.cost.epsilon for charge in charges] == [F(3, 10), F(1, 10)] * 2
    assert [tree.kind for tree in trees] == ["scores", "scores"]


def test_no_trees_have_no_votes_to_spread():
    """Of one round in four cycles, three have no draw."""
    assert spread_votes([]) == []
