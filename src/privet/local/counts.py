"""Estimate counts from randomised records, corrected for the randomisation.

A report of k-ary response is the truth with probability p, and each other value with probability q.
Whether the true value lies in a set S of values is estimated by

    w = (1[report in S] - q |S|) / (p - q),        E[w] = 1[truth in S],

without bias. Values that were reported by themselves multiply; the sum over people estimates a
count. As E[w]^2 = E[w] for what is true or not, the variance of the sum is estimated, without bias
too, by the sum of w^2 - w.

There are two kinds of reports: :mod:`~privet.local.reports` and
:mod:`~privet.local.reports`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from privet._types import Bools, Floats
from privet.domain.cells import Cells

#: No table has more rows, and thousands of such counts can be added up.
MOST_COUNT = 1 << 50
Box = Mapping[int, Bools]  # the codes that are allowed, by attribute; what is not listed is free


@dataclass(frozen=True)
class Response:
    """A randomised response: its number of values, and the probabilities of a true and a false one.

    The second is the probability of one given other value.
    """

    size: int
    kept: float
    other: float

    def weights(self, n_values: Any) -> tuple[Any, Any]:
        """Return what a report says about a set of so many values.

        The weights are for a report inside the set, and for one outside it.
        """
        gap = self.kept - self.other
        return (1 - self.other * n_values) / gap, -self.other * n_values / gap


class Estimate(NamedTuple):
    """Unbiased counts, and the variance that randomisation gives each of them."""

    counts: Floats
    variances: Floats


def round_counts(counts: Floats) -> npt.NDArray[np.int64]:
    """Round corrected counts to integers.

    One report of a huge domain can weigh more than any count: such are cut, not wrapped around.
    """
    return np.rint(np.clip(counts, -MOST_COUNT, MOST_COUNT)).astype(np.int64)


class Histogram(Protocol):
    """The reports about one cell by the values of one attribute."""

    def sets(self, masks: Bools) -> Estimate:
        """Return the class counts of some sets of values: a row of ``masks`` is a set."""


class View(Protocol):
    """The reports about one cell: a union of disjoint boxes."""

    def totals(self) -> Estimate:
        """Return the class counts."""

    def by(self, attribute: int) -> Histogram:
        """Return the reports by the values of an attribute."""


class LocalCounts(Protocol):
    """Randomised records, all of one schema."""

    @property
    def n_reports(self) -> int:
        """The number of reports: as many as people took part, which is public."""

    @property
    def digest(self) -> str:
        """Return a digest of the reports: the same reports have the same digest."""

    def answers(self, attributes: frozenset[int]) -> bool:
        """Return whether cells that restrict these attributes together can be counted."""

    def view(self, cell: Sequence[Box]) -> View:
        """Return the reports about one cell."""

    def some(self, chosen: npt.NDArray[np.intp]) -> LocalCounts:
        """Return some of the reports."""


def boxes_of_nodes(cells: Cells) -> list[Box]:
    """Return the part of the domain that reaches each node."""
    sizes = cells.schema.sizes
    boxes: list[Box] = [{} for _ in cells.attribute]
    for node in np.flatnonzero(cells.attribute >= 0).tolist():  # parents come before their children
        a = int(cells.attribute[node])
        branch = cells.branch[cells.offset[node] : cells.offset[node] + sizes[a]]
        before = boxes[node].get(a, np.ones(sizes[a], dtype=bool))
        for child in dict.fromkeys(branch.tolist()):
            allowed = before & (branch == child)
            boxes[child] = {
                **{b: mask for b, mask in boxes[node].items() if b != a},
                **({} if allowed.all() else {a: allowed}),
            }
    return boxes


def boxes_of_cells(cells: Cells) -> list[list[Box]]:
    """Return the boxes of each cell: those of its leaves that some value reaches."""
    found: list[list[Box]] = [[] for _ in range(len(cells))]
    boxes = boxes_of_nodes(cells)
    for leaf in np.flatnonzero(cells.cell >= 0).tolist():
        reached = leaf == 0 or cells.parents[leaf] >= 0
        if reached and all(mask.any() for mask in boxes[leaf].values()):
            found[int(cells.cell[leaf])].append(boxes[leaf])
    return found


def restricted_attributes(cell: Sequence[Box]) -> frozenset[int]:
    """Return the attributes that a cell restricts."""
    return frozenset(a for box in cell for a in box)
