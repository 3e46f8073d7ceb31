"""Priors that are weighed by what was released: how much terms of pairs may vary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.learners.boosting import lean_on_even
from privet.learners.priors import average_means, list_priors, smooth_curvature
from privet.learners.smooth import MOST_VALUES, is_narrow
from privet.learners.updates import update_boosted

N = 1500


def near(bins: int) -> np.ndarray:
    place = np.arange(bins)
    return 0.05 * np.eye(bins) + 0.95 * np.exp(-np.abs(np.subtract.outer(place, place)) / 3)


ALIKE = near(8)
PRIORS = list_priors(ALIKE, ALIKE)


def test_one_prior_gives_the_mean_of_a_gaussian_posterior():
    rng = np.random.default_rng(0)
    weight, known = rng.uniform(1, 5, (64, 1)), rng.normal(size=(64, 1))
    prior = PRIORS[7][0]
    found = average_means(weight, known, [(prior, 0.0)])
    expected = np.linalg.solve(np.linalg.inv(prior) + np.diag(weight[:, 0]), known)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(average_means(weight, known, [(prior, 0.0), (prior, -2)]), expected)


def test_priors_are_weighed_by_how_likely_they_make_what_was_measured():
    prior, weight = np.eye(3), np.full((3, 1), 2.0)
    known = np.array([[3.0], [-1.0], [2.0]])
    variances = (0.0, 1.0)
    likely = [
        np.prod(np.exp(-((known / 2) ** 2) / (2 * (v + 0.5))) / np.sqrt(v + 0.5)) for v in variances
    ]
    expected = likely[1] / sum(likely) * known / 3
    found = average_means(weight, known, [(v * prior, 0.0) for v in variances])
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_only_noise_tells_nothing_and_a_signal_stays(seed):
    """Of 64 values, the root of the mean square would be .3 with the largest prior alone."""
    rng = np.random.default_rng(seed)
    weight, noise = np.full((64, 1), 10.0), rng.normal(size=(64, 1)) * np.sqrt(10)
    nothing = average_means(weight, noise, PRIORS)
    assert np.sqrt(np.square(nothing).mean()) < 0.16
    signal = np.kron(np.linspace(-2, 2, 8), np.ones(8))[:, None]
    found = average_means(weight, noise + weight * signal, PRIORS)
    assert np.sqrt(np.square(found - signal).mean()) < 0.3


def test_curvature_loses_noise_and_is_not_far_below_what_was_measured():
    rng = np.random.default_rng(1)
    true = np.kron(np.linspace(1, 40, 8), np.ones(8))[:, None]
    noisy = true + rng.normal(scale=20, size=(64, 1))
    smooth = smooth_curvature(noisy, 400.0, np.kron(ALIKE, ALIKE))
    assert np.square(smooth - true).mean() < 0.6 * np.square(np.maximum(noisy, 0) - true).mean()
    assert (smooth >= np.maximum(noisy - 20, 0) - 1e-9).all()
    alone = np.zeros((64, 1))
    alone[20] = 500  # all rows have the same values
    assert smooth_curvature(alone, 4.0, np.kron(ALIKE, ALIKE))[20] > 490


def test_shares_lean_on_even_ones_where_they_are_noise():
    shares = np.array([0.4, 0.6])
    np.testing.assert_allclose(lean_on_even(shares, 1e-4), shares, atol=1e-3)
    near, far = (np.abs(lean_on_even(shares, noise) - 0.5).max() for noise in (0.03, 0.2))
    assert near > 0.08
    assert far < 0.03
    assert np.isfinite(lean_on_even(np.array([1.0, 0.0]), 0.0)).all()


def rows(seed: int, chance) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(N, 2))
    y = rng.uniform(size=N) < chance(x)
    return pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "y": y.astype(int)})


SCHEMA = pv.Schema({f"x{i}": pv.Numeric(0, 1, bins=16) for i in (0, 1)}, "y", [0, 1]).declare(
    n_rows=N
)


@pytest.mark.parametrize("share", [0.5, 0.58, 0.1])
def test_labels_without_a_signal_are_said_as_well_as_by_class_shares(share):
    """With a fixed prior variance of 1.5, it was .03 and more too much.

    One fit has .003 in the mean and a deviation of .0035 at most (24 fits), the mean of eight a
    third of that: .02 is more than ten deviations away.
    """
    too_much = []
    for seed in range(8):
        model = pv.PrivetClassifier(1, SCHEMA).fit(rows(seed, lambda _: share))
        chance = model.predict_proba(rows(99, lambda _: share))[:, 1]
        loss = -(share * np.log(chance) + (1 - share) * np.log(1 - chance)).mean()
        too_much.append(loss + share * np.log(share) + (1 - share) * np.log(1 - share))
    assert np.mean(too_much) < 0.02


def test_a_start_from_shares_that_are_not_rare_is_not_taken_for_a_rare_class():
    first = pv.PrivetClassifier(1, SCHEMA).fit(rows(0, lambda x: x[:, 0])).model_
    assert [tree.kind for tree in first.trees] == ["constant", "scores"]
    curator = pv.Curator(rows(1, lambda x: x[:, 0]), SCHEMA, pv.Budget(1))
    second = update_boosted(first, curator, 1, "disjoint")
    assert "one class is rare" not in second.settings["why"]


def test_tables_with_very_many_values_of_a_pair_are_not_narrow():
    def table(size: int) -> pv.Schema:
        name = pv.Categorical(list(range(size)))
        return pv.Schema({"a": name, "b": pv.Numeric(0, 1, bins=200)}, "y", [0, 1])

    assert is_narrow(table(MOST_VALUES // 16))
    assert not is_narrow(table(MOST_VALUES // 16 + 1))
