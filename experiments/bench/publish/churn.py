"""A made-up table of customers, some of whom leave: numbers that follow each other.

Total charges are about tenure times monthly charges, monthly charges follow the internet service,
and who has no internet has none of its add-ons. Nothing in it is of real people.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import privet as pv

#: What only customers with internet may have.
ADD_ONS = ("security", "backup", "protection", "support", "television", "movies")


def make_churn(n_rows: int = 5000, seed: int = 0) -> pd.DataFrame:
    """Make rows of customers."""
    rng = np.random.default_rng(seed)
    contract = rng.choice(3, n_rows, p=[0.55, 0.21, 0.24])
    tenure = np.clip(rng.gamma([0.9, 2.5, 5.0], [22, 16, 12], (n_rows, 3)), 0, 72)
    tenure = np.floor(tenure[np.arange(n_rows), contract])
    internet = rng.choice(3, n_rows, p=[0.22, 0.34, 0.44])
    add_ons = {
        name: (rng.random(n_rows) < 0.25 + 0.004 * tenure) & (internet > 0) for name in ADD_ONS
    }
    monthly = np.array([20.0, 45.0, 70.0])[internet] + 5 * sum(add_ons.values())
    monthly = np.clip(monthly + rng.normal(0, 3, n_rows), 15, 125)
    total = np.clip(tenure * monthly * rng.normal(1, 0.05, n_rows), 0, 9500)
    senior = rng.random(n_rows) < 0.16
    partner = rng.random(n_rows) < 0.3 + 0.004 * tenure
    dependents = rng.random(n_rows) < np.where(partner, 0.45, 0.1)
    payment = rng.choice(4, n_rows, p=[0.34, 0.23, 0.22, 0.21])
    risk = 1.2 - 1.6 * contract - 0.03 * tenure + 0.9 * (internet == 2) - 0.9 * (internet == 0)
    risk += 0.4 * (payment == 0) + 0.3 * senior - 0.5 * add_ons["security"]
    leaves = rng.random(n_rows) < 1 / (1 + np.exp(-risk))
    yes = np.array(["no", "yes"])
    return pd.DataFrame(
        {
            "tenure": tenure.astype(int),
            "monthly": monthly.round(2),
            "total": total.round(2),
            "contract": np.array(["month", "year", "two years"])[contract],
            "internet": np.array(["no", "dsl", "fiber"])[internet],
            **{name: yes[has.astype(int)] for name, has in add_ons.items()},
            "senior": yes[senior.astype(int)],
            "partner": yes[partner.astype(int)],
            "dependents": yes[dependents.astype(int)],
            "payment": np.array(["check", "mail", "bank", "card"])[payment],
            "leaves": yes[leaves.astype(int)],
        }
    )


def churn_schema(bins: int | str = 24) -> pv.Schema:
    """Return the public schema of the customers."""
    yes = ["no", "yes"]
    return pv.Schema(
        {
            "tenure": pv.Numeric(0, 72, bins=bins),
            "monthly": pv.Numeric(0, 130, bins=bins),
            "total": pv.Numeric(0, 10_000, bins=bins),
            "contract": pv.Categorical(["month", "year", "two years"]),
            "internet": pv.Categorical(["no", "dsl", "fiber"]),
            **{name: pv.Categorical(yes) for name in ADD_ONS},
            **{name: pv.Categorical(yes) for name in ("senior", "partner", "dependents")},
            "payment": pv.Categorical(["check", "mail", "bank", "card"]),
        },
        "leaves",
        yes,
    )
