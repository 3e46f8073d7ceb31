"""Everything that is compared, by name: one fit on one fold, scored."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import privet
from experiments.bench.accuracy import s_bdt_like, tr_ebm_like
from experiments.bench.accuracy.data import schema_with_grids
from experiments.bench.accuracy.environment import Peers
from experiments.bench.accuracy.folds import FOLDS
from experiments.bench.accuracy.measures import measure
from experiments.bench.accuracy.peers import DELTA
from experiments.bench.accuracy.views import View, classes_of, peer_views
from privet._types import Floats, Ints
from privet.datasets import Dataset
from privet.domain import Schema, text_of


@dataclass(frozen=True)
class Ours:
    """A learner of Privet, by the name of its class."""

    estimator: str
    delta: float = 0


OURS = {
    "privet": Ours("PrivetClassifier"),
    "privet-delta": Ours("PrivetClassifier", DELTA),
    "gibbs-tree": Ours("GibbsTreeClassifier"),
    "gibbs-boost": Ours("GibbsBoostClassifier"),
    "greedy-tree": Ours("GreedyTreeClassifier"),
    "random-trees": Ours("RandomTreesClassifier"),
    "forest": Ours("ForestClassifier"),
    "noisy-id3": Ours("NoisyID3Classifier"),
}
#: Our own code after the papers, where the originals cannot be installed.
LIKE = {"tr-ebm-like": tr_ebm_like.predict, "s-bdt-like": s_bdt_like.predict}
PURE_PEERS = ("diffprivlib", "diffprivlib-regression")
DELTA_PEERS = ("dp-ebm", *LIKE)
PEERS = (*PURE_PEERS, *DELTA_PEERS)
#: Peers for two classes only, which know nominal attributes.
BINARY_PEERS = DELTA_PEERS
CEILING, FLOOR = "gradient-boosting", "majority"
NAMES = (*OURS, *PEERS, CEILING, FLOOR)
#: These do not depend on epsilon.
NOT_PRIVATE = (CEILING, FLOOR)


def delta_of(learner: str) -> float:
    """Return the delta that a contestant is run at."""
    return OURS[learner].delta if learner in OURS else DELTA if learner in DELTA_PEERS else 0


@dataclass(frozen=True)
class Problem:
    """A data set, with what is derived from it once."""

    data: Dataset

    @cached_property
    def classes(self) -> Ints:
        return classes_of(self.data)

    @cached_property
    def _with_grids(self) -> Schema:
        return schema_with_grids(self.data)

    def schema_for(self, learner: str) -> Schema:
        """Return the schema of a contestant: fine grids for our default learner, which merges
        them.
        """
        default = learner in OURS and OURS[learner].estimator == "PrivetClassifier"
        return self._with_grids if default else self.data.schema

    @cached_property
    def views(self) -> dict[str, dict[str, View]]:
        """By peer and name."""
        two_classes = self.data.schema.n_classes == 2
        return dict.fromkeys(PURE_PEERS, peer_views(self.data, nominal=False)) | (
            dict.fromkeys(BINARY_PEERS, peer_views(self.data, nominal=True)) if two_classes else {}
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
    if learner == CEILING:
        guess, chances, seconds = run_gradient_boosting(problem, train, test)
    elif learner == FLOOR:
        guess, chances, seconds = _majority(problem, train, test)
    else:
        assert epsilon is not None
        if learner in OURS:
            guess, chances, seconds = _ours(problem, learner, epsilon, train, test)
        elif learner in LIKE:
            guess, chances, seconds = _like(problem, learner, view, epsilon, train, test)
        else:
            guess, chances, seconds = peers.predict(
                learner, epsilon, _fold(problem, learner, view, train, test)
            )
    return measure(problem.classes[test], guess, chances) | {"seconds": seconds}


def _ours(
    problem: Problem, learner: str, epsilon: float, train: Ints, test: Ints
) -> tuple[Ints, Floats, float]:
    data, ours = problem.data, OURS[learner]
    settings: dict[str, Any] = {"delta": ours.delta} if ours.delta else {}
    # The size of a training fold of a public data set may be declared.
    model = getattr(privet, ours.estimator)(
        epsilon=epsilon,
        schema=problem.schema_for(learner).declare(n_rows=len(train)),
        **settings,
    )
    model, seconds = _timed(lambda: model.fit(data.X.iloc[train], data.y.iloc[train]))
    codes = data.schema.label.code_of_text
    chances = np.zeros((len(test), data.schema.n_classes))
    chances[:, [codes[text_of(label)] for label in model.classes_]] = model.predict_proba(
        data.X.iloc[test]
    )
    guess = np.array([codes[text_of(label)] for label in model.predict(data.X.iloc[test])])
    return guess, chances, seconds


def _like(
    problem: Problem, learner: str, view: str, epsilon: float, train: Ints, test: Ints
) -> tuple[Ints, Floats, float]:
    seen = problem.views[learner][view]
    likely, seconds = _timed(
        lambda: LIKE[learner](seen, problem.classes, train, test, epsilon, DELTA)
    )
    return (likely > 0.5).astype(np.int64), np.column_stack([1 - likely, likely]), seconds


def _fold(problem: Problem, learner: str, view: str, train: Ints, test: Ints) -> dict[str, Any]:
    """What the peers' process reads."""
    seen = problem.views[learner][view]
    return {
        "X_train": seen.X[train],
        "y_train": problem.classes[train],
        "X_test": seen.X[test],
        "low": seen.low,
        "high": seen.high,
        "nominal": seen.nominal,
        "norm": seen.norm,
        "n_classes": problem.data.schema.n_classes,
    }


def _majority(problem: Problem, train: Ints, test: Ints) -> tuple[Ints, Floats, float]:
    counts = np.bincount(problem.classes[train], minlength=problem.data.schema.n_classes)
    share = counts / len(train)
    return np.full(len(test), share.argmax()), np.tile(share, (len(test), 1)), 0.0


def run_gradient_boosting(problem: Problem, train: Ints, test: Ints) -> tuple[Ints, Floats, float]:
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
