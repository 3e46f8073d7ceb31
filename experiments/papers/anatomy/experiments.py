"""The experiments: a public table, the attribute to hide in it, and the kind of splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privet._types import Splits
from privet.datasets import load
from privet.domain import Schema
from privet.errors import DatasetError, ParameterError

#: The paper's l, for all experiments.
L = 2
#: Which rows a sample takes is the same in every run.
_SAMPLE_SEED = 2014


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Args:
        number: as in the paper.
        data: the name of the data set.
        sensitive: the attribute to hide.
        splits: of all trees.
        rows: how many rows the table has.
        withheld: how many of them no 2-diverse grouping can place.
        sample: a run on so many rows only, or None for all.
    """

    number: int
    data: str
    sensitive: str
    splits: Splits
    rows: int
    withheld: int
    sample: int | None = None

    def load(self) -> tuple[Any, Schema]:
        """The table, as a data frame, and its public schema."""
        data = load(self.data)
        table = data.table
        if self.data == "adult":
            table = table[table["workclass"] != "Private"]  # those of whom it is not known stay
        if len(table) != self.rows:
            raise DatasetError(
                f"experiment {self.number} needs {self.rows} rows of {self.data!r}, but there are "
                f"{len(table)}"
            )
        if self.sample is not None:
            chosen = np.random.default_rng(_SAMPLE_SEED).choice(
                len(table), self.sample, replace=False
            )
            table = table.iloc[np.sort(chosen)]
        return table.reset_index(drop=True), data.schema


EXPERIMENTS = {
    one.number: one
    for one in (
        Experiment(1, "autos", "symboling", "multiway", 201, 0),
        Experiment(2, "votes", "physician_fee_freeze", "binary", 435, 59),
        Experiment(3, "crx", "A9", "binary", 690, 32),
        Experiment(4, "adult", "relationship", "multiway", 14_936, 0),
        Experiment(5, "adult", "age", "multiway", 14_936, 0),
    )
}
#: For ``--quick``: small tables, and a sample of a large one.
QUICK = (
    EXPERIMENTS[2],
    EXPERIMENTS[3],
    Experiment(4, "adult", "relationship", "multiway", 14_936, 0, sample=1500),
)


def chosen(numbers: list[int], *, quick: bool) -> list[Experiment]:
    """The experiments of these numbers, or all; each once, in order."""
    there = {one.number: one for one in QUICK} if quick else EXPERIMENTS
    if unknown := [number for number in numbers if number not in there]:
        raise ParameterError(
            "experiment must be one of "
            f"{', '.join(map(str, there))}{' of --quick' if quick else ''}; got {unknown[0]}"
        )
    return [one for number, one in there.items() if not numbers or number in numbers]
