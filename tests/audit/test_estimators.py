"""Anybody's estimator: a correct one is not refuted, and broken ones are caught. Noise is seeded,
so the outcomes are the same every time.
"""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import privet as pv
from privet.audit import audit_estimator, pair_of, pairs_of
from privet.audit.features import observed
from privet.audit.fitted import (
    EstimatorRun,
    Fitted,
    list_public_attributes,
    observe_fitted_state,
)
from privet.errors import ParameterError

NOISE = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _seeded():
    """Every test by itself, in whatever order they are run."""
    NOISE.bit_generator.state = np.random.default_rng(11).bit_generator.state


class Majority(ClassifierMixin, BaseEstimator):
    """Class counts with Laplace noise, which cost epsilon for a row added or removed, and 2 epsilon
    for one replaced.
    """

    def __init__(self, epsilon=1.0):
        self.epsilon = epsilon

    def fit(self, X, y):
        assert isinstance(X, np.ndarray)
        self.classes_ = np.array([0, 1])
        self.counts_ = np.bincount(y, minlength=2) + NOISE.laplace(0, 1 / self.epsilon, 2)
        return self

    def predict(self, X):
        return np.full(len(X), self.counts_.argmax())


class ClassesFromData(Majority):
    """Classes are those that occur."""

    def fit(self, X, y):
        super().fit(X, y)
        self.classes_ = np.unique(y)
        return self


class NoisyVote(BaseEstimator):
    """Adds noise to what is predicted, and leaves the exact counts in the object."""

    def fit(self, X, y):
        self.exact_ = {"counts": np.bincount(y, minlength=2)}

    def predict(self, X):
        return NOISE.integers(0, 2, len(X))


def test_a_correct_one_is_not_refuted_and_is_seen_well():
    found = audit_estimator(Majority(), 1, 3000)
    assert (found.subject, found.verdict) == ("Majority", "not refuted")
    assert found.bound > 0.5


def test_neighbours_are_what_the_claim_is_for():
    assert audit_estimator(Majority(), 1, 2000, neighbours="replace").verdict == "violated"
    assert audit_estimator(Majority(), 2, 1000, neighbours="replace").verdict == "not refuted"


def test_too_little_noise_is_caught():
    found = audit_estimator(Majority(3), 1, 1000, name="three times too little")
    assert (found.subject, found.verdict) == ("three times too little", "violated")


def test_classes_read_off_the_rows_are_caught_in_worlds_of_ones_own():
    lone = pair_of([[0.0, 1.0], [1.0, 2.0]], [0, 0], [0.5, 3.0], 1)
    found = audit_estimator(ClassesFromData, 1, 200, pairs=lone)
    assert found.verdict == "violated"
    assert "classes_" in found.event or "likelihood" in found.event


def test_what_an_object_keeps_in_public_is_seen_unless_only_predictions_are_asked_for():
    assert audit_estimator(NoisyVote(), 1, 200).verdict == "violated"
    assert audit_estimator(NoisyVote(), 1, 200, look="predictions").verdict == "not refuted"
    assert (
        audit_estimator(NoisyVote(), 1, 200, look=lambda fitted: fitted.exact_["counts"]).verdict
        == "violated"
    )


class ExactThreshold(BaseEstimator):
    """A stump: the best threshold is picked exactly, and only the leaves get noise.

    What it keeps is private: it can be seen in predictions alone.
    """

    def fit(self, X, y):
        self._feature, self._at = max(self.thresholds(X), key=lambda test: self.score(X, y, *test))
        right = X[:, self._feature] >= self._at
        counts = [np.bincount(y[side], minlength=2) for side in (~right, right)]
        self._counts = np.array(counts) + NOISE.laplace(0, 1, (2, 2))
        return self

    def thresholds(self, X):
        return [(0, 0.5), (1, 1.0), (1, 2.0), (1, 3.0)]

    def score(self, X, y, feature, at):
        right = X[:, feature] >= at
        return sum(np.bincount(y[side], minlength=2).max() for side in (~right, right))

    def predict(self, X):
        return self._counts[(X[:, self._feature] >= self._at).astype(int)].argmax(axis=1)


class MidpointThreshold(ExactThreshold):
    """Its thresholds are midpoints of neighbouring values."""

    def thresholds(self, X):
        values = np.unique(X[:, 1])
        return [(1, at) for at in (values[1:] + values[:-1]) / 2] or [(1, 2.0)]


class MedianThreshold(ExactThreshold):
    """It splits at the exact median."""

    def thresholds(self, X):
        return [(1, np.median(X[:, 1]))]


class Scaled(MedianThreshold):
    """It splits in the middle between the least and the largest value."""

    def thresholds(self, X):
        return [(1, (X[:, 1].min() + X[:, 1].max()) / 2)]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("estimator", [ExactThreshold, MidpointThreshold, MedianThreshold, Scaled])
@pytest.mark.parametrize("look", ["all", "predictions"])
def test_a_threshold_that_is_picked_exactly_is_caught(estimator, neighbours, look):
    """Where a row was added, version 0.1 refuted the first alone: nothing moved the others, or it
    asked about the row in question only.
    """
    claim = 1 if neighbours == "add-remove" else 2
    found = audit_estimator(estimator, claim, 2000, neighbours=neighbours, look=look)
    assert found.verdict == "violated", found


class Keeps(BaseEstimator):
    """Keeps something about its rows in public, under a name that the subclasses choose."""

    def fit(self, X, y):
        self.noise_ = NOISE.laplace()
        self.keep(X, y)
        return self

    def predict(self, X):
        return np.zeros(len(X))


class KeepsRows(Keeps):
    def keep(self, X, y):
        self.rows = X.tolist()


class KeepsFrame(Keeps):
    def keep(self, X, y):
        self.training = pd.DataFrame(X)


class KeepsWithin(Keeps):
    def keep(self, X, y):
        self.box = Box({"classes": [y.astype(str), None]})


class KeepsManyNumbers(Keeps):
    """Too many to look at each, and their shape, sum and largest are always the same."""

    def keep(self, X, y):
        self.numbers = np.eye(9)[int(X.sum()) % 9 :][:1].repeat(9, axis=0)


class KeepsInSlot:
    __slots__ = ("mean",)

    def fit(self, X, y):
        self.mean = float(X.mean())
        return self


class KeepsInProperty(Keeps):
    def keep(self, X, y):
        self._mean = X.mean()

    @property
    def mean(self):
        return self._mean


class Box:
    def __init__(self, inner):
        self.inner = inner


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "estimator",
    [KeepsRows, KeepsFrame, KeepsWithin, KeepsManyNumbers, KeepsInSlot, KeepsInProperty],
)
def test_whatever_is_public_is_seen(estimator, neighbours):
    """Version 0.1 looked at names that end in an underscore alone."""
    found = audit_estimator(estimator, 1, 400, neighbours=neighbours)
    assert found.verdict == "violated", found


class EveryOtherRow(Majority):
    """Noise for one row, and all rows move by one place when one comes first."""

    def fit(self, X, y):
        return super().fit(X[::2], y[::2])


def test_an_output_that_depends_on_the_order_of_rows_is_caught():
    found = audit_estimator(EveryOtherRow, 1, 2000)
    assert (found.verdict, found.pair) == ("violated", "ahead of all others")


def test_a_property_that_fails_is_seen_and_one_that_is_not_there_is_not():
    class Odd:
        def __init__(self):
            self.itself = self
            self.generator = np.random.default_rng()

        @property
        def fails(self):
            raise ZeroDivisionError

        @property
        def absent(self):
            raise AttributeError

    seen = dict(list_public_attributes(Odd()))
    assert seen["fails"] == "raises ZeroDivisionError"
    assert "absent" not in seen
    state = observe_fitted_state(Odd(), np.zeros((1, 2)))
    assert "generator" not in " ".join(state)


def test_an_exact_tree_is_caught_and_so_is_a_forest():
    assert audit_estimator(DecisionTreeClassifier(), 1, 120).verdict == "violated"
    seen = observed(
        EstimatorRun(RandomForestClassifier(n_estimators=2))(pairs_of(crowd=True)[0].other),
        pairs_of(crowd=True)[0].probed,
    )
    assert {"member 0: tests", "member 1: nodes"} <= set(seen)
    assert any(name.startswith("member 0: values where the row falls") for name in seen)


def test_one_of_ours_is_looked_at_as_a_model_too():
    pair = pairs_of(crowd=True)[1]
    fitted = EstimatorRun(
        pv.RandomTreesClassifier(1, pair.schema, n_trees=1, height=1), as_frame=True
    )(pair.other)
    assert isinstance(fitted, Fitted)
    assert {"structure of tree 0", "predict: entry 0"} <= set(observed(fitted, pair.probed))


def test_numbers_are_places_in_the_domain():
    X, y = pairs_of("replace")[1].other.numbers
    assert X.tolist() == [[1, 3.5], [1, 3.5], [1, 3.5], [0, 0.5]]
    assert y.tolist() == [0, 0, 0, 1]
    assert pairs_of()[0].one.numbers[0].shape == (0, 2)


def test_worlds_of_ones_own_are_neighbours():
    table = pd.DataFrame({"c": ["u", "v"], "n": [1, 5]})
    pair = pair_of(table, [-1, 1], ["w", 9], 1, name="mine")
    assert (pair.name, pair.schema.names, pair.schema.neighbours) == (
        "mine",
        ("c", "n"),
        "add-remove",
    )
    assert [len(pair.one.rows), len(pair.other.rows)] == [2, 3]
    assert pair.other.numbers[0].tolist() == [[0, 1], [1, 5], [2, 9]]
    assert pair.other.numbers[1].tolist() == [0, 1, 1]
    replaced = pair_of(table, [-1, 1], ["w", 9], 1, instead=(["u", 0], -1))
    assert (replaced.schema.n_rows, replaced.schema.neighbours, len(replaced.probes)) == (
        3,
        "replace",
        2,
    )
    assert replaced.one.rows[-1] == {"c": "u", "n": 0, "class": -1}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"estimator": 3}, "estimator must have fit"),
        ({"estimator": list}, "estimator must make an object with fit"),
        ({"estimator": DecisionTreeClassifier(random_state=1)}, "random_state must be None"),
        ({"look": "nothing"}, "look must be"),
        ({"neighbours": "both"}, "neighbours must be"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, told):
    with pytest.raises(ParameterError, match=told):
        audit_estimator(**({"estimator": Majority(), "epsilon": 1} | wrong))


def test_worlds_that_make_no_sense_are_refused():
    with pytest.raises(ParameterError, match="at least two classes"):
        pair_of([[1.0]], [0], [2.0], 0)
    with pytest.raises(ParameterError, match="a value for each"):
        pair_of([[1.0, 2.0]], [0], [2.0], 1)


class WithGenerator:
    """Noise from a generator that the estimator keeps."""

    def __init__(self, generator):
        self.members = [{"rng": generator}]

    def fit(self, X, y):
        self.count_ = float(y.sum() + self.members[0]["rng"].laplace())
        return self


def test_a_generator_whose_state_all_runs_would_share_is_refused():
    """Every run would have the same noise, and a true claim would be refuted."""
    for kept in (np.random.default_rng(), np.random.RandomState(), random.Random()):
        with pytest.raises(
            ParameterError, match="keeps a generator of random numbers in 'members'"
        ):
            audit_estimator(WithGenerator(kept), epsilon=1, runs=40)
    assert audit_estimator(lambda: WithGenerator(NOISE), epsilon=1, runs=400).holds


def test_an_estimator_that_writes_into_its_rows_changes_no_world():
    """In a first run it may be seen, and later ones would have nothing to see."""

    class Writes(WithGenerator):
        def fit(self, X, y):
            super().fit(X, 8 * y)
            X *= 0
            y *= 0
            return self

        def predict(self, X):
            X *= 0
            return np.zeros(len(X))

    assert (
        audit_estimator(
            lambda: Writes(NOISE), epsilon=1, runs=600, pairs=pairs_of(families=["nobody else"])
        ).bound
        > 1
    )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"pairs": [1]}, "pairs must be one or several pairs of worlds"),
        ({"epsilon": np.inf}, "above 0 and finite"),
        ({"estimator": WithGenerator}, "must be made without arguments"),
        ({"runs": 10**9}, "to 1000000"),
    ],
)
def test_arguments_that_cannot_be_meant(wrong, told):
    with pytest.raises(ParameterError, match=told):
        audit_estimator(**({"estimator": Majority(), "epsilon": 1} | wrong))


def test_an_estimator_of_which_nothing_is_seen_proves_nothing():
    class Silent:
        def fit(self, X, y):
            self._count = y.sum()

    with pytest.raises(ParameterError, match="nothing can be seen of a fitted Silent"):
        audit_estimator(Silent(), epsilon=1, runs=80)
    assert not audit_estimator(
        Silent(), epsilon=1, runs=200, look=lambda fitted: int(fitted._count)
    ).holds
