"""What an adversary may come to believe, against odds worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.epsilon.adversary import (
    epsilon_among_worlds,
    epsilon_for_posterior,
    highest_posterior,
    lowest_posterior,
    posterior_among_worlds,
)
from privet.errors import ParameterError

PRIORS = st.floats(0.001, 0.999)
EPSILONS = st.floats(0.001, 20)


def test_odds_of_one_to_nine_that_triple_are_one_to_three():
    assert highest_posterior(0.1, math.log(3)) == pytest.approx(1 / (1 + 3))
    assert highest_posterior("1/2", math.log(3)) == pytest.approx(3 / 4)
    assert highest_posterior(0.1, 1) == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.9))


def test_odds_of_one_to_nine_that_shrink_to_a_third_are_one_to_27():
    assert lowest_posterior(0.1, math.log(3)) == pytest.approx(1 / (1 + 27))


def test_odds_from_one_to_nine_to_one_to_four_is_the_factor_nine_quarters():
    assert epsilon_for_posterior(0.1, 0.2) == pytest.approx(math.log(9 / 4))


def test_the_bound_is_reached_by_a_mechanism_and_passed_by_none():
    """Randomised response says the truth with odds e^epsilon: Bayes' rule on its two answers."""
    truth = math.e / (1 + math.e)
    prior = 0.3
    yes = prior * truth / (prior * truth + 0.7 * (1 - truth))
    no = prior * (1 - truth) / (prior * (1 - truth) + 0.7 * truth)
    assert highest_posterior(prior, 1) == pytest.approx(yes)
    assert lowest_posterior(prior, 1) == pytest.approx(no)


def test_lee_and_clifton_among_five_worlds():
    """m = 5, dv = df: 1 / (1 + 4 e^-eps); at eps = ln 4 the true world has one half."""
    assert posterior_among_worlds(5, math.log(4)) == pytest.approx(1 / 2)
    assert posterior_among_worlds(5, math.log(2), ratio=2) == pytest.approx(1 / 2)
    assert epsilon_among_worlds(5, 0.5) == pytest.approx(math.log(4 * 0.5 / 0.5))
    assert epsilon_among_worlds(5, 0.5, ratio=2) == pytest.approx(math.log(4) / 2)


def test_lee_and_clifton_of_600_000_records_at_one_tenth():
    """(df/dv) ln((n - 1) rho / (1 - rho)) = ln(599999 / 9) = 11.1, as He, Hong and Chen (2019) work
    it out.
    """
    assert epsilon_among_worlds(600_000, 0.1) == pytest.approx(math.log(599_999 / 9))
    assert epsilon_among_worlds(600_000, 0.1) == pytest.approx(11.1, abs=0.01)


@given(st.integers(2, 10**6), EPSILONS)
def test_equally_likely_worlds_are_the_prior_one_in_m(worlds, epsilon):
    assert posterior_among_worlds(worlds, epsilon) == pytest.approx(
        highest_posterior(1 / worlds, epsilon)
    )


@given(PRIORS, EPSILONS)
def test_the_prior_lies_between_and_the_other_hypothesis_mirrors_it(prior, epsilon):
    assert lowest_posterior(prior, epsilon) < prior < highest_posterior(prior, epsilon)
    assert lowest_posterior(prior, epsilon) == pytest.approx(
        1 - highest_posterior(1 - prior, epsilon), abs=1e-12
    )


@given(PRIORS, EPSILONS, st.floats(1.01, 5))
def test_more_epsilon_moves_further(prior, epsilon, times):
    assert (
        highest_posterior(prior, epsilon * times) > highest_posterior(prior, epsilon)
        or highest_posterior(prior, epsilon) == 1
    )
    assert lowest_posterior(prior, epsilon * times) < lowest_posterior(prior, epsilon)


@given(PRIORS, st.floats(0.01, 10))
def test_the_way_there_and_back(prior, epsilon):
    assert epsilon_for_posterior(prior, highest_posterior(prior, epsilon)) == pytest.approx(
        epsilon, rel=1e-6
    )


@given(st.integers(2, 1000), st.floats(0.01, 10), st.sampled_from([1, 2, "1/2"]))
def test_the_way_there_and_back_among_worlds(worlds, epsilon, ratio):
    assert epsilon_among_worlds(
        worlds, posterior_among_worlds(worlds, epsilon, ratio), ratio
    ) == pytest.approx(epsilon, rel=1e-6)


def test_no_epsilon_is_too_large():
    assert highest_posterior(0.1, 5000) == 1
    assert lowest_posterior(0.1, 5000) == 0


@pytest.mark.parametrize("wrong", [0, 1, -0.1, 1.5, math.nan, "x", None, True])
def test_a_prior_is_a_probability(wrong):
    with pytest.raises(ParameterError, match="prior must be"):
        highest_posterior(wrong, 1)


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, "one"])
def test_an_epsilon_is_finite_and_above_zero(wrong):
    with pytest.raises(ParameterError, match="epsilon must be a finite number above zero"):
        lowest_posterior(0.1, wrong)


@pytest.mark.parametrize("believed", [0.1, 0.05])
def test_a_belief_cannot_be_kept_below_the_prior(believed):
    with pytest.raises(ParameterError, match=r"believed must be above the prior, 0\.1"):
        epsilon_for_posterior(0.1, believed)
    with pytest.raises(ParameterError, match="believed must be above 1/worlds"):
        epsilon_among_worlds(10, believed)


def test_there_are_two_worlds_at_least():
    with pytest.raises(ParameterError, match="worlds must be an integer of at least 2"):
        posterior_among_worlds(1, 1)
