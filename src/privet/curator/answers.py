"""What a curator answers: noisy numbers with the law of their noise, shares of them, chosen splits,
and what they cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from privet.budget import Cost
from privet.cells import Cells, Split
from privet.ledger import Entry
from privet.tree import Tree

Noise = Literal["discrete-laplace", "discrete-gaussian", "randomized-response", "none"]


@dataclass(frozen=True)
class Answer:
    """What every answer carries.

    ``cost`` is for the declared neighbours, as the ledger has it, and ``row_cost`` for one row
    added or removed; ``entry`` is the ledger's entry (None: not charged).
    """

    cost: Cost
    row_cost: Cost
    private: bool
    entry: Entry | None


@dataclass(frozen=True, eq=False)
class Numbers(Answer):
    """Noisy tables, one per partition. ``spread`` is the Laplace scale or the Gaussian variance."""

    tables: tuple[npt.NDArray[np.int64], ...]
    noise: Noise
    spread: Fraction

    @property
    def deviation(self) -> float:
        """The standard deviation of each number's noise."""
        if self.noise == "discrete-laplace":
            # The variance is 2 p / (1 - p)**2 with p = exp(-1/scale).
            p = math.exp(-1 / float(self.spread))
            return math.sqrt(2 * p) / -math.expm1(-1 / float(self.spread))
        return math.sqrt(float(self.spread))


@dataclass(frozen=True, eq=False)
class Share(Answer):
    """Tables with one share of the noise that ``parties`` honest parties make together, to leave
    inside secure aggregation only.

    ``cost`` is for the sum of at least so many shares; a share alone promises nothing, so
    ``private`` is False and the numbers are not printed. ``spread`` is the Laplace scale of the
    sum's noise.
    """

    tables: tuple[npt.NDArray[np.int64], ...] = field(repr=False)
    parties: int
    spread: Fraction


@dataclass(frozen=True, eq=False)
class Choices(Answer):
    """The chosen split of each cell."""

    splits: tuple[Split, ...]


@dataclass(frozen=True, eq=False)
class Choice(Answer):
    """The number of what was chosen; the first has 0."""

    index: int


@dataclass(frozen=True, eq=False)
class Quantile(Choice):
    """The bin that was chosen for the ``q``-quantile of an attribute, from ``low`` to ``high`` in
    the units of the schema.
    """

    attribute: str
    q: Fraction
    low: float
    high: float

    @classmethod
    def of(cls, choice: Choice, attribute: str, q: Fraction, cuts: Sequence[float]) -> Quantile:
        """A chosen bin, with its edges."""
        low, high = cuts[choice.index : choice.index + 2]
        return cls(
            choice.cost,
            choice.row_cost,
            choice.private,
            choice.entry,
            choice.index,
            attribute,
            q,
            low,
            high,
        )

    @property
    def middle(self) -> float:
        """The middle of the bin: one number to go on with."""
        return self.low / 2 + self.high / 2


@dataclass(frozen=True, eq=False)
class Drawn(Answer):
    """A drawn tree: its structure, and the class (by number) of each node."""

    cells: Cells
    labels: npt.NDArray[np.int64]

    def tree(self, strength: float = 1.0) -> Tree:
        """As a tree of scores: each node has this much for its class, and nothing for the
        others.
        """
        return Tree(self.cells, strength * np.eye(self.cells.schema.n_classes)[self.labels])


@dataclass(frozen=True)
class Preview:
    """What a plan would cost, what is left, and whether it fits. Nothing was charged."""

    cost: Cost
    left: Fraction
    fits: bool
