"""Budgets, and the conversion between rho and (epsilon, delta)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget, epsilon_for, rho_for
from privet.errors import ParameterError

rhos = st.fractions(min_value=Fraction(1, 1000), max_value=20, max_denominator=10**6)
deltas = st.integers(6, 15).map(lambda digits: Fraction(1, 10**digits))


@pytest.mark.parametrize(
    ("budget", "amount", "unit", "text"),
    [
        (Budget(1), 1, "epsilon", "epsilon 1"),
        (Budget("1/3"), Fraction(1, 3), "epsilon", "epsilon 0.333333"),
        (Budget(0), 0, "epsilon", "epsilon 0"),
        (Budget(rho=0.05), Fraction(1, 20), "rho", "rho 0.05"),
        (Budget(rho=0), 0, "rho", "rho 0"),
    ],
)
def test_a_budget_is_exact(budget: Budget, amount: Fraction, unit: str, text: str) -> None:
    assert (budget.amount, budget.unit, str(budget)) == (amount, unit, text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "either epsilon or rho"),
        ({"epsilon": 1, "rho": 1}, "either epsilon or rho"),
        ({"delta": 1e-6}, "either epsilon or rho"),
        ({"rho": 1, "delta": 1e-6}, "delta goes with epsilon"),
        ({"epsilon": -1}, "epsilon must be a finite number zero or more"),
        ({"epsilon": math.inf}, "epsilon must be"),
        ({"epsilon": True}, "epsilon must be"),
        ({"rho": math.nan}, "rho must be"),
        ({"epsilon": 0, "delta": 1e-6}, "epsilon must be .* above zero"),
        ({"epsilon": 1, "delta": 0}, "delta must be"),
        ({"epsilon": 1, "delta": 1}, "delta must be above 0 and below 1"),
        ({"epsilon": 1, "delta": "abc"}, "delta must be"),
    ],
)
def test_a_bad_argument_is_named(arguments: dict, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Budget(**arguments)


@settings(max_examples=50)
@given(rhos, deltas)
def test_the_conversion_is_tighter_than_the_closed_form(rho: Fraction, delta: Fraction) -> None:
    closed = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / delta))
    assert float(rho) < epsilon_for(rho, delta) < closed


@settings(max_examples=50)
@given(rhos, rhos, deltas, deltas)
def test_the_conversion_is_monotone(
    rho: Fraction, other: Fraction, delta: Fraction, smaller: Fraction
) -> None:
    assert epsilon_for(min(rho, other), delta) <= epsilon_for(max(rho, other), delta)
    assert epsilon_for(rho, max(delta, smaller)) <= epsilon_for(rho, min(delta, smaller))


def test_a_known_value_of_the_conversion() -> None:
    """The minimum over orders a of rho*a + log(1/(a*delta))/(a-1) + log(1 - 1/a) (Canonne, Kamath
    and Steinke 2020).
    """
    rho, delta = 0.1, 1e-6
    orders = [1 + 10 ** (k / 1000) for k in range(-2000, 4000)]
    best = min(rho * a + math.log(1 / (a * delta)) / (a - 1) + math.log(1 - 1 / a) for a in orders)
    assert epsilon_for(Fraction("0.1"), Fraction(1, 10**6)) == pytest.approx(best, rel=1e-5)


def test_no_rho_is_no_epsilon_and_delta_is_a_probability() -> None:
    assert epsilon_for(Fraction(0), Fraction(1, 10)) == 0
    for delta in (0, 1, -1, 2):
        with pytest.raises(ParameterError, match="delta must be above 0 and below 1"):
            epsilon_for(Fraction(1), Fraction(delta))


@pytest.mark.parametrize("epsilon", ["1/100", "1", "10"])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_rho_for_is_the_inverse_rounded_down(epsilon: str, delta: str) -> None:
    wanted, probability = Fraction(epsilon), Fraction(delta)
    rho = rho_for(wanted, probability)
    assert epsilon_for(rho, probability) <= wanted
    assert epsilon_for(rho * Fraction(100_000_001, 100_000_000), probability) > wanted
    assert Budget(epsilon, delta=delta) == Budget(rho=rho)
