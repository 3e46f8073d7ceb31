"""The data sets as the papers prepare them, as codes, and folds that are the same in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.papers.rdt.protocol import FOLDS, MUSHROOM_WITHOUT, SEED, THREE_CLASSES
from privet._types import Ints
from privet.datasets import load
from privet.domain import Categorical, Schema
from privet.domain.encode.rows import encode

#: The data set of the catalogue that each table is made of.
SOURCES = {
    "nursery": "nursery",
    "nursery, 3 classes": "nursery",
    "mushroom": "mushroom",
    "votes": "votes",
    "votes with ?": "votes",
    "synthetic1": "synthetic1",
    "synthetic2": "synthetic2",
    "synthetic3": "synthetic3",
}


@dataclass(frozen=True, eq=False)
class Table:
    """A public table: its rows, and their codes."""

    name: str
    schema: Schema
    X: Any
    y: Any
    codes: list[Ints]
    classes: Ints

    def __len__(self) -> int:
        return len(self.classes)

    def folds(self, count: int = FOLDS) -> list[tuple[Ints, Ints]]:
        """Training and test rows of the first so many of ten stratified folds."""
        shuffled = np.random.default_rng(SEED).permutation(len(self))
        by_class = shuffled[np.argsort(self.classes[shuffled], kind="stable")]
        fold = np.empty(len(self), dtype=np.int64)
        fold[by_class] = np.arange(len(self)) % FOLDS
        return [(np.flatnonzero(fold != one), np.flatnonzero(fold == one)) for one in range(count)]

    def with_attributes(self, names: Sequence[str]) -> Table:
        """The same rows, and fewer attributes."""
        schema = Schema(
            {name: self.schema.attributes[name] for name in names},
            self.schema.target,
            self.schema.classes,
        )
        return replace(
            self,
            schema=schema,
            X=self.X[list(names)],
            codes=[self.codes[self.schema.names.index(name)] for name in names],
        )

    def majority(self) -> float:
        """How often the most frequent class is right."""
        return float(np.bincount(self.classes).max() / len(self))


@lru_cache
def table(name: str) -> Table:
    """A table by its name in :data:`SOURCES`."""
    data = load(SOURCES[name])
    X, y, schema = data.X, data.y, data.schema  # noqa: N806
    attributes = dict(schema.attributes)
    classes = list(schema.classes)
    if name == "nursery, 3 classes":
        y = y.replace(THREE_CLASSES)
        classes = [label for label in classes if label not in THREE_CLASSES]
    if name == "mushroom":
        del attributes[MUSHROOM_WITHOUT]
        X = X.drop(columns=MUSHROOM_WITHOUT)  # noqa: N806
    if name == "votes":
        # As published: the vote that most members gave is read off the rows, which nobody pays for.
        # NOT PRIVATE.
        X = X.apply(lambda votes: votes.replace("?", votes[votes != "?"].mode()[0]))  # noqa: N806
        attributes = {
            bill: Categorical([vote for vote in attribute.labels if vote != "?"])
            for bill, attribute in attributes.items()
        }
    schema = Schema(attributes, schema.target, classes)
    encoded = encode(schema, X, y)
    assert encoded.classes is not None
    assert encoded.known(schema).all()
    codes = [np.asarray(column, dtype=np.int64) for column in encoded.codes]
    return Table(name, schema, X, y, codes, np.asarray(encoded.classes, dtype=np.int64))
