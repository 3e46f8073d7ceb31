"""What is answered from randomised records: numbers without bias, each with its own deviation, and
splits with a judgement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privet.queries.answers import ChosenSplits, Numbers
from privet.typed import Floats


@dataclass(frozen=True, eq=False)
class Debiased(Numbers):
    """Numbers that need not be whole, with the deviation of each.

    ``of_nodes`` has, for each partition that is not split further, the deviation of the class
    counts of every node of its structure (a root mean square over the classes). Errors of the
    leaves of one tree are not independent: these do not follow from theirs.
    """

    deviations: tuple[Floats, ...]
    of_nodes: tuple[Floats | None, ...] = ()

    @property
    def deviation(self) -> float:
        """The root mean square of all deviations."""
        squares = np.concatenate([table.reshape(-1) ** 2 for table in self.deviations])
        return math.sqrt(float(squares.mean())) if len(squares) else 0.0


@dataclass(frozen=True, eq=False)
class Judged(ChosenSplits):
    """Chosen splits; ``declined`` are the cells, by number, in which no split is above the
    noise.
    """

    declined: frozenset[int]
