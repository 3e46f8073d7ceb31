"""Small tables and seeds that the tests of synthetic tables share."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds

SCHEMA = Schema(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Categorical([1, 2]),
        "age": Numeric(0, 80, bins=4, missing="unknown"),
    },
    "c",
    ["no", "yes"],
)


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


def table(n_rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """``b`` follows ``a``, the class follows ``b`` a little, and the age follows nothing; some ages
    are missing.
    """
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, n_rows)
    b = np.where(rng.random(n_rows) < 0.9, (a > 0) + 1, rng.integers(1, 3, n_rows))
    age = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 81, n_rows))
    c = np.where(rng.random(n_rows) < 0.3 * b, "yes", "no")
    return pd.DataFrame({"a": np.array(list("xyz"))[a], "b": b, "age": age, "c": c})


def curator(
    frame: pd.DataFrame | None = None,
    schema: Schema = SCHEMA,
    budget: Budget | None = None,
    **options: object,
) -> Curator:
    return Curator(table() if frame is None else frame, schema, budget or Budget(1), **options)
