"""A data set, its folds, curators of parts of it, and accuracy on rows that were held out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from experiments.bench.accuracy.folds import splits
from experiments.bench.federation import bank
from privet import PrivetClassifier, datasets
from privet._types import Floats, Ints
from privet.accounting.cost import Budget, Number
from privet.curator import Curator, Owner
from privet.domain import Schema
from privet.domain.encode.rows import Encoded, encode
from privet.errors import FewRowsWarning
from privet.model import Model
from privet.tables.memory import MemoryTable


class Problem:
    """A public data set. Whoever has some of its rows declares how many."""

    def __init__(self, name: str) -> None:
        self.data = bank.load() if name == "bank" else datasets.load(name)
        self.schema: Schema = self.data.schema

    @cached_property
    def _encoded(self) -> Encoded:
        return encode(self.schema, self.data.X, self.data.y)

    @property
    def classes(self) -> Ints:
        assert self._encoded.classes is not None
        return np.asarray(self._encoded.classes)

    def fold(self, repeat: int, fold: int) -> tuple[Ints, Ints]:
        """Training and test rows; the same every time."""
        return list(splits(self.classes, repeat))[fold]

    def curator(
        self, rows: Ints, epsilon: Number, attributes: Sequence[str] | None = None
    ) -> Curator:
        """A curator of some rows, and some attributes, with all of epsilon to spend. The number of
        rows is declared.
        """
        return self.owner(rows, epsilon, attributes).curator()

    def owner(self, rows: Ints, epsilon: Number, attributes: Sequence[str] | None = None) -> Owner:
        """The owner of these rows."""
        names = list(self.schema.names if attributes is None else attributes)
        schema = self.schema.declare(n_rows=len(rows))
        if attributes is not None:
            schema = Schema(
                {name: self.schema.attributes[name] for name in names},
                schema.target,
                schema.classes,
                n_rows=len(rows),
            )
        table = MemoryTable(self.data.X[names].iloc[rows], self.data.y.iloc[rows])
        public = epsilon == math.inf
        return Owner(table, schema, Budget(1 if public else epsilon), public=public)

    def fit_default(
        self, rows: Ints, epsilon: Number, attributes: Sequence[str] | None = None
    ) -> Model:
        """What a party gets from its own rows, and attributes, if it stays alone."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)
            curator = self.curator(rows, epsilon, attributes)
            return PrivetClassifier(epsilon).fit_from(curator).model_

    def accuracy(self, model: Model, rows: Ints) -> float:
        said = self._probabilities(model, rows).argmax(axis=1)
        return float((said == self.classes[rows]).mean())

    def auroc(self, model: Model, rows: Ints) -> float:
        """The area under the ROC curve; nothing for more than two classes."""
        if self.schema.n_classes > 2:
            return math.nan
        return float(roc_auc_score(self.classes[rows], self._probabilities(model, rows)[:, 1]))

    def _probabilities(self, model: Model, rows: Ints) -> Floats:
        codes: list[Any] = [
            self._encoded.codes[self.schema.names.index(name)][rows] for name in model.schema.names
        ]
        return model.probabilities(codes)


def divided(rows: Ints, sizes: Sequence[int], seed: int) -> list[Ints]:
    """Rows divided at random into parts whose sizes are as these numbers, never by their
    position.
    """
    shuffled = np.random.default_rng(seed).permutation(rows)
    borders = np.round(np.cumsum(sizes)[:-1] / sum(sizes) * len(rows)).astype(int)
    return np.split(shuffled, borders)
