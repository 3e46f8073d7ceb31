"""One fit by a recipe, with the functions that the default learner uses."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import train_test_split

from experiments.bench.accuracy.measures import measure
from experiments.recipe.cells import TRAINING_SHARE, Cell
from experiments.recipe.menu import SHIPPED, Variant, recipe_of, share_for_start
from experiments.recipe.tables import load
from privet._validate import ParameterCheck
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema, text_of
from privet.learners.base import Growth, measure_rows
from privet.learners.boosting import COMMON, measure_classes, start_from_classes
from privet.learners.default import PrivetClassifier, follow_recipe

MOST_TEST_ROWS = 5000
#: The least probability that log loss counts.
LEAST_PROBABILITY = 1e-6


class VariantClassifier(PrivetClassifier):
    """The default learner with a variant of its rule. Pure epsilon only."""

    #: It has none of the default's further parameters.
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {}

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        variant: Variant = SHIPPED,
        delta: Number = 0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(epsilon, schema, delta=delta, random_state=random_state)
        self.variant = variant

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        if self.variant == SHIPPED:
            return super()._grow(curator, spending)
        n_rows, amount = measure_rows(curator, spending), spending.left
        assert amount is not None
        shares, start, when = None, None, self.variant.start
        share = share_for_start(when, curator.schema, n_rows, amount)
        if share:
            shares, noise, charge = measure_classes(curator, n_rows, spending.take(share))
            spending.charges.append(charge)
            start = start_from_classes(
                curator.schema,
                shares,
                noise,
                common=COMMON if when == "by rule" else -math.inf,
            )
        rare = start is not None and when == "by rule"
        recipe = recipe_of(self.variant, curator.schema, n_rows, amount, rare=rare)
        trees = follow_recipe(curator, spending, recipe, start, shares)
        return Growth(tuple(trees), "scores", {**recipe.settings, "rows": n_rows}, 0.0)


def fit(cell: Cell, variant: Variant, cache: Path) -> dict[str, Any]:
    """Return what a recipe achieves in a cell, as a row of the results."""
    data = load(cell.table, cache)
    codes = data.schema.label.code_of_text
    classes = np.array([codes[text_of(label)] for label in data.y.tolist()])
    train, test = split_rows(cell, classes)
    schema = data.schema.declare(n_rows=len(train))
    model = VariantClassifier(cell.epsilon, schema, variant=variant)
    model.fit(data.X.iloc[train], data.y.iloc[train])
    probabilities = np.zeros((len(test), schema.n_classes))
    probabilities[:, [codes[text_of(label)] for label in model.classes_]] = model.predict_proba(
        data.X.iloc[test]
    )
    truth = classes[test]
    reached = measure(truth, probabilities.argmax(axis=1), probabilities)
    likely = np.maximum(probabilities[np.arange(len(test)), truth], LEAST_PROBABILITY)
    return {
        **cell._asdict(),
        "recipe": variant.name,
        "accuracy": reached["accuracy"],
        "auroc": reached["auroc"],
        "log_loss": float(-np.log(likely).mean()),
    }


def split_rows(cell: Cell, classes: Any) -> tuple[Any, Any]:
    """Return training and test rows, stratified: the same for all recipes of a cell."""
    left = len(classes) - int(TRAINING_SHARE * len(classes))
    train, test = train_test_split(
        np.arange(len(classes)),
        train_size=cell.rows,
        test_size=min(left, MOST_TEST_ROWS),
        stratify=classes,
        random_state=zlib.crc32(repr(cell).encode()),
    )
    return train, test
