"""The game: a small table that the attacker knows, and a few rows of which each is in it or not, by
a coin of its own.

Rows are in or out independently, so that with everything else given, a model was trained in one of
two worlds that differ in one row: what epsilon promises holds for each target by itself, whatever
the attacker knows about all other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

import privet as pv
from privet.domain.encode.rows import encode

Bits = npt.NDArray[np.bool_]
KINDS = ("ordinary", "planted")


@dataclass(frozen=True)
class Game:
    """A base table, and targets: ordinary rows as they are, and planted ones, with a class that no
    alike row has.
    """

    data: str
    schema: pv.Schema
    base: pd.DataFrame
    targets: pd.DataFrame
    kinds: tuple[str, ...]

    @cached_property
    def everybody(self) -> pd.DataFrame:
        """The base, and after it the targets."""
        return pd.concat([self.base, self.targets], ignore_index=True)

    @cached_property
    def codes(self) -> list[npt.NDArray[np.int64]]:
        """The codes of everybody, by attribute."""
        return [
            np.asarray(column, dtype=np.int64)
            for column in encode(self.schema, self.everybody, target=False).codes
        ]

    @cached_property
    def classes(self) -> npt.NDArray[np.int64]:
        """The class codes of everybody."""
        return np.array(
            [self.schema.classes.index(label) for label in self.everybody[self.schema.target]]
        )

    @property
    def target_codes(self) -> list[npt.NDArray[np.int64]]:
        return [column[len(self.base) :] for column in self.codes]

    def present(self, bits: Bits) -> Bits:
        """Who of everybody is in the table."""
        return np.concatenate([np.ones(len(self.base), dtype=bool), bits])


def game_of(data: str, rows: int = 80, each: int = 4) -> Game:
    """The first rows of a shuffled data set, and targets out of the next ones."""
    found = pv.datasets.load(data)
    shuffled = found.table.sample(rows + 2 * each, random_state=1).reset_index(drop=True)
    base, targets = shuffled.iloc[:rows], shuffled.iloc[rows:].reset_index(drop=True)
    labels = found.schema.target
    often = base[labels].value_counts().to_dict()
    for place in range(each, 2 * each):  # the class that is rarest here, and is not the row's own
        others = [label for label in found.schema.classes if label != targets.loc[place, labels]]
        targets.loc[place, labels] = min(others, key=lambda label: often.get(label, 0))
    return Game(
        data, found.schema, base, targets, tuple(kind for kind in KINDS for _ in range(each))
    )


def coins(models: int, targets: int) -> Bits:
    """Who is in which table. This is the experiment's design and nobody's secret, so that a seed
    does no harm.
    """
    return np.asarray(np.random.default_rng(1).random((models, targets)) < 0.5)
