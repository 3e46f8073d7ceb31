"""scikit-learn's meta-estimators, pipelines and searches train clones of a learner."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import privet as pv

N = 1500
X = pd.DataFrame({"a": ["xyz"[row % 3] for row in range(N)], "b": [row % 97 for row in range(N)]})
TWO = pd.Series(np.where(X["a"] == "x", "Yes", "No"))
THREE = pd.Series(np.where(X["a"] == "x", "low", np.where(X["b"] >= 50, "mid", "high")))
#: Neither list is sorted: meta-estimators number the sorted labels.
CLASSES = {2: ["Yes", "No"], 3: ["mid", "low", "high"]}


def learner(n_classes, kind=pv.GreedyTreeClassifier):
    attributes = {"a": pv.Categorical(["x", "y", "z"]), "b": pv.Numeric(0, 100, bins=4)}
    return kind(20, pv.Schema(attributes, "t", CLASSES[n_classes]))


def labels(n_classes):
    return TWO if n_classes == 2 else THREE


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _vote(one, other, voting):
    return VotingClassifier([("one", one), ("other", other)], voting=voting)


MAKERS = {
    "hard voting": lambda k: _vote(learner(k), learner(k, pv.RandomTreesClassifier), "hard"),
    "soft voting": lambda k: _vote(learner(k), learner(k, pv.RandomTreesClassifier), "soft"),
    "stacking": lambda k: StackingClassifier([("one", learner(k))], LogisticRegression(), cv=2),
    "one against the rest": lambda k: OneVsRestClassifier(learner(k)),
    "calibrated": lambda k: CalibratedClassifierCV(learner(k), cv=2),
    "calibrated once": lambda k: CalibratedClassifierCV(learner(k), cv=2, ensemble=False),
    "bagging": lambda k: BaggingClassifier(learner(k), n_estimators=2),
    "a search": lambda k: GridSearchCV(learner(k), {"max_depth": [1, 2]}, cv=2),
    "a pipeline": lambda k: make_pipeline(FunctionTransformer(), learner(k)),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MAKERS)
def test_meta_estimators_learn_and_predict_the_labels_that_they_got(name, n_classes):
    y = labels(n_classes)
    fitted = MAKERS[name](n_classes).fit(X, y)
    assert (fitted.predict(X) == y).mean() > 0.9
    assert fitted.classes_.tolist() == sorted(CLASSES[n_classes])


def test_a_tuned_threshold():
    tuned = TunedThresholdClassifierCV(learner(2), cv=2).fit(X, TWO)
    assert (tuned.predict(X) == TWO).mean() > 0.9


def test_one_against_the_rest_with_two_numbered_classes():
    two = learner(3).set_params(schema=learner(3).schema.number_classes(2))
    fitted = OneVsRestClassifier(two).fit(X, THREE)
    assert (fitted.predict(X) == THREE).mean() > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_rank_the_right_class(n_classes):
    y, scoring = labels(n_classes), "roc_auc" if n_classes == 2 else "roc_auc_ovr"
    assert cross_val_score(learner(n_classes), X, y, cv=2, scoring=scoring).min() > 0.9
    shares = cross_val_predict(learner(n_classes), X, y, cv=2, method="predict_proba")
    best = np.array(sorted(CLASSES[n_classes]))[shares.argmax(axis=1)]
    assert (best == y).mean() > 0.9


def test_names_pass_through_transformers_that_keep_them():
    keep = make_column_transformer(
        ("passthrough", ["b", "a"]), verbose_feature_names_out=False
    ).set_output(transform="pandas")
    fitted = make_pipeline(keep, learner(2)).fit(X, TWO)
    assert (fitted.predict(X) == TWO).mean() > 0.9
