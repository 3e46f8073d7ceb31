"""scikit-learn and diffprivlib, on rows of the type that they compute with. Runs in the peers'
environment too, without Privet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import Store, sizes

DEPTH, JOBS = 4, 2
Timed = Callable[[], object]


def forest(task: Task, store: Store) -> Timed:
    return _fit(task, store, lambda: _forest(task))


def extra(task: Task, store: Store) -> Timed:
    from sklearn.ensemble import ExtraTreesClassifier

    return _fit(task, store, lambda: ExtraTreesClassifier(task.trees, max_depth=DEPTH, n_jobs=JOBS))


def diffprivlib(task: Task, store: Store) -> Timed:
    return _fit(task, store, lambda: _diffprivlib(task))


def hist(task: Task, store: Store) -> Timed:
    return _fit(task, store, _hist)


def dp_ebm(task: Task, store: Store) -> Timed:
    return _fit(task, store, lambda: _dp_ebm(task))


def predict_hist(task: Task, store: Store) -> Timed:
    return _predict(task, store, _hist())


def predict_dp_ebm(task: Task, store: Store) -> Timed:
    return _predict(task, store, _dp_ebm(task))


def predict_forest(task: Task, store: Store) -> Timed:
    return _predict(task, store, _forest(task))


def predict_diffprivlib(task: Task, store: Store) -> Timed:
    return _predict(task, store, _diffprivlib(task))


def _forest(task: Task) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(task.trees, max_depth=DEPTH, n_jobs=JOBS)


def _hist() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier()  # a hundred rounds, on all cores


def _dp_ebm(task: Task) -> Any:
    from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

    names = [f"a{number}" for number in range(task.attributes)]
    bounds = {
        name: (0.0, size - 1.0) for name, size in zip(names, sizes(task.attributes), strict=True)
    }
    return DPExplainableBoostingClassifier(
        feature_names=names,
        feature_types=["continuous"] * task.attributes,
        epsilon=1,
        delta=1e-6,
        privacy_bounds=bounds,
        n_jobs=JOBS,
    )


def _diffprivlib(task: Task) -> Any:
    from diffprivlib.models import RandomForestClassifier  # type: ignore[import-not-found]

    bounds = (np.zeros(task.attributes), np.array(sizes(task.attributes)) - 1.0)
    return RandomForestClassifier(
        n_estimators=task.trees,
        max_depth=DEPTH,
        epsilon=1,
        bounds=bounds,
        classes=[0, 1],
        n_jobs=JOBS,
    )


def _fit(task: Task, store: Store, make: Callable[[], Any]) -> Timed:
    rows, classes = store.matrix(task.rows, task.attributes, np.float32)
    return lambda: make().fit(rows, classes)


def _predict(task: Task, store: Store, model: Any) -> Timed:
    model.fit(*store.matrix(min(task.rows, 100_000), task.attributes, np.float32))
    rows, _ = store.matrix(task.rows, task.attributes, np.float32)
    return lambda: model.predict_proba(rows)
