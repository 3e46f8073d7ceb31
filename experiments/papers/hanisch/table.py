"""Adult as Hanisch prepares it: seven grouped attributes, classes of nearly the same size, one part
to learn from and one to test.

Both the grouping ("nearly same sized bins") and the balance are read off the rows, which no budget
pays for. Adult is public, so nothing is lost here; on a private table bins and balance would have
to be public facts, or be paid for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.papers.hanisch import protocol
from privet.datasets import load
from privet.domain import Categorical, Schema
from privet.domain.encode.rows import encode

TARGET = "income"
_AGES = (f"<={protocol.AGE_UP_TO}", f">={protocol.AGE_UP_TO + 1}")
_LOW, _HIGH = protocol.HOURS_UP_TO
_HOURS = (f"<={_LOW}", f"{_LOW + 1}-{_HIGH}", f">={_HIGH + 1}")


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of the table: as a data frame, and encoded."""

    X: Any
    y: Any
    codes: list[npt.NDArray[Any]]
    classes: npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """The prepared table."""

    schema: Schema
    train: Part
    test: Part

    @property
    def naive(self) -> float:
        """The share of test rows that the most frequent class of the training rows gets right."""
        return float((self.test.classes == np.bincount(self.train.classes).argmax()).mean())


@cache
def prepared() -> Table:
    """The table. Which rows are dropped, and which are for testing, is the same in every run."""
    import pandas as pd

    adult = load("adult")
    rows, level = (
        adult.table,
        {name: group for group, names in protocol.EDUCATION_LEVEL.items() for name in names},
    )
    hours = np.digitize(rows["hours_per_week"], [_LOW + 1, _HIGH + 1])
    table = pd.DataFrame(
        {
            "age": np.where(rows["age"] <= protocol.AGE_UP_TO, *_AGES),
            "workclass": rows["workclass"],
            "education_level": rows["education"].map(level),
            "relationship": rows["relationship"],
            "race": rows["race"],
            "sex": rows["sex"],
            "hours_per_week": np.array(_HOURS)[hours],
            TARGET: np.where(rows["class"] == ">50K", "1", "0"),
        }
    )
    table = table.iloc[_balanced(table[TARGET].to_numpy() == "1")].reset_index(drop=True)
    n_train = round(len(table) * (1 - protocol.TEST_SHARE))
    schema = _schema(adult.schema).declare(n_rows=n_train)
    return Table(schema, _part(schema, table.iloc[:n_train]), _part(schema, table.iloc[n_train:]))


def _balanced(rich: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Rows to keep, in random order: all of the rare class, and as many of the other as give it the
    share that is wanted.
    """
    # a public choice of public rows, no noise
    shuffle = np.random.default_rng(protocol.SPLIT_SEED).permutation
    wanted = round(int(rich.sum()) * protocol.NAIVE / (1 - protocol.NAIVE))
    poor = shuffle(np.flatnonzero(~rich))[:wanted]
    return np.asarray(shuffle(np.concatenate([np.flatnonzero(rich), poor])))


def _schema(adult: Schema) -> Schema:
    """The public domain: the catalogue's values, and the groups of the protocol."""
    of = adult.attributes
    attributes = {
        "age": Categorical(_AGES),
        "workclass": of["workclass"],
        "education_level": Categorical(tuple(protocol.EDUCATION_LEVEL)),
        "relationship": of["relationship"],
        "race": of["race"],
        "sex": of["sex"],
        "hours_per_week": Categorical(_HOURS),
    }
    return Schema(attributes, TARGET, ["0", "1"])


def _part(schema: Schema, rows: Any) -> Part:
    encoded = encode(schema, rows)
    assert encoded.classes is not None
    attributes = rows.drop(columns=TARGET).reset_index(drop=True)
    return Part(attributes, rows[TARGET].reset_index(drop=True), encoded.codes, encoded.classes)
