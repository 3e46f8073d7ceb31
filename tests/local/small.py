"""A small table, and randomizers of it that repeat themselves."""

from __future__ import annotations

import numpy as np
import pandas as pd

from privet.domain import Categorical, Numeric, Schema
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds

SCHEMA = Schema(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Categorical([0, 1]),
        "c": Numeric(0, 8, bins=4, missing="?"),
    },
    "class",
    ["no", "yes", "maybe"],
)


def table(n_rows: int = 120) -> pd.DataFrame:
    """Rows whose attributes and class have to do with one another."""
    rng = np.random.default_rng(5)
    a = rng.choice(["x", "y", "z"], n_rows, p=[0.6, 0.3, 0.1])
    b = (rng.random(n_rows) < np.where(a == "x", 0.8, 0.3)).astype(int)
    c = np.where(rng.random(n_rows) < 0.1, np.nan, rng.random(n_rows) * 8 * (b + 1) / 2)
    label = np.where(rng.random(n_rows) < 0.7, np.where(a == "x", "yes", "no"), "maybe")
    return pd.DataFrame({"a": a, "b": b, "c": c, "class": label})


def seeded(seed: int) -> SeededBits:
    """Test bits."""
    with unlock_test_seeds():
        return SeededBits(seed)
