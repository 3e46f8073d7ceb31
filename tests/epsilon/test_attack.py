"""How often an attack succeeds, against laws and tests worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.epsilon.adversary import (
    best_guess,
    best_test,
    epsilon_for_laplace_success,
    epsilon_for_posterior,
    laplace_success,
)
from privet.epsilon.noise_on_counts import margin_probability
from privet.errors import ParameterError

EPSILONS = st.floats(0.001, 20)
LEVELS = st.floats(0.001, 0.999)


def test_he_by_hand():
    """Laplace noise of scale df/eps stays within L with probability 1 - e^(-L eps/df)."""
    assert laplace_success(math.log(4), 1) == pytest.approx(1 - 1 / 4)
    assert laplace_success(math.log(4), "1/2") == pytest.approx(1 - 1 / 2)
    assert laplace_success(math.log(4), 1, sensitivity=2) == pytest.approx(1 - 1 / 2)
    assert epsilon_for_laplace_success(0.75, 1) == pytest.approx(math.log(4))
    assert epsilon_for_laplace_success(0.75, 3, sensitivity=6) == pytest.approx(2 * math.log(4))


def test_he_is_the_area_under_the_law():
    epsilon, half, steps = 0.8, 1.5, 20_000
    middles = [-half + (step + 0.5) * 2 * half / steps for step in range(steps)]
    area = sum(epsilon / 2 * math.exp(-epsilon * abs(x)) for x in middles) * 2 * half / steps
    assert laplace_success(epsilon, half) == pytest.approx(area, rel=1e-6)


@given(EPSILONS, st.integers(0, 30))
def test_whole_numbers_lie_between_the_nearest_intervals(epsilon, margin):
    """Noise on whole numbers within m, beside continuous noise within m and within m + 1."""
    exact = margin_probability(epsilon, margin)
    assert laplace_success(epsilon, margin + 1) >= exact - 1e-12
    assert margin == 0 or laplace_success(epsilon, margin) <= exact + 1e-12


@given(st.floats(0.01, 2), st.floats(0.1, 3), st.floats(0.5, 4))
def test_he_there_and_back(epsilon, half, sensitivity):
    assert epsilon_for_laplace_success(
        laplace_success(epsilon, half, sensitivity), half, sensitivity
    ) == pytest.approx(epsilon, rel=1e-4)


def test_guess_by_hand():
    assert best_guess(math.log(3)) == pytest.approx(3 / 4)
    assert best_guess(1) == pytest.approx(math.e / (1 + math.e))
    assert epsilon_for_posterior(0.5, best_guess(1)) == pytest.approx(1)


def test_a_noisy_count_reaches_the_bound():
    """Who knows that a true count is 0 or 1 guesses the likelier from the noisy one; right is the
    mean of both, added up.
    """
    epsilon = 0.9
    p = math.exp(-epsilon)
    law = {k: (1 - p) / (1 + p) * p ** abs(k) for k in range(-200, 202)}
    right = sum(max(law[k], law.get(k - 1, 0)) for k in law) / 2
    assert best_guess(epsilon) == pytest.approx(right)


def test_a_test_by_hand():
    assert best_test(math.log(2), 0.05) == pytest.approx(0.1)
    assert best_test(math.log(2), 0.8) == pytest.approx(1 - 0.5 * 0.2), (
        "the other side binds: few outside remain that are not accused"
    )
    assert best_test(3, 0.05) == pytest.approx(1 - math.exp(-3) * 0.95), (
        "and 0.05 e^3 would be above 1"
    )


@given(EPSILONS, LEVELS)
def test_both_errors_keep_the_promise(epsilon, level):
    """The four inequalities of Kairouz, Oh and Viswanath, of which the bound is the tightest."""
    power = best_test(epsilon, level)
    factor, slack = math.exp(epsilon), 1 + 1e-9
    assert level <= power * slack
    assert power <= 1
    assert power <= factor * level * slack
    assert (1 - level) <= factor * (1 - power) * slack + 1e-9 * factor
    assert power == pytest.approx(factor * level) or (1 - level) == pytest.approx(
        factor * (1 - power), rel=1e-3
    )


@given(EPSILONS, LEVELS)
def test_no_test_beats_the_best_guess(epsilon, level):
    assert (best_test(epsilon, level) + 1 - level) / 2 <= best_guess(epsilon) + 1e-12


@given(EPSILONS, LEVELS, st.floats(1.01, 4))
def test_more_epsilon_helps_the_attack(epsilon, level, times):
    assert best_guess(epsilon * times) >= best_guess(epsilon)
    assert best_test(epsilon * times, level) >= best_test(epsilon, level)
    assert laplace_success(epsilon * times, 1) >= laplace_success(epsilon, 1)


def test_no_epsilon_is_too_large():
    assert (best_guess(5000), best_test(5000, 0.01), laplace_success(5000, 1)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: best_guess(0), "epsilon must be a finite number above zero, got 0"),
        (lambda: best_test(1, 0), "false_alarms must be above 0 and below 1, got 0"),
        (lambda: best_test(1, 1), "false_alarms must be above 0 and below 1, got 1"),
        (lambda: laplace_success(1, -1), "half_length must be a finite number above zero, got -1"),
        (lambda: laplace_success(1, 1, 0), "sensitivity must be a finite number above zero, got 0"),
        (lambda: epsilon_for_laplace_success(1, 1), "success must be above 0 and below 1, got 1"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()
