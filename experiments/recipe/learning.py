"""What the fits say: regrets against the shipped rule, and a choice that leaves tables out.

A regret is how much worse a recipe is than the shipped one in the same cell, on the same rows;
below 0 it is better. Cells of one table are averaged first, so that intervals are over tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

from experiments.bench.accuracy.results import Row
from experiments.recipe.menu import SHIPPED, VERSION_0_1

#: What is measured, and whether less of it is better.
MEASURES = {"log_loss": 1, "accuracy": -1, "auroc": -1}
CELL = ["kind", "band", "table", "rows", "epsilon", "repeat"]
GROUP = ["kind", "band"]
CHOICE = "leave-one-table-out choice"
#: A recipe is chosen only if it was tried on this share of the tables at least.
TRIED = 0.5


class Interval(NamedTuple):
    """A mean over tables with its 95% interval; without one for a single table."""

    mean: float
    half: float
    tables: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Interval:
        known = np.array([value for value in values if not math.isnan(value)])
        if len(known) < 2:
            return cls(float(known.mean()) if len(known) else math.nan, math.nan, len(known))
        spread = known.std(ddof=1) / math.sqrt(len(known))
        return cls(float(known.mean()), float(t.ppf(0.975, len(known) - 1) * spread), len(known))

    @property
    def verdict(self) -> int:
        """1 where a recipe is worse than the shipped one beyond noise, -1 where it is better."""
        return 0 if not abs(self.mean) > self.half else int(np.sign(self.mean))


def compare_with_shipped(rows: list[Row]) -> pd.DataFrame:
    """Return the mean regrets of each recipe on each table, by kind and band."""
    fits = pd.DataFrame(rows).set_index([*CELL, "recipe"])[list(MEASURES)]
    shipped = fits.xs(SHIPPED.name, level="recipe")
    others = fits[fits.index.get_level_values("recipe") != SHIPPED.name]
    difference = others - shipped.reindex(others.index.droplevel("recipe")).to_numpy()
    regrets = (difference * pd.Series(MEASURES)).dropna()
    return regrets.groupby([*GROUP, "recipe", "table"]).mean()


def total(regrets: pd.DataFrame) -> pd.Series:
    """Return what a choice is made by: the sum of the regrets in all measures."""
    return regrets[list(MEASURES)].sum(axis=1)


def choose_without(regrets: pd.DataFrame, table: str) -> str:
    """Return the best recipe of one band on all tables but one; the shipped one has no regret."""
    others = regrets[
        (regrets.index.get_level_values("table") != table)
        & (regrets.index.get_level_values("recipe") != VERSION_0_1.name)
    ]
    by_recipe = total(others).groupby("recipe")
    means = by_recipe.mean()[by_recipe.size() >= TRIED * others.index.unique("table").size]
    return str(means.idxmin()) if len(means) and means.min() < 0 else SHIPPED.name


def leave_tables_out(regrets: pd.DataFrame) -> pd.DataFrame:
    """Return, for each table in each band, the recipe that the other tables choose and its regret
    on this one; none where it does there what the shipped recipe does.
    """
    chosen = []
    for (kind, band), group in regrets.groupby(GROUP):
        by_table = group.droplevel(GROUP)
        for table in by_table.index.unique("table"):
            recipe = choose_without(by_table, table)
            known = (recipe, table) in by_table.index
            regret = by_table.loc[(recipe, table)] if known else dict.fromkeys(MEASURES, 0.0)
            chosen.append({"kind": kind, "band": band, "table": table, "recipe": recipe, **regret})
    return pd.DataFrame(chosen).set_index([*GROUP, "recipe", "table"])


def summarise(regrets: pd.DataFrame) -> dict[str, Interval]:
    """Return the interval of each measure over tables; bands of one table are averaged first."""
    by_table = regrets.groupby("table").mean()
    return {measure: Interval.of(by_table[measure]) for measure in MEASURES}
