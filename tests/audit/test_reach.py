"""What a perfect test could show."""

from __future__ import annotations

import math

import pytest

from privet.audit.bounds import (
    epsilon_at_least,
    reach_of_claim,
    reach_of_gaussian,
    reach_of_parts,
)


@pytest.mark.parametrize("parts", [(1.0,), (0.5, 0.5), (4.0,), (1.0, 2.0, 1.0)])
def test_more_runs_come_nearer_to_the_whole_and_never_beyond(parts):
    found = [reach_of_parts(parts, counted) for counted in (200, 2000, 20_000, 200_000)]
    assert found == sorted(found)
    assert 0 <= found[0] < found[-1] < sum(parts)


def test_with_one_answer_it_is_the_whole():
    assert reach_of_parts((2.0,), 10**5) == pytest.approx(2, abs=0.06)


def test_many_small_answers_are_harder_to_see():
    assert (
        reach_of_parts((4.0,), 2000)
        > reach_of_parts((2.0, 2.0), 2000)
        > reach_of_parts((0.5,) * 8, 2000)
        > 0
    )


def test_runs_bound_what_can_be_seen():
    """Without a single hit in n runs a chance may still be 7.6/n, at half of an error of 1/1000."""
    assert reach_of_parts((50.0,), 1000) == pytest.approx(math.log(1000 / 7.6), abs=0.05)


def test_gaussian_noise_is_what_it_is():
    """Of rho 1/2 worlds are one deviation apart; without delta there is no end to it but the
    runs.
    """
    assert 0 < reach_of_gaussian(0.5, 2000, 0.01) < reach_of_gaussian(2.0, 2000, 0.01)
    assert (
        reach_of_gaussian(0.5, 2000, 0.2)
        < reach_of_gaussian(0.5, 2000, 0.01)
        < reach_of_gaussian(0.5, 2000, 0.0)
    )


def test_a_huge_epsilon_is_no_error():
    assert reach_of_parts([1000.0], 500) == reach_of_parts([800.0, 900.0], 500) > 4


def test_selections_and_draws_show_less_than_noise():
    """Permute-and-flip among two: 1/2 against exp(-2)/2, or as far apart elsewhere."""
    noise, selection, draw = (
        reach_of_parts([2.0], 1000),
        reach_of_parts([], 1000, selections=[2.0]),
        reach_of_parts([], 1000, draws=[2.0]),
    )
    assert noise > selection > draw > 1
    assert selection == pytest.approx(epsilon_at_least(500, 1000, 68, 1000), abs=0.1)
    assert reach_of_parts([1.0], 1000, draws=[1.0]) < reach_of_parts([1.0, 1.0], 1000)


def test_of_a_claim_it_is_that_of_one_answer_and_delta_costs():
    assert reach_of_claim(2.0, 1000) == reach_of_parts([2.0], 1000)
    assert 0 < reach_of_claim(2.0, 1000, 0.1) < reach_of_claim(2.0, 1000)
