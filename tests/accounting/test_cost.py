"""The algebra of costs, and what is promised to people."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import NOTHING, Cost, compose_in_parallel, compose_sequentially
from privet.domain import Categorical, Schema
from privet.errors import ParameterError, PrivacyError

SCHEMA = Schema({"a": Categorical(["x"])}, "class", [0, 1])
amounts = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=1000)
costs = st.one_of(
    amounts.map(Cost.pure),
    amounts.map(Cost.bounded_range),
    amounts.map(Cost.concentrated),
    st.just(NOTHING),
)


def at_most(one: Cost, other: Cost) -> bool:
    """Whether the first is no weaker a guarantee; no pure guarantee is the weakest."""
    smaller = other.epsilon is None or (one.epsilon is not None and one.epsilon <= other.epsilon)
    return smaller and one.rho <= other.rho


@given(amounts)
def test_both_currencies_of_a_mechanism(epsilon: Fraction) -> None:
    assert Cost.pure(epsilon) == Cost(epsilon, epsilon**2 / 2)
    assert Cost.bounded_range(epsilon) == Cost(epsilon, epsilon**2 / 8)
    assert Cost.concentrated(epsilon) == Cost(None, epsilon)


@given(costs, costs, costs)
def test_sequential_composition_is_a_sum(a: Cost, b: Cost, c: Cost) -> None:
    assert (a + b) + c == a + (b + c) == compose_sequentially([a, b, c])
    assert a + b == b + a
    assert a + NOTHING == a
    assert (a + b).rho == a.rho + b.rho
    assert (a + b).epsilon == (None if None in (a.epsilon, b.epsilon) else a.epsilon + b.epsilon)


@given(costs, costs, costs)
def test_parallel_composition_is_a_maximum(a: Cost, b: Cost, c: Cost) -> None:
    assert compose_in_parallel([a, a]) == compose_in_parallel([a, NOTHING]) == a
    assert compose_in_parallel([a, b]) == compose_in_parallel([b, a])
    assert compose_in_parallel([compose_in_parallel([a, b]), c]) == compose_in_parallel([a, b, c])
    assert at_most(a, compose_in_parallel([a, b]))
    assert at_most(compose_in_parallel([a, b]), a + b)


def test_nothing_costs_nothing() -> None:
    assert (
        compose_sequentially([])
        == compose_in_parallel([])
        == NOTHING
        == Cost(Fraction(0), Fraction(0))
    )


@given(costs, st.integers(1, 50))
def test_what_is_promised_to_a_person_of_several_rows(cost: Cost, rows: int) -> None:
    for neighbours, factor in (("add-remove", rows), ("replace", 2 * rows)):
        promised = cost.promised(SCHEMA.declare(rows_per_person=rows, neighbours=neighbours))
        assert promised.rho == cost.rho * factor**2
        assert promised.epsilon == (None if cost.epsilon is None else cost.epsilon * factor)


@given(costs, costs, st.integers(1, 9))
def test_a_promise_may_be_made_before_or_after_adding(a: Cost, b: Cost, rows: int) -> None:
    schema = SCHEMA.declare(rows_per_person=rows, neighbours="replace")
    assert (a + b).promised(schema) == a.promised(schema) + b.promised(schema)
    assert a.promised(SCHEMA) == a


def test_amounts_by_unit_and_as_text() -> None:
    assert (Cost.pure("1/2").amount("epsilon"), Cost.pure("1/2").amount("rho")) == (
        Fraction(1, 2),
        Fraction(1, 8),
    )
    assert Cost.concentrated(1).amount("epsilon") is None
    assert str(Cost.pure(0.5)) == "epsilon 0.5 (rho 0.125)"
    assert str(Cost.concentrated(0.5)) == "rho 0.5"


@pytest.mark.parametrize("make", [Cost.pure, Cost.bounded_range, Cost.concentrated])
def test_a_cost_must_be_finite_and_above_zero(make: object) -> None:
    for amount in (0, -1, "abc"):
        with pytest.raises(
            ParameterError, match=r"(epsilon|rho) must be a finite number above zero"
        ):
            make(amount)
    with pytest.raises((ParameterError, PrivacyError)):
        make(float("inf"))
