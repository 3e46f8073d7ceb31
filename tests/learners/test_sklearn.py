"""The scikit-learn contract, with a short list of expected failures and why."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

from privet import datasets
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.errors import BudgetExceeded, ParameterError, PrivacyWarning, SchemaError
from privet.learners import (
    AdditiveClassifier,
    ForestClassifier,
    GibbsBoostClassifier,
    GibbsTreeClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    PrivetClassifier,
    RandomTreesClassifier,
    tune,
)
from privet.learners.released import ReleasedClassifier
from privet.model.file import read_model, write_model
from privet.report.card import card

CAR = datasets.load("car")

WITHOUT_NOISE = {
    "check_fit_score_takes_y": "an update without noise is refused: pool the rows",
}

ESTIMATORS = [
    PrivetClassifier(math.inf, "from-data"),
    GibbsTreeClassifier(math.inf, "from-data", max_depth=2),
    GibbsBoostClassifier(math.inf, "from-data", rounds=5, max_depth=2),
    RandomTreesClassifier(math.inf, "from-data", height=4, n_trees=30),
    GreedyTreeClassifier(math.inf, "from-data"),
    ForestClassifier(math.inf, "from-data", divide="budget"),
    NoisyID3Classifier(math.inf, "from-data", max_depth=3),
    AdditiveClassifier(math.inf, "from-data"),
]


LEARNERS = [
    AdditiveClassifier,
    ForestClassifier,
    GibbsBoostClassifier,
    GibbsTreeClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    PrivetClassifier,
    RandomTreesClassifier,
]


def expected_failures(estimator):
    return WITHOUT_NOISE if isinstance(estimator, PrivetClassifier) else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(learner, marks=pytest.mark.slow if learner is PrivetClassifier else ())
        for learner in LEARNERS
    ],
)
def test_check_estimator_passes_as_people_call_it(learner):
    """It sets random_state, and gives no schema: nothing is private then, which is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(learner(), on_skip=None)
    skipped = {one["check_name"] for one in results if one["status"] != "passed"}
    assert skipped == {"check_pipeline_consistency", "check_array_api_input"}


def test_a_seed_is_taken_and_promises_nothing(tmp_path):
    with pytest.warns(PrivacyWarning, match="random_state=7: whoever knows a seed"):
        model = GreedyTreeClassifier(1, CAR.schema, random_state=7).fit(CAR.X, CAR.y)
    assert model.privacy_.describe() == "NOT PRIVATE: a test seed was used"
    assert "NOT PRIVATE" in card(model).to_text()
    with pytest.warns(PrivacyWarning), pytest.raises(ParameterError, match="a seed must be an int"):
        GreedyTreeClassifier(1, CAR.schema, random_state="x").fit(CAR.X, CAR.y)
    generator = np.random.RandomState(1)
    with pytest.raises(ParameterError, match="leave it out for a private model"):
        GreedyTreeClassifier(1, CAR.schema, random_state=generator).fit(CAR.X, CAR.y)


def test_a_schema_may_be_a_path(tmp_path):
    CAR.schema.write(tmp_path / "car.schema.json")
    learner = GreedyTreeClassifier(1, str(tmp_path / "car.schema.json")).fit(CAR.X, CAR.y)
    assert learner.model_.schema == CAR.schema
    with pytest.raises(SchemaError, match=r"cannot read schema file from-dta.*mean 'from-data'"):
        GreedyTreeClassifier(1, "from-dta").fit(CAR.X, CAR.y)
    with pytest.raises(SchemaError, match="schema must be a Schema, the path of a schema file"):
        GreedyTreeClassifier(1, 5).fit(CAR.X, CAR.y)


def test_arrays_are_taken_without_a_warning():
    """Columns are in the order of the schema; names are asked for only where there were some."""
    array = CAR.X.to_numpy()
    model = GreedyTreeClassifier(1, CAR.schema).fit(array, CAR.y.to_numpy())
    assert model.predict(array).shape == (1728,)
    assert not hasattr(model, "feature_names_in_")
    named = GreedyTreeClassifier(1, CAR.schema).fit(CAR.X, CAR.y)
    assert named.feature_names_in_.tolist() == list(CAR.schema.names)
    assert not hasattr(named.fit(array, CAR.y), "feature_names_in_")


def test_a_released_classifier_is_a_classifier_of_scikit_learn():
    model = GreedyTreeClassifier(1, CAR.schema).fit(CAR.X, CAR.y)
    assert is_classifier(ReleasedClassifier(model.model_))


def test_clone_keeps_the_schema():
    learner = RandomTreesClassifier("1/3", CAR.schema, n_trees=3)
    copy = clone(learner)
    assert copy.schema == CAR.schema
    assert copy.get_params() == learner.get_params()


def test_a_pipeline():
    pipeline = make_pipeline(FunctionTransformer(), RandomTreesClassifier(5, CAR.schema))
    assert pipeline.fit(CAR.X, CAR.y).predict(CAR.X).shape == (1728,)


def test_a_grid_search_works_and_warns_that_it_spends_privacy():
    search = GridSearchCV(RandomTreesClassifier(1, CAR.schema), {"n_trees": [2, 5]}, cv=2)
    with pytest.warns(PrivacyWarning, match="spends privacy"):
        search.fit(CAR.X, CAR.y)
    assert search.best_params_["n_trees"] in (2, 5)


def test_sample_weight_is_no_parameter():
    """So meta-estimators that look for it do without."""
    for learner in LEARNERS:
        assert not has_fit_parameter(learner(), "sample_weight")


def test_no_schema_is_an_error_that_explains_itself():
    with pytest.raises(SchemaError, match="public about the table") as caught:
        RandomTreesClassifier(1).fit(CAR.X, CAR.y)
    assert "from-data" in str(caught.value)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (RandomTreesClassifier(n_trees=0), "n_trees"),
        (RandomTreesClassifier(height=0), "height"),
        (RandomTreesClassifier(height=1.5), "height"),
        (RandomTreesClassifier(combine="mean"), "combine"),
        (RandomTreesClassifier(shrink=-1), "shrink"),
        (RandomTreesClassifier(epsilon=-1), "epsilon"),
        (RandomTreesClassifier(epsilon=math.nan), "epsilon"),
        (GreedyTreeClassifier(criterion="entropy"), "criterion"),
        (GreedyTreeClassifier(max_depth=-1), "max_depth"),
        (GreedyTreeClassifier(max_depth=99), "max_depth"),
        (GreedyTreeClassifier(splits="ternary"), "splits"),
        (GreedyTreeClassifier(schedule="late"), "schedule"),
        (ForestClassifier(divide="rows"), "divide"),
        (ForestClassifier(n_trees=-1), "n_trees"),
        (NoisyID3Classifier(max_depth=0), "max_depth"),
        (GibbsTreeClassifier(max_depth=-1), "max_depth"),
        (GibbsTreeClassifier(max_depth=99), "max_depth"),
        (GibbsTreeClassifier(max_depth=1.5), "max_depth"),
        (GibbsBoostClassifier(rounds=0), "rounds"),
        (GibbsBoostClassifier(rounds=10**9), "rounds"),
        (GibbsBoostClassifier(rounds="many"), "rounds"),
        (GibbsBoostClassifier(delta=-1), "delta"),
        (PrivetClassifier(delta=2), "delta"),
        (AdditiveClassifier(damping=0), "damping"),
        (AdditiveClassifier(damping="much"), "damping"),
        (PrivetClassifier(epsilon=0), "epsilon"),
    ],
    ids=str,
)
def test_a_bad_parameter_is_named(learner, message):
    with pytest.raises(ParameterError, match=message):
        learner.set_params(schema=CAR.schema).fit(CAR.X, CAR.y)


@pytest.mark.parametrize(
    "learner",
    [
        GreedyTreeClassifier(schedule="late"),
        GreedyTreeClassifier(criterion="entropy"),
        GreedyTreeClassifier(min_rows="5"),
        GreedyTreeClassifier(shrink=math.nan),
        ForestClassifier(combine="mean"),
        ForestClassifier(splits="ternary"),
        GibbsTreeClassifier(max_depth="deep"),
        GibbsBoostClassifier(max_depth=True),
        GibbsBoostClassifier(rounds=2.0),
        PrivetClassifier(delta="x"),
        AdditiveClassifier(damping=2),
    ],
    ids=str,
)
def test_a_bad_parameter_costs_nothing(learner):
    # the number of rows is not declared, so it would be paid for
    curator = Curator(CAR.table, CAR.schema, Budget(1))
    with pytest.raises(ParameterError):
        learner.fit_from(curator)
    assert curator.ledger.entries() == []


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_of_its_own_is_declared(learner):
    shared = {"epsilon", "delta", "schema", "random_state"}
    assert set(learner._parameters) == set(learner().get_params()) - shared


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_no_parameter_may_be_is_refused_with_its_owner(learner):
    for name in learner._parameters:
        said = f"^{learner.__name__}: {name} must be .*, got an object$"
        with pytest.raises(ParameterError, match=said):
            learner(schema=CAR.schema).set_params(**{name: object()}).fit(CAR.X, CAR.y)


def test_numbers_of_numpy_are_parameters_and_fit_into_a_file(tmp_path):
    schema = CAR.schema.declare(n_rows=1728)
    learner = ForestClassifier(1, schema, n_trees=np.int64(2), max_depth=np.int32(1))
    model = learner.set_params(min_rows=np.float64(5)).fit(CAR.X, CAR.y).model_
    write_model(model, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").settings["n_trees"] == 2


def test_a_bad_candidate_is_refused_before_any_is_paid_for():
    curator = Curator(CAR.table, CAR.schema.declare(n_rows=1728), Budget(2))
    with pytest.raises(ParameterError, match="did you mean 'gini'"):
        tune([GreedyTreeClassifier(), GreedyTreeClassifier(criterion="ginny")], curator, 1)
    assert curator.ledger.entries() == []
    assert curator.ledger.reservations() == []


def test_tuning_is_paid_for_in_full_and_stated():
    curator = Curator(CAR.table, CAR.schema.declare(n_rows=1728), Budget(2))
    best = tune([GreedyTreeClassifier(criterion=name) for name in ("max", "gini")], curator, 1)
    assert best.privacy_.promised.epsilon == curator.spent.epsilon == 1
    assert any("choice among 2 candidates" in charge.what for charge in best.privacy_.charges)
    with pytest.raises(BudgetExceeded):
        tune([GreedyTreeClassifier()], curator, 3)
    assert curator.spent.epsilon == 1
    with pytest.raises(ParameterError, match="random_state"):
        tune([GreedyTreeClassifier(random_state=1)], curator, 1)


@pytest.mark.parametrize("n_candidates", [1, 3])
@pytest.mark.parametrize("own", ["1e-6", 0])
def test_tuning_with_delta_promises_no_more_than_was_asked(n_candidates, own):
    boosted = [
        GibbsBoostClassifier(rounds=rounds, max_depth=1, delta=own)
        for rounds in range(1, n_candidates + 1)
    ]
    curator = Curator(CAR.table, CAR.schema.declare(n_rows=1728), Budget(50, delta="1e-6"))
    best = tune([*boosted, GreedyTreeClassifier(max_depth=1)], curator, 1, delta="1e-6")
    assert best.privacy_.delta == Fraction(1, 10**6)
    assert 0.99 < best.privacy_.epsilon <= 1
    # what the ledger charged is never more than what is promised
    assert 0 < curator.spent.rho <= best.privacy_.promised.rho


def test_a_candidate_with_a_delta_of_its_own_is_refused_before_any_is_paid_for():
    curator = Curator(CAR.table, CAR.schema.declare(n_rows=1728), Budget(50, delta="1e-6"))
    candidates = [GreedyTreeClassifier(), GibbsBoostClassifier(delta=1e-6)]
    with pytest.raises(ParameterError, match=r"candidate 2 .* tune\(\.\.\., delta=1e-06\)"):
        tune(candidates, curator, 1)
    with pytest.raises(ParameterError, match="candidate 2 has delta"):
        tune(candidates, curator, 1, delta=1e-7)
    assert curator.ledger.entries() == []


def test_a_fitted_estimator_holds_no_rows():
    import pickle

    sizes = []
    for n in (50, 1700):
        rows = CAR.table.sample(n, random_state=0)
        sizes.append(len(pickle.dumps(RandomTreesClassifier(1, CAR.schema, height=2).fit(rows))))
    assert sizes[1] < 1.2 * sizes[0] + 1000


def test_a_released_model_cannot_be_trained(tmp_path):
    from privet.learners.released import load, save

    save(RandomTreesClassifier(1, CAR.schema).fit(CAR.X, CAR.y), tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    for train in (
        lambda: loaded.fit(CAR.X, CAR.y),
        lambda: loaded.fit_from(Curator(CAR.table, CAR.schema, Budget(1))),
    ):
        with pytest.raises(ParameterError, match="cannot be trained"):
            train()
