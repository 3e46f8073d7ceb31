"""Trees drawn whole, boosted trees and the default learner, on tables of every shape."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, epsilon_for
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.errors import BudgetExceeded, PrivacyError
from privet.learners import GibbsBoostClassifier, GibbsTreeClassifier, PrivetClassifier
from privet.mechanisms.randomness import unlock_test_seeds
from privet.model.file import read_model, write_model

LEARNERS = [PrivetClassifier, GibbsTreeClassifier, GibbsBoostClassifier]


def table_of(schema: Schema, n: int, seed: int = 0) -> pd.DataFrame:
    """Rows that follow the first attribute."""
    rng = np.random.default_rng(seed)
    columns = {}
    for name, attribute in schema.attributes.items():
        if isinstance(attribute, Numeric):
            columns[name] = rng.uniform(attribute.low, attribute.high, n)
        else:
            columns[name] = rng.choice(np.array(attribute.values), n)
    table = pd.DataFrame(columns)
    first = pd.factorize(table[schema.names[0]], sort=True)[0] if n else np.empty(0, dtype=int)
    table[schema.target] = np.array(schema.classes)[first % schema.n_classes]
    return table


def ordered(k: int, bins: int = 16, classes: int = 2, **options) -> Schema:
    return Schema(
        {f"a{i}": Numeric(0, 1, bins=bins, **options) for i in range(k)}, "c", list(range(classes))
    )


SHAPES = {
    "45 attributes of 16 bins": ordered(45),
    "300 attributes": ordered(300, 4),
    "5000 values": Schema({"a": Categorical(list(range(5000)))}, "c", ["n", "p"]),
    "5000 values and a small one": Schema(
        {"a": Categorical(list(range(5000))), "b": Categorical([1, 2])}, "c", ["n", "p"]
    ),
    "26 classes": ordered(5, classes=26),
    "one attribute": Schema({"a": Categorical(["x", "y"])}, "c", ["n", "p"]),
    "one value": Schema({"a": Categorical(["x"]), "b": Categorical([1, 2])}, "c", ["n", "p"]),
    "missing bins": ordered(3, missing="?"),
}


@pytest.mark.parametrize("schema", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("n_rows", [0, pytest.param(1, marks=pytest.mark.slow), 300])
def test_the_default_fits_a_table_of_any_shape(schema, n_rows):
    table = table_of(schema, n_rows)
    for epsilon in (F(1, 1000), 100) if n_rows else (1,):
        learner = PrivetClassifier(epsilon, schema).fit(table)
        shares = learner.predict_proba(table_of(schema, 20, seed=1))
        assert np.isfinite(shares).all()
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert learner.privacy_.promised.epsilon == epsilon
        assert learner.privacy_.private


@pytest.mark.parametrize("make", LEARNERS)
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1, 10, 100, math.inf])
def test_every_epsilon(make, epsilon):
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Numeric(0, 1, bins=8), "d": Categorical([0, 1, 2])},
        "c",
        ["n", "p"],
    )
    table = table_of(schema, 2000)
    learner = make(epsilon, schema).fit(table)
    assert learner.privacy_.private is (epsilon != math.inf)
    if epsilon >= 0.1:
        # a draw that is a little wrong has a chance of one in a hundred at 0.1
        with unlock_test_seeds():
            learner = make(epsilon, schema).set_params(random_state=1).fit(table)
        assert (learner.predict(table) == table["c"]).mean() > 0.95
        best = learner.predict_proba(table).max(axis=1)
        assert (best > (0.55 if epsilon >= 1 else 0.5)).all()


def test_identical_and_constant_columns():
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Categorical(["x", "y"]), "d": Categorical(["x", "y"])},
        "c",
        ["n", "p"],
    )
    table = table_of(schema, 1000).assign(d="x")
    table["b"] = table["a"]
    for make in LEARNERS:
        learner = make(5, schema).fit(table)
        assert (learner.predict(table) == table["c"]).mean() == 1
        assert np.isfinite(learner.feature_importances_).all()


def test_values_that_nobody_knows_are_answered():
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Numeric(0, 1, bins=8, on_unknown="drop")},
        "c",
        ["n", "p"],
    )
    odd = pd.DataFrame({"a": ["never seen", None, "x"], "b": [math.nan, 7.0, None]}, dtype=object)
    for make in LEARNERS:
        shares = make(1, schema).fit(table_of(schema, 500)).predict_proba(odd)
        np.testing.assert_allclose(shares.sum(axis=1), 1)


class TestDelta:
    SCHEMA = ordered(6).declare(n_rows=20_000)

    @pytest.mark.parametrize("make", [PrivetClassifier, GibbsBoostClassifier])
    def test_promises_epsilon_and_delta(self, make, tmp_path):
        learner = make(1, self.SCHEMA, delta=1e-6).fit(table_of(self.SCHEMA, 2000))
        promised = learner.privacy_.promised
        assert promised.epsilon is None
        assert 0.99 < epsilon_for(promised.rho, F(1, 10**6)) <= 1
        assert learner.privacy_.delta == F(1, 10**6)
        write_model(learner.model_, tmp_path / "m.json")
        assert read_model(tmp_path / "m.json").privacy == learner.model_.privacy

    def test_the_ledger_holds_no_more_than_is_promised(self):
        curator = Curator(table_of(self.SCHEMA, 2000), self.SCHEMA, Budget(1, delta=1e-6))
        cap = curator.left
        learner = PrivetClassifier(1, delta=1e-6).fit_from(curator)
        assert 0 <= curator.left < cap * F(1, 10**9)
        assert curator.spent.rho <= learner.privacy_.promised.rho == cap
        with pytest.raises(BudgetExceeded):
            PrivetClassifier(1, delta=1e-6).fit_from(curator)

    def test_people_and_replacement_are_paid_for(self):
        schema = self.SCHEMA.declare(rows_per_person=2, neighbours="replace")
        learner = GibbsBoostClassifier(1, schema, delta=1e-6, rounds=3, max_depth=1).fit(
            table_of(schema, 500)
        )
        assert learner.privacy_.promised.rho == 16 * learner.privacy_.charged.rho


def test_infinity_is_refused_by_a_private_curator():
    schema = ordered(3).declare(n_rows=100)
    for make in LEARNERS:
        curator = Curator(table_of(schema, 100), schema, Budget(1))
        with pytest.raises(PrivacyError, match="no noise"):
            make(math.inf).fit_from(curator)
        assert curator.ledger.entries() == []


def test_in_a_budget_of_rho_draws_cost_an_eighth_of_their_square():
    schema = ordered(3).declare(n_rows=100)
    curator = Curator(table_of(schema, 100), schema, Budget(rho=1))
    GibbsBoostClassifier(1, rounds=2, max_depth=1).fit_from(curator)
    assert curator.spent.rho == 2 * F(1, 4) / 8


def test_a_released_file_shows_nothing_but_what_was_paid_for(tmp_path):
    """The number of rows, exactly, stands nowhere, nor does a value of a row."""
    schema = Schema({"a": Categorical(["x", "y"]), "b": Numeric(0, 1, bins=8)}, "c", ["n", "p"])
    table = table_of(schema, 7919)
    for make in LEARNERS:
        write_model(make(1, schema).fit(table).model_, tmp_path / "m.json")
        text = (tmp_path / "m.json").read_text()
        assert "7919" not in text
        assert not any(str(value) in text for value in table["b"].iloc[:50])
