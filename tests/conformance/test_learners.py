"""Every private learner passes the same suite."""

from __future__ import annotations

import pytest

from privet.learners import (
    AdditiveClassifier,
    ForestClassifier,
    GibbsBoostClassifier,
    GibbsTreeClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    PrivetClassifier,
    RandomTreesClassifier,
)
from tests.conformance.check_learner import check_learner

LEARNERS = {
    "privet": PrivetClassifier,
    "gibbs tree": GibbsTreeClassifier,
    "gibbs tree, deep": lambda epsilon, schema: GibbsTreeClassifier(epsilon, schema, max_depth=3),
    "gibbs boost": GibbsBoostClassifier,
    "gibbs boost, seven": lambda epsilon, schema: GibbsBoostClassifier(
        epsilon, schema, rounds=7, max_depth=2
    ),
    "random trees": RandomTreesClassifier,
    "random trees, counts": lambda epsilon, schema: RandomTreesClassifier(
        epsilon, schema, combine="counts", shrink=0
    ),
    "random trees, vote": lambda epsilon, schema: RandomTreesClassifier(
        epsilon, schema, combine="vote"
    ),
    "greedy tree": GreedyTreeClassifier,
    "greedy tree, gini, multiway": lambda epsilon, schema: GreedyTreeClassifier(
        epsilon, schema, criterion="gini", splits="multiway"
    ),
    "greedy tree, thesis": lambda epsilon, schema: GreedyTreeClassifier(
        epsilon, schema, schedule="thesis"
    ),
    "forest, people": ForestClassifier,
    "forest, budget": lambda epsilon, schema: ForestClassifier(
        epsilon, schema, divide="budget", n_trees=3
    ),
    "noisy ID3": NoisyID3Classifier,
    "additive": AdditiveClassifier,
}
CHECKS = [name for name, _ in check_learner(lambda *_: None, None)]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learner(learner, check, tmp_path):
    dict(check_learner(LEARNERS[learner], tmp_path))[check]()
