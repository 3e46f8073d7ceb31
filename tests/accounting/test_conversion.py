"""The conversion between zCDP and (epsilon, delta), against the formula and against OpenDP."""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction as F
from functools import lru_cache

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.accounting import conversion
from privet.accounting.conversion import epsilon_for, rho_for
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.errors import LedgerError, ParameterError

FINE = Context(prec=150, Emin=-(10**6), Emax=10**6)
# 0.1 bisected OpenDP's conversion; these are its amounts for Budget(epsilon, delta=delta).
OF_VERSION_0_1 = {
    ("1", "1e-6"): F(836864769, 34359738368),
    ("1/3", "1e-9"): F(8345010195223893, 4611686018427387904),
    ("0.001", "0.1"): F(1989659115867079, 144115188075855872),
    ("0.5", "1e-5"): F(1168991223, 137438953472),
    ("2", "0.001"): F(3321061611, 17179869184),
    ("10", "1e-15"): F(11806994683, 17179869184),
    ("50", "1e-6"): F(81847757133, 4294967296),
}

mantissas = st.integers(1000, 9999).map(lambda digits: F(digits, 1000))
rhos = st.builds(lambda digits, power: digits * F(10) ** power, mantissas, st.integers(-30, 12))
small = st.builds(lambda digits, power: digits / F(10) ** power, mantissas, st.integers(1, 300))
nearly_one = st.builds(lambda digits, k: 1 - digits / F(10) ** k, mantissas, st.integers(1, 40))
deltas = st.one_of(small, nearly_one)


def decimal(value: F) -> Decimal:
    return FINE.divide(Decimal(value.numerator), Decimal(value.denominator))


@lru_cache
def lowest(rho: F, delta: F, least: str = "-110") -> Decimal:
    """The formula as published, at 150 digits, minimised over log(alpha - 1) by ternary search."""
    probability, cost = decimal(delta), decimal(rho)

    def at(place: Decimal) -> Decimal:
        less = FINE.exp(place)
        alpha = FINE.add(1, less)
        logarithm = FINE.ln(FINE.multiply(alpha, probability))
        rest = FINE.subtract(FINE.ln(FINE.divide(less, alpha)), FINE.divide(logarithm, less))
        return FINE.add(FINE.multiply(alpha, cost), rest)

    low, high = Decimal(least), Decimal(1500)
    third = Decimal(1) / 3
    while high - low > Decimal("1e-18"):
        left = low + (high - low) * third
        right = high - (high - low) * third
        low, high = (low, right) if at(left) < at(right) else (left, high)
    return max(Decimal(0), at(low))


def check_upper_bound(rho: F, delta: F, epsilon: float) -> None:
    """Not below the optimum, and at most three parts in 10^16 above it (or nearly zero)."""
    optimum = lowest(rho, delta)
    # Ternary search ends 1e-18 from the best place, hence 1e-34 above the optimum.
    slack = (optimum + decimal(rho)) * Decimal("1e-30")
    assert Decimal(epsilon) >= optimum - slack
    assert Decimal(epsilon) <= optimum * Decimal("1.0000000000000003") + slack


@settings(max_examples=40, deadline=None)
@given(rhos, deltas)
def test_epsilon_is_the_optimum_rounded_up(rho: F, delta: F) -> None:
    check_upper_bound(rho, delta, epsilon_for(rho, delta))


CASES = [(F(k, 7), F(1, 10**d)) for k in range(1, 8) for d in (3, 6, 9)]


def test_rounding_down_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the last step rounded to the nearest float, or all of them down, a bound is broken."""

    def broken() -> int:
        wrong = 0
        for rho, delta in CASES:
            try:
                check_upper_bound(rho, delta, epsilon_for.__wrapped__(rho, delta))
            except AssertionError:
                wrong += 1
        return wrong

    assert broken() == 0
    with monkeypatch.context() as patch:
        patch.setattr(conversion, "_float_above", float)
        assert 3 <= broken() < len(CASES)
    with monkeypatch.context() as patch:
        patch.setattr(conversion, "_float_above", lambda value: math.nextafter(float(value), 0))
        assert broken() == len(CASES)


def test_every_operation_is_rounded_upwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """At nine digits the bound must still hold; rounded down at nine digits, it does not."""

    def above() -> list[bool]:
        found = [(epsilon_for.__wrapped__(*case), lowest(*case)) for case in CASES]
        assert all(Decimal(ours) < optimum * Decimal("1.00001") for ours, optimum in found)
        return [Decimal(ours) >= optimum for ours, optimum in found]

    monkeypatch.setattr(conversion, "_DIGITS", 9)
    assert all(above())
    monkeypatch.setattr(conversion, "ROUND_CEILING", ROUND_FLOOR)
    assert not all(above())


# -- OpenDP ----------------------------------------------------------------------------------------


def of_opendp(rho: F, delta: F) -> float:
    from opendp.combinators import make_zCDP_to_approxDP
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    gaussian = make_gaussian(atom_domain(T="i64"), absolute_distance(T="f64"), scale=1.0)
    distance = math.nextafter(math.sqrt(2 * float(rho)), math.inf)  # scale 1: rho = distance**2 / 2
    converted = make_zCDP_to_approxDP(gaussian).map(distance)
    return float(converted.epsilon(math.nextafter(float(delta), 0.0)))


@pytest.mark.parametrize("delta", ["1e-300", "1e-30", "1e-15", "1e-9", "1e-6", "1e-3", "0.1"])
@pytest.mark.parametrize("rho", ["1e-12", "1e-6", "0.001", "0.02", "0.1", "1", "7", "100", "10000"])
def test_opendp_agrees(rho: str, delta: str) -> None:
    ours, theirs = epsilon_for(F(rho), F(delta)), of_opendp(F(rho), F(delta))
    assert ours == pytest.approx(theirs, rel=1e-12, abs=0)
    assert ours <= theirs * (1 + 1e-14)


@pytest.mark.parametrize(("rho", "delta"), [("10", "0.99"), ("1000", "0.9"), ("10000", "0.5")])
def test_opendp_stops_at_order_1_01_and_ours_goes_on(rho: str, delta: str) -> None:
    """For a large delta with a large rho the best order is closer to 1."""
    theirs = of_opendp(F(rho), F(delta))
    assert epsilon_for(F(rho), F(delta)) < theirs
    bounded = lowest(F(rho), F(delta), least=str(math.log(0.01)))
    assert float(bounded) == pytest.approx(theirs, rel=1e-12)


# -- the whole range -------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(rhos, rhos, deltas, deltas)
def test_it_is_monotone(rho: F, other: F, delta: F, smaller: F) -> None:
    assert epsilon_for(min(rho, other), delta) <= epsilon_for(max(rho, other), delta)
    assert epsilon_for(rho, max(delta, smaller)) <= epsilon_for(rho, min(delta, smaller))


@settings(max_examples=200, deadline=None)
@given(st.builds(lambda m, power: m * F(10) ** power, mantissas, st.integers(-30, 100)), deltas)
def test_it_is_at_most_the_simple_bound(rho: F, delta: F) -> None:
    """What 0.1 used for a rho above 10^4 (Bun and Steinke 2016, proposition 1.3)."""
    loss = -FINE.ln(decimal(delta))
    simple = decimal(rho) + 2 * FINE.sqrt(decimal(rho) * loss)
    assert 0 <= Decimal(epsilon_for(rho, delta)) <= simple * Decimal("1.0000000000000003")


def test_the_ends_of_the_range() -> None:
    near_one = 1 - F(1, 10**100)
    assert epsilon_for(F(0), F(1, 10**300)) == 0
    assert epsilon_for(F(1, 10**30), F(1, 2)) == 0
    assert epsilon_for(F(100), near_one) == 0
    assert epsilon_for(F(10**4), near_one) == pytest.approx(9769.741490700597, rel=1e-12)
    assert epsilon_for(F(1, 10**400), F(1, 10**600)) == pytest.approx(6.05515785507468e-199)
    assert epsilon_for(F(10**400), F(1, 10)) == math.inf
    assert 0 < epsilon_for(F(1, 10**900), F(1, 10**1000)) == 5e-324
    with pytest.raises(ParameterError, match="rho must be zero or more"):
        epsilon_for(F(-1), F(1, 10))
    with pytest.raises(ParameterError, match="epsilon must be above zero"):
        rho_for(F(0), F(1, 10))


@settings(max_examples=150, deadline=None)
@given(st.builds(lambda m, power: m * F(10) ** power, mantissas, st.integers(-30, 100)), deltas)
def test_rho_for_is_the_inverse_rounded_down(epsilon: F, delta: F) -> None:
    rho = rho_for(epsilon, delta)
    assert rho > 0
    assert epsilon_for(rho, delta) <= epsilon
    assert epsilon_for(rho * F(10**9 + 6, 10**9), delta) > epsilon


def test_an_epsilon_beyond_floats_is_cut() -> None:
    assert 0 < rho_for(F(10**400), F(1, 10)) < 10**300


# -- what version 0.1 wrote ------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "amount"), OF_VERSION_0_1.items())
def test_amounts_match_those_of_version_0_1_and_fit_under_them(asked: tuple, amount: F) -> None:
    epsilon, delta = asked
    now = Budget(epsilon, delta=delta)
    assert now.amount < amount  # a fit for this epsilon and delta fits under a cap of then
    assert now.matches(Budget(rho=amount))
    assert Budget(rho=amount).matches(now)
    assert epsilon_for(amount, F(delta)) <= F(epsilon) * (1 + F(1, 10**9))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Budget(rho=1), Budget(1)),
        (Budget(rho=1), Budget(rho="1.0000001")),
        (Budget(rho=0), Budget(rho="1e-30")),
        (Budget(1), Budget("1.0000000001")),
    ],
)
def test_other_budgets_do_not_match(one: Budget, other: Budget) -> None:
    assert not one.matches(other)
    assert not other.matches(one)
    assert one.matches(one)


def test_a_ledger_of_version_0_1_is_opened_again(tmp_path) -> None:
    schema = Schema({"a": Categorical(["x", "y"])}, "class", ["no", "yes"])
    table = pd.DataFrame({"a": ["x", "y"], "class": ["no", "yes"]})
    stored = Budget(rho=OF_VERSION_0_1["1", "1e-6"])
    SQLiteLedger(tmp_path / "ledger").set_cap("people", stored)

    def opened(budget: Budget) -> Curator:
        ledger = SQLiteLedger(tmp_path / "ledger")
        return Curator(table, schema, budget, ledger=ledger, dataset="people")

    curator = opened(Budget(1, delta=1e-6))
    assert curator.ledger.cap("people") == stored  # the cap of the ledger stays in force
    curator.require([Cost.concentrated(rho_for(F(1), F(1, 10**6)))])
    with pytest.raises(LedgerError, match="holds a budget of rho"):
        opened(Budget("1.00001", delta=1e-6))
