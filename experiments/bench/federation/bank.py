"""A generated table that is like those of banks that call customers: one customer in eight buys, on
a mixture of numbers with long tails, categories, and a few conditions that only hold together.

No row is about anybody. It stands for tables that cannot be shipped or fetched.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from privet import datasets
from privet._types import Floats
from privet.domain import Categorical, Numeric, Schema

ROWS, SEED = 40_000, 23
JOBS = {
    "worker": 0.22,
    "manager": 0.21,
    "technician": 0.17,
    "office": 0.12,
    "services": 0.09,
    "retired": 0.06,
    "own business": 0.06,
    "household": 0.03,
    "no job": 0.03,
    "student": 0.01,
}
MARITAL = {"married": 0.6, "single": 0.28, "divorced": 0.12}
EDUCATION = {"primary": 0.16, "secondary": 0.51, "tertiary": 0.29, "unknown": 0.04}
CONTACT = {"mobile": 0.65, "fixed": 0.07, "unknown": 0.28}
QUARTERS = {"winter": 0.12, "spring": 0.4, "summer": 0.34, "autumn": 0.14}
BEFORE = {"none": 0.82, "failed": 0.11, "other": 0.04, "bought": 0.03}
YES = {"no": 0.5, "yes": 0.5}

SCHEMA = Schema(
    {
        "age": Numeric(18, 98, bins=16),
        "job": Categorical(list(JOBS)),
        "marital": Categorical(list(MARITAL)),
        "education": Categorical(list(EDUCATION)),
        "balance": Numeric(-4000, 36_000, bins=16),
        "mortgage": Categorical(list(YES)),
        "loan": Categorical(list(YES)),
        "contact": Categorical(list(CONTACT)),
        "quarter": Categorical(list(QUARTERS)),
        "minutes": Numeric(0, 32, bins=16),
        "calls": Numeric(1, 17, bins=16),
        "before": Categorical(list(BEFORE)),
    },
    target="bought",
    classes=["no", "yes"],
)


def load() -> datasets.Dataset:
    """Return the table, the same every time."""
    random = np.random.default_rng(SEED)

    def draw(shares: dict[str, float]) -> npt.NDArray[np.str_]:
        parts = np.array(list(shares.values()))
        return random.choice(list(shares), ROWS, p=parts / parts.sum())

    job, before = draw(JOBS), draw(BEFORE)
    age = np.clip(random.gamma(9, 2.6, ROWS) + 18 + 22 * (job == "retired"), 18, 97).round()
    table = pd.DataFrame(
        {
            "age": np.where(job == "student", np.clip(age - 15, 18, 35), age),
            "job": job,
            "marital": draw(MARITAL),
            "education": np.where(
                (job == "manager") & (random.random(ROWS) < 0.7), "tertiary", draw(EDUCATION)
            ),
            "balance": np.clip(random.lognormal(6.4, 1.4, ROWS) - 500, -3999, 35_999).round(),
            "mortgage": np.where(random.random(ROWS) < 0.66 - 0.006 * (age - 30), "yes", "no"),
            "loan": np.where(random.random(ROWS) < 0.16, "yes", "no"),
            "contact": draw(CONTACT),
            "quarter": draw(QUARTERS),
            "minutes": np.clip(random.lognormal(1.1, 0.9, ROWS), 0, 31.9).round(1),
            "calls": np.clip(random.geometric(0.37, ROWS), 1, 16),
            "before": before,
        }
    )
    scores = _score(table)
    bought = np.where(scores + random.logistic(size=ROWS) > 0, "yes", "no")
    return datasets.Dataset("bank", table, pd.Series(bought, name="bought"), SCHEMA)


def _score(rows: pd.DataFrame) -> Floats:
    """Return the log-odds that somebody buys."""
    young_or_old = (rows.age < 27) | (rows.age > 60)
    reached = rows.contact.ne("unknown")
    score = (
        -7.6
        + 2.6 * np.log1p(rows.minutes)
        + 3.0 * (rows.before == "bought")
        + 1.0 * young_or_old
        + 1.1 * (reached & rows.mortgage.eq("no"))
        + 1.3 * (rows.quarter.isin(["winter", "autumn"]) & reached)
        + 0.8 * (rows.education == "tertiary")
        - 0.9 * (rows.loan == "yes")
        - 0.2 * (rows.calls - 1)
        + 0.8 * ((rows.balance > 1500) & rows.marital.ne("divorced"))
    )
    return np.asarray(score, dtype=np.float64)
