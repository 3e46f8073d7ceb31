"""Release exact numbers in one of four ways. Every query has one of these kinds.

A kind owns what privacy rests on: the sensitivity, the cost in both currencies, the noise, and
what comes out. A query only says which exact numbers it needs, and which bound holds for them.
All costs are for neighbours that differ in one row, added or removed.

| kind | exact numbers | what comes out | sensitivity | cost |
|---|---|---|---|---|
| :class:`Measures` | integer tables | the tables with noise | bounds | epsilon or rho |
| :class:`Selects` | integer scores | the number of a good candidate | range of scores | epsilon |
| :class:`Divides` | counts in order | cuts into equal parts | range of scores | epsilon |
| :class:`Draws` | contingency tables | a labelled tree | 1 per row | epsilon |

A :class:`Price` is what a query is asked for: an exact epsilon or rho, or nothing at all of a
public table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from privet._types import Ints
from privet.accounting.cost import (
    Cost,
    Number,
    Unit,
    is_infinite,
    parse_epsilon,
    parse_exact,
)
from privet.domain.space import TreeSpace
from privet.errors import ParameterError, PrivacyError
from privet.mechanisms.gaussian import add_gaussian
from privet.mechanisms.laplace import add_laplace
from privet.mechanisms.randomness import Bits
from privet.mechanisms.selection import Selection, select, selection_cost
from privet.mechanisms.shares import add_laplace_share, check_deviation
from privet.queries.answers import NoiseKind

if TYPE_CHECKING:
    from privet.mechanisms.gibbs.draw import LabelledTree
    from privet.tables.counting.marginals import Contingency


@dataclass(frozen=True)
class Price:
    """An amount for one row added or removed. ``exactly``: no noise, for tables that are public."""

    amount: Fraction
    unit: Unit = "epsilon"
    exactly: bool = False

    @classmethod
    def of(
        cls, epsilon: Number | None = None, rho: Number | None = None, *, public: bool = False
    ) -> Price:
        """Return the price that a person gives; infinity is refused unless the table is public."""
        if (epsilon is None) == (rho is None):
            raise ParameterError("give either epsilon or rho")
        if rho is not None:
            return cls(parse_exact("rho", rho), "rho")
        assert epsilon is not None
        if public and is_infinite(epsilon):
            return cls(Fraction(1), exactly=True)
        return cls(parse_epsilon("epsilon", epsilon))

    def to_json(self) -> dict[str, str]:
        """Return the price as it stands in the body of a request."""
        return {self.unit: str(self.amount)}

    def in_epsilon(self) -> Fraction:
        """Return the amount of epsilon; raise for a price in rho."""
        if self.unit != "epsilon":
            raise ParameterError("give epsilon: this query cannot be paid in rho")
        return self.amount

    def check_least(self, epsilon: Fraction) -> None:
        """Raise for a price below the least that a curator answers for, in either unit."""
        least = epsilon if self.unit == "epsilon" else epsilon**2 / 2
        if self.amount < least:
            raise ParameterError(
                f"{self.unit} must be at least {float(least):g} for each query here, got "
                f"{float(self.amount):g}: the owner of the table allows no smaller questions; ask "
                f"for {self.unit} {float(least):g} or more"
            )


#: The least epsilon of a query, unless an owner says otherwise. Even what a clock tells should not
#: be had for nothing. Learners ask for no less: tests/learners/test_least_epsilon.py.
LEAST_EPSILON = Fraction(1, 10**6)

Exact = TypeVar("Exact")
Released = TypeVar("Released")

#: A Laplace scale or Gaussian deviation beyond this could overflow 64-bit counts.
MAX_SPREAD = 1 << 40
#: A draw with epsilon = inf from a public table: a row outweighs what the prior prefers.
PUBLIC_EPSILON = Fraction(1000)


class Kind(ABC, Generic[Exact, Released]):
    """How exact numbers become an answer that may leave."""

    @abstractmethod
    def cost(self, price: Price) -> Cost:
        """Return what the release costs; raise where this kind cannot be had for the price."""

    @abstractmethod
    def release(self, exact: Exact, price: Price, bits: Bits) -> Released:
        """Run the mechanism. Nothing that it returns depends on rows beyond the cost."""


@dataclass(frozen=True)
class Noisy:
    """Tables that a mechanism has released. ``spread`` is the Laplace scale or the Gaussian
    variance.
    """

    tables: tuple[Ints, ...]
    noise: NoiseKind
    spread: Fraction


@dataclass(frozen=True)
class Measures(Kind[Sequence[Ints], Noisy]):
    """Integer tables with noise.

    ``bounds`` is how much one row can change each table, in L1 and so in L2. Sensitivity: their
    sum in L1, the sum of their squares in squared L2, or ``squared`` where that is less. Noise:
    discrete Laplace of scale sum/epsilon (cost: pure epsilon), or discrete Gaussian of variance
    squares/(2 rho) (cost: rho in zCDP). Neighbours: one row added or removed.
    """

    shapes: tuple[tuple[int, ...], ...]
    bounds: tuple[int, ...]
    squared: int | None = None

    @property
    def sensitivity(self) -> int:
        """The sensitivity in L1."""
        return sum(self.bounds)

    @property
    def squared_sensitivity(self) -> int:
        """The sensitivity in L2, squared."""
        squares = sum(bound**2 for bound in self.bounds)
        return squares if self.squared is None else self.squared

    def spread(self, price: Price) -> Fraction:
        """Return the Laplace scale or the Gaussian variance."""
        if price.unit == "epsilon":
            return Fraction(self.sensitivity) / price.amount
        return Fraction(self.squared_sensitivity) / (2 * price.amount)

    def cost(self, price: Price) -> Cost:
        most = MAX_SPREAD if price.unit == "epsilon" else MAX_SPREAD**2
        if self.spread(price) > most:
            raise ParameterError(
                f"{price.unit} is so small that the noise does not fit into 64 bits"
            )
        pure = price.unit == "epsilon"
        return Cost.pure(price.amount) if pure else Cost.concentrated(price.amount)

    def release(self, exact: Sequence[Ints], price: Price, bits: Bits) -> Noisy:
        if price.exactly:
            return Noisy(tuple(exact), "none", Fraction(0))
        flat = np.concatenate([table.reshape(-1) for table in exact])
        noise: NoiseKind
        if price.unit == "epsilon":
            noise = "discrete-laplace"
            noisy, _ = add_laplace(bits, flat, price.amount, sensitivity=self.sensitivity)
        else:
            noise = "discrete-gaussian"
            squared = self.squared_sensitivity
            noisy, _ = add_gaussian(bits, flat, price.amount, squared_sensitivity=squared)
        return Noisy(_reshape_like(noisy, exact), noise, self.spread(price))


@dataclass(frozen=True)
class SharesNoise(Kind[Sequence[Ints], Noisy]):
    """Integer tables with one of ``parties`` shares of the noise of :class:`Measures`.

    Sensitivity: ``sensitivity`` in L1. Noise: shares that make discrete Laplace of scale
    sensitivity/epsilon together. Neighbours: one row added or removed. Cost: pure epsilon, in
    full, for the sum of the shares of at least ``parties`` honest parties; a share alone promises
    nothing.
    """

    sensitivity: int
    parties: int

    def spread(self, price: Price) -> Fraction:
        """Return the Laplace scale of the sum."""
        return Fraction(self.sensitivity) / price.in_epsilon()

    def cost(self, price: Price) -> Cost:
        if price.exactly:
            raise PrivacyError("epsilon = inf means no noise; a share of noise needs some")
        if self.spread(price) > MAX_SPREAD:
            raise ParameterError("epsilon is so small that the noise does not fit into 64 bits")
        check_deviation(self.spread(price), self.parties)
        return Cost.pure(price.in_epsilon())

    def release(self, exact: Sequence[Ints], price: Price, bits: Bits) -> Noisy:
        flat = np.concatenate([table.reshape(-1) for table in exact])
        noisy, _ = add_laplace_share(
            bits, flat, price.in_epsilon(), sensitivity=self.sensitivity, shares=self.parties
        )
        return Noisy(_reshape_like(noisy, exact), "discrete-laplace", self.spread(price))


def _reshape_like(flat: Ints, like: Sequence[Ints]) -> tuple[Ints, ...]:
    parts = np.split(flat, np.cumsum([table.size for table in like])[:-1])
    return tuple(part.reshape(table.shape) for part, table in zip(parts, like, strict=True))


@dataclass(frozen=True)
class Selects(Kind[Sequence[Sequence[int]], list[int]]):
    """The number of a good candidate in each of some disjoint cells, by integer scores.

    ``offered`` is how many candidates each cell has, ``score_range`` how far apart one row can move
    the scores of two candidates of its cell. A row is in one cell, so all cells together cost
    epsilon once. Cost: pure epsilon; with the exponential mechanism epsilon**2/8 in zCDP.
    Neighbours: one row added or removed.
    """

    offered: tuple[int, ...]
    score_range: int
    mechanism: Selection

    def cost(self, price: Price) -> Cost:
        return selection_cost(price.in_epsilon(), self.mechanism)

    def release(self, exact: Sequence[Sequence[int]], price: Price, bits: Bits) -> list[int]:
        if price.exactly:
            return [scores.index(max(scores)) for scores in exact]
        return [
            select(bits, scores, price.amount, self.score_range, self.mechanism) for scores in exact
        ]


@dataclass(frozen=True)
class Divides(Kind[Sequence[Sequence[int]], list[int]]):
    """Cuts of a list of counts into parts of about equal size, by repeated medians.

    First all bins are cut in two, then each part, and so on, ``levels`` times. ``score_range`` is
    how far apart one row can move the scores of two cuts of its part; a row is in one part of each
    level. Cost: pure epsilon in all, and epsilon**2/(8 levels) in zCDP: each level is the
    exponential mechanism with epsilon/levels. Neighbours: one row added or removed.
    """

    bins: int
    levels: int
    score_range: int = 2

    def cost(self, price: Price) -> Cost:
        epsilon = price.in_epsilon()
        each = selection_cost(epsilon / self.levels, "exponential")
        return Cost(epsilon, self.levels * each.rho)

    def release(self, exact: Sequence[Sequence[int]], price: Price, bits: Bits) -> list[int]:
        (counts,), edges = exact, [0, self.bins]
        for _ in range(self.levels):
            cuts = []
            for low, high in pairwise(edges):
                if high - low > 1:  # what one bin holds is not told apart
                    scores = score_cuts(counts[low:high])
                    cuts.append(low + 1 + self._choose(scores, price, bits))
            edges = sorted([*edges, *cuts])
        return edges[1:-1]

    def _choose(self, scores: list[int], price: Price, bits: Bits) -> int:
        if price.exactly:
            return scores.index(max(scores))
        each = price.amount / self.levels
        return select(bits, scores, each, self.score_range, "exponential")


def score_cuts(counts: Sequence[int]) -> list[int]:
    """Return the score of each cut between neighbouring counts: minus how uneven it is."""
    *below, total = accumulate(counts)
    return [-abs(2 * lower - total) for lower in below]


@dataclass(frozen=True)
class Draws(Kind["Contingency", "LabelledTree"]):
    """A labelled tree, with probability proportional to prior x exp(epsilon x weight of the rows
    that it classifies correctly): the exponential mechanism, sampled exactly.

    Sensitivity: a row adds between 0 and 1 to the score of every tree, so the range is 1. Cost:
    pure epsilon, and epsilon**2/8 in zCDP (bounded range); what floating point could add is taken
    off before. Neighbours: one row added or removed.
    """

    space: TreeSpace

    def cost(self, price: Price) -> Cost:
        self._unit(price)  # raises where the space is too large for the epsilon
        return Cost.bounded_range(price.in_epsilon())

    def release(self, exact: Contingency, price: Price, bits: Bits) -> LabelledTree:
        from privet.mechanisms.gibbs.draw import Gibbs, LabelledTree
        from privet.mechanisms.gibbs.plan import plan_of

        plan = plan_of(self.space.merged)
        drawn = Gibbs(plan, exact.flat, exact.base, self._unit(price)).draw(bits)
        return LabelledTree(self.space.atoms.lift_cells(drawn.cells), drawn.labels)

    def _unit(self, price: Price) -> float:
        # Numba takes a while to load, and most queries do without.
        from privet.mechanisms.gibbs.slack import epsilon_per_unit
        from privet.tables.counting.scoring import UNIT

        epsilon = PUBLIC_EPSILON if price.exactly else price.in_epsilon()
        return epsilon_per_unit(self.space.merged, epsilon, UNIT)


AnyKind = Kind[Any, Any]
