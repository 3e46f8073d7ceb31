"""What the cells of Hanisch's figures compute: lines of numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from experiments.papers.chance import Chance
from experiments.papers.experiment import NOT_PRIVATE, Row
from experiments.papers.hanisch import protocol
from experiments.papers.hanisch.as_published import (
    forest_accuracy_not_private,
    laplacian_counts_not_private,
    largest_noise,
    telling_answers,
)
from experiments.papers.hanisch.table import Table, prepared
from privet import presets
from privet.learners import PrivetClassifier
from privet.learners.random_trees.drawing import draw_forest
from privet.mechanisms.laplace import add_laplace, discrete_laplace

#: The same experiment with the paper's errors and without.
HOWS = (NOT_PRIVATE, "corrected")
GIBBS = "Privet's default (Gibbs)"
EXACT_TREE, EXACT_FOREST = "non-private tree", "non-private forest"


def village(draws: int = 10_000, seed: int | None = None) -> list[Row]:
    """The billionaire: noise in the mean income by what the text gives, and what its 48 million
    would need.
    """
    scale = protocol.LARGEST_INCOME / protocol.VILLAGE_EPSILON
    noise = (
        discrete_laplace(Chance(seed).bits(), draws, Fraction(round(scale))) / protocol.RESIDENTS
    )
    each = scale / protocol.RESIDENTS
    found = {
        "deviation": math.sqrt(2) * each,
        "deviation of draws": float(noise.std()),
        "within a million": -math.expm1(-1e6 / each),
        "within a million, of draws": float((np.abs(noise) <= 1e6).mean()),
        "residents for 48 million": math.sqrt(2) * scale / 48e6,
        "within a million at 48 million": -math.expm1(-1e6 * math.sqrt(2) / 48e6),
    }
    return [{"what": what, "value": value} for what, value in found.items()]


def noisy_ratio(how: str, calls: int, seed: int | None = None) -> list[Row]:
    """The share of the frequent class by two noisy counts, call by call; in the first line what
    else is to be known of the noise.
    """
    counts = np.bincount(prepared().train.classes).astype(np.int64)
    bits, epsilon = Chance(seed).bits(), protocol.RATIO_EPSILON
    asked = np.tile(counts, (calls, 1))
    if how == NOT_PRIVATE:
        noisy = laplacian_counts_not_private(bits, asked, epsilon)
        facts = {
            "largest noise": largest_noise(epsilon),
            "telling answers": telling_answers(epsilon),
        }
    else:
        noisy, _ = add_laplace(bits, asked, Fraction(str(epsilon)))
        facts = {}
    ratios = noisy[:, 0] / noisy.sum(axis=1)
    return [
        {"how": how, "call": call, "ratio": float(ratio), **(facts if call == 0 else {})}
        for call, ratio in enumerate(ratios)
    ]


def exact_tree(depths: list[int], runs: int) -> list[Row]:
    """scikit-learn's tree by depth. Runs differ in how it breaks ties between attributes."""
    from sklearn.tree import DecisionTreeClassifier

    found = []
    for depth in depths:
        for run in range(runs):
            accuracy = _plain(DecisionTreeClassifier(max_depth=depth, random_state=run))
            found.append({"how": EXACT_TREE, "depth": depth, "run": run, "accuracy": accuracy})
    return found


def exact_forest(depth: int, trees: list[int], runs: int) -> list[Row]:
    """scikit-learn's forest of one depth, by the number of trees."""
    from sklearn.ensemble import RandomForestClassifier

    found = []
    for count in trees:
        for run in range(runs):
            accuracy = _plain(RandomForestClassifier(count, max_depth=depth, random_state=run))
            found.append(
                {
                    "how": EXACT_FOREST,
                    "depth": depth,
                    "trees": count,
                    "run": run,
                    "accuracy": accuracy,
                }
            )
    return found


def private_forest(
    how: str, epsilon: float, depth: int, trees: list[int], runs: int, seed: int | None = None
) -> list[Row]:
    """Random trees with noisy leaves that vote, by their number; one of them is his private random
    decision tree.

    Corrected: :func:`privet.presets.hanisch`, with exact noise.
    """
    chance, data = Chance(seed), prepared()
    measure = _as_published if how == NOT_PRIVATE else _corrected
    head = {"how": how, "epsilon": epsilon, "depth": depth}
    return [
        {
            **head,
            "trees": count,
            "run": run,
            "accuracy": measure(data, chance, epsilon, depth, count),
        }
        for count in trees
        for run in range(runs)
    ]


def gibbs(epsilon: float, runs: int, seed: int | None = None) -> list[Row]:
    """What the paper could not have: the best learner that there is here, with the same epsilon."""
    chance, data = Chance(seed), prepared()
    found = []
    for run in range(runs):
        learner = PrivetClassifier(epsilon, data.schema, random_state=chance.state()).fit(
            data.train.X, data.train.y
        )
        found.append(
            {"how": GIBBS, "epsilon": epsilon, "run": run, "accuracy": _share_right(learner, data)}
        )
    return found


def bounds() -> list[Row]:
    """What a naive classifier gets right, and what nobody who sees these seven attributes alone can
    exceed: on the test rows themselves.
    """
    data = prepared()
    points = np.ravel_multi_index(
        tuple(np.asarray(column, dtype=np.int64) for column in data.test.codes), data.schema.sizes
    )
    counts = np.zeros((int(points.max()) + 1, 2), dtype=np.int64)
    np.add.at(counts, (points, data.test.classes), 1)
    return [
        {"what": "naive", "value": data.naive},
        {"what": "ceiling", "value": float(counts.max(axis=1).sum() / counts.sum())},
        {"what": "rows", "value": len(data.train.classes) + len(data.test.classes)},
        {"what": "test rows", "value": len(data.test.classes)},
    ]


def sample_rows() -> list[Row]:
    """Five rows of the prepared table (public rows), how many of his five fit its public domain,
    and how even the bins are.
    """
    data = prepared()
    head = data.train.X.head(len(protocol.FIGURE_8)).assign(income=data.train.y)
    rows: list[Row] = [
        {"row": number, **line} for number, line in enumerate(head.to_dict("records"))
    ]
    attributes = data.schema.attributes
    fitting = sum(
        all(value in attributes[name].labels for name, value in zip(attributes, line, strict=False))
        for line in protocol.FIGURE_8
    )
    found = {
        "attributes": len(attributes),
        "rows of figure 8 that fit": fitting,
        "share of the larger half of ages": max(
            np.bincount(data.train.codes[data.schema.names.index("age")]) / len(data.train.classes)
        ),
    }
    return [*rows, *({"what": what, "value": float(value)} for what, value in found.items())]


def _as_published(data: Table, chance: Chance, epsilon: float, depth: int, trees: int) -> float:
    bits = chance.bits()
    structures = draw_forest(data.schema, trees, depth, bits)
    train, test = (data.train.codes, data.train.classes), (data.test.codes, data.test.classes)
    return forest_accuracy_not_private(bits, structures, train, test, epsilon)


def _corrected(data: Table, chance: Chance, epsilon: float, depth: int, trees: int) -> float:
    learner = presets.hanisch(epsilon, data.schema, n_trees=trees, depth=depth)
    learner.set_params(random_state=chance.state()).fit(data.train.X, data.train.y)
    return _share_right(learner, data)


def _share_right(learner: Any, data: Table) -> float:
    return float((learner.predict(data.test.X) == data.test.y.to_numpy()).mean())


def _plain(learner: Any) -> float:
    """Of a scikit-learn estimator, which sees codes as numbers."""
    data, (train, test) = prepared(), _numbered()
    return float(learner.fit(train, data.train.classes).score(test, data.test.classes))


@cache
def _numbered() -> tuple[Any, Any]:
    """The values of each column, numbered in the order of the alphabet (the protocol's coding):
    training rows, test rows.
    """
    data = prepared()
    ranks = [
        np.argsort(np.argsort(attribute.labels)) for attribute in data.schema.attributes.values()
    ]
    train, test = (
        np.column_stack([rank[codes] for rank, codes in zip(ranks, part.codes, strict=True)])
        for part in (data.train, data.test)
    )
    return train, test
