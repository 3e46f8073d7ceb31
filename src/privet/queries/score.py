"""A bounded integer score of a row, for noisy sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import QuestionError
from privet.schema import Schema

MAX_SCORE = 1 << 31


@dataclass(frozen=True, eq=False)
class RowScore:
    """A public whole number for each class, or for each (value of ``by``, class).

    ``bound`` is the largest size of a score: the sensitivity of a sum when one row is added or
    removed.
    """

    schema: Schema
    table: npt.NDArray[np.int64]
    by: str | None = None
    bound: int = field(init=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.table)
        shape: tuple[int, ...] = (self.schema.n_classes,)
        if self.by is not None:
            shape = (self.schema.sizes[self.schema.index(self.by)], *shape)
        if given.shape != shape or not np.issubdtype(given.dtype, np.integer):
            raise QuestionError(
                f"a row score must be integers of shape {shape}, got {given.dtype} of shape "
                f"{given.shape}"
            )
        # in Python's integers: the smallest int64 has no absolute value
        bound = max(int(given.max()), -int(given.min()))
        if not 0 < bound <= MAX_SCORE:
            raise QuestionError(
                f"a row score must not be zero throughout, and at most {MAX_SCORE} in size"
            )
        table = given.astype(np.int64, copy=True)
        table.setflags(write=False)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "bound", bound)

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("RowScore", self.schema, self.table, self.by, self.bound)
