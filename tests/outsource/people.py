"""A small table of made-up people, for tests: the disease goes with the town, and the class with
both.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from privet.domain import Categorical, Numeric, Schema

DISEASES = ["flu", "gout", "acne", "none"]
SCHEMA = Schema(
    attributes={
        "town": Categorical(["north", "south", "east"]),
        "age": Numeric(0, 100, bins=10, missing="unknown"),
        "smokes": Categorical([True, False]),
        "disease": Categorical(DISEASES),
    },
    target="visits",
    classes=["few", "many"],
)


def people(n: int = 400, seed: int = 1) -> pd.DataFrame:
    """So many rows. The class depends on town and disease together, so that a tree without the
    disease does worse.
    """
    rng = np.random.default_rng(seed)
    town = rng.choice(["north", "south", "east"], n)
    disease = np.where(
        rng.random(n) < 0.3,
        rng.choice(DISEASES, n),
        np.where(town == "north", "flu", np.where(town == "south", "gout", "none")),
    )
    age = np.where(rng.random(n) < 0.05, np.nan, np.round(rng.random(n) * 100, 1))
    many = ((town == "north") & (disease == "flu")) | (
        (town != "north") & np.isin(disease, ["acne", "gout"])
    )
    many ^= rng.random(n) < 0.05
    return pd.DataFrame(
        {
            "town": town,
            "age": age,
            "smokes": rng.random(n) < 0.5,
            "disease": disease,
            "visits": np.where(many, "many", "few"),
        }
    )
