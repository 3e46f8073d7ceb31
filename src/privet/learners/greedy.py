"""Learn a greedy tree with privately chosen splits.

Each split is chosen privately among **all** attribute-value candidates (Friedman and Schuster 2010;
Novakovic). The tree grows a level at a time, for all cells of the level at once: one private
selection, and one noisy count where the schedule has it. Stopping rules look at noisy counts only.
An answer may decline cells in which no split is above the noise: they stay as they are. A schedule
says how epsilon is spread over the levels (:func:`split_epsilon`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._types import Splits
from privet._validate import Boolean, IntegerIn, NameIn, ParameterCheck, RealIn, check_name
from privet.accounting.cost import Number
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.resolution import list_thresholds
from privet.mechanisms.criteria import CRITERIA, criterion_named
from privet.mechanisms.selection import Selection
from privet.model.leaf_vectors import STRENGTH, shrink_tree

Schedule = Literal["thesis", "even", "deep"]


LARGEST_DEPTH = 12

#: What the parameters of a greedy tree, and of a forest of them, may be.
GREEDY: Mapping[str, ParameterCheck] = {
    "criterion": NameIn(*CRITERIA),
    "max_depth": IntegerIn(0, LARGEST_DEPTH, also=("auto",)),
    "splits": NameIn(*get_args(Splits)),
    "schedule": NameIn(*get_args(Schedule)),
    "min_rows": RealIn(least=0),
    "shrink": RealIn(least=0),
    "mechanism": NameIn(*get_args(Selection)),
    "attribute_once": Boolean(),
}
#: Parameters of both that 0.1 did not have.
LATER = frozenset({"mechanism", "attribute_once"})
#: The default of ``min_rows``, which only a schedule with counts on the way looks at.
MIN_ROWS = 5


class GreedyTreeClassifier(PrivateClassifier):
    """A decision tree whose splits are chosen by private selection (Friedman and Schuster 2010;
    Novakovic, chapter 6).

    Every level chooses among all attribute-value candidates at once, by private selection on the
    criterion's exact scores. Sensitivity: the criterion's range (max operator 1, Gini 2,
    information gain log2(n) + 1/ln 2 with n declared), and 1 for class counts. Neighbours: one row
    added or removed. Cost: pure ``epsilon``: a level costs its share once, because its cells are
    disjoint.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    criterion
        ``"max"``, ``"gini"`` or ``"info_gain"`` (needs ``n_rows`` in the schema).
    max_depth
        How many levels of splits, or ``"auto"``: by a public rule from n, epsilon and
        the number of classes. Randomised records tell by themselves where to stop: up to 6.
    splits
        ``"binary"`` (one value against the rest, thresholds) or ``"multiway"`` (one child
        per value of a categorical attribute).
    schedule
        How epsilon is spread: ``"even"``, ``"deep"`` or ``"thesis"`` (class counts at
        every level, for the stopping rules: few rows, or one class left).
    min_rows
        A node whose noisy size is at most this is not split. This needs counts on the way, so it
        can be set with ``schedule="thesis"`` only.
    shrink
        How strongly leaves are shrunk towards their ancestors, in standard deviations of
        their noise.
    mechanism
        How a split is drawn: ``"permute-and-flip"``, or ``"exponential"`` as in the papers. Both
        cost the same; permute-and-flip is never worse.
    attribute_once
        Whether a categorical attribute is asked at most once on a path (Novakovic, section 6.3).
        Numbers may be asked again at another threshold.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.GreedyTreeClassifier(epsilon=1, criterion="max", max_depth=2).fit_from(curator)
    >>> model.feature_importances_.shape  # one for each attribute
    (6,)
    """

    _name: ClassVar[str] = "greedy-tree"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = GREEDY
    _public_settings: ClassVar[tuple[str, ...]] = (
        "criterion",
        "splits",
        "schedule",
        "min_rows",
        "shrink",
        "mechanism",
        "attribute_once",
    )
    _later: ClassVar[frozenset[str]] = LATER

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        criterion: Literal["max", "gini", "info_gain"] = "gini",
        max_depth: int | Literal["auto"] = "auto",
        splits: Splits = "binary",
        schedule: Schedule = "even",
        min_rows: float = MIN_ROWS,
        shrink: float = STRENGTH,
        mechanism: Selection = "permute-and-flip",
        attribute_once: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.criterion = criterion
        self.max_depth = max_depth
        self.splits = splits
        self.schedule = schedule
        self.min_rows = min_rows
        self.shrink = shrink
        self.mechanism = mechanism
        self.attribute_once = attribute_once
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        refuse_min_rows(type(self).__name__, self.schedule, self.min_rows)

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        criterion_named(self.criterion, curator.schema.n_rows)  # before anything is paid for
        n_rows = measure_rows(curator, spending) if self.max_depth == "auto" else 0.0
        depth = choose_depth(self.max_depth, curator.schema, n_rows, spending.to_share)
        plan = split_epsilon(self.schedule, spending.left, depth)
        grown = grow_greedy(
            curator,
            self.criterion,
            plan,
            splits=self.splits,
            min_rows=self.min_rows,
            mechanism=self.mechanism,
            attribute_once=self.attribute_once,
        )
        spending.charges += grown.charges
        spending.notice_counts([grown.leaf_counts], grown.deviation)
        return Growth((grown.shrunk(self.shrink),), "counts", {"max_depth": depth}, grown.deviation)


def refuse_min_rows(owner: str, schedule: Schedule, min_rows: float) -> None:
    """Raise where ``min_rows`` is set and no schedule would look at it."""
    if schedule != "thesis" and min_rows not in (0, MIN_ROWS):  # 0 asks for nothing
        raise ParameterError(
            f"{owner}: min_rows={min_rows:g} needs class counts on the way, which "
            f"schedule={schedule!r} does not pay for; set schedule='thesis', or leave min_rows out"
        )


def choose_depth(
    asked: int | Literal["auto"], schema: Schema, n_rows: float, epsilon: Fraction | None
) -> int:
    """Return the depth that was asked for, or one by a public rule.

    The rule: one level more for each doubling of n epsilon beyond 60 T, from 2 to 6.
    """
    if asked == "auto":
        strength = n_rows * (1e9 if epsilon is None else float(epsilon))
        return max(2, min(6, math.floor(math.log2(max(strength, 1) / (60 * schema.n_classes)))))
    return int(asked)


@dataclass(frozen=True)
class Shares:
    """What each question of a greedy tree may cost.

    ``splits[d]`` is for choosing the splits of level d, ``counts[d]`` for the class counts of its
    cells; the last entry of ``counts`` is for the leaves. Zero: not asked.
    """

    splits: tuple[Number, ...]
    counts: tuple[Number, ...]


def split_epsilon(schedule: Schedule, epsilon: Fraction | None, depth: int) -> Shares:
    """Return the shares of a tree of this depth.

    All are infinite where epsilon is None (exact counts).

    ``"thesis"``: class counts at every level for stopping rules, and a split at every level but the
    last: 2(d+1) - 1 equal questions (Novakovic, chapter 6). ``"even"``: no counts on the way; half
    for the leaves, the rest evenly over the splits. ``"deep"``: like even, but each level gets 1.5
    times what the one above it got, because its nodes have fewer rows.
    """
    one, none = Fraction(1), Fraction(0)
    check_name("schedule", schedule, get_args(Schedule))
    if depth == 0:
        return Shares((), _scale_weights([one], epsilon))
    if schedule == "thesis":
        return Shares(
            _scale_weights([one] * depth, epsilon, 2 * depth + 1),
            _scale_weights([one] * (depth + 1), epsilon, 2 * depth + 1),
        )
    growth = Fraction(3, 2) if schedule == "deep" else one
    weights = [growth**d for d in range(depth)]
    return Shares(
        _scale_weights(weights, epsilon, 2 * sum(weights)),
        _scale_weights([none] * depth + [one], epsilon, 2),
    )


def _scale_weights(
    weights: Sequence[Fraction], epsilon: Fraction | None, total: Fraction | int = 1
) -> tuple[Number, ...]:
    if epsilon is None:
        return tuple(math.inf if weight else Fraction(0) for weight in weights)
    return tuple(epsilon * weight / total for weight in weights)


Possible = tuple[frozenset[int], ...]  # per attribute, the codes that a row of the cell can have


@dataclass(frozen=True)
class Grown:
    """A structure, the noisy class counts of its leaves, the deviation of their noise (of every
    node, where that is known), charges.
    """

    cells: Cells
    leaf_counts: npt.NDArray[np.int64]
    deviation: float
    charges: tuple[Charge, ...]
    of_nodes: npt.NDArray[np.float64] | None = None

    def shrunk(self, strength: float) -> Tree:
        """Return the tree, its leaves shrunk towards their ancestors."""
        return shrink_tree(
            self.cells,
            self.leaf_counts,
            self.deviation if self.of_nodes is None else self.of_nodes,
            strength,
        )


def grow_greedy(
    curator: AnyCurator,
    criterion: str,
    shares: Shares,
    *,
    splits: Splits = "binary",
    min_rows: float = 0,
    mechanism: Selection = "permute-and-flip",
    attribute_once: bool = False,
) -> Grown:
    """Grow one tree of at most ``len(shares.splits)`` levels.

    Cost: the shares that were used; a level's selection and counts each cost their share once,
    because cells are disjoint.
    """
    schema = curator.schema
    cells = Cells.everything(schema)
    possible: list[Possible] = [tuple(frozenset(range(size)) for size in schema.sizes)]
    closed = [False]
    asked_above: list[frozenset[str]] = [frozenset()]
    charges: list[Charge] = []
    for depth, share in enumerate(shares.splits):
        if shares.counts[depth]:
            noisy = curator.count(cells, shares.counts[depth])
            charges.append(Charge(f"class counts of level {depth}", noisy.row_cost))
            for cell, counts in enumerate(noisy.tables[0]):
                # Too few rows, or one class left; both judged on noisy counts.
                if counts.sum() <= min_rows or (counts > 0).sum() <= 1:
                    closed[cell] = True
        candidates = [
            [] if closed[c] else split_candidates(schema, possible[c], splits, asked_above[c])
            for c in range(len(cells))
        ]
        open_cells = [c for c in range(len(cells)) if candidates[c]]
        if not open_cells:
            break
        # A closed cell has nothing to choose from; the question is asked about the open ones.
        asked = cells if len(open_cells) == len(cells) else _keep_cells(cells, open_cells)
        choice = curator.choose(
            asked, [candidates[c] for c in open_cells], criterion, share, mechanism=mechanism
        )
        charges.append(Charge(f"splits of level {depth}", choice.row_cost))
        chosen = {
            c: split
            for i, (c, split) in enumerate(zip(open_cells, choice.splits, strict=True))
            if i not in choice.declined
        }
        if not chosen:
            break
        asked_above = _note_asked(schema, asked_above, chosen, attribute_once)
        cells, possible, closed = _refine_level(schema, cells, possible, chosen)
    leaves = curator.count(cells, shares.counts[-1])
    charges.append(Charge("class counts of the leaves", leaves.row_cost))
    of_nodes = leaves.node_deviations[0] if leaves.node_deviations else None
    return Grown(cells, leaves.tables[0], leaves.deviation, tuple(charges), of_nodes)


def split_candidates(
    schema: Schema,
    possible: Possible,
    splits: Splits,
    asked_above: frozenset[str] = frozenset(),
) -> list[Split]:
    """Return all splits that separate the values still possible, but of attributes that were asked.

    One value against the rest, a threshold, or one child per value.
    """
    candidates: list[Split] = []
    for name, codes in zip(schema.names, possible, strict=True):
        attribute = schema.attributes[name]
        if len(codes) < 2 or name in asked_above:
            continue
        if attribute.ordered:
            low, high = min(codes), max(codes)
            candidates += [
                Split.threshold(schema, name, code=code)
                for code in list_thresholds(attribute)
                if low < code <= high
            ]
        elif splits == "multiway" or attribute.size == 2:
            candidates.append(Split.multiway(schema, name))
        elif len(codes) == 2:
            candidates.append(Split.value(schema, name, code=max(codes)))
        else:
            candidates += [Split.value(schema, name, code=code) for code in sorted(codes)]
    return candidates


def _note_asked(
    schema: Schema,
    asked_above: Sequence[frozenset[str]],
    chosen: Mapping[int, Split],
    attribute_once: bool,
) -> list[frozenset[str]]:
    """Return for each cell of the next level which attributes must not be asked again."""
    after: list[frozenset[str]] = []
    for cell, asked in enumerate(asked_above):
        if cell not in chosen:
            after.append(asked)
            continue
        name = chosen[cell].attribute
        again = not attribute_once or schema.attributes[name].ordered
        new: frozenset[str] = frozenset() if again else frozenset({name})
        after += [asked | new] * chosen[cell].n_children
    return after


def _refine_level(
    schema: Schema, cells: Cells, possible: Sequence[Possible], chosen: dict[int, Split]
) -> tuple[Cells, list[Possible], list[bool]]:
    """Return the next level: children in the place of their parents, as :meth:`Cells.refine`
    numbers them.
    """
    next_possible: list[Possible] = []
    next_closed: list[bool] = []
    for cell, codes in enumerate(possible):
        if cell not in chosen:
            next_possible.append(codes)
            next_closed.append(True)
            continue
        split = chosen[cell]
        a = schema.index(split.attribute)
        for child in range(split.n_children):
            kept = frozenset(code for code in codes[a] if split.branch[code] == child)
            next_possible.append((*codes[:a], kept, *codes[a + 1 :]))
            next_closed.append(not kept)
    return cells.refine(chosen), next_possible, next_closed


def _keep_cells(cells: Cells, kept: Sequence[int]) -> Cells:
    """Return the same structure with some cells only."""
    number = np.full(len(cells) + 1, -1, dtype=np.int32)
    number[list(kept)] = np.arange(len(kept))
    return Cells(
        cells.schema, cells.attribute, cells.offset, cells.branch, number[cells.cell], len(kept)
    )
