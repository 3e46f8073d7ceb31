"""Hold the noisy class counts of a forest's leaves, batch by batch, and make trees of them.

The counts of one structure from several batches of rows can be added up later, by anybody: from new
rows (an update) or from other tables (horizontal partitions; Jagannathan, Pillaipakkamnatt and
Wright 2012, sections 5.2 and 5.3). No data in here: everything is post-processing of released
numbers, and costs nothing.

1. :func:`weigh_batches` decides how batches weigh, and how strongly leaves are shrunk.
2. :func:`trees_from` sums the batches up, and shrinks each tree.
3. :func:`explain_wear` says when a model should be retrained.

**Shrinkage** (:func:`shrink_tree`). A leaf's noisy class counts are mostly noise where few rows
are. Its class shares are therefore drawn towards those of its parent, which are drawn towards its
own parent's, as if the parent had contributed ``strength`` standard deviations of the node's noise
as rows of its own. Shares are taken of non-negative counts.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet._validate import check_name, check_real
from privet.domain.cells import Cells
from privet.domain.tree import Tree, node_counts, sum_upwards
from privet.errors import ParameterError, QuestionError

Weighting = Literal["by-noise", "equal"]
#: Leaves are shrunk by less than this many standard deviations.
MAX_SHRINK = 10**6


@dataclass(frozen=True, eq=False)
class Batch:
    """What was released about one batch of rows: per tree, the class counts of its leaves, each
    with noise of this deviation.
    """

    tables: tuple[Ints, ...]
    deviation: float

    def __post_init__(self) -> None:
        # Counts that were corrected for chance need not be whole; rounding adds less than their
        # noise.
        whole = [
            np.rint(table) if np.asarray(table).dtype.kind == "f" else table
            for table in self.tables
        ]
        frozen = tuple(np.array(table, dtype=np.int64, copy=True) for table in whole)
        for table in frozen:
            table.setflags(write=False)
        object.__setattr__(self, "tables", frozen)
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise ParameterError(
                f"the deviation of noise must be a number of at least 0, got {self.deviation!r}"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Batch", self.tables, self.deviation)

    @property
    def entries(self) -> int:
        """How many counts there are."""
        return sum(table.size for table in self.tables)

    @property
    def n_rows(self) -> float:
        """About how many rows were counted, from the noisy counts alone: every row is in one leaf
        of each tree.
        """
        return sum(float(table.sum(dtype=np.float64)) for table in self.tables) / len(self.tables)

    @property
    def variance_of_n_rows(self) -> float:
        """That of the noise in :attr:`n_rows`."""
        return self.deviation**2 * self.entries / len(self.tables) ** 2


@dataclass(frozen=True, eq=False)
class Evidence:
    """The batches that a forest's counts are made of, and how they become the counts of its nodes.

    Args:
        batches: at least one, all about the same structure.
        shrink: how strongly leaves are shrunk towards their ancestors, in standard deviations of
            their noise, where counts are above it.
        weighting: the rule by which batches weigh: ``"by-noise"`` or ``"equal"``.
        weights, borrowing: how much each batch counts, and how strongly leaves are shrunk: what
            followed from these by the rules of :func:`weigh_batches` when the model was made. A
            file keeps both, so that it answers as it did when rules change.
    """

    batches: tuple[Batch, ...]
    shrink: float
    weighting: Weighting
    weights: tuple[float, ...]
    borrowing: float

    def __post_init__(self) -> None:
        check_name("weighting", self.weighting, get_args(Weighting))
        check_real("shrink", self.shrink, least=0, below=MAX_SHRINK)
        shapes = {tuple(table.shape for table in batch.tables) for batch in self.batches}
        if len(shapes) != 1 or len(self.weights) != len(self.batches):
            raise QuestionError(
                "batches of leaf counts must be about one structure, and each must have a weight"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return (
            "Evidence",
            self.batches,
            self.shrink,
            self.weighting,
            self.weights,
            self.borrowing,
        )

    @property
    def tables(self) -> list[Floats]:
        """The weighted sums of the leaf counts, per tree."""
        return [
            np.asarray(
                sum(
                    weight * table.astype(np.float64)
                    for weight, table in zip(self.weights, tables, strict=True)
                )
            )
            for tables in zip(*(batch.tables for batch in self.batches), strict=True)
        ]

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each weighted sum."""
        return math.sqrt(
            sum(
                (weight * batch.deviation) ** 2
                for weight, batch in zip(self.weights, self.batches, strict=True)
            )
        )

    @property
    def strength(self) -> float:
        """The root mean square of what rows account for in the weighted sums: that of the sums,
        less the variance of their noise.
        """
        squares = sum(float((table**2).sum()) for table in self.tables) / self.batches[0].entries
        return math.sqrt(max(squares - self.deviation**2, 0.0))


def structure_fingerprint(forest: Sequence[Cells]) -> str:
    """Return the SHA-256 of a forest's structures and their schema's domain.

    It is equal if and only if leaf vectors can be added.
    """
    sizes = forest[0].schema.sizes
    trees = []
    for cells in forest:
        inner = np.flatnonzero(cells.attribute >= 0).tolist()
        branches = [
            cells.branch[
                cells.offset[node] : cells.offset[node] + sizes[cells.attribute[node]]
            ].tolist()
            for node in inner
        ]
        trees.append([cells.attribute.tolist(), branches, cells.cell.tolist()])
    text = json.dumps([forest[0].schema.fingerprint, trees], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# -- shrinkage of class shares towards those of the ancestors --

#: How many standard deviations of noise an ancestor's shares weigh. Fixed before any data was seen
#: by a learner.
STRENGTH = 0.15


def shrink_tree(
    cells: Cells,
    leaf_counts: npt.NDArray[Any],
    deviation: float | Floats,
    strength: float = STRENGTH,
) -> Tree:
    """Return a tree whose counts are each node's noisy size times its shrunk class shares.

    Args:
        cells: the structure; every leaf is a cell.
        leaf_counts: the noisy class counts of the cells.
        deviation: the standard deviation of each count's noise, independent from leaf to leaf; or,
            for counts whose errors are not, that of the counts of each node.
        strength: the weight of an ancestor, in standard deviations; 0 only clips negative counts.
    """
    raw = node_counts(cells, leaf_counts)
    positive = np.maximum(raw, 0.0)
    shares: Floats = np.empty_like(positive)
    shares[0] = (positive[0] + 1) / (positive[0].sum() + positive.shape[1])
    ones = np.ones((positive.shape[1], 1))  # a product sums short lines faster than a reduction
    sums = positive @ ones
    noise = (
        strength * deviation
        if isinstance(deviation, np.ndarray)
        else strength * deviation * np.sqrt(_n_leaves(cells))
    )
    weights = (noise + 1e-9)[:, None]
    for nodes in cells.levels[1:]:
        weight = weights[nodes]
        shares[nodes] = (positive[nodes] + weight * shares[cells.parents[nodes]]) / (
            sums[nodes] + weight
        )
    sizes = np.maximum(raw @ ones, 1e-3)  # a node of no rows still has its shares
    return Tree(cells, shares * sizes)


def _n_leaves(cells: Cells) -> Floats:
    """Return how many leaves are below each node, or are the node itself."""
    return sum_upwards(cells, (cells.attribute < 0).astype(np.float64))


# -- from leaf vectors to trees: weighted sums of the batches, then shrinkage --


def trees_from(forest: Sequence[Cells], evidence: Evidence) -> tuple[Tree, ...]:
    """Return the trees of a forest with these leaf counts."""
    deviation = evidence.deviation
    return tuple(
        shrink_tree(cells, table, deviation, evidence.borrowing)
        if evidence.shrink
        else Tree.from_leaves(cells, table)
        for cells, table in zip(forest, evidence.tables, strict=True)
    )


# -- how batches weigh, how strongly leaves are shrunk, when to retrain --

#: Leaves are shrunk at most so many times as strongly where noise dominates. Chosen on public data
#: sets.
MOST_BORROWING = 8.0
#: No batch counts more often than this.
MOST_WEIGHT = 10.0


def weigh_batches(
    batches: Sequence[Batch], shrink: float, weighting: Weighting = "by-noise"
) -> Evidence:
    """Return the evidence of some batches: how they weigh, and how strongly leaves are shrunk.

    By noise: if all batches are samples of one population, a leaf of share q has about n q rows of
    a batch of n rows, with sampling variance n q and noise of variance s^2. The weighted sum has
    the least variance for its expectation if a batch weighs

        n / (s^2 + n q) = 1 / (s^2 / n + q)     (inverse-variance weighting),

    where q is that of a typical row's leaf and class. So batches weigh the same where sampling
    dominates, or where they are equally large and noisy, and n / s^2 where noise does. Weights are
    scaled so that all rows count once on average, and none more than ten times: the sums are about
    those of all rows.

    Leaves are shrunk by ``shrink``, times the ratio of noise to strength where that is above 1.
    """
    plain = Evidence(tuple(batches), shrink, weighting, (1.0,) * len(batches), shrink)
    evidence = plain
    if weighting == "by-noise" and len(batches) > 1:
        rows, share = estimate_sizes(batches), _estimate_typical_share(plain)
        weights = [
            1 / (batch.deviation**2 / n + share) if n > 0 else 0.0
            for batch, n in zip(batches, rows, strict=True)
        ]
        kept = sum(weight * n for weight, n in zip(weights, rows, strict=True))
        alike = max(weights) - min(weights) <= 1e-12 * max(weights)  # sums of integers stay whole
        # Where noise makes up most of the rows there seem to be, counts are not blown up to their
        # number.
        scale = min(sum(rows) / kept, MOST_WEIGHT / max(weights)) if kept > 0 else 1.0
        evidence = plain if alike else replace(plain, weights=tuple(one * scale for one in weights))
    strength = evidence.strength
    ratio = (
        evidence.deviation / strength
        if strength > 0
        else MOST_BORROWING
        if evidence.deviation
        else 1.0
    )
    return replace(evidence, borrowing=shrink * min(max(ratio, 1.0), MOST_BORROWING))


def estimate_sizes(batches: Sequence[Batch]) -> list[float]:
    """Estimate how many rows each batch has.

    Noisy numbers are drawn towards their mean as far as noise explains how they differ.

    A normal model with a variance between batches that is estimated by moments (DerSimonian and
    Laird 1986). Without it, equal batches would weigh differently by chance.
    """
    sizes = np.array([batch.n_rows for batch in batches])
    noise = np.array([batch.variance_of_n_rows for batch in batches])
    if len(sizes) > 1 and noise.min() > 1e-100:  # exact counts need no help
        precision = 1 / noise
        excess = float((precision * (sizes - np.average(sizes, weights=precision)) ** 2).sum()) - (
            len(sizes) - 1
        )
        between = max(excess, 0.0) / float((precision * (1 - precision / precision.sum())).sum())
        mean = np.average(sizes, weights=1 / (between + noise))
        sizes = mean + (sizes - mean) * between / (between + noise)
    return [max(float(rows), 0.0) for rows in sizes]


def explain_wear(evidence: Evidence) -> str:
    """Return why the model should be retrained, or an empty string.

    Noise adds up with every batch. It has outgrown the counts where its deviation exceeds their
    strength; building anew helps where that would have no more noise even at half the epsilon of
    the least noisy batch: about twice its deviation.
    """
    batches = evidence.batches
    anew = 2 * min(batch.deviation for batch in batches)
    noise, strength = evidence.deviation, evidence.strength
    if len(batches) == 1 or noise <= strength or noise < anew * (1 - 1e-9):
        return ""
    return (
        f"the noise of {len(batches)} batches has outgrown the counts: each sum has noise of "
        f"standard deviation {noise:.3g}, and rows account for a root mean square of "
        f"{strength:.3g}. Built anew from all rows at half the epsilon of a batch, it would be "
        f"about {anew:.3g}"
    )


def _estimate_typical_share(plain: Evidence) -> float:
    """Return the sum of squared shares of the leaves and classes, less what noise adds to it on
    average, in a mean over trees.
    """
    trees = len(plain.batches[0].tables)
    entries = plain.batches[0].entries / trees
    squares = (
        sum(float((table**2).sum()) for table in plain.tables) / trees
        - plain.deviation**2 * entries
    )
    return min(max(squares / max(sum(estimate_sizes(plain.batches)), 1.0) ** 2, 1 / entries), 1.0)
