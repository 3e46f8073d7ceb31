"""The noise on a count, against the probabilities of its law, added up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.epsilon.noise_on_counts import (
    describe_noise,
    epsilon_for_margin,
    epsilon_for_variance,
    margin_of,
    margin_probability,
    variance,
)
from privet.errors import ParameterError
from privet.queries import Numbers

EPSILONS = st.floats(0.005, 30)
LN2 = math.log(2)


def chance(k: int, epsilon: float) -> float:
    """Of discrete Laplace noise k, by its definition."""
    p = math.exp(-epsilon)
    return (1 - p) / (1 + p) * p ** abs(k)


def test_by_hand_at_ln_2():
    """p = 1/2: P(0) = 1/3, P(+-1) = 1/6, P(+-2) = 1/12; the variance is 2 (1/2) / (1/2)^2 = 4."""
    assert margin_probability(LN2, 0) == pytest.approx(1 / 3)
    assert margin_probability(LN2, 1) == pytest.approx(1 / 3 + 2 / 6)
    assert margin_probability(LN2, 2) == pytest.approx(1 / 3 + 2 / 6 + 2 / 12)
    assert variance(LN2) == pytest.approx(4)
    # 1 - (4/3) (1/2)^(m + 1) >= 0.95 takes (1/2)^(m + 1) <= 0.0375, so m = 4: 1 - (4/3) / 32 =
    # 23/24
    found = describe_noise(LN2)
    assert (found.deviation, found.margin, found.coverage) == (
        pytest.approx(2),
        4,
        pytest.approx(23 / 24),
    )


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 4.0])
def test_the_law_added_up(epsilon):
    values = range(-2000, 2001)
    assert sum(chance(k, epsilon) for k in values) == pytest.approx(1)
    assert variance(epsilon) == pytest.approx(sum(k * k * chance(k, epsilon) for k in values))
    for margin in (0, 1, 7):
        assert margin_probability(epsilon, margin) == pytest.approx(
            sum(chance(k, epsilon) for k in range(-margin, margin + 1))
        )


@pytest.mark.parametrize("epsilon", ["1/10", "1", "7/2"])
def test_it_is_what_an_answer_says_of_itself(epsilon):
    cost = pv.Cost.pure(epsilon)
    answer = Numbers(
        cost,
        cost,
        True,
        None,
        (np.zeros(1, dtype=np.int64),),
        "discrete-laplace",
        1 / Fraction(epsilon),
    )
    assert describe_noise(epsilon).deviation == pytest.approx(answer.deviation)


def test_the_sampler_has_this_law():
    """20,000 draws at epsilon 0.7: four standard errors of a share accept the law, and reject a
    scale that is 30% off.
    """
    from privet.mechanisms.laplace import discrete_laplace

    with pv.testing.unlock_test_seeds():
        drawn = np.abs(discrete_laplace(pv.testing.SeededBits(5), 20_000, Fraction(10, 7)))
    for margin in (0, 2):
        share = float((drawn <= margin).mean())
        assert share == pytest.approx(
            margin_probability(0.7, margin), abs=4 * math.sqrt(0.25 / 20_000)
        )
        assert share != pytest.approx(
            margin_probability(0.7 * 1.3, margin), abs=4 * math.sqrt(0.25 / 20_000)
        )


@given(EPSILONS, st.floats(0.01, 0.999))
def test_the_margin_is_the_smallest_that_is_kept(epsilon, confidence):
    margin = margin_of(epsilon, confidence)
    assert margin_probability(epsilon, margin) >= confidence
    assert margin == 0 or margin_probability(epsilon, margin - 1) < confidence


@given(st.integers(0, 1000), st.floats(0.01, 0.999))
def test_the_way_there_and_back(margin, confidence):
    epsilon = epsilon_for_margin(margin, confidence)
    assert margin_probability(epsilon, margin) == pytest.approx(confidence)
    assert margin_probability(epsilon, margin) >= confidence


def test_back_by_hand():
    assert epsilon_for_margin(0, "1/3") == pytest.approx(LN2)  # ln((1 + 1/3) / (1 - 1/3))
    assert epsilon_for_variance(4) == pytest.approx(LN2)


@given(EPSILONS)
def test_variance_there_and_back(epsilon):
    assert epsilon_for_variance(variance(epsilon)) == pytest.approx(epsilon)
    assert variance(epsilon) < 2 / epsilon**2, "continuous noise has a little more"


@given(EPSILONS, st.integers(0, 50), st.floats(1.01, 3))
def test_more_epsilon_is_less_noise(epsilon, margin, times):
    assert variance(epsilon * times) < variance(epsilon)
    assert margin_probability(epsilon * times, margin) >= margin_probability(epsilon, margin)
    assert margin_of(epsilon * times) <= margin_of(epsilon)


def test_the_noise_of_extreme_epsilons():
    assert describe_noise(2000) == describe_noise(3000)
    assert (describe_noise(2000).deviation, describe_noise(2000).margin) == (0, 0)
    assert margin_probability(1e-9, 0) == pytest.approx(5e-10)
    assert describe_noise(1e-9).deviation == pytest.approx(math.sqrt(2) * 1e9)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: margin_probability(1, -1), "margin must be an integer of at least 0, got -1"),
        (lambda: margin_probability(1, 0.5), r"margin must be an integer of at least 0, got 0\.5"),
        (lambda: margin_of(1, 1), "confidence must be above 0 and below 1, got 1"),
        (lambda: margin_of(1e-13), "epsilon must be at least 1e-12"),
        (lambda: epsilon_for_variance(0), "variance must be a finite number above zero"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()
