"""Splits of made-up people: with attributes that tell nothing, something, or all about the
sensitive value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privet.domain import Categorical, Schema
from privet.outsource.attack import Posterior, attack


@dataclass(frozen=True)
class People:
    """A split table, with the truth."""

    schema: Schema
    codes: list
    classes: np.ndarray
    row_gid: np.ndarray
    st_values: np.ndarray
    st_gid: np.ndarray
    n_values: int
    truth: np.ndarray

    def attacked(self, **options) -> Posterior:
        return attack(
            self.schema,
            self.codes,
            self.classes,
            self.row_gid,
            self.st_values,
            self.st_gid,
            self.n_values,
            **options,
        )

    def reordered(self, order: np.ndarray) -> People:
        """The same people in another order of rows."""
        return replace(
            self,
            codes=[column[order] for column in self.codes],
            classes=self.classes[order],
            row_gid=self.row_gid[order],
            truth=self.truth[order],
        )

    def without_rows(self, gone: np.ndarray) -> People:
        """The same split after these rows were deleted from the identifier table alone."""
        return self.reordered(np.setdiff1d(np.arange(len(self.truth)), gone))


def people(
    n_groups: int,
    *,
    size: int = 2,
    n_values: int = 4,
    tells: float = 0.0,
    n_attributes: int = 6,
    seed: int = 0,
) -> People:
    """Groups of different values. An attribute is the value with this probability, and drawn at
    random otherwise.
    """
    rng = np.random.default_rng(seed)
    truth = np.concatenate([rng.permutation(n_values)[:size] for _ in range(n_groups)])
    gid = np.repeat(rng.permutation(10 * n_groups)[:n_groups], size)
    n = len(truth)
    codes = [
        np.where(rng.random(n) < tells, truth, rng.integers(n_values, size=n))
        for _ in range(n_attributes)
    ]
    schema = Schema(
        {f"a{i}": Categorical([str(v) for v in range(n_values)]) for i in range(n_attributes)},
        target="class",
        classes=["no", "yes"],
    )
    entries, rows = rng.permutation(n), rng.permutation(n)
    made = People(
        schema, codes, rng.integers(2, size=n), gid, truth[entries], gid[entries], n_values, truth
    )
    return made.reordered(rows)
