"""The scikit-learn contract, with a short list of expected failures and why."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from privet import datasets
from privet.errors import ParameterError, PrivacyWarning, SchemaError
from privet.learners import ForestClassifier, GreedyTreeClassifier, NoisyID3Classifier, RandomTreesClassifier
from privet.mechanisms.randomness import unlock_test_seeds

CAR = datasets.load("car")

REASONS = {
    "check_sample_weights_pandas_series": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_sample_weights_not_an_array": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_sample_weights_list": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_sample_weights_shape": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_sample_weights_not_overwritten": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_sample_weight_equivalence_on_dense_data": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_all_zero_sample_weights_error": "sample_weight is refused: noise is scaled for rows of weight 1",
    "check_classifiers_one_label_sample_weights": "sample_weight is refused: noise is scaled for rows of weight 1",
}

ESTIMATORS = [
    RandomTreesClassifier(math.inf, "from-data", height=4, n_trees=30),
    GreedyTreeClassifier(math.inf, "from-data"),
    ForestClassifier(math.inf, "from-data", divide="budget"),
    NoisyID3Classifier(math.inf, "from-data", max_depth=3),
]


@pytest.fixture(autouse=True)
def unlocked():
    """scikit-learn's checks set random_state, which is a test seed here."""
    with unlock_test_seeds():
        yield


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: REASONS)
def test_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


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


def test_sample_weight_is_refused_with_the_reason():
    with pytest.raises(ParameterError, match="noise is scaled for 1"):
        RandomTreesClassifier(1, CAR.schema).fit(CAR.X, CAR.y, sample_weight=np.ones(1728))


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
    ],
    ids=str,
)
def test_a_bad_parameter_is_named(learner, message):
    with pytest.raises(ParameterError, match=message):
        learner.set_params(schema=CAR.schema).fit(CAR.X, CAR.y)
