"""Draw only rows that the schema does not call impossible.

What is impossible is public, and what is drawn of the model is post-processing: rows that cannot be
are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet.domain import Schema
from privet.errors import ParameterError

#: How often impossible rows are drawn again, and how many at least.
ROUNDS, FEWEST = 200, 256

Drawn = tuple[list[Ints], Ints]


def find_impossible_rows(schema: Schema, columns: Sequence[Ints]) -> npt.NDArray[np.bool_]:
    """Return which rows of codes cannot be, by what the schema says."""
    found = np.zeros(len(columns[0]), dtype=bool)
    for rule in schema.impossible_codes:
        found |= np.logical_and.reduce(
            [np.isin(columns[schema.index(name)], codes) for name, codes in rule.items()]
        )
    return found


def draw_possible(schema: Schema, n_rows: int, draw: Callable[[int], Drawn]) -> Drawn:
    """Draw rows, and those that cannot be again and again."""
    columns, classes = draw(n_rows)
    for _ in range(ROUNDS):
        wrong = np.flatnonzero(find_impossible_rows(schema, columns))
        if not len(wrong):
            return columns, classes
        others, of_classes = draw(max(2 * len(wrong), FEWEST))
        right = np.flatnonzero(~find_impossible_rows(schema, others))[: len(wrong)]
        wrong = wrong[: len(right)]
        for column, other in zip(columns, others, strict=True):
            column[wrong] = other[right]
        classes[wrong] = of_classes[right]
    raise ParameterError(
        "next to no row is possible by what the schema says to be impossible: look at the rules "
        "that exclude frequent values"
    )
