"""Who takes part: central learners, learners on synthetic rows, learners on randomised records.
Each gives predictions for test rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import privet as pv
from privet.federation import draw_plan
from privet.learners.released import ReleasedClassifier
from privet.local.collecting import collect_leaves, local_curator
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.synthetic.synthesize import synthesize

#: A table to learn from (with its class column), attributes to answer for, the schema and epsilon;
#: shares of each class come back.
Contestant = Callable[[pd.DataFrame, pd.DataFrame, pv.Schema, float], np.ndarray]


def central(learner) -> Contestant:
    def run(train, test, schema, epsilon):
        return learner(epsilon, schema=schema).fit(train).predict_proba(test)

    return run


def on_synthetic_rows(train, test, schema, epsilon):
    """Our default learner on synthetic rows, without noise: they are public."""
    table = synthesize(pv.Curator(train, schema, pv.Budget(epsilon)), epsilon)
    return (
        pv.PrivetClassifier(math.inf, schema=table.public_schema)
        .fit(table.frame)
        .predict_proba(test)
    )


def boosted_on_synthetic_rows(train, test, schema, epsilon):
    """scikit-learn's gradient boosting, with its own settings, on synthetic rows; for few classes
    also the share of each.
    """
    table = synthesize(pv.Curator(train, schema, pv.Budget(epsilon)), epsilon)
    # A class of very few rows makes it diverge.
    sizes = table.y.value_counts()
    frame = table.frame[table.y.isin(sizes.index[sizes >= 5])]
    both = pd.concat([frame[list(schema.names)], test[list(schema.names)]])
    for name in schema.names:
        if not schema.attributes[name].ordered:
            both[name] = both[name].astype(str).astype("category")
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(both.iloc[: len(frame)], frame[schema.target])
    shares = np.zeros((len(test), schema.n_classes))
    shares[:, [list(schema.classes).index(label) for label in model.classes_]] = (
        model.predict_proba(both.iloc[len(frame) :])
    )
    return shares


def local_greedy(train, test, schema, epsilon):
    """Two attributes each, so that trees have two levels."""
    randomizer = Randomizer(schema, epsilon, "sample", together=2)
    return (
        pv.GreedyTreeClassifier()
        .fit_from(local_curator(randomizer.many(train), randomizer))
        .predict_proba(test)
    )


def local_additive(train, test, schema, epsilon):
    """One attribute each."""
    randomizer = Randomizer(schema, epsilon, "sample")
    return (
        pv.AdditiveClassifier()
        .fit_from(local_curator(randomizer.many(train), randomizer))
        .predict_proba(test)
    )


def local_random_trees(train, test, schema, epsilon):
    """Ten trees of height 1: deeper ones have too many leaves for a response to be true often."""
    randomizer = LeafRandomizer(draw_plan(schema, n_trees=10, height=1), epsilon)
    return ReleasedClassifier(collect_leaves(randomizer.many(train), randomizer)).predict_proba(
        test
    )


CONTESTANTS: dict[str, Contestant] = {
    "central: default": central(pv.PrivetClassifier),
    "central: random trees": central(pv.RandomTreesClassifier),
    "synthetic: default": on_synthetic_rows,
    "synthetic: gradient boosting": boosted_on_synthetic_rows,
    "local: greedy tree": local_greedy,
    "local: additive": local_additive,
    "local: random trees": local_random_trees,
}
