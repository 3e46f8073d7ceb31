"""Boosted draws, and class probabilities for a single tree."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.learners.gibbs import calibrate_tree, draw_boosted

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
    # of several classes: the first decides ties
    assert trees[0].counts.max() > trees[1].counts.max() == 0.5
    curator = Curator(ROWS, SCHEMA, Budget(1))
    draw_boosted(curator, TreeSpace(SCHEMA, 1), 1, F(1, 4), 0.5, before=trees)
    assert "weighed" in curator.ledger.entries()[0].what


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
