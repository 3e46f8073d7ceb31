"""Everything that is compared, by name: one fit on one fold, scored."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import privet
from experiments.bench.accuracy.environment import Peers
from experiments.bench.accuracy.folds import FOLDS, measures
from experiments.bench.accuracy.views import View, classes_of, peer_views
from privet._types import Ints
from privet.datasets import Dataset
from privet.domain import text_of

OURS = {
    "privet": "PrivetClassifier",
    "gibbs-tree": "GibbsTreeClassifier",
    "gibbs-boost": "GibbsBoostClassifier",
    "greedy-tree": "GreedyTreeClassifier",
    "random-trees": "RandomTreesClassifier",
    "forest": "ForestClassifier",
    "noisy-id3": "NoisyID3Classifier",
}
PEERS = ("diffprivlib", "dp-ebm")
CEILING, FLOOR = "gradient-boosting", "majority"
NAMES = (*OURS, *PEERS, CEILING, FLOOR)
#: These do not depend on epsilon.
NOT_PRIVATE = (CEILING, FLOOR)


@dataclass(frozen=True)
class Problem:
    """A data set, with what is derived from it once."""

    data: Dataset

    @cached_property
    def classes(self) -> Ints:
        return classes_of(self.data)

    @cached_property
    def views(self) -> dict[str, dict[str, View]]:
        """By peer and name. DP-EBM is for two classes only."""
        forest = {"diffprivlib": peer_views(self.data, nominal=False)}
        return forest | (
            {"dp-ebm": peer_views(self.data, nominal=True)}
            if self.data.schema.n_classes == 2
            else {}
        )

    def view_names(self, learner: str) -> list[str]:
        """What a contestant is run on; nothing where it cannot be run."""
        return list(self.views.get(learner, {})) if learner in PEERS else [""]


def run(
    problem: Problem,
    learner: str,
    view: str,
    epsilon: float | None,
    train: Ints,
    test: Ints,
    peers: Peers,
) -> dict[str, float]:
    """The measures of one fit, and its seconds."""
    if learner in PEERS:
        assert epsilon is not None
        seen = problem.views[learner][view]
        fold = {"X_train": seen.X[train], "y_train": problem.classes[train], "X_test": seen.X[test]}
        bounds = {
            "low": seen.low,
            "high": seen.high,
            "nominal": seen.nominal,
            "n_classes": problem.data.schema.n_classes,
        }
        guess, chances, seconds = peers.predict(learner, epsilon, fold | bounds)
    elif learner == CEILING:
        guess, chances, seconds = _gradient_boosting(problem, train, test)
    elif learner == FLOOR:
        share = np.bincount(problem.classes[train], minlength=problem.data.schema.n_classes) / len(
            train
        )
        guess, chances, seconds = (
            np.full(len(test), share.argmax()),
            np.tile(share, (len(test), 1)),
            0.0,
        )
    else:
        assert epsilon is not None
        guess, chances, seconds = _ours(problem, learner, epsilon, train, test)
    return measures(problem.classes[test], guess, chances) | {"seconds": seconds}


def _ours(
    problem: Problem, learner: str, epsilon: float, train: Ints, test: Ints
) -> tuple[Any, Any, float]:
    data = problem.data
    # The size of a training fold of a public data set may be declared.
    model = getattr(privet, OURS[learner])(
        epsilon=epsilon, schema=data.schema.declare(n_rows=len(train))
    )
    model, seconds = _timed(lambda: model.fit(data.X.iloc[train], data.y.iloc[train]))
    codes = data.schema.label.code_of_text
    chances = np.zeros((len(test), data.schema.n_classes))
    chances[:, [codes[text_of(label)] for label in model.classes_]] = model.predict_proba(
        data.X.iloc[test]
    )
    guess = np.array([codes[text_of(label)] for label in model.predict(data.X.iloc[test])])
    return guess, chances, seconds


def _gradient_boosting(problem: Problem, train: Ints, test: Ints) -> tuple[Any, Any, float]:
    """Without privacy, with scikit-learn's own settings, on the raw columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    data = problem.data
    nominal = {
        name: "category"
        for name, attribute in data.schema.attributes.items()
        if not attribute.ordered
    }
    table = data.X.astype(nominal)
    # Two rows of one class in nursery make its steps diverge (.93 instead of 1.00): too few rows
    # for a class are left out.
    train = train[np.bincount(problem.classes[train])[problem.classes[train]] >= FOLDS]
    model = HistGradientBoostingClassifier(random_state=0)
    model, seconds = _timed(lambda: model.fit(table.iloc[train], problem.classes[train]))
    chances = np.zeros((len(test), data.schema.n_classes))
    chances[:, model.classes_] = model.predict_proba(table.iloc[test])
    return model.predict(table.iloc[test]), chances, seconds


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    model = fit()
    return model, time.perf_counter() - start
