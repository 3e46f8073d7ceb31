"""What is measured on the test rows of a fold."""

import math

import numpy as np
import pytest

from experiments.bench.accuracy.measures import MEASURES, calibration_error, measure


def test_two_classes():
    truth, guess = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.3, 0.7]])
    found = measure(truth, guess, chances)
    assert found["accuracy"] == 0.75
    assert found["auroc"] == pytest.approx(2 / 3)
    assert found["balanced"] == pytest.approx((2 / 3 + 1) / 2)
    assert found["log_loss"] == pytest.approx(-math.log(0.9 * 0.8 * 0.2 * 0.7) / 4)
    assert list(found) == [each.name for each in MEASURES]


def test_a_class_that_is_not_in_the_fold_is_left_out():
    truth = np.array([0, 0, 2, 2])
    chances = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.75, 0.0, 0.25]])
    found = measure(truth, np.array([0, 1, 2, 2]), chances)
    assert found["auroc"] == pytest.approx((0.75 + 1) / 2)
    assert found["balanced"] == 0.75


def test_a_probability_of_0_for_what_happened_costs_a_finite_log_loss():
    found = measure(np.array([0, 1]), np.array([0, 0]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    assert found["log_loss"] == pytest.approx(-math.log(1e-6) / 2)


def test_shares_that_come_true_have_no_calibration_error():
    truth = np.array([0] * 70 + [1] * 30)
    assert calibration_error(truth, np.tile([0.7, 0.3], (100, 1))) == pytest.approx(0)
    assert calibration_error(truth, np.tile([0.9, 0.1], (100, 1))) == pytest.approx(0.2)


def test_errors_of_opposite_sign_in_different_bins_do_not_cancel():
    truth = np.array([0] * 50 + [0, 1] * 25)
    chances = np.repeat([[0.9, 0.1], [0.6, 0.4]], 50, axis=0)
    assert calibration_error(truth, chances) == pytest.approx(0.1)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    truth = np.array([0] * 60 + [1] * 40)
    likely = rng.choice([0.55, 0.6, 0.9], 100)
    chances = np.column_stack([likely, 1 - likely])
    order = rng.permutation(100)
    assert calibration_error(truth[order], chances[order]) == pytest.approx(
        calibration_error(truth, chances)
    )


def test_the_error_of_the_most_likely_of_three_classes():
    chances = np.tile([0.2, 0.5, 0.3], (4, 1))
    assert calibration_error(np.array([1, 1, 1, 2]), chances) == pytest.approx(0.25)
