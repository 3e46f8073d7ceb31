"""Leaf vectors: the noisy class counts of a forest's leaves as they were released, batch by batch.

The counts of one structure from several batches of rows can be added up later, by anybody: from new
rows (an update) or from other tables (horizontal partitions; Jagannathan, Pillaipakkamnatt and
Wright 2012, sections 5.2 and 5.3). No data in here.
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

from privet._types import Floats, Ints
from privet._validate import check_name, check_real
from privet.domain.cells import Cells
from privet.domain.tree import Tree, node_counts, sum_upwards
from privet.errors import ParameterError, QuestionError

Weighting = Literal["by-noise", "equal"]
#: Thin leaves borrow less than this many standard deviations.
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
        shrink: how much thin leaves borrow from their ancestors, in standard deviations of their
            noise, where counts are above it.
        weighting: the rule by which batches weigh: ``"by-noise"`` or ``"equal"``.
        weights, borrowing: how much each batch counts, and how much thin leaves borrow: what
            followed from these by the rules of :mod:`privet.learners.random_trees.batches` when the
            model was made. A file keeps both, so that it answers as it did when rules change."""

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
    """SHA-256 of a forest's structures and their schema's domain: equal if and only if leaf vectors
    can be added.
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


# Post-processing that pays nothing: thin nodes borrow from their ancestors.
#
# A leaf's noisy class counts are mostly noise where few rows are. Its class shares are therefore
# drawn towards those of its parent, which are drawn towards its own parent's, as if the parent
# had contributed ``strength`` standard deviations of the node's noise as rows of its own. Shares
# are taken of non-negative counts.

#: How many standard deviations of noise an ancestor's shares weigh. Fixed before any data was seen
#: by a learner.
STRENGTH = 0.15


def shrink_tree(
    cells: Cells,
    leaf_counts: npt.NDArray[Any],
    deviation: float | Floats,
    strength: float = STRENGTH,
) -> Tree:
    """A tree whose counts are each node's noisy size times its shrunk class shares.

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
    """How many leaves are below each node, or are the node itself."""
    return sum_upwards(cells, (cells.attribute < 0).astype(np.float64))


# From released leaf vectors to trees: weighted sums of the batches, then shrinkage. Post-
# processing: it pays nothing.


def trees_from(forest: Sequence[Cells], evidence: Evidence) -> tuple[Tree, ...]:
    """The trees of a forest with these leaf counts."""
    deviation = evidence.deviation
    return tuple(
        shrink_tree(cells, table, deviation, evidence.borrowing)
        if evidence.shrink
        else Tree.from_leaves(cells, table)
        for cells, table in zip(forest, evidence.tables, strict=True)
    )
