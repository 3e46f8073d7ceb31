"""The parts of the random-tree experiments: tables, many draws on one count, ID3 by the papers'
recursion.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from experiments.papers.rdt.forests import Ensemble, accuracies, right
from experiments.papers.rdt.recursion import FAILURE, predicted, rounds
from experiments.papers.rdt.tables import table
from privet.accounting.cost import Budget
from privet.learners.random_trees.batches import contribution
from privet.learners.random_trees.drawing import Plan, draw_forest
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.tables.memory import MemoryTable

#: So little noise that there is none: a draw differs from zero with a probability below e^-1000.
NONE = Fraction(1, 1000)


@pytest.fixture
def bits():
    with unlock_test_seeds():
        yield SeededBits(2012)


# -- tables ------------------------------------------------------------------------------------------------------------  # noqa: E501


def test_folds_are_stratified_the_same_every_time_and_hold_every_row_once():
    rows = table("nursery")
    folds = rows.folds()
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(len(rows)))
    for (train, test), (_, again) in zip(folds, rows.folds(), strict=True):
        assert not set(train) & set(test)
        assert (test == again).all()
        assert (
            np.abs(
                np.bincount(rows.classes[test], minlength=5) - np.bincount(rows.classes) / 10
            ).max()
            <= 1
        )
    assert (rows.folds(2)[1][1] == folds[1][1]).all()


def test_three_classes_of_nursery():
    rows = table("nursery, 3 classes")
    assert len(rows) == 12_960
    assert dict(zip(rows.schema.classes, np.bincount(rows.classes).tolist(), strict=True)) == {
        "not_recom": 4320,
        "priority": 4266 + 328 + 2,
        "spec_prior": 4044,
    }


@pytest.mark.usefixtures("real_data")
def test_tables_as_the_papers_prepare_them():
    mushroom, votes, honest = table("mushroom"), table("votes"), table("votes with ?")
    assert len(mushroom.schema.names) == 21
    assert not (mushroom.X == "?").to_numpy().any()
    assert set(votes.schema.sizes) == {2}
    assert set(honest.schema.sizes) == {3}
    filled = (honest.X == "?").to_numpy()
    assert filled.sum() == 392
    assert (votes.X.to_numpy()[~filled] == honest.X.to_numpy()[~filled]).all()
    for bill in votes.schema.names:
        given = honest.X[bill][honest.X[bill] != "?"]
        assert set(votes.X[bill][honest.X[bill] == "?"]) <= {given.mode()[0]}
    assert (mushroom.majority(), votes.majority()) == (
        pytest.approx(0.518, abs=1e-3),
        pytest.approx(0.614, abs=1e-3),
    )


# -- random trees ------------------------------------------------------------------------------------------------------  # noqa: E501


def test_without_noise_the_sums_are_those_of_the_real_learner(bits):
    rows = table("nursery")
    train, test = rows.folds(1)[0]
    forest = draw_forest(rows.schema, 3, 2, bits)
    curator = pv.Curator(
        MemoryTable(rows.X.iloc[train], rows.y.iloc[train]), rows.schema, Budget(1), public=True
    )
    model = contribution(Plan(rows.schema, tuple(forest), "counts", 0.0), curator, math.inf)
    expected = model._sum_trees([column[test] for column in rows.codes])
    found = Ensemble.of(rows, forest).sums(train, test, None, 1, bits)
    assert (found[0] == expected).all()
    assert right(found, rows.classes[test]) == (expected.argmax(axis=1) == rows.classes[test]).sum()


@pytest.mark.parametrize("batches", [1, 4])
def test_the_noise_of_a_sum_has_the_scale_of_all_trees_and_batches(bits, batches):
    rows = table("synthetic2")
    train, test = rows.folds(1)[0]
    one = Ensemble.drawn(rows, 5, 3, bits)
    exact = one.sums(train, test, None, 1, bits)
    scale = 7.0
    # All test rows of one leaf have the same noise; one row of each class is enough.
    noise = (one.sums(train, test[:1], Fraction(7), 4000, bits, batches) - exact[:, :1]).ravel()
    p = math.exp(-1 / scale)
    variance = 5 * batches * 2 * p / (1 - p) ** 2
    # a scale that is 30% off has 1.69 or 0.49 times as much
    assert noise.var() == pytest.approx(variance, rel=0.12)
    assert abs(noise.mean()) < 5 * math.sqrt(variance / len(noise))


def test_epsilon_is_shared_by_the_trees(bits, monkeypatch):
    asked = []
    rows = table("synthetic2")
    ensembles = [Ensemble.drawn(rows, 5, 2, bits) for _ in range(2)]

    def sums(self, train, test, scale, draws, bits, batches=1):
        asked.append((scale, batches))
        return np.zeros((draws, len(test), 2))

    monkeypatch.setattr(Ensemble, "sums", sums)
    accuracies(ensembles, 0.1, 1, 1, bits, batches=3)
    accuracies(ensembles, math.inf, 1, 4, bits)
    assert asked == [(Fraction(50), 3)] * 2 + [(None, 1)] * 2


# -- ID3 ---------------------------------------------------------------------------------------------------------------  # noqa: E501


@pytest.mark.parametrize(
    ("attributes", "published", "corrected"), [(8, 36, 54), (16, 136, 170), (22, 253, 299)]
)
def test_rounds(attributes, published, corrected):
    assert rounds(attributes, "published") == published
    assert rounds(attributes, "corrected") == corrected == published + 2 * (attributes + 1)


def test_without_noise_the_recursion_is_id3(bits):
    rows = table("nursery")
    everything = np.arange(len(rows))
    assert (predicted(rows, everything, everything[::7], NONE, bits) == rows.classes[::7]).all()
    train, test = rows.folds(1)[0]
    said = predicted(rows, train, test, NONE, bits)
    assert (said == rows.classes[test]).mean() > 0.95
    assert 0 < (said == FAILURE).mean() < 0.05  # values that no training row of a node has


def test_with_nothing_but_noise_half_of_the_trees_fail_at_the_root(bits):
    rows = table("synthetic2")
    test = np.arange(3)
    failed = [
        (predicted(rows, test, test, Fraction(10**6), bits) == FAILURE).all() for _ in range(200)
    ]
    assert 70 < sum(failed) < 150  # the root alone fails in 100 of them; a few more fail below it
