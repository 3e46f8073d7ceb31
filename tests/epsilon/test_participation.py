"""The price of taking part, worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.epsilon.adversary import compute_price, cost_rise, epsilon_for_price
from privet.errors import ParameterError


def test_a_price_worked_out_by_hand():
    """e^(ln 1.5) - 1 = 1/2: of an expected cost of 40 that is 20, and 60,000 for 3,000 people."""
    found = compute_price(math.log(1.5), 40, 3000)
    assert (found.each, found.people, found.total) == (
        pytest.approx(20),
        3000,
        pytest.approx(60_000),
    )
    assert cost_rise(1) == pytest.approx(math.e - 1)
    assert epsilon_for_price(60_000, 40, 3000) == pytest.approx(math.log(1 + 60_000 / (40 * 3000)))


def test_the_price_is_what_the_worst_mechanism_costs():
    """A bad event of cost 1000 that has probability 0.01 without a person, and e^epsilon times that
    with them.
    """
    without, epsilon = 0.01 * 1000, 0.7
    assert compute_price(epsilon, without).each == pytest.approx(
        0.01 * math.exp(epsilon) * 1000 - without
    )


@given(st.floats(0.001, 10), st.floats(0.01, 1e6), st.integers(1, 10**7))
def test_there_and_back(epsilon, cost, people):
    assert epsilon_for_price(
        compute_price(epsilon, cost, people).total, cost, people
    ) == pytest.approx(epsilon)


@given(st.floats(0.001, 100), st.floats(1.01, 5))
def test_more_epsilon_costs_more(epsilon, times):
    assert cost_rise(epsilon * times) > cost_rise(epsilon) > epsilon


def test_there_is_no_bound_any_more():
    assert cost_rise(1000) == math.inf
    assert compute_price(1000, 1, 10).total == math.inf


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: compute_price(1, 0), "cost must be a finite number above zero, got 0"),
        (lambda: compute_price(1, 1, 0), "people must be an integer of at least 1, got 0"),
        (lambda: epsilon_for_price(0, 1), "budget must be a finite number above zero, got 0"),
        (
            lambda: epsilon_for_price(1, 1, 1.5),
            r"people must be an integer of at least 1, got 1\.5",
        ),
        (lambda: cost_rise("much"), "epsilon must be a finite number above zero, got 'much'"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()
