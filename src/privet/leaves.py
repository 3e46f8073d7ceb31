"""Leaf vectors: the noisy class counts of a forest's leaves as they were released, batch by batch.

The counts of one structure from several batches of rows can be added up later, by anybody: from new rows (an update) or from
other tables (horizontal partitions; Jagannathan, Pillaipakkamnatt and Wright 2012, sections 5.2 and 5.3). No data in here.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.errors import ParameterError, QuestionError

Weighting = Literal["by-noise", "equal"]
Whole = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: Thin leaves borrow at most so many times as much where noise dominates.
MOST_BORROWING = 8.0


@dataclass(frozen=True, eq=False)
class Batch:
    """What was released about one batch of rows: per tree, the class counts of its leaves, each with noise of this deviation."""

    tables: tuple[Whole, ...]
    deviation: float

    def __post_init__(self) -> None:
        frozen = tuple(np.array(table, dtype=np.int64, copy=True) for table in self.tables)
        for table in frozen:
            table.setflags(write=False)
        object.__setattr__(self, "tables", frozen)
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise ParameterError(f"the deviation of noise must be a number of at least 0, got {self.deviation!r}")

    @property
    def entries(self) -> int:
        """How many counts there are."""
        return sum(table.size for table in self.tables)

    @property
    def n_rows(self) -> float:
        """About how many rows were counted, from the noisy counts alone: every row is in one leaf of each tree."""
        return sum(float(table.sum()) for table in self.tables) / len(self.tables)

    @property
    def variance_of_n_rows(self) -> float:
        """That of the noise in :attr:`n_rows`."""
        return self.deviation**2 * self.entries / len(self.tables) ** 2


@dataclass(frozen=True, eq=False)
class Evidence:
    """The batches that a forest's counts are made of, and how they become the counts of its nodes.

    Args:
        batches: at least one, all about the same structure.
        shrink: how much thin leaves borrow from their ancestors, in standard deviations of their noise; more where noise
            dominates, see :attr:`borrowing`.
        weighting: ``"by-noise"`` lets batches that are mostly noise weigh less (see :attr:`weights`), ``"equal"`` adds all alike.
    """

    batches: tuple[Batch, ...]
    shrink: float
    weighting: Weighting = "by-noise"

    def __post_init__(self) -> None:
        if self.weighting not in get_args(Weighting):
            raise ParameterError(f"weighting must be 'by-noise' or 'equal', got {self.weighting!r}")
        if isinstance(self.shrink, bool) or not isinstance(self.shrink, int | float) or not 0 <= self.shrink < 1e6:
            raise ParameterError(f"shrink must be a number of at least 0, got {self.shrink!r}")
        shapes = {tuple(table.shape for table in batch.tables) for batch in self.batches}
        if len(shapes) != 1:
            raise QuestionError("batches of leaf counts must be about one structure")

    @property
    def weights(self) -> tuple[float, ...]:
        """How much each batch counts; the largest is 1.

        If all batches are samples of one population, a leaf of share q has about n q rows of a batch of n rows, with sampling
        variance n q and noise of variance s^2. The weighted sum has the least variance for its expectation if a batch weighs

            n / (s^2 + n q) = 1 / (s^2 / n + q)     (inverse-variance weighting),

        where q is that of a typical row's leaf and class, see :attr:`_typical_share`.

        So batches weigh the same where sampling dominates, or where they are equally large and noisy, and n / s^2 where noise
        does. From released numbers only.
        """
        if self.weighting == "equal" or len(self.batches) == 1:
            return (1.0,) * len(self.batches)
        share = self._typical_share
        found = [1 / (batch.deviation**2 / size + share) if size > 0 else 0.0 for batch, size in zip(self.batches, self.sizes, strict=True)]
        largest = max(found)
        return tuple(one / largest for one in found) if largest > 0 else (1.0,) * len(found)

    @property
    def sizes(self) -> tuple[float, ...]:
        """About how many rows each batch has: noisy numbers, drawn towards their mean as far as noise explains how they differ.

        A normal model with a variance between batches that is estimated by moments (DerSimonian and Laird 1986). Without it, equal
        batches would weigh differently by chance.
        """
        found = np.array([batch.n_rows for batch in self.batches])
        noise = np.array([batch.variance_of_n_rows for batch in self.batches])
        if len(found) == 1 or not noise.all():  # exact counts need no help
            return tuple(np.maximum(found, 0.0).tolist())
        precision = 1 / noise
        excess = float((precision * (found - np.average(found, weights=precision)) ** 2).sum()) - (len(found) - 1)
        between = max(excess, 0.0) / float(precision.sum() - (precision**2).sum() / precision.sum())
        mean = np.average(found, weights=1 / (between + noise))
        return tuple(np.maximum(mean + (found - mean) * between / (between + noise), 0.0).tolist())

    @property
    def _typical_share(self) -> float:
        """The sum of squared shares of the leaves and classes, less what noise adds to it on average, in a mean over trees."""
        total = sum(self.sizes)
        entries = self.batches[0].entries / len(self.batches[0].tables)
        squares = sum(float((sum(tables).astype(np.float64) ** 2).sum()) for tables in self._by_tree()) / len(self.batches[0].tables)
        noise = sum(batch.deviation**2 for batch in self.batches) * entries
        return min(max((squares - noise) / max(total, 1.0) ** 2, 1 / entries), 1.0)

    @property
    def tables(self) -> list[Floats]:
        """The weighted sums of the leaf counts, per tree."""
        weights = self.weights
        return [
            np.asarray(sum(weight * table.astype(np.float64) for weight, table in zip(weights, tables, strict=True)))
            for tables in self._by_tree()
        ]

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each weighted sum."""
        return math.sqrt(sum((weight * batch.deviation) ** 2 for weight, batch in zip(self.weights, self.batches, strict=True)))

    @property
    def strength(self) -> float:
        """The root mean square of what rows account for in the weighted sums: noise of this variance is what is left without them."""
        squares = sum(float((table**2).sum()) for table in self.tables) / self.batches[0].entries
        return math.sqrt(max(squares - self.deviation**2, 0.0))

    @property
    def borrowing(self) -> float:
        """How much thin leaves borrow: ``shrink``, times the ratio of noise to :attr:`strength` where that is above 1, up to 8.

        The ratio and its limit were chosen on public data sets: nothing changes where counts are above their noise.
        """
        strength = self.strength
        ratio = self.deviation / strength if strength > 0 else math.inf
        return self.shrink * min(max(ratio, 1.0), MOST_BORROWING)

    @property
    def worn(self) -> str:
        """Why a model should be built anew, from released numbers only; empty where it should not.

        Noise adds up with every batch. It has outgrown the counts where its deviation exceeds their :attr:`strength`; building
        anew helps where that would have less noise even at half the epsilon of the least noisy batch: about twice its deviation.
        """
        anew = 2 * min(batch.deviation for batch in self.batches)
        total = sum(self.sizes)
        kept = sum(weight * size for weight, size in zip(self.weights, self.sizes, strict=True)) / total if total > 0 else 1.0
        noise, strength = self.deviation / kept, self.strength / kept  # as if all rows counted in full, as they would anew
        if len(self.batches) == 1 or noise <= strength or noise < anew * (1 - 1e-9):
            return ""
        return (
            f"the noise of {len(self.batches)} batches has outgrown the counts: each sum has noise of standard deviation {noise:.3g}, and "
            f"rows account for a root mean square of {strength:.3g}. Built anew from all rows at half the epsilon of a batch, it "
            f"would be about {anew:.3g}"
        )

    def _by_tree(self) -> Any:
        return zip(*(batch.tables for batch in self.batches), strict=True)


def structure_fingerprint(forest: Sequence[Cells]) -> str:
    """SHA-256 of a forest's structures and their schema's domain: equal if and only if leaf vectors can be added."""
    sizes = forest[0].schema.sizes
    trees = []
    for cells in forest:
        inner = np.flatnonzero(cells.attribute >= 0).tolist()
        branches = [cells.branch[cells.offset[node] : cells.offset[node] + sizes[cells.attribute[node]]].tolist() for node in inner]
        trees.append([cells.attribute.tolist(), branches, cells.cell.tolist()])
    text = json.dumps([forest[0].schema.fingerprint, trees], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
