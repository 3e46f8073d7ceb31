"""Claims: their intervals, and when they agree, differ or cannot be told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.papers.claims import (
    LESS,
    MORE,
    Range,
    Sample,
    around,
    average,
    combine,
    deviations,
    difference,
    judge,
    judge_any,
    mean_of,
    note,
    paired,
    slope,
    slope_by_run,
)
from experiments.papers.ran import describe_runs

DRAW = np.random.default_rng(5)


def verdict(numbers, holds):
    return judge("", "", numbers, holds).verdict


# -- intervals -------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_students():
    low, high = mean_of([1.0, 2.0, 3.0, 4.0]).interval()
    # 2.5 -+ 3.1824 * 1.2910 / 2
    assert (low, high) == (pytest.approx(0.4457, abs=1e-4), pytest.approx(4.5543, abs=1e-4))


def covered(estimate) -> float:
    """How often the interval holds the true number, 0."""
    hits = 0
    for _ in range(1500):
        low, high = estimate().interval()
        hits += low <= 0 <= high
    return hits / 1500


@pytest.mark.parametrize(
    "estimate",
    [
        lambda: mean_of(DRAW.normal(size=5)),
        lambda: difference(DRAW.normal(size=4), DRAW.normal(scale=3, size=9)),
        lambda: average([mean_of(DRAW.normal(size=4)), mean_of(DRAW.normal(scale=2, size=6))]),
        lambda: slope([1, 2, 3, 4, 5, 6], DRAW.normal(size=6)),
        lambda: slope_by_run([dict(enumerate(DRAW.normal(size=4))) for _ in range(5)]),
    ],
    ids=["mean", "difference", "average", "slope", "slope by run"],
)
def test_intervals_hold_the_truth_19_times_in_20(estimate):
    # 95% give or take 4 standard errors; an interval of 90% is at 0.90
    assert covered(estimate) == pytest.approx(0.953, abs=0.023)


def test_paired_runs_are_compared_run_by_run():
    first, second = {1: 0.5, 2: 0.9, 3: 0.1}, {1: 0.4, 2: 0.8, 3: 0.0, 4: 1.0}
    one = paired(first, second)
    assert (one.value, one.freedom) == (pytest.approx(0.1), 2)
    assert one.error == pytest.approx(0, abs=1e-12)


def test_test_rows_are_chance_too():
    same = mean_of([0.75, 0.75, 0.75])
    assert same.interval() == (0.75, 0.75)
    low, high = mean_of([0.74, 0.75, 0.76], tested=100).interval()
    assert high - low > 2 * 1.9 * math.sqrt(0.75 * 0.25 / 100)


def test_spread_is_measured_from_the_median_of_each_group():
    assert deviations([[1, 2, 6], [10, 10]]) == [1, 0, 4, 0, 0]


def test_a_weighted_sum_with_one_repeat_is_not_known():
    assert combine([Sample(1.0), mean_of([2.0])], [1, 1]).freedom == 0


# -- verdicts --------------------------------------------------------------------------------------


def test_inside_agrees_outside_differs_and_across_cannot_tell():
    number = mean_of([0.48, 0.52, 0.50, 0.49, 0.51])
    assert verdict(number, around(0.5, 0.05)) == "agrees"
    assert verdict(number, Range(low=0.6)) == "differs"
    assert verdict(number, Range(high=0.4)) == "differs"
    assert verdict(number, Range(low=0.5)) == "cannot tell"
    assert verdict(number, around(0.5, 0.001)) == "cannot tell"  # too rough for so much


def test_one_repeat_cannot_tell():
    assert verdict(mean_of([0.5]), Range(high=0.9)) == "cannot tell"
    assert verdict(mean_of([]), Range(high=0.9)) == "cannot tell"
    assert verdict(difference([0.5], [0.1, 0.2, 0.1]), MORE) == "cannot tell"


def test_a_flat_curve_does_not_fall():
    flat = mean_of([0.0001, -0.0001, 0.0002, 0.0])
    assert verdict(flat, MORE) == verdict(flat, LESS) == "differs"
    assert verdict(mean_of([0.02, 0.021, 0.019]), MORE) == "agrees"


def test_what_is_known_needs_no_repeats():
    assert verdict(Sample(36.0), around(36, 0)) == "agrees"
    assert verdict(Sample(37.0), around(36, 0)) == "differs"


def test_several_numbers_must_all_lie_in_the_range():
    good, bad, wide = Sample(1.0), Sample(-1.0), mean_of([1.0, -1.0])
    assert verdict({"a": good, "b": good}, Range(low=0)) == "agrees"
    assert verdict({"a": good, "b": bad}, Range(low=0)) == "differs"
    assert verdict({"a": good, "b": wide}, Range(low=0)) == "cannot tell"
    assert verdict({}, Range(low=0)) == "cannot tell"


def test_many_numbers_share_the_five_percent():
    one = mean_of([0.1, 0.3, 0.2, 0.2, 0.4, 0.1])
    holds = Range(low=0.06)
    assert verdict(one, holds) == "agrees"
    assert verdict(dict.fromkeys(map(str, range(20)), one), holds) == "cannot tell"


def test_one_of_several_is_enough_where_some_are_meant():
    good, bad, wide = Sample(1.0), Sample(-1.0), mean_of([1.0, -1.0])
    for numbers, expected in (
        ({"a": bad, "b": good}, "agrees"),
        ({"a": bad, "b": bad}, "differs"),
        ({"a": bad, "b": wide}, "cannot tell"),
    ):
        assert judge_any("", "", numbers, Range(low=0)).verdict == expected


def test_what_is_said():
    one = judge("gain", "grows", mean_of([0.02, 0.03, 0.04]), MORE, more="on votes", why="chance")
    assert one.ours == "+3.0 points (+0.5 to +5.5); on votes"
    assert one.holds == "at least +0.5 points"
    assert one.why == ""  # it does not differ
    share = judge("", "33%", Sample(0.4), around(0.33, 0.01), unit="share", why="other rows")
    assert (share.ours, share.holds, share.why) == ("40.0%", "32.0% to 34.0%", "other rows")
    assert judge("", "", Sample(2.0), around(2, 0), unit="number").holds == "2"
    assert note("", "", "7").verdict is None


# -- what was run ----------------------------------------------------------------------------------


def test_what_was_run_is_said_from_the_lines():
    lines = [
        {"how": how, "epsilon": epsilon, "depth": 1, "run": run, "accuracy": 0.5}
        for how, runs in (("his", 3), ("ours", 2))
        for epsilon in (0.1, 1.0)
        for run in range(runs)
    ]
    assert describe_runs(lines) == (
        "epsilon 0.1, 1; depth 1; repeats of each point: 3 (his); 2 (ours)"
    )
    assert describe_runs([{"what": "k", "value": 2.0}]) == ""
    folds = [{"experiment": 2, "learner": "cnl", "fold": 1}]
    assert describe_runs(folds) == "experiment 2; repeats of each point: 1"
    many = [{"depth": depth} for depth in range(20)]
    assert describe_runs(many) == "depth 0 to 19 (20 values)"
