"""What learners keep on public tables: the measurements, the curves through them, and what is said
of other tables.
"""

from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from privet.epsilon.expected import (
    MeasuredAccuracy,
    expect_accuracy,
    find_nearest,
    fit_curves,
    fit_isotonic,
    list_learners,
    load_measurements,
    share_at,
)
from privet.errors import ParameterError

PLACES = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 2.5, 3.0, 7.0]), st.floats(-1, 1)), min_size=1, max_size=30
)


def line(data: str, rows: int, learner: str, epsilon: float) -> MeasuredAccuracy:
    (found,) = [
        one
        for one in load_measurements()
        if (one.data, one.rows, one.learner, one.epsilon) == (data, rows, learner, epsilon)
    ]
    return found


def test_the_file_is_small_and_complete():
    place = files("privet.epsilon") / "measured.csv"
    assert len(place.read_bytes()) < 100_000
    assert set(list_learners()) == {"privet", "greedy-tree", "random-trees"}
    assert {"nursery", "car", "tic_tac_toe", "monks1", "adult", "mushroom"} <= {
        one.data for one in load_measurements()
    }
    places = {(one.data, one.rows) for one in load_measurements()}
    assert len(load_measurements()) == len(places) * 3 * 6, (
        "every learner at every epsilon, and without noise"
    )
    for one in load_measurements():
        assert 0 < one.majority < one.best <= 1
        assert 0 <= one.accuracy <= 1
        assert 0 <= one.error < 0.1


def test_the_best_is_the_best_without_noise_on_as_many_rows():
    accuracies = [line("car", 1000, learner, math.inf).accuracy for learner in list_learners()]
    assert line("car", 1000, "privet", 0.1).best == max(accuracies) > min(accuracies)


def test_a_share_by_hand():
    """From 0.7 to 0.9 can be learnt; 0.85 is three quarters of the way, 0.6 is half as far on the
    wrong side.
    """

    def share(accuracy: float) -> float:
        return MeasuredAccuracy("a", 1, 2, 10, "privet", 1, accuracy, 0, 0.7, 0.9).share

    assert share(0.85) == pytest.approx(3 / 4)
    assert share(0.6) == pytest.approx(-1 / 2)
    assert share(0.95) == 1, "noise may help a little, but that is no more than all"


def test_a_rising_curve_by_hand():
    """0.5 at 1 is above the mean of 0.2 and 0.4 at 2: the three are pooled, (0.5 + 0.2 + 0.4) /
    3.
    """
    curve = fit_isotonic([(3, 0.8), (2, 0.2), (1, 0.5), (2, 0.4), (0, 0.1)])
    pooled = pytest.approx(1.1 / 3)
    assert curve == [(0, 0.1), (1, pooled), (2, pooled), (3, 0.8)]
    assert share_at(curve, 2.25) == pytest.approx(1.1 / 3 + (0.8 - 1.1 / 3) / 4)
    assert (share_at(curve, -5), share_at(curve, 0), share_at(curve, 3), share_at(curve, 99)) == (
        0.1,
        0.1,
        0.8,
        0.8,
    )


@given(PLACES)
def test_a_rising_curve_is_isotonic_regression(points):
    curve = fit_isotonic(points)
    x, y = np.array(points).T
    fit = IsotonicRegression().fit(x, y).predict([place for place, _ in curve])
    assert [value for _, value in curve] == pytest.approx(fit.tolist(), abs=1e-9)


@pytest.mark.parametrize("learner", ["privet", "greedy-tree", "random-trees"])
def test_the_curves_of_tables_rise(learner):
    assert len(fit_curves(learner)) == len({one.data for one in load_measurements()})
    for curve in fit_curves(learner).values():
        places, values = zip(*curve, strict=True)
        assert list(places) == sorted(set(places))
        assert list(values) == sorted(values)


def test_the_expectation_is_the_middle_and_the_range_of_the_curves():
    for found in expect_accuracy("1/2", 2000):
        shares = sorted(share_at(curve, 3.0) for curve in fit_curves(found.learner).values())
        assert (found.low, found.high) == (shares[0], shares[-1])
        assert found.middle == pytest.approx(np.median(shares))
        assert found.tables == len(shares), (
            "all of them were measured at 300 rows and epsilon 3 or near"
        )


@given(st.floats(0.001, 100), st.integers(1, 10**7), st.floats(1, 100))
def test_more_rows_or_epsilon_never_keeps_less(epsilon, rows, times):
    for few, many in zip(
        expect_accuracy(epsilon, rows), expect_accuracy(epsilon * times, rows), strict=True
    ):
        assert few.low <= few.middle <= few.high <= 1
        assert (
            few.low <= many.low + 1e-12,
            few.middle <= many.middle + 1e-12,
            few.high <= many.high + 1e-12,
        ) == (True, True, True)


def test_outside_of_what_was_measured():
    assert {one.tables for one in expect_accuracy(0.001, 100)} == {0}
    assert {one.tables for one in expect_accuracy(1, 10**9)} == {0}
    assert expect_accuracy(0.001, 100) == expect_accuracy(0.002, 100)
    assert {one.tables for one in expect_accuracy(1, 300_000)} == {1}, (
        "adult alone has so many rows"
    )


def test_the_nearest_lines_are_those_that_were_asked_for():
    found = find_nearest(1, 1000, classes=4, attributes=6)
    assert [(one.data, one.rows, one.epsilon) for one in found[:3]] == [("car", 1000, 1.0)] * 3
    assert {one.learner for one in found[:3]} == set(list_learners())
    assert len({one.data for one in found}) == 4


def test_classes_and_attributes_decide_among_as_many_rows():
    assert find_nearest(1, 300, classes=2, attributes=22)[0].data == "mushroom"
    assert find_nearest(1, 300, classes=5, attributes=8)[0].data == "nursery"
    assert find_nearest(0.2, 40_000)[0].rows == 30_000
    assert find_nearest(0.2, 40_000)[0].epsilon == 0.3, "which is nearer than 0.1 by its logarithm"


def test_the_number_of_rows_is_whole():
    with pytest.raises(ParameterError, match="rows must be an integer of at least 1, got 0"):
        expect_accuracy(1, 0)
