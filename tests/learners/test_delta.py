"""Fits that compose in zCDP: (epsilon, delta) instead of pure epsilon."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import groupby

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import epsilon_for, rho_for
from privet.curator.spending import root_below
from privet.errors import BudgetExceeded, ParameterError
from privet.learners.default_recipe import BETTER_IN_CYCLES, prefers_pure, recipe_for
from privet.learners.smooth import LEAST_EVIDENCE
from privet.report import card_markdown
from tests.amounts import NO_DELTAS

CAR = pv.datasets.load("car")
SCHEMA = CAR.schema.declare(n_rows=1728)
DELTA = Fraction(1, 10**6)


#: Ordered attributes, of which 20,000 declared rows say enough to prefer rho.
NUMBERS = pv.Schema({f"x{i}": pv.Numeric(0, 1, bins=8) for i in range(6)}, "y", [0, 1])
MANY = NUMBERS.declare(n_rows=20_000)


def rows_of_numbers(n: int) -> pd.DataFrame:
    x = np.random.default_rng(0).uniform(size=(n, 6))
    return pd.DataFrame(x, columns=NUMBERS.names).assign(y=(x[:, 0] + x[:, 1] > 1).astype(int))


TABLE = rows_of_numbers(2000)


@pytest.mark.parametrize("learner", [pv.PrivetClassifier, pv.GibbsBoostClassifier])
def test_the_whole_rho_of_epsilon_and_delta_is_promised_and_no_more(learner):
    model = learner(2, MANY, delta="1e-6").fit(TABLE)
    rho = rho_for(Fraction(2), DELTA)
    assert model.privacy_.promised.rho == rho
    assert model.privacy_.epsilon <= 2
    assert str(model.privacy_).startswith(
        "(2, 1e-06)-differentially private with one row added or removed"
    )


def test_all_that_a_fit_in_cycles_asks_adds_up_to_its_rho():
    """Class shares, draws, and every visit of every term, in the ledger and in the statement."""
    rho = rho_for(Fraction(1), DELTA)
    curator = pv.Curator(TABLE, MANY, pv.Budget(rho=2 * rho))
    model = pv.PrivetClassifier(1, delta="1e-6").fit_from(curator)
    settings, charges = model.model_.settings, model.privacy_.charges
    assert settings["cycles"] == 4
    assert "visited 4 times, between the draws" in settings["why"]
    terms = [charge for charge in charges if charge.what.startswith("additive term")]
    assert len(terms) == 4 * len(NUMBERS.names)
    assert len({charge.cost.rho for charge in terms}) == 1
    draws = [charge.cost for charge in charges if charge.what.startswith("tree")]
    assert len(draws) == settings["rounds"]
    assert all(cost.rho == cost.epsilon**2 / 8 for cost in draws)
    spent = sum(entry.cost.rho for entry in curator.ledger.entries())
    assert rho * (1 - Fraction(1, 10**9)) < spent <= rho  # roots are rounded down
    assert sum(charge.cost.rho for charge in charges) == rho
    share = sum(charge.cost.rho for charge in terms) / rho
    spared = (1 - settings["class_share"]) * (1 - settings["population_share"])
    assert share == pytest.approx(spared * settings["additive_share"], rel=0.02)


def test_trees_and_visits_take_turns():
    curator = pv.Curator(TABLE, MANY, pv.Budget(1, delta="1e-6"))
    model = pv.PrivetClassifier(1, delta="1e-6").fit_from(curator)
    asked = [entry.what[:8] for entry in curator.ledger.entries()]
    before = ("class sh", "sums of ")  # the class shares, and the population
    kinds = [kind for kind, _ in groupby(asked[1:]) if kind not in before]
    assert len(kinds) == 2 * model.model_.settings["cycles"]
    assert kinds[1::2] == ["derivati"] * 4
    assert len(model.model_.trees) == model.model_.settings["rounds"] + len(NUMBERS.names)


class TestPureIsBetter:
    """A delta is used where it is expected to help, and where the account adds rho."""

    def test_a_small_domain_gets_one_pure_draw(self):
        model = pv.PrivetClassifier(1, SCHEMA, delta="1e-6").fit(CAR.table)
        assert model.privacy_.promised.epsilon == 1
        assert model.privacy_.delta is None
        assert str(model.privacy_) == "1-differentially private with one row added or removed"
        assert any(
            note == "The delta of 1e-06 was not used: with so little evidence, pure epsilon is "
            "expected to be more accurate."
            for note in model.privacy_.notes
        )
        pure = pv.PrivetClassifier(1, SCHEMA).fit(CAR.table)
        with_delta, without = ({**one.model_.settings} for one in (model, pure))
        # Each release has an identity of its own.
        assert [*with_delta.pop("rows").values()] == [*without.pop("rows").values()]
        assert with_delta == without
        assert not any("delta" in note for note in pure.privacy_.notes)

    @pytest.mark.parametrize(
        ("n_rows", "pure"), [(10, True), (90, True), (100, False), (20_000, False)]
    )
    def test_the_rule_for_numbers_on_both_sides(self, n_rows, pure):
        """n sqrt(8 rho)/k is 7 at about 95 rows."""
        schema = NUMBERS.declare(n_rows=n_rows)
        rho = float(rho_for(Fraction(1), DELTA))
        assert (n_rows * math.sqrt(8 * rho) / 6 < LEAST_EVIDENCE) is pure
        model = pv.PrivetClassifier(1, schema, delta=DELTA).fit(TABLE.head(n_rows))
        assert (model.privacy_.promised.epsilon == 1) is pure
        assert (model.privacy_.delta == DELTA) is not pure

    @pytest.mark.parametrize(("n_rows", "pure"), [(370, True), (410, False), (5000, False)])
    def test_the_rule_for_names_on_both_sides(self, n_rows, pure):
        """n sqrt(8 rho/k) is 70 at about 388 rows."""
        attributes = {f"a{i}": pv.Categorical(list(range(8))) for i in range(6)}
        schema = pv.Schema(attributes, "y", [0, 1], n_rows=n_rows)
        rho = float(rho_for(Fraction(1), DELTA))
        assert (n_rows * math.sqrt(8 * rho / 6) < BETTER_IN_CYCLES) is pure
        assert prefers_pure(schema, 1, DELTA, alone=True) is pure

    @pytest.mark.parametrize(("rounds", "pure"), [(1, True), (5, True), (6, False), (9, False)])
    def test_a_few_draws_are_better_pure(self, rounds, pure):
        """R draws of rho have sqrt(8 rho R) together: at (1, 1e-6) more than 1 from 6 on."""
        rho = rho_for(Fraction(1), DELTA)
        assert (8 * rho * rounds <= 1) is pure
        learner = pv.GibbsBoostClassifier(1, MANY, rounds=rounds, max_depth=1, delta=DELTA)
        assert (learner.fit(TABLE).privacy_.delta is None) is pure

    @pytest.mark.parametrize("delta", [0, DELTA])
    def test_nothing_is_preferred_where_there_is_no_choice(self, delta):
        assert not prefers_pure(NUMBERS, 1, delta)  # rows are not declared
        assert not prefers_pure(SCHEMA, math.inf, delta)
        assert prefers_pure(SCHEMA, 1, delta) is (delta > 0)

    def test_an_account_that_adds_rho_is_charged_rho(self):
        """One pure draw at 1 has a rho of 1/8, more than (1, 1e-6) allows."""
        curator = pv.Curator(CAR.table, SCHEMA, pv.Budget(1, delta="1e-6"))
        model = pv.PrivetClassifier(1, delta="1e-6").fit_from(curator)
        assert model.privacy_.promised.rho == rho_for(Fraction(1), DELTA) < Fraction(1, 8)
        assert model.privacy_.delta == DELTA
        assert curator.spent.rho <= model.privacy_.promised.rho

    @pytest.mark.parametrize("learner", [pv.PrivetClassifier, pv.GibbsBoostClassifier])
    def test_an_account_that_adds_epsilon_is_charged_epsilon(self, learner):
        curator = pv.Curator(TABLE, MANY, pv.Budget(2))
        model = learner(1, delta="1e-6").fit_from(curator)
        assert curator.left == 1
        assert (model.privacy_.promised.epsilon, model.privacy_.delta) == (1, None)
        unused = "The delta of 1e-06 was not used: the budget of the curator counts epsilon."
        assert unused in model.privacy_.notes
        assert "delta of 1e-06 was not used" in card_markdown(model.model_)

    def test_replacement_doubles_the_pure_epsilon(self):
        model = pv.PrivetClassifier(1, SCHEMA.declare(neighbours="replace"), delta="1e-6").fit(
            CAR.table
        )
        assert model.privacy_.promised.epsilon == 2


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


def test_it_does_not_fit_into_a_smaller_rho():
    small = pv.Curator(CAR.table, SCHEMA, pv.Budget(1, delta="1e-6"))
    with pytest.raises(BudgetExceeded):
        pv.PrivetClassifier(2, delta="1e-6").fit_from(small)
    assert small.ledger.entries() == []


def test_under_replacement_rho_is_four_times_as_large():
    model = pv.PrivetClassifier(1, MANY.declare(neighbours="replace"), delta="1e-6").fit(TABLE)
    assert model.privacy_.promised.rho == 4 * rho_for(Fraction(1), DELTA)


@pytest.mark.parametrize("delta", NO_DELTAS)
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        pv.PrivetClassifier(1, SCHEMA, delta=delta).fit(CAR.table)
