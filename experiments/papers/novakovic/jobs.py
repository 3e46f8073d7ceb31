"""What the cells of Novakovic's figures compute: accuracies of one method on one table, epsilon by
epsilon and fold by fold.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from experiments.papers.chance import Chance
from experiments.papers.experiment import NOT_PRIVATE, Row
from experiments.papers.novakovic import protocol
from experiments.papers.novakovic.as_published import Criterion, grow_not_private
from experiments.papers.novakovic.tables import Table, folds, table
from privet import presets
from privet._types import Ints
from privet.learners import PrivetClassifier

BASELINE = "non-private (information gain)"
MAX_PUBLISHED, GINI_PUBLISHED = f"max operator, {NOT_PRIVATE}", f"Gini, {NOT_PRIVATE}"
MAX, GINI = "max operator, corrected", "Gini, corrected"
INFO_GAIN = "information gain, corrected"
GIBBS = "Privet's default (Gibbs)"
FREQUENT = "most frequent class"
#: The methods, in the order of the pictures.
METHODS = (BASELINE, MAX_PUBLISHED, GINI_PUBLISHED, MAX, GINI, GIBBS)
_PUBLISHED: dict[str, Criterion] = {
    BASELINE: "info_gain",
    MAX_PUBLISHED: "max",
    GINI_PUBLISHED: "gini",
}
_CORRECTED: dict[str, Literal["max", "gini", "info_gain"]] = {
    MAX: "max",
    GINI: "gini",
    INFO_GAIN: "info_gain",
}


def accuracies(
    figure: str,
    method: str,
    order: str,
    epsilons: list[float],
    runs: int,
    folds_run: int = protocol.FOLDS,
    seed: int | None = None,
) -> list[Row]:
    """One line per epsilon, run and fold. The non-private tree is one line per run and fold,
    without an epsilon.

    Corrected: :func:`privet.presets.novakovic`, algorithm 2 without the errors of its listing.
    """
    data, chance = table(figure), Chance(seed)
    head = {"table": protocol.TABLES[figure][0], "method": method, "order": order}
    found: list[Row] = []
    for run in range(runs):
        for fold, (train, test) in enumerate(folds(len(data.classes), order, run)[:folds_run]):
            for epsilon in [math.inf] if method == BASELINE else epsilons:
                right = _right(data, method, epsilon, train, test, chance)
                line = {"epsilon": epsilon} if math.isfinite(epsilon) else {}
                found.append(
                    {**head, **line, "run": run, "fold": fold, "accuracy": float(right.mean())}
                )
    return found


def most_frequent(figure: str) -> list[Row]:
    """The share of the most frequent class, to compare with."""
    return [
        {
            "table": protocol.TABLES[figure][0],
            "method": FREQUENT,
            "accuracy": table(figure).majority,
        }
    ]


def _right(
    data: Table, method: str, epsilon: float, train: Ints, test: Ints, chance: Chance
) -> Any:
    """Which test rows are predicted right."""
    if method in _PUBLISHED:
        tree = grow_not_private(
            [column[train] for column in data.values],
            data.classes[train],
            _PUBLISHED[method],
            epsilon,
            chance.bits(),
        )
        return tree.predict([column[test] for column in data.values]) == data.classes[test]
    learner: Any
    schema = data.schema.declare(n_rows=len(train))  # KFold makes it public
    if method in _CORRECTED:
        learner = presets.novakovic(
            epsilon,
            schema,
            criterion=_CORRECTED[method],
            max_depth=protocol.MAX_DEPTH,
            min_rows=protocol.MIN_SAMPLE,
        ).set_params(random_state=chance.state())
    else:
        learner = PrivetClassifier(epsilon, schema, random_state=chance.state())
    learner.fit(data.X.iloc[train], data.y.iloc[train])
    return np.asarray(learner.predict(data.X.iloc[test]) == data.y.iloc[test].to_numpy())
