"""What an interrupted fit is recognised by: the settings of its learner, as 0.1 wrote them."""

from __future__ import annotations

from typing import ClassVar

import pytest

import privet as pv

ALL = "epsilon=1.0", "random_state=None", "schema=None"
#: Never change these: a fit that was begun with them could not go on. A new parameter is declared
#: in ``_later`` instead.
SETTINGS = {
    pv.AdditiveClassifier: {*ALL, "damping=None"},
    pv.ForestClassifier: {
        *ALL,
        "combine=probabilities",
        "criterion=gini",
        "divide=people",
        "max_depth=auto",
        "min_rows=5",
        "n_trees=5",
        "schedule=even",
        "shrink=0.15",
        "splits=binary",
    },
    pv.GibbsBoostClassifier: {*ALL, "delta=0", "max_depth=auto", "rounds=auto"},
    pv.GibbsTreeClassifier: {*ALL, "max_depth=auto"},
    pv.GreedyTreeClassifier: {
        *ALL,
        "criterion=gini",
        "max_depth=auto",
        "min_rows=5",
        "schedule=even",
        "shrink=0.15",
        "splits=binary",
    },
    pv.NoisyID3Classifier: {*ALL, "max_depth=None"},
    pv.PrivetClassifier: {*ALL, "delta=0"},
    pv.RandomTreesClassifier: {
        *ALL,
        "combine=probabilities",
        "height=auto",
        "n_trees=10",
        "people=may-overlap",
        "shrink=0.15",
    },
}


@pytest.mark.parametrize("learner", SETTINGS, ids=lambda learner: learner.__name__)
def test_settings_are_those_of_0_1(learner):
    assert learner().list_settings() == sorted(SETTINGS[learner])


def test_another_setting_is_another_fit():
    assert "n_trees=3" in pv.ForestClassifier(n_trees=3).list_settings()


class Extended(pv.AdditiveClassifier):
    """A learner with a parameter that 0.1 did not have."""

    _later: ClassVar[frozenset[str]] = frozenset({"pairs"})

    def __init__(self, epsilon=1.0, damping=None, schema=None, random_state=None, pairs=0):
        super().__init__(epsilon, damping=damping, schema=schema, random_state=random_state)
        self.pairs = pairs


def test_a_later_parameter_counts_only_where_it_is_set():
    assert Extended().list_settings() == pv.AdditiveClassifier().list_settings()
    assert "pairs=2" in Extended(pairs=2).list_settings()
