"""Labels as scikit-learn passes them, and the classes of a schema."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer

import privet as pv
from privet.errors import SchemaMismatch
from privet.learners.labels import Labels


def schema_of(*classes):
    return pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", classes)


def rows(labels, n=400):
    """Return rows whose class is told by their only attribute."""
    codes = np.arange(n) % 2
    return pd.DataFrame({"a": codes.astype(str)}), pd.Series([labels[code] for code in codes])


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        (["0", "1"], [0, 1]),
        ([0, 1], ["0", "1"]),
        (["0", "1"], [0.0, 1.0]),
        (["True", "False"], [False, True]),
        ([True, False], ["False", "True"]),
        (["no", "yes"], ["no", "yes"]),
    ],
    ids=str,
)
def test_labels_that_differ_by_type_only_are_the_same(classes, labels):
    X, y = rows(labels)
    model = pv.GreedyTreeClassifier(20, schema_of(*classes), max_depth=1).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.9
    assert set(model.predict(X).tolist()) <= set(labels)
    assert model.model_.schema.classes == schema_of(*classes).classes  # what is released


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [False, True]], ids=str)
def test_numbers_for_classes_of_text_are_refused_with_the_way_out(labels):
    X, y = rows(labels)
    with pytest.raises(SchemaMismatch, match=r"text: 'No', 'Yes'.*y\.map\(\{0: 'No'"):
        pv.PrivetClassifier(1, schema_of("No", "Yes")).fit(X, y)
    with pytest.raises(SchemaMismatch, match="'c' holds numbers or booleans, and no class"):
        pv.Curator(X.assign(c=y), schema_of("No", "Yes"), pv.Budget(1))


def test_a_clone_takes_numbers_of_classes():
    """As meta-estimators number the classes before they train a clone."""
    X, y = rows([0, 1])
    model = clone(pv.GreedyTreeClassifier(20, schema_of("No", "Yes"))).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict(X) == y).mean() > 0.9


def test_classes_are_sorted_so_that_scorers_rank_the_right_one():
    """Scorers take the last class as the positive one, and the greatest as the label 1."""
    X, y = rows(["no", "yes"])
    model = pv.GreedyTreeClassifier(20, schema_of("yes", "no"), max_depth=1).fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert get_scorer("roc_auc")(model, X, y) > 0.9
    np.testing.assert_allclose(
        model.predict_proba(X)[:, ::-1], pv.ReleasedClassifier(model.model_).predict_proba(X)
    )
    for learner in (model, pv.ReleasedClassifier(model.model_)):
        best = learner.predict_proba(X).argmax(axis=1)
        assert (learner.classes_[best] == learner.predict(X)).all()


def test_mixed_labels_keep_the_order_of_the_schema():
    labels = Labels.like(schema_of("x", 1), pd.Series(["x", 1], dtype=object))
    assert labels.classes.tolist() == ["x", 1]


def test_a_decision_is_above_zero_for_the_second_class_only():
    X, y = rows(["no", "yes"])
    for costs in (None, {("yes", "no"): 1e6}):
        model = pv.PrivetClassifier(5, schema_of("yes", "no"), costs=costs).fit(X, y)
        decided = model.classes_[(model.decision_function(X) > 0).astype(int)]
        assert (decided == model.predict(X)).all()
    assert set(model.predict(X)) == {"yes"}  # to miss one is far too dear
    three = pv.GreedyTreeClassifier(1, schema_of("a", "b", "c"))
    assert not hasattr(three, "decision_function")
    assert hasattr(three, "predict_log_proba")
