"""Runs in the peers' environment, where Privet is not: fits a peer to one of two worlds, and tells
what an adversary sees of the model.

A request has the name of a release, its settings, the rows of the world, the rows in question and,
since an adversary knows both, the rows of both worlds. An answer is a mapping of numbers and words.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np

from experiments.bench.accuracy.peers import serve

Seen = dict[str, float | str]
PACKAGES = ("diffprivlib", "interpret-core", "distributed-random-forest", "scikit-learn", "numpy")


def forest(asked: dict[str, Any]) -> Seen:
    """A forest of diffprivlib, with bounds and classes given: what each tree says about the row in
    question.
    """
    return _labels(_forest(asked), asked)


def forest_and_seed(asked: dict[str, Any]) -> Seen:
    """The same, where somebody looks at the seed that each fitted tree keeps: it builds the tree
    anew, from either table.
    """
    fitted = _forest(asked)
    (tree,) = fitted.estimators_  # with a single tree, it has all the rows
    same = [
        _same_tree(tree, _replayed(tree.random_state, world, asked)) for world in asked["worlds"]
    ]
    told = {
        (True, True): "both",
        (True, False): "without the row",
        (False, True): "with the row",
        (False, False): "neither",
    }
    return _labels(fitted, asked) | {
        "worlds in which the stored seed gives this tree": told[same[0], same[1]]
    }


def _forest(asked: dict[str, Any]) -> Any:
    from diffprivlib import BudgetAccountant  # type: ignore[import-not-found]
    from diffprivlib.models import RandomForestClassifier  # type: ignore[import-not-found]

    # it adds up what all fits of the process spent, and gets slower with each
    BudgetAccountant.pop_default()
    options = {"max_depth": 1, "bounds": ([0], [1]), "classes": [0, 1], **asked["settings"]}
    return RandomForestClassifier(epsilon=asked["epsilon"], **options).fit(*_rows(asked["world"]))


def _replayed(seed: int, world: dict[str, Any], asked: dict[str, Any]) -> Any:
    from diffprivlib.models.forest import DecisionTreeClassifier  # type: ignore[import-not-found]

    tree = DecisionTreeClassifier(
        max_depth=1, epsilon=asked["epsilon"], bounds=([0], [1]), classes=[0, 1], random_state=seed
    )
    return tree.fit(*_rows(world))


def _same_tree(tree: Any, other: Any) -> bool:
    return np.array_equal(tree.tree_.threshold, other.tree_.threshold) and np.array_equal(
        tree.tree_.value, other.tree_.value
    )


def _labels(fitted: Any, asked: dict[str, Any]) -> Seen:
    rows = np.asarray(asked["probes"], dtype=np.float32)
    return {
        f"label of the row in tree {t}": str(int(tree.predict(rows)[0]))
        for t, tree in enumerate(fitted.estimators_)
    }


def boosting(asked: dict[str, Any]) -> Seen:
    """A private explainable boosting machine, with the type, values or bounds of its attribute
    given.
    """
    from interpret.privacy import DPExplainableBoostingClassifier  # type: ignore[import-not-found]

    settings = dict(asked["settings"])
    hidden = settings.pop("hidden", [])
    rows, classes = np.array(asked["world"]["X"], dtype=object), np.array(asked["world"]["y"])
    machine = DPExplainableBoostingClassifier(
        feature_names=["a"], epsilon=asked["epsilon"], delta=asked["delta"], n_jobs=1, **settings
    )
    fitted = machine.fit(rows, classes)
    asked_about = np.array(asked["probes"], dtype=object)
    values, weights = fitted.bins_[0][0], fitted.bin_weights_[0]
    seen: Seen = {
        "classes_": ", ".join(map(str, fitted.classes_)),
        "values in bins_": ", ".join(sorted(values)) or "none",
        "bag_weights_": float(fitted.bag_weights_[0]),
        "intercept_": float(fitted.intercept_[0]),
        "noisy number of rows": float(weights.sum()),
        **{
            f"noisy number of rows with {value}": float(weights[place])
            for value, place in values.items()
        },
        **{
            f"score of {value}": float(fitted.term_scores_[0][place])
            for value, place in values.items()
        },
        **{
            f"probability for row {r}": float(shares[-1])
            for r, shares in enumerate(fitted.predict_proba(asked_about))
        },
    }
    return {name: value for name, value in seen.items() if name not in hidden and value == value}


def distributed_forest(asked: dict[str, Any]) -> Seen:
    """A private forest of distributed-random-forest: the thresholds of its trees."""
    from distributed_random_forest import DPRandomForest  # type: ignore[import-not-found]

    fitted = DPRandomForest(epsilon=asked["epsilon"], n_jobs=1, **asked["settings"]).fit(
        *_rows(asked["world"])
    )
    thresholds = [
        float(tree.tree_.threshold[0]) for tree in fitted.get_trees() if tree.tree_.feature[0] >= 0
    ]
    return (
        {"least threshold": min(thresholds), "largest threshold": max(thresholds)}
        if thresholds
        else {"thresholds": "none"}
    )


def _rows(world: dict[str, Any]) -> tuple[Any, Any]:
    return np.array(world["X"], dtype=np.float64), np.array(world["y"], dtype=np.int64)


RELEASES: dict[str, Callable[[dict[str, Any]], Seen]] = {
    one.__name__: one for one in (forest, forest_and_seed, boosting, distributed_forest)
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["release"] == "versions":
        return {"seen": {name: importlib.metadata.version(name) for name in PACKAGES}}
    return {"seen": RELEASES[request["release"]](request)}


if __name__ == "__main__":
    serve(answer)
