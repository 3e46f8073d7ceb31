"""Choose privately which pairs of attributes are measured together with the class.

The pairs form a tree, chosen edge by edge, after MST (McKenna, Miklau and Sheldon 2021): among the
pairs that join two parts of the tree, one is selected whose counts are far from what independence
within the class predicts, less the noise that measuring them would bring (as in AIM, McKenna et al.
2022). Among the candidates is always the choice to stop: the class alone, of which nothing new is
expected.

Values too rare to be told apart under the noise are grouped first (:func:`group_values`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.accounting.cost import Number, is_infinite
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.mechanisms.randomness import Bits, uniform_below
from privet.queries import ChosenIndex
from privet.synthetic.groups import divide_groups, sum_by_group

AttributePair = tuple[int, int]

#: A selection looks at this many pairs at most; where there are more, at random ones.
CANDIDATES = 300
#: So many numbers (cells, values, counts) are in a selection at most: a curator at an address takes
#: no longer questions.
LONGEST = 500_000
#: How far apart one row can move the scores of two pairs.
RANGE = 2
#: A pair is measured only where its counts are so many deviations of their noise on average.
CLEAR = 2.0


@dataclass(frozen=True, eq=False)
class Cut:
    """A pair of attributes, and the part of each of their groups: the cells that it is counted in.

    ``parts`` has an array for each attribute, from group to part.
    """

    pair: AttributePair
    parts: tuple[Ints, Ints]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many parts each attribute has."""
        first, second = (int(part.max()) + 1 for part in self.parts)
        return first, second


@dataclass(frozen=True, eq=False)
class Known:
    """What noisy counts tell before pairs are measured.

    These are the groups of values, and the expected rows of each (group, class). ``as_begun`` is
    for work that 0.1 began: it looked at pairs as a whole only.
    """

    schema: Schema
    groups: tuple[Ints, ...]
    alone: tuple[Floats, ...]
    as_begun: bool = False

    @property
    def classes(self) -> Floats:
        """The expected rows of each class."""
        return np.asarray(np.mean([table.sum(axis=0) for table in self.alone], axis=0))

    def cut(self, pair: AttributePair, deviation: float) -> Cut | None:
        """Cut a pair into as many cells as stand out from noise of this deviation.

        None where not even two parts of each attribute do.
        """
        sizes = [len(self.alone[a]) for a in pair]
        most = self.classes.mean() / (CLEAR * deviation)
        if min(sizes) < 2 or most < (math.prod(sizes) if self.as_begun else 4):
            return None
        few = min(*sizes, int(math.sqrt(most)))
        wanted = [min(size, int(most / few) if size > min(sizes) else few) for size in sizes]
        attributes = list(self.schema.attributes.values())
        first, second = (
            divide_groups(attributes[a], self.alone[a].sum(axis=1), parts)
            for a, parts in zip(pair, wanted, strict=True)
        )
        cut = Cut(pair, (first, second))
        return cut if min(cut.sizes) > 1 else None

    def find_impossible(self, pair: AttributePair) -> npt.NDArray[np.bool_]:
        """Return which two groups cannot be together, by what the schema says to be impossible."""
        first, second = (len(self.alone[a]) for a in pair)
        never = np.zeros((first, second), dtype=bool)
        names = [self.schema.names[a] for a in pair]
        for rule in self.schema.impossible_codes:
            if set(rule) == set(names):
                whole = [
                    np.setdiff1d(
                        self.groups[a][list(rule[name])],
                        np.delete(self.groups[a], list(rule[name])),
                    )
                    for a, name in zip(pair, names, strict=True)
                ]
                never[np.ix_(*whole)] = True
        return never

    def find_impossible_cells(self, cut: Cut) -> npt.NDArray[np.bool_]:
        """Return which cells of a pair hold nothing but what is impossible."""
        possible = ~self.find_impossible(cut.pair)
        held = sum_by_group(possible.astype(np.float64), cut.parts[0])
        return np.asarray(sum_by_group(held.T, cut.parts[1]).T == 0)

    def partition(self, cut: Cut) -> Partition:
        """Return a cell for each pair of parts, the second one running faster."""
        cells = Cells.everything(self.schema)
        for a, parts in zip(cut.pair, cut.parts, strict=True):
            split = Split(self.schema.names[a], tuple(parts[self.groups[a]].tolist()))
            cells = cells.refine(dict.fromkeys(range(len(cells)), split))
        return Partition(cells)

    def length(self, cut: Cut) -> int:
        """Return how many numbers it takes to ask about a pair.

        These are its cells, the values that lead there, and what is expected.
        """
        first, second = cut.sizes
        values = len(self.groups[cut.pair[0]]) + first * len(self.groups[cut.pair[1]])
        return values + first * second * (1 + self.schema.n_classes)

    def expected(self, cut: Cut) -> Floats:
        """Return the counts of a pair's partition if the two were independent within each class."""
        first, second = (
            sum_by_group(self.alone[a] / self.alone[a].sum(axis=0), parts)
            for a, parts in zip(cut.pair, cut.parts, strict=True)
        )
        together = first[:, None, :] * second[None] * self.classes
        return np.asarray(together.reshape(-1, together.shape[2]))


def list_candidates(
    known: Known, chosen: Sequence[AttributePair], deviation: float, bits: Bits
) -> list[Cut]:
    """List the pairs that join two parts of the tree and would stand out from this noise.

    One group alone tells nothing. Where they are too many for one selection, some of them at
    random.
    """
    part = list(range(len(known.groups)))
    for a, b in chosen:
        part = [part[a] if one == part[b] else one for one in part]
    several = [a for a, table in enumerate(known.alone) if len(table) > 1]
    cuts = [
        cut
        for a, b in combinations(several, 2)
        if part[a] != part[b] and (cut := known.cut((a, b), deviation)) is not None
    ]
    lengths = {cut.pair: known.length(cut) for cut in cuts}
    cuts = [cut for cut in cuts if lengths[cut.pair] <= LONGEST]
    if len(cuts) <= CANDIDATES and sum(lengths[cut.pair] for cut in cuts) <= LONGEST:
        return cuts
    picked: dict[int, None] = {}  # in the order they were drawn
    while len(picked) < min(CANDIDATES, len(cuts)):
        bounds = np.full(CANDIDATES, len(cuts), dtype=np.uint64)
        picked.update(dict.fromkeys(uniform_below(bits, bounds).tolist()))
    drawn = [cuts[place] for place in picked][:CANDIDATES]
    together = np.cumsum([lengths[cut.pair] for cut in drawn])
    kept = [cut for cut, length in zip(drawn, together, strict=True) if length <= LONGEST]
    return sorted(kept, key=lambda cut: cut.pair)


def list_stated_pairs(known: Known, deviation: float) -> list[AttributePair]:
    """List the pairs of which the schema says that some values are never together.

    That they depend on each other is public, so that no selection is paid for.
    """
    pairs: list[AttributePair] = []
    part = list(range(len(known.groups)))
    for rule in known.schema.impossible_codes:
        if len(rule) == 2:
            a, b = sorted(known.schema.index(name) for name in rule)
            if part[a] != part[b] and known.cut((a, b), deviation) is not None:
                pairs.append((a, b))
                part = [part[a] if one == part[b] else one for one in part]
    return pairs


def choose_pair(
    curator: AnyCurator,
    known: Known,
    cuts: Sequence[Cut],
    deviation: float,
    epsilon: Number,
) -> tuple[AttributePair | None, ChosenIndex]:
    """Choose a pair that is worth measuring with noise of this deviation, or None to stop.

    Sensitivity: see :meth:`~privet.Curator.choose_partition` (range 2). Neighbours: one row added
    or removed. Cost: pure epsilon.
    """
    partitions = [known.partition(cut) for cut in cuts]
    # The choice to stop is told by the class alone: its counts are as expected, up to noise that
    # was paid for before.
    question = Question((*partitions, Partition(Cells.everything(known.schema))))
    expected = [*(known.expected(cut) for cut in cuts), known.classes[None]]
    # The noise of a number is about deviation/sqrt(2) in size, and some of it averages out in the
    # fit.
    handicaps = [round(0.5 * deviation * partition.entries) for partition in partitions]
    whole = [np.rint(table).astype(np.int64) for table in expected]
    # One of many pairs that say nothing would look good by chance: to stop is as likely as all of
    # them together.
    free = known.as_begun or is_infinite(epsilon)
    ahead = 0 if free else round(RANGE / float(epsilon) * math.log(len(cuts)))
    choice = curator.choose_partition(question, whole, epsilon, handicaps=[*handicaps, -ahead])
    return (cuts[choice.index].pair if choice.index < len(cuts) else None), choice


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
