"""Draw the structures of random decision trees before any data is seen. No data in here.

Fan et al. 2003; Jagannathan et al. 2009, 2012. At each node a uniformly random attribute: one
without an order that is not yet used on the path gets one child per value, an ordered one a
uniformly random threshold of its public bins (Fan et al. 2003, section 3). All leaves are at the
same depth, and nothing is pruned: which leaves are empty is a fact about the data.

A :class:`Plan` holds the structures of a forest, for all who will count their rows in its leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer, check_name, check_real
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.tree import MAX_HEIGHT
from privet.errors import ParameterError, QuestionError
from privet.mechanisms.randomness import Bits, uniform_below
from privet.model.leaf_vectors import MAX_SHRINK, structure_fingerprint

MAX_LEAVES = 1 << 20


def height_for(schema: Schema, n_rows: float) -> int:
    """Return the height h = min(floor(k/2), floor(log_b n) - 1), at least 1.

    There are b values per attribute on average (RDT-2012, section 5.1).

    An ordered attribute splits in two.
    """
    widths = [
        2 if attribute.ordered else attribute.size for attribute in schema.attributes.values()
    ]
    b = max(sum(widths) / len(widths), 1.5)
    return max(1, min(len(widths) // 2, math.floor(math.log(max(n_rows, 1)) / math.log(b)) - 1))


def draw_forest(schema: Schema, n_trees: int, height: int, bits: Bits) -> list[Cells]:
    """Draw the structures of a forest."""
    check_integer("height", height, 1, MAX_HEIGHT)
    return [draw_tree(schema, height, bits) for _ in range(n_trees)]


def draw_tree(schema: Schema, height: int, bits: Bits) -> Cells:
    """Draw the structure of one random tree, level by level."""
    sizes = np.asarray(schema.sizes, dtype=np.int64)
    ordered = np.array([attribute.ordered for attribute in schema.attributes.values()])
    bins = np.array([attribute.bins for attribute in schema.attributes.values()], dtype=np.int64)
    # Per open node and attribute: the codes that are still possible, low to high; a used category
    # has one left.
    low, high = np.zeros((1, len(sizes)), dtype=np.int32), (bins - 1)[None, :].astype(np.int32)
    attributes: list[npt.NDArray[Any]] = []
    branches: list[npt.NDArray[Any]] = []
    offsets: list[npt.NDArray[Any]] = []
    first, n_branches = 0, 0  # of this level
    n_leaves = 1
    for level in range(height):
        chosen = _random_attributes(high > low, bits)
        n_nodes, split = len(chosen), np.flatnonzero(chosen >= 0)
        a = chosen[split]
        width = np.where(ordered[a], 2, sizes[a])
        child = first + n_nodes + np.cumsum(width) - width
        if child.size and int(child[-1] + width[-1]) > 2 * MAX_LEAVES:
            raise ParameterError(
                f"random trees of height {height} have more than {MAX_LEAVES} leaves on this "
                "schema; ask for less"
            )
        span = high[split, a].astype(np.int64) - low[split, a]
        threshold = low[split, a] + 1 + uniform_below(bits, span.astype(np.uint64)).astype(np.int64)
        side = (bits.words(len(split)) & np.uint64(1)).astype(np.int64)  # of a missing entry
        offset = np.zeros(n_nodes, dtype=np.int64)
        offset[split] = n_branches + np.cumsum(sizes[a]) - sizes[a]
        owner = np.repeat(np.arange(len(split)), sizes[a])
        code = np.arange(len(owner)) - np.repeat(np.cumsum(sizes[a]) - sizes[a], sizes[a])
        is_missing = code >= bins[a][owner]
        to = np.where(is_missing, side[owner], code >= threshold[owner])
        branches.append(child[owner] + np.where(ordered[a][owner], to, code))
        attributes.append(chosen)
        offsets.append(offset)
        first, n_branches = first + n_nodes, n_branches + len(owner)
        n_leaves = int(width.sum())
        if level < height - 1:
            low, high = _children_bounds(
                low[split], high[split], a, width, ordered, threshold.astype(np.int64)
            )
    leaves = np.full(n_leaves, -1, dtype=np.int64)
    attribute = np.concatenate([*attributes, leaves]) if attributes else leaves
    offset = (
        np.concatenate([*offsets, np.zeros(len(leaves), dtype=np.int64)])
        if offsets
        else np.zeros(1, dtype=np.int64)
    )
    branch = np.concatenate(branches) if branches else np.zeros(0, dtype=np.int64)
    cell = np.where(attribute < 0, np.cumsum(attribute < 0) - 1, -1)
    return Cells(schema, attribute, offset, branch, cell, int((attribute < 0).sum()))  # type: ignore[arg-type]


def _random_attributes(available: npt.NDArray[np.bool_], bits: Bits) -> npt.NDArray[np.int64]:
    """Return a uniformly random available attribute for each node; -1 where there is none."""
    ranks = available.cumsum(axis=1, dtype=np.int16)
    counts = ranks[:, -1]
    pick = uniform_below(bits, np.maximum(counts, 1).astype(np.uint64)).astype(np.int64)
    chosen = (ranks > pick[:, None]).argmax(axis=1)
    return np.where(counts > 0, chosen, -1)


def _children_bounds(
    low: npt.NDArray[np.int32],
    high: npt.NDArray[np.int32],
    a: npt.NDArray[np.int64],
    width: npt.NDArray[np.int64],
    ordered: npt.NDArray[np.bool_],
    threshold: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the possible codes of the children: below or from the threshold on; a used category is
    not asked again.
    """
    parent = np.repeat(np.arange(len(a)), width)
    number = np.arange(len(parent)) - np.repeat(np.cumsum(width) - width, width)
    low, high = low[parent], high[parent]
    line, column, cut = np.arange(len(parent)), a[parent], threshold[parent]
    is_ordered = ordered[column]
    high[line, column] = np.where(
        is_ordered & (number == 0), cut - 1, np.where(is_ordered, high[line, column], 0)
    )
    low[line, column] = np.where(
        is_ordered & (number == 1), cut, np.where(is_ordered, low[line, column], 0)
    )
    return low, high


#: How random trees become answers.
COMBINES = ("probabilities", "counts", "vote")


@dataclass(frozen=True, eq=False)
class Plan:
    """What several parties, or several batches of one, agree on before they count.

    Parameters
    ----------
    schema
        The public schema. Its domain must be everybody's; how many rows and people there
        are is each party's own.
    forest
        The structures, one or more.
    combine, shrink
        How the trees become answers; see :class:`~privet.RandomTreesClassifier`.
    settings
        Public parameters, for the card.
    """

    schema: Schema
    forest: tuple[Cells, ...]
    combine: str
    shrink: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("combine", self.combine, COMBINES)
        check_real("shrink", self.shrink, least=0, below=MAX_SHRINK)
        if not self.forest or any(
            cells.schema.fingerprint != self.schema.fingerprint for cells in self.forest
        ):
            raise QuestionError("a plan needs at least one structure, all of them about its schema")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of structures and domain: leaf vectors can be added if and only if their plans
        have the same.
        """
        return structure_fingerprint(self.forest)
