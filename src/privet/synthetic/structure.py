"""Choose privately which pairs of attributes are measured together with the class.

The pairs form a tree, chosen edge by edge, after MST (McKenna, Miklau and Sheldon 2021): among the
pairs that join two parts of the tree, one is selected whose counts are far from what independence
within the class predicts, less the noise that measuring them would bring (as in AIM, McKenna et al.
2022). Among the candidates is always the choice to stop: the class alone, of which nothing new is
expected.

Values too rare to be told apart under the noise are grouped first (:func:`group_values`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.domain import Attribute, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.mechanisms.randomness import Bits, uniform_below
from privet.queries import ChosenIndex

AttributePair = tuple[int, int]

#: A selection looks at this many pairs at most; where there are more, at random ones.
CANDIDATES = 300
#: So many numbers (cells, values, counts) are in a selection at most: a curator at an address takes
#: no longer questions.
LONGEST = 500_000
#: A pair is measured only where its counts are so many deviations of their noise on average.
CLEAR = 2.0


@dataclass(frozen=True, eq=False)
class Known:
    """What noisy counts tell before pairs are measured.

    These are the groups of values, and the expected rows of each (group, class).
    """

    schema: Schema
    groups: tuple[Ints, ...]
    alone: tuple[Floats, ...]

    @property
    def classes(self) -> Floats:
        """The expected rows of each class."""
        return np.asarray(np.mean([table.sum(axis=0) for table in self.alone], axis=0))

    def partition(self, pair: AttributePair) -> Partition:
        """Return a cell for each pair of groups, the second one running faster."""
        cells = Cells.everything(self.schema)
        for a in pair:
            split = Split(self.schema.names[a], tuple(self.groups[a].tolist()))
            cells = cells.refine(dict.fromkeys(range(len(cells)), split))
        return Partition(cells)

    def length(self, pair: AttributePair) -> int:
        """Return how many numbers it takes to ask about a pair.

        These are its cells, the values that lead there, and what is expected.
        """
        first, second = (int(self.groups[a].max()) + 1 for a in pair)
        values = len(self.groups[pair[0]]) + first * len(self.groups[pair[1]])
        return values + first * second * (1 + self.schema.n_classes)

    def expected(self, pair: AttributePair) -> Floats:
        """Return the counts of a pair's partition if the two were independent within each class."""
        first, second = (self.alone[a] / self.alone[a].sum(axis=0) for a in pair)
        together = first[:, None, :] * second[None] * self.classes
        return np.asarray(together.reshape(-1, together.shape[2]))


def list_candidate_pairs(
    known: Known, chosen: Sequence[AttributePair], deviation: float, bits: Bits
) -> list[AttributePair]:
    """List the pairs that join two parts of the tree and would stand out from this noise.

    One group alone tells nothing.

    Where they are too many for one selection, some of them at random.
    """
    part = list(range(len(known.groups)))
    for a, b in chosen:
        part = [part[a] if one == part[b] else one for one in part]
    sizes = [int(groups.max()) + 1 for groups in known.groups]
    most = known.classes.mean() / (CLEAR * deviation)  # cells
    several = [a for a, size in enumerate(sizes) if size > 1]
    pairs = [
        (a, b)
        for a, b in combinations(several, 2)
        if part[a] != part[b] and sizes[a] * sizes[b] <= most
    ]
    lengths = {pair: known.length(pair) for pair in pairs}
    pairs = [pair for pair in pairs if lengths[pair] <= LONGEST]
    if len(pairs) <= CANDIDATES and sum(lengths[pair] for pair in pairs) <= LONGEST:
        return pairs
    picked: dict[int, None] = {}  # in the order they were drawn
    while len(picked) < min(CANDIDATES, len(pairs)):
        bounds = np.full(CANDIDATES, len(pairs), dtype=np.uint64)
        picked.update(dict.fromkeys(uniform_below(bits, bounds).tolist()))
    drawn = [pairs[place] for place in picked][:CANDIDATES]
    together = np.cumsum([lengths[pair] for pair in drawn])
    return sorted(pair for pair, length in zip(drawn, together, strict=True) if length <= LONGEST)


def choose_pair(
    curator: AnyCurator,
    known: Known,
    pairs: Sequence[AttributePair],
    deviation: float,
    epsilon: Number,
) -> tuple[AttributePair | None, ChosenIndex]:
    """Choose a pair that is worth measuring with noise of this deviation, or None to stop.

    Sensitivity: see :meth:`~privet.Curator.choose_partition` (range 2). Neighbours: one row added
    or removed. Cost: pure epsilon.
    """
    partitions = [known.partition(pair) for pair in pairs]
    # The choice to stop is told by the class alone: its counts are as expected, up to noise that
    # was paid for before.
    question = Question((*partitions, Partition(Cells.everything(known.schema))))
    expected = [*(known.expected(pair) for pair in pairs), known.classes[None]]
    # The noise of a number is about deviation/sqrt(2) in size, and some of it averages out in the
    # fit.
    handicaps = [round(0.5 * deviation * partition.entries) for partition in partitions]
    whole = [np.rint(table).astype(np.int64) for table in expected]
    choice = curator.choose_partition(question, whole, epsilon, handicaps=[*handicaps, 0])
    return (pairs[choice.index] if choice.index < len(pairs) else None), choice


def parents_of(n_attributes: int, chosen: Sequence[AttributePair]) -> list[int]:
    """Return the parent of each attribute; -1 where there is none.

    The first attribute of each part is at its top.
    """
    near: list[list[int]] = [[] for _ in range(n_attributes)]
    for a, b in chosen:
        near[a].append(b)
        near[b].append(a)
    parents, seen = [-1] * n_attributes, [False] * n_attributes
    for top in range(n_attributes):
        if seen[top]:
            continue
        seen[top], waiting = True, [top]
        for a in waiting:
            for b in near[a]:
                if not seen[b]:
                    seen[b], parents[b] = True, a
                    waiting.append(b)
    return parents


# Groups of rare values: post-processing of noisy counts, which costs nothing.

#: A group holds at least this many standard deviations of the noise of its rows, where there are
#: enough.
DEVIATIONS = 4.0
#: More groups than this are not told apart: tables of pairs would be mostly noise.
MOST_GROUPS = 32


def group_values(attribute: Attribute, rows: npt.NDArray[np.float64], deviation: float) -> Ints:
    """Assign each value to a group, from the noisy number of rows of each value.

    A category is a group of its own where it is frequent enough, and the rare ones are one
    together. Bins of an ordered attribute are joined with their neighbours; missing entries are a
    group of their own.
    """
    threshold = DEVIATIONS * deviation
    if not attribute.ordered:
        return _group_rare(rows, threshold)
    bins = _group_neighbours(
        rows[: attribute.bins], max(threshold, float(np.maximum(rows, 0).sum()) / MOST_GROUPS)
    )
    missing = np.full(attribute.size - attribute.bins, bins[-1] + 1, dtype=np.int64)
    return np.concatenate([bins, missing])


def _group_rare(rows: npt.NDArray[np.float64], threshold: float) -> Ints:
    order = np.argsort(-rows, kind="stable")
    kept = [int(value) for value in order if rows[value] >= threshold][:MOST_GROUPS]
    if len(kept) < len(rows) and len(kept) == MOST_GROUPS:
        kept.pop()  # the rare ones are a group, too
    groups = np.full(len(rows), len(kept), dtype=np.int64)
    groups[sorted(kept)] = np.arange(len(kept))
    return groups


def _group_neighbours(rows: Sequence[float] | npt.NDArray[np.float64], threshold: float) -> Ints:
    groups = np.zeros(len(rows), dtype=np.int64)
    group, held = 0, 0.0
    for value, count in enumerate(rows):
        if held >= threshold:
            group, held = group + 1, 0.0
        groups[value] = group
        held += max(float(count), 0.0)
    if held < threshold and group:
        groups[groups == group] = group - 1  # the last one is too small
    return groups


def sum_by_group(table: npt.NDArray[np.float64], groups: Ints) -> npt.NDArray[np.float64]:
    """Sum the counts of values (first axis) by group."""
    out = np.zeros((int(groups.max()) + 1, *table.shape[1:]))
    np.add.at(out, groups, table)
    return out
