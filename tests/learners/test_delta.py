"""Fits that compose in zCDP: (epsilon, delta) instead of pure epsilon."""

from __future__ import annotations

from fractions import Fraction

import pytest

import privet as pv
from privet.accounting.cost import epsilon_for, rho_for
from privet.curator.spending import root_below
from privet.errors import BudgetExceeded, ParameterError
from privet.learners.default_recipe import recipe_for
from tests.amounts import NO_DELTAS

CAR = pv.datasets.load("car")
SCHEMA = CAR.schema.declare(n_rows=1728)
DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize("learner", [pv.PrivetClassifier, pv.GibbsBoostClassifier])
def test_the_whole_rho_of_epsilon_and_delta_is_promised_and_no_more(learner):
    model = learner(2, SCHEMA, delta="1e-6").fit(CAR.table)
    rho = rho_for(Fraction(2), DELTA)
    assert model.privacy_.promised.rho == rho
    assert model.privacy_.epsilon <= 2
    assert str(model.privacy_).startswith(
        "(2, 1e-06)-differentially private with one row added or removed"
    )


def test_the_ledger_holds_an_eighth_of_the_square_of_each_draw():
    curator = pv.Curator(CAR.table, SCHEMA, pv.Budget(2, delta="1e-6"))
    pv.GibbsBoostClassifier(2, rounds=4, max_depth=1, delta="1e-6").fit_from(curator)
    rho = rho_for(Fraction(2), DELTA)
    costs = [entry.cost for entry in curator.ledger.entries()]
    assert [cost.rho for cost in costs] == [cost.epsilon**2 / 8 for cost in costs]
    assert len(costs) == 4
    # Rounded down, by next to nothing.
    assert rho * (1 - Fraction(1, 10**9)) < sum(cost.rho for cost in costs) <= rho
    assert epsilon_for(sum(cost.rho for cost in costs), DELTA) <= 2


def test_more_draws_of_rho_have_more_evidence_together():
    """R draws have sqrt(8 rho/R) each: together sqrt(R) times that of one, where epsilon would be
    the same.
    """
    wide = pv.Schema({f"x{i}": pv.Numeric(0, 1, bins=16) for i in range(20)}, "y", [0, 1])
    epsilon, rho = Fraction(1, 20), Fraction(1, 3200)  # one draw of this rho has this epsilon
    assert root_below(8 * rho) == epsilon or abs(float(root_below(8 * rho) - epsilon)) < 1e-20
    pure = recipe_for(wide, 50_000, epsilon, "epsilon", draws_only=True)
    concentrated = recipe_for(wide, 50_000, rho, "rho", draws_only=True)
    assert concentrated.rounds > pure.rounds > 1


@pytest.mark.parametrize(
    "square", [Fraction(2), Fraction(1, 3), Fraction(16), Fraction(10**12 + 1, 7)]
)
def test_a_root_is_just_below(square):
    root = root_below(square)
    assert root**2 <= square < (root + Fraction(1, 1 << 79)) ** 2


def test_it_does_not_fit_into_a_budget_of_epsilon_or_into_a_smaller_rho():
    with pytest.raises(ParameterError, match="budget in rho"):
        pv.PrivetClassifier(1, delta="1e-6").fit_from(pv.Curator(CAR.table, SCHEMA, pv.Budget(10)))
    small = pv.Curator(CAR.table, SCHEMA, pv.Budget(1, delta="1e-6"))
    with pytest.raises(BudgetExceeded):
        pv.PrivetClassifier(2, delta="1e-6").fit_from(small)
    assert small.ledger.entries() == []


def test_under_replacement_rho_is_four_times_as_large():
    schema = pv.Schema(
        dict(SCHEMA.attributes), SCHEMA.target, SCHEMA.classes, n_rows=1728, neighbours="replace"
    )
    model = pv.PrivetClassifier(1, schema, delta="1e-6").fit(CAR.table)
    assert model.privacy_.promised.rho == 4 * rho_for(Fraction(1), DELTA)


@pytest.mark.parametrize("delta", NO_DELTAS)
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        pv.PrivetClassifier(1, SCHEMA, delta=delta).fit(CAR.table)
