"""Class weights and costs move the decision, and nothing else; the population is paid for."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privet as pv
from privet.errors import ParameterError, QuestionError
from privet.learners.default_recipe import POPULATION, share_for_classes, share_for_population
from privet.learners.people import measure_population

SCHEMA = pv.Schema(
    attributes={"a": pv.Categorical(["x", "y"]), "b": pv.Numeric(0, 8, bins=8)},
    target="c",
    classes=["common", "rare"],
).declare(n_rows=4000)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """One row in ten is rare, three in ten where a is "y"."""
    rng = np.random.default_rng(0)
    a = rng.random(4000) < 0.25
    rare = rng.random(4000) < np.where(a, 0.3, 0.033)
    return pd.DataFrame(
        {
            "a": np.where(a, "y", "x"),
            "b": rng.uniform(0, 8, 4000) ** 2 / 8,
            "c": np.where(rare, "rare", "common"),
        }
    )


def fit(table: pd.DataFrame, epsilon=2, schema=SCHEMA, **settings) -> pv.PrivetClassifier:
    return pv.PrivetClassifier(epsilon, schema, **settings).fit(table)


def what_was_paid(model: pv.PrivetClassifier) -> dict[str, F]:
    return {charge.what: charge.cost.epsilon for charge in model.privacy_.charges}


# -- class weights and costs -----------------------------------------------------------------------


def test_weights_move_the_decision_and_not_the_probabilities(table):
    model = fit(table, class_weight={"rare": 9})
    assert model.model_.costs.tolist() == [[0, 1], [9, 0]]
    shares = model.predict_proba(table)[:, 1]
    np.testing.assert_array_equal(model.predict(table) == "rare", shares * 9 > 1 - shares)
    assert 0.05 < shares.mean() < 0.2  # as in the population, where a tenth is rare
    assert what_was_paid(model).keys() == what_was_paid(fit(table)).keys()


def test_balanced_classes_are_found_and_paid_for(table):
    plain, balanced = fit(table), fit(table, class_weight="balanced")
    said = balanced.predict(table)
    assert (plain.predict(table) == "rare").mean() < 0.02
    assert (said[table["c"] == "rare"] == "rare").mean() > 0.5
    weights = balanced.model_.costs.max(axis=1)
    assert weights[1] / weights[0] == pytest.approx(9, rel=0.4)
    assert balanced.model_.settings["class_weight"] == "balanced"


def test_balanced_weights_are_paid_where_no_shares_would_be():
    """Of four classes, and in a small domain, class shares are not asked for otherwise."""
    car = pv.datasets.load("car")
    schema = car.schema.declare(n_rows=1728)
    assert share_for_classes(schema, 1728, F(1), "epsilon") == 0
    share = share_for_classes(schema, 1728, F(1), "epsilon", always=True)
    model = pv.PrivetClassifier(1, schema, class_weight="balanced").fit(car.table)
    assert what_was_paid(model)["class shares"] == share > 0
    assert "class shares" not in what_was_paid(pv.PrivetClassifier(1, schema).fit(car.table))
    shares = car.table["class"].value_counts(normalize=True)[list(schema.classes)].to_numpy()
    weights = model.model_.costs.max(axis=1)
    assert weights[0] == pytest.approx(1 / (4 * shares[0]), rel=0.2)
    assert weights.argmin() == shares.argmax()


def test_costs_are_kept_by_the_model_its_file_and_a_pickle(table, tmp_path):
    model = fit(table, costs={("rare", "common"): 9})
    said = model.predict(table)
    assert (said == "rare").any()
    pv.save(model, tmp_path / "m.json")
    for other in (pv.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(table), said)


def test_costs_can_be_given_with_the_question(table):
    model = fit(table)
    matrix = [[0, 1], [9, 0]]
    said = model.predict(table, costs={("rare", "common"): 9})
    np.testing.assert_array_equal(said, model.predict(table, costs=matrix))
    assert (said != model.predict(table)).any()
    assert model.model_.costs is None
    own = fit(table, costs=matrix)
    assert set(own.predict(table, costs=[[0, 1], [0, 0]])) == {"common"}


def test_any_learner_decides_by_costs(table):
    model = pv.AdditiveClassifier(2, SCHEMA).fit(table)
    assert set(model.predict(table, costs=[[0, 0], [1, 0]])) == {"rare"}


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"class_weight": {"rar": 2}}, QuestionError, "did you mean 'rare'"),
        ({"class_weight": {"rare": -2}}, ParameterError, "must be a number from 0"),
        ({"class_weight": "balance"}, ParameterError, "did you mean 'balanced'"),
        ({"class_weight": 3}, ParameterError, "None, 'balanced' or a mapping of class weights"),
        ({"costs": [[0, 1]]}, ParameterError, "a column for each of the 2 classes"),
        ({"costs": [[0, 1], [1, 0]], "class_weight": "balanced"}, ParameterError, "not both"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_charged(table, settings, error, said):
    curator = pv.Curator(table, SCHEMA, pv.Budget(1))
    with pytest.raises(error, match=said):
        pv.PrivetClassifier(1, **settings).fit_from(curator)
    assert curator.left == 1
    assert not list(curator.ledger.entries())


def test_settings_survive_a_clone_and_tell_fits_apart():
    learner = pv.PrivetClassifier(class_weight={"rare": 3})
    assert clone(learner).class_weight == {"rare": 3}
    assert "class_weight={'rare': 3}" in learner.list_settings()
    by_matrix = pv.PrivetClassifier(costs=np.array([[0, 1], [2, 0]]))
    assert any(setting.startswith("costs=") for setting in clone(by_matrix).list_settings())


# -- the population --------------------------------------------------------------------------------


def test_the_population_is_that_of_the_rows_and_is_paid_for(table):
    curator = pv.Curator(table, SCHEMA, pv.Budget(2))
    people, charges = measure_population(curator, 4000, F(1))
    assert [(charge.what, charge.cost.epsilon) for charge in charges] == [
        ("rows by a", F(1, 2)),
        ("rows by b", F(1, 2)),
    ]
    assert curator.left == 1
    true = table["a"].value_counts(normalize=True)
    assert people.shares["a"].tolist() == pytest.approx([true["x"], true["y"]], abs=0.01)
    bins = np.floor(table["b"]).value_counts(normalize=True).sort_index()
    np.testing.assert_allclose(people.shares["b"], bins, atol=0.01)
    # a count has Laplace noise of scale 2, and there are 4000 rows
    assert people.deviation == pytest.approx(np.sqrt(2) * 2 / 4000, rel=0.1)


def test_a_fit_pays_for_the_population_where_it_would_not_be_blurred(table):
    model = fit(table, epsilon=8)
    paid = sum(cost for what, cost in what_was_paid(model).items() if what.startswith("rows by"))
    share = model.model_.settings["class_share"]
    assert paid == 8 * (1 - F(str(share))) * POPULATION
    assert model.model_.population.fits(SCHEMA)
    assert model.privacy_.promised.epsilon == 8
    thin = fit(table, epsilon=F(1, 10))
    assert thin.model_.population is None
    assert not any(what.startswith("rows by") for what in what_was_paid(thin))


def test_noise_on_a_share_is_as_the_rule_foresees():
    """The rule grants 2% exactly where a share's deviation is 5% at most."""
    k = len(SCHEMA.names)
    least = np.sqrt(2) * k / (0.02 * 0.05)
    assert share_for_population(SCHEMA, least * 1.01, F(1), "epsilon") == POPULATION
    assert share_for_population(SCHEMA, least * 0.99, F(1), "epsilon") == 0
    least = np.sqrt(k / (2 * 0.02)) / 0.05
    assert share_for_population(SCHEMA, least * 1.01, F(1), "rho") == POPULATION
    assert share_for_population(SCHEMA, least * 0.99, F(1), "rho") == 0


def test_no_population_is_asked_for_at_less_than_curators_answer_for():
    """Two attributes share 2%: 1e-6 each at an epsilon of 1e-4, however many rows there are."""
    assert share_for_population(SCHEMA, 10**12, F(1, 10**4), "epsilon") == POPULATION
    assert share_for_population(SCHEMA, 10**12, F(99, 10**6), "epsilon") == 0


def test_importances_are_those_of_the_people():
    """Nearly everybody has "x" in a: what a says explains less than over the whole domain."""
    rng = np.random.default_rng(1)
    n = 20_000
    a, b = rng.random(n) < 0.03, rng.random(n) < 0.5
    c = rng.random(n) < np.where(a ^ b, 0.9, 0.1)
    schema = pv.Schema(
        attributes={name: pv.Categorical(["x", "y"]) for name in "ab"},
        target="c",
        classes=["n", "p"],
    ).declare(n_rows=n)
    table = pd.DataFrame({"a": a, "b": b, "c": c}).apply(
        lambda column: np.where(column, *(("p", "n") if column.name == "c" else ("y", "x")))
    )
    model = pv.PrivetClassifier(5, schema).fit(table)
    assert model.feature_importances_[0] < 0.2
    over_the_domain = replace(model.model_, population=None).importances()
    assert model.feature_importances_[0] < over_the_domain[0]
