"""How accurate learners may be: the measurements, the ranges made from them, and how often these
hold for tables that they were not made from.
"""

from __future__ import annotations

import math
from importlib.resources import files
from itertools import pairwise
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.epsilon.expected import (
    LEAST_TABLES,
    MeasuredAccuracy,
    Place,
    Range,
    expect_accuracy,
    find_nearest,
    fit_ranges,
    list_learners,
    load_measurements,
    make_range,
    make_ranges,
    read_range,
    select_lines,
    share_in,
    weigh_evidence,
)
from privet.errors import ParameterError

LEARNERS = ("privet", "greedy-tree", "random-trees")
MEASURES = ("gap", "kept", "way")


def test_the_file_is_small_and_complete():
    place = files("privet.epsilon") / "measured.csv"
    assert len(place.read_bytes()) < 100_000
    assert list_learners() == LEARNERS
    assert {"nursery", "car", "tic_tac_toe", "monks1", "adult", "mushroom"} <= {
        line.data for line in load_measurements()
    }
    sizes = {(line.data, line.rows) for line in load_measurements()}
    assert len(load_measurements()) == len(sizes) * 3 * 6, (
        "every learner at every epsilon, and without noise"
    )
    for line in load_measurements():
        assert 0 < line.majority <= line.best <= 1
        assert 0 <= line.accuracy <= 1
        assert 0 <= line.error < 0.1


def test_the_best_is_the_best_without_noise_on_as_many_rows():
    lines = [line for line in load_measurements() if line.data == "car"]
    rows = lines[0].rows
    noiseless = [line.accuracy for line in lines if line.rows == rows and math.isinf(line.epsilon)]
    assert lines[0].best == max(noiseless) > min(noiseless)


def test_shares_by_hand():
    """From 0.7 to 0.9 can be learnt, and 0.3 is left to perfection; 0.85 is three quarters of what
    can be learnt, 0.6 is half as far on the wrong side.
    """

    def line(accuracy: float) -> MeasuredAccuracy:
        return MeasuredAccuracy("a", 1, 2, 10, "privet", 1, accuracy, 0, 0.7, 0.9)

    assert share_in(line(0.85), "kept") == pytest.approx(3 / 4)
    assert share_in(line(0.6), "kept") == pytest.approx(-1 / 2)
    assert share_in(line(0.95), "kept") == 1, "noise may help a little, but that is all there is"
    assert share_in(line(0.85), "way") == pytest.approx(1 / 2)
    assert share_in(line(0.85), "gap") == pytest.approx(-0.05)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_ranges_hold_9_times_in_10_for_tables_that_they_were_not_made_from(learner, measure):
    """Each table counts once. With the 31 tables that are checked, 9 in 10 has a standard error of
    about five points.
    """
    checked = [line for line in select_lines(learner, measure) if line.use == "check"]
    made = {line.data for line in select_lines(learner, measure) if line.use == "range"}
    held: dict[str, list[bool]] = {}
    for line in checked:
        low, _, high = read_range(fit_ranges(learner, measure), line.evidence)
        held.setdefault(line.data, []).append(low <= share_in(line, measure) <= high)
    assert len(held) >= 20
    assert len(made) >= 40
    assert not made & set(held)
    assert 0.85 <= fmean(map(fmean, held.values())) <= 0.99


def test_a_range_skips_what_may_lie_outside():
    """Of 99 tables, (99 + 1) / 20 = 5 lie outside at each end: the range goes from the 5th to the
    5th from the end, which another table lies in with a probability of 90 / 100.
    """
    assert make_range([(value, 1) for value in range(1, 100)]) == Range(5, 50, 95)
    assert make_range([(value, 1) for value in range(1, 6)]) == Range(1, 3, 5), "too few to skip"


def test_each_table_counts_once_however_often_it_was_measured():
    once = [(value, 1.0) for value in range(1, 100)]
    assert make_range(
        [(value, weight / 4) for value, weight in once for _ in range(4)]
    ) == make_range(once)


@given(st.integers(0, 2**32 - 1))
def test_ranges_hold_for_another_table_of_the_same_kind(seed):
    """A range from 199 draws holds the share of draws that it should, whatever they are from."""
    draws = np.random.default_rng(seed).permutation(199)
    assert make_range([(int(value), 1.0) for value in draws]) == Range(9, 99, 189)


def test_ranges_rise_and_need_enough_tables():
    """One table more than needed is measured at 1 and at 3, where shares are a little lower."""
    measured = [
        (f"t{table}", evidence, table / 100 - (evidence > 2) / 1000)
        for table in range(LEAST_TABLES + 1)
        for evidence in (1.0, 3.0)
    ]
    places = make_ranges(measured)
    evidence = [place.evidence for place in places]
    assert evidence == pytest.approx([1, 1.1, 1.2, 1.3, 2.7, 2.8, 2.9, 3])
    for few, many in pairwise(places):
        assert all(less <= more + 1e-12 for less, more in zip(few.range, many.range, strict=True))
    assert not make_ranges(measured[: 2 * (LEAST_TABLES - 1)])


def test_a_range_is_read_between_its_places():
    places = [Place(1, Range(0, 0.4, 1), 20), Place(2, Range(0.5, 0.8, 1), 20)]
    assert read_range(places, 1.5) == pytest.approx((0.25, 0.6, 1))
    assert read_range(places, -9) == places[0].range
    assert read_range(places, 9) == places[1].range


def test_evidence_by_hand():
    """The error of 10,000 rows is 1% from sampling, and at epsilon 1 as much from noise."""
    assert weigh_evidence(1, 10_000) == pytest.approx(-math.log10(0.02))


def test_expectations_are_ranges_at_the_evidence():
    place = weigh_evidence(0.5, 2000)
    for found in expect_accuracy("1/2", 2000, "0.7"):
        low, middle, high = read_range(fit_ranges(found.learner, "kept"), place)
        assert (found.low, found.middle, found.high) == (low, middle, high)
        way = read_range(fit_ranges(found.learner, "way"), place)
        assert found.accuracy == pytest.approx([0.7 + 0.3 * share for share in way])
        gap = read_range(fit_ranges(found.learner, "gap"), place)
        assert found.lost == (-gap.high, -gap.middle, -gap.low)
        assert found.tables >= LEAST_TABLES
    assert {found.accuracy for found in expect_accuracy("1/2", 2000)} == {None}


@given(st.floats(0.001, 100), st.integers(1, 10**7), st.floats(1, 100), st.floats(0.01, 0.99))
def test_more_rows_or_epsilon_never_lowers_an_end(epsilon, rows, times, majority):
    for few, many in zip(
        expect_accuracy(epsilon, rows, majority),
        expect_accuracy(epsilon * times, rows, majority),
        strict=True,
    ):
        assert few.low <= few.middle <= few.high <= 1
        assert 0 <= few.accuracy.low <= few.accuracy.high <= 1
        for less, more in (
            (few.low, many.low),
            (few.middle, many.middle),
            (few.high, many.high),
            *zip(few.accuracy, many.accuracy, strict=True),
            *zip(many.lost, few.lost, strict=True),
        ):
            assert less <= more + 1e-12


def test_ranges_say_something_else_for_every_epsilon():
    found = [expect_accuracy(epsilon, 1000)[0] for epsilon in (0.1, 0.3, 1, 3)]
    lost = [one.lost.high for one in found]
    assert lost == sorted(set(lost), reverse=True)
    assert found[0].middle < found[1].middle
    assert found[-1].high - found[-1].low < 0.7 < found[0].high - found[0].low


def test_outside_of_what_was_measured():
    assert {found.tables for found in expect_accuracy(0.0001, 100)} == {0}
    assert {found.tables for found in expect_accuracy(1, 10**9)} == {0}
    assert expect_accuracy(0.0001, 100) == expect_accuracy(0.0002, 100)


def test_the_nearest_lines_are_those_that_were_asked_for():
    car = next(line for line in load_measurements() if line.data == "car")
    found = find_nearest(1, car.rows, classes=4, attributes=6)
    assert [(line.data, line.rows, line.epsilon) for line in found[:3]] == [
        ("car", car.rows, 1.0)
    ] * 3
    assert {line.learner for line in found[:3]} == set(list_learners())
    assert len({line.data for line in found}) == 4


def test_classes_and_attributes_decide_among_as_many_rows():
    rows = {line.data: line.rows for line in load_measurements()}
    assert find_nearest(1, rows["mushroom"], 2, 22)[0].data == "mushroom"
    assert find_nearest(1, rows["nursery"], 5, 8)[0].data == "nursery"
    near = find_nearest(0.2, rows["mushroom"], 2, 22)[0]
    assert near.epsilon == 0.3, "which is nearer than 0.1 by its logarithm"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: expect_accuracy(1, 0), "rows must be an integer of at least 1, got 0"),
        (lambda: expect_accuracy(1, 9, 1), "majority must be above 0 and below 1, got 1"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()
