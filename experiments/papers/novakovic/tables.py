"""The ten tables: as the listings see them, values numbered in order, and with a public schema for
private learners.

The listings take domains and kinds of attributes from the training rows. The corrected runs have
them from the catalogue: what the questionnaire, the field guide and the rules of the game allow is
public. Seven attributes of the drug table are answers to choose from, which the thesis treats as
categories; the five scores of the personality test are numbers, in public bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from experiments.papers.novakovic import protocol
from privet._types import Ints
from privet.datasets import load
from privet.domain import Categorical, Schema
from privet.domain.encode.rows import encode


@dataclass(frozen=True, eq=False)
class Table:
    """One table.

    Args:
        X, y: its attributes and its class, for learners.
        schema: the public schema of ``X``.
        values: per attribute, the rank of each row's value among all values of the file.
        classes: the class of each row, as a number.
    """

    X: Any
    y: Any
    schema: Schema
    values: tuple[Ints, ...]
    classes: Ints

    @cached_property
    def majority(self) -> float:
        """The share of the most frequent class."""
        return float(np.bincount(self.classes).max() / len(self.classes))


@cache
def table(figure: str) -> Table:
    """The table of a figure."""
    _, name, drug = protocol.TABLES[figure]
    data = load(name, target=drug)
    values = tuple(
        np.unique(data.X[column], return_inverse=True)[1].astype(np.int64)
        for column in data.X.columns
    )
    frame, schema = _with_categories(data.X, data.schema)
    classes = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    return Table(frame, data.y, schema, values, classes)


def folds(n_rows: int, order: str, run: int) -> list[tuple[Ints, Ints]]:
    """Training and test rows of each fold. In file order they are the same in every run."""
    from sklearn.model_selection import KFold

    shuffled = order == "shuffled"
    seed = protocol.SHUFFLE_SEED + run if shuffled else None
    return [
        (train, test)
        for train, test in KFold(protocol.FOLDS, shuffle=shuffled, random_state=seed).split(
            np.zeros(n_rows)
        )
    ]


def _with_categories(frame: Any, schema: Schema) -> tuple[Any, Schema]:
    """Numbers whose public bins are so few that the thesis takes them for categories become
    categories; others stay.

    The catalogue has a bin of its own for each answer of the questionnaire, and 14 bins for each
    score.
    """
    codes = encode(schema, frame, target=False).codes
    answers = [
        name for name, attribute in schema.attributes.items() if "edges" in attribute.facts()
    ]
    attributes = dict(schema.attributes)
    for position, name in enumerate(schema.names):
        if name in answers:
            attributes[name] = Categorical([str(code) for code in range(schema.sizes[position])])
            frame = frame.assign(**{name: codes[position].astype(str)})
    return frame, Schema(attributes, schema.target, schema.classes)
