"""Means with their standard errors, and differences that are paired by fold."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

CELL = ["experiment", "data", "case", "recipe", "way", "parties", "epsilon"]
RUN = ["data", "repeat", "fold", "case", "recipe", "parties", "epsilon"]


def means(table: pd.DataFrame) -> pd.DataFrame:
    """One line per cell: the mean accuracy, its standard error, how many folds, and how often the
    model warned.
    """
    grouped = table.groupby(CELL, dropna=False, sort=False)
    found = grouped.agg(
        mean=("accuracy", "mean"),
        standard_error=("accuracy", "sem"),
        auroc=("auroc", "mean"),
        folds=("accuracy", "size"),
        warned=("warns", "mean"),
    )
    return found.reset_index()


def paired(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """For every run, by how much one way is ahead of another (``lead``), and whether each of them
    warns.
    """
    both = [table.loc[table.way == way, [*RUN, "accuracy", "warns"]] for way in (first, second)]
    found = both[0].merge(both[1], on=RUN, suffixes=("_first", "_second"), validate="one_to_one")
    return found.assign(lead=found.accuracy_first - found.accuracy_second)


def told(values: pd.Series, digits: int = 3) -> str:
    """A mean with its sign, and its standard error."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{_signed(float(np.mean(values)), digits)}" + (
        "" if math.isnan(error) else f" ± {short(error, digits)}"
    )


def short(value: float, digits: int = 3) -> str:
    return (
        ""
        if math.isnan(value)
        else f"{value:.{digits}f}".removeprefix("0")
        if value < 1
        else f"{value:.{digits}f}"
    )


def _signed(value: float, digits: int) -> str:
    return ("-" if round(value, digits) < 0 else "+") + short(abs(value), digits)
