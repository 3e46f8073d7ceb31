"""Describe a public set of labelled trees with a prior, to draw one from. No data in here.

A tree of the space is made top down. A node has a label: the parent's with probability ``keep``,
otherwise a uniformly random class (at the root: a uniformly random class). A node above the depth
limit is split with probability ``split``, if some split separates the values that are still
possible there: an attribute is drawn uniformly, then one of its splits uniformly.

:func:`all_splits` and its siblings list the splits that a space may use.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from privet._validate import check_integer, check_real
from privet.domain.cells import Split, check_split
from privet.domain.coarsening import Coarsening, find_atoms
from privet.domain.schema import Schema
from privet.errors import QuestionError

#: Bytes that drawing a tree may hold at once, beside the rows; a larger space is refused, whatever
#: the data.
MAX_BYTES = 1 << 30
#: Numbers that drawing a tree may compute, whatever the rows.
MAX_WORK = 1 << 32
#: Steps in plain Python to lay a space out, whatever the rows: a fifth of a second. To see how
#: large a space is takes some of them, before the charge; that ends here, too.
MAX_PLANNING = 1 << 20
MAX_SPACE_DEPTH = 12
MAX_SUBSETS = 20_000
#: Threads that draw at once: each needs some memory of its own.
MAX_THREADS = 4
#: Attributes with more values are not split value by value; their tests alone would fill the
#: memory.
MAX_APART = 256
#: A leaf's share of a product is at least (1 - keep)/T; products of exp(-600) and up are far from
#: where doubles end, exp(-708).
MAX_LOG_PRODUCT = 600.0

#: A set of codes of one attribute, as a bit mask.
BitMask = int


@dataclass(frozen=True)
class SpaceSize:
    """What a draw needs at most, from public sizes alone: states of the dynamic program, exact
    counts, bytes, elementary steps, steps to lay the space out beforehand, contingency tables.
    """

    states: int
    counts: int
    bytes: int
    work: int
    planning: int
    tables: int


@dataclass(frozen=True, eq=False)
class TreeSpace:
    """All labelled trees of at most ``depth`` levels of public splits, with a prior.

    Parameters
    ----------
    schema
        The public schema.
    depth
        The most tests on a path.
    inner
        The splits that may stand above the last level; by default those of
        :func:`all_splits`.
    last
        The splits that may stand at the last level (cheap, so usually more); by default those
        of :func:`all_splits`.
    split
        The chance that a node is split.
    keep
        The chance that a child keeps its parent's label.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> space = pv.TreeSpace(car.schema, depth=1, last=[pv.Split.multiway(car.schema, "safety")])
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
    >>> curator.draw_tree(space, epsilon=1).to_frame().columns.tolist()
    ['cell', 'class']
    """

    schema: Schema
    depth: int
    inner: Sequence[Split] | None = None
    last: Sequence[Split] | None = None
    split: float = 0.5
    keep: float = 0.5

    def __post_init__(self) -> None:
        # What is checked is what is kept: plain numbers.
        object.__setattr__(self, "depth", check_integer("depth", self.depth, 0, MAX_SPACE_DEPTH))
        for name in ("split", "keep"):
            probability = check_real(name, getattr(self, name), least=0.001, most=0.999)
            object.__setattr__(self, name, probability)
        for name in ("inner", "last"):
            given = getattr(self, name)
            splits = tuple(all_splits(self.schema)) if given is None else tuple(given)
            for split in splits:
                if type(split) is not Split:
                    raise QuestionError(f"{name} must hold splits, got {type(split).__name__}")
                check_split(self.schema, split)
            if len(set(splits)) != len(splits):
                raise QuestionError(f"{name} holds the same split twice")
            most = find_widest_split(self.schema.n_classes, self.keep)
            for split in splits:
                if split.n_children > most:
                    raise QuestionError(
                        f"{name} holds a split of {split.attribute!r} with {split.n_children} "
                        f"children; with {self.schema.n_classes} classes "
                        f"and keep={self.keep:g} at most {most} are allowed: group values"
                    )
            object.__setattr__(self, name, tuple(split for split in splits if split.n_children > 1))

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return (
            "TreeSpace",
            self.schema,
            self.depth,
            self.inner,
            self.last,
            self.split,
            self.keep,
        )

    def splits_of(self, which: Sequence[Split] | None) -> list[list[Split]]:
        """Return the splits by attribute, in the order of the schema."""
        by_attribute: dict[str, list[Split]] = {name: [] for name in self.schema.names}
        for split in which or ():
            by_attribute[split.attribute].append(split)
        return list(by_attribute.values())

    @property
    def atoms(self) -> Coarsening:
        """The codes that no split of the space tells apart, merged.

        A tree's probability does not depend on which of them a row has.
        """
        return self._merging[0]

    @property
    def merged(self) -> TreeSpace:
        """The same trees over :attr:`atoms`: what is laid out, counted and drawn from."""
        return self._merging[1] or self

    @cached_property
    def _merging(self) -> tuple[Coarsening, TreeSpace | None]:
        # Worked out for each space anew: whoever holds one could change what others share.
        return _merge_atoms(self)

    @cached_property
    def subsets(self) -> list[dict[BitMask, int]]:
        """For each attribute the sets of values that tests above the last level can leave possible.

        Each comes with the numbers of tests (as bits) after which it is reached; the first is the
        whole domain, after none.
        """
        return self._explored[0]

    @cached_property
    def _explored(self) -> tuple[list[dict[BitMask, int]], int]:
        """The subsets, and how many steps it took to find them: at most :data:`MAX_PLANNING`."""
        subsets, steps = [], 0
        for size, splits in zip(self.schema.sizes, self.splits_of(self.inner), strict=True):
            everything = (1 << size) - 1
            parts = {part for split in splits for part in split.masks}
            reached = {everything: 1}
            children: dict[BitMask, set[BitMask]] = {}
            frontier = {everything}
            for tests in range(1, self.depth):
                after: set[BitMask] = set()
                for mask in frontier:
                    if mask not in children:
                        steps += len(parts)
                        # A split that separates the values leaves proper subsets, any other none.
                        children[mask] = {mask & part for part in parts} - {0, mask}
                    steps += 1
                    after |= children[mask]
                    if len(after) > MAX_SUBSETS or steps > MAX_PLANNING:
                        raise QuestionError(
                            f"the splits can cut attribute {splits[0].attribute!r} into more sets "
                            f"of values than can be laid out (at most {MAX_SUBSETS}); give fewer "
                            "splits above the last level (for example multiway ones only), or less "
                            "depth"
                        )
                for mask in after:
                    reached[mask] = reached.get(mask, 0) | (1 << tests)
                frontier = after
            subsets.append(reached)
        return subsets, steps

    @cached_property
    def size(self) -> SpaceSize:
        """What a draw needs at most. Depends on public sizes only."""
        if self.merged is not self:
            return self.merged.size
        n_classes, sizes = self.schema.n_classes, self.schema.sizes
        proper = [len(reached) - 1 for reached in self.subsets]
        inner, last = self.splits_of(self.inner), self.splits_of(self.last if self.depth else ())
        levels = max(self.depth, 1)
        # Tables: sets of attributes that tests can narrow, alone and with an attribute more.
        # Attributes of a set are distinct.
        narrow = [a for a, p in enumerate(proper) if p]
        ends = [a for a, splits in enumerate(last) if splits]
        n_sets = sum(_symmetric_polynomials([1] * len(narrow), levels - 1))
        counts = (
            n_classes
            * sum(_symmetric_polynomials([sizes[a] for a in narrow], levels - 1))
            * (1 + sum(sizes[a] for a in ends))
        )
        states = sum(_symmetric_polynomials(proper, levels - 1))
        # A thread sums one table over subsets, attribute by attribute, and holds two of the stages.
        wide = {a: max(proper[a], sizes[a]) for a in narrow}
        largest = [
            size * _largest_product((wide[b] for b in narrow if b != a), levels - 1)
            for a, size in enumerate(sizes)
            if a in ends
        ]
        most_states = _largest_product(wide.values(), levels - 1)
        threads = (
            8
            * MAX_THREADS
            * (2 * n_classes * max([*largest, most_states]) + (n_classes + 3) * most_states)
        )
        # Lists in Python: some 400 bytes for a set of attributes, 64 for an entry of a list.
        listed = [
            size + len(ends_) + sum(split.n_children + 3 for split in splits)
            for size, splits, ends_ in zip(sizes, inner, last, strict=True)
        ]
        plan = (
            400 * n_sets * (1 + len(ends))
            + 8 * n_sets * len(sizes)
            + 64 * sum((p + 1) * n for p, n in zip(proper, listed, strict=True))
        )
        n_bytes = (
            8 * counts + 8 * states * (n_classes + (n_classes + 1) * (levels - 1)) + threads + plan
        )
        blocks = sum(split.n_children + 2 for split in self.last or ()) + sum(sizes)
        tests = sum(split.n_children + 2 for split in self.inner or ())
        planning = (
            self._explored[1]
            + n_sets * (len(sizes) + len(ends))
            + sum((p + 1) * n for p, n in zip(proper, listed, strict=True))
        )
        work = n_classes * states * (blocks + tests * max(levels - 2, 0))
        return SpaceSize(states, counts, n_bytes, work, planning, n_sets * (1 + len(ends)))

    @property
    def fits(self) -> bool:
        """Whether it is small enough to draw from."""
        try:
            self.check_size()
        except QuestionError:
            return False
        return True

    def check_size(self) -> None:
        """Raise :class:`~privet.errors.QuestionError` for a space that is too large to draw from,
        with advice.
        """
        size = self.size
        if size.bytes > MAX_BYTES or size.work > MAX_WORK or size.planning > MAX_PLANNING:
            raise QuestionError(
                "this space of trees is too large: drawing from it could need "
                f"{size.bytes / 2**30:.1f} GiB, {size.work:.1e} steps and {size.planning:.1e} to "
                f"lay it out (allowed are {MAX_BYTES / 2**30:.0f} GiB, {MAX_WORK:.1e} and "
                f"{MAX_PLANNING:.1e}); use less depth "
                f"(now {self.depth}), fewer splits above the "
                "last level (coarse_splits), or coarser attributes"
            )

    def describe(self) -> str:
        """Return one line for a ledger; public facts only."""
        return (
            f"one tree of depth {self.depth} at most, out of {len(self.inner or ())} splits and "
            f"{len(self.last or ())} at the last level"
        )


@dataclass(frozen=True)
class SpaceContent:
    """A space, recognised by what it says: the key of what is worked out for it."""

    facts: tuple[Any, ...]
    space: TreeSpace = field(compare=False)

    @classmethod
    def of(cls, space: TreeSpace) -> SpaceContent:
        """Return the content of a space."""
        schema = json.dumps(space.schema.to_json(), sort_keys=True)
        _, _, *facts = space.identity()
        return cls((schema, *facts), space)


def _merge_atoms(space: TreeSpace) -> tuple[Coarsening, TreeSpace | None]:
    """Return the atoms of a space, and the space over them; None where every code is one."""
    both = zip(space.splits_of(space.inner), space.splits_of(space.last), strict=True)
    atoms = find_atoms(space.schema, [inner + last for inner, last in both])
    if not atoms.merged:
        return atoms, None
    inner, last = (
        [atoms.merge_split(split) for split in splits or ()] for splits in (space.inner, space.last)
    )
    return atoms, TreeSpace(atoms.coarse, space.depth, inner, last, space.split, space.keep)


def find_widest_split(n_classes: int, keep: float = 0.5) -> int:
    """Return the most children that a split may have.

    More could bring a product over leaves near the end of floating point.
    """
    return min(MAX_APART, int(MAX_LOG_PRODUCT / math.log(n_classes / (1 - keep))))


def child_masks(mask: BitMask, split: Split) -> list[BitMask]:
    """Return the sets of values that the children of a split leave possible; empty ones are left
    out.
    """
    return [mask & part for part in split.masks if mask & part]


def separates(mask: BitMask, split: Split) -> bool:
    """Return whether a split tells apart values that are still possible."""
    return len(child_masks(mask, split)) > 1


# -- public ways to split --


def all_splits(schema: Schema) -> list[Split]:
    """Return every kind of split.

    Categorical attributes: all values apart, and each against the rest.

    Ordered ones: every threshold, groups, all values apart.
    """
    splits = []
    for name in schema.names:
        splits += multiway_splits(schema, name)
        splits += (
            grouped_splits(schema, name) + threshold_splits(schema, name)
            if _is_ordered(schema, name)
            else one_against_rest_splits(schema, name)
        )
    return _drop_duplicate_splits(splits)


def binary_and_coarse_splits(schema: Schema) -> list[Split]:
    """Return :func:`all_splits`, without all values apart where the attribute is ordered."""
    splits = []
    for name in schema.names:
        if _is_ordered(schema, name):
            splits += grouped_splits(schema, name) + threshold_splits(schema, name)
        else:
            splits += multiway_splits(schema, name) + one_against_rest_splits(schema, name)
    return _drop_duplicate_splits(splits)


def coarse_splits(schema: Schema) -> list[Split]:
    """Return few splits per attribute, for large tables and deep trees.

    Categorical attributes: all values apart.

    Ordered ones: groups only. For large tables and deep trees.
    """
    splits = []
    for name in schema.names:
        splits += (
            (grouped_splits(schema, name) or threshold_splits(schema, name))
            if _is_ordered(schema, name)
            else multiway_splits(schema, name)
        )
    return _drop_duplicate_splits(splits)


def coarsest_splits(schema: Schema) -> list[Split]:
    """Return one split per attribute: :func:`coarse_splits`, with ordered ones in four groups."""
    by_attribute: dict[str, list[Split]] = {}
    for split in coarse_splits(schema):
        by_attribute.setdefault(split.attribute, []).append(split)
    return [
        split
        for name, splits in by_attribute.items()
        for split in (splits[:1] if grouped_splits(schema, name) else splits)
    ]


def multiway_splits(schema: Schema, name: str) -> list[Split]:
    """Return the split of all values of an attribute apart, unless there are too many."""
    return (
        [Split.multiway(schema, name)]
        if schema.attributes[name].size <= find_widest_split(schema.n_classes)
        else []
    )


def one_against_rest_splits(schema: Schema, name: str) -> list[Split]:
    """Return the splits of each value of an attribute against the others, unless there are too
    many.
    """
    size = schema.attributes[name].size
    return (
        [Split.value(schema, name, code=code) for code in range(size)]
        if 2 < size <= MAX_APART
        else []
    )


def threshold_splits(schema: Schema, name: str) -> list[Split]:
    """Return the splits at every threshold of an ordered attribute.

    Of very many thresholds, evenly chosen ones. Missing entries are a child of their own.
    """
    bins, missing = _bins_and_missing(schema, name)
    parts = min(bins, MAX_APART)
    cuts = [i * bins // parts for i in range(1, parts)]
    return [
        Split(name, tuple(int(code >= cut) for code in range(bins)) + (2,) * missing)
        for cut in cuts
    ]


def grouped_splits(schema: Schema, name: str) -> list[Split]:
    """Return splits into four and eight groups of neighbouring bins, missing entries apart.

    Only where there are more bins than that.
    """
    bins, missing = _bins_and_missing(schema, name)
    return [
        Split(name, tuple(code * n // bins for code in range(bins)) + (n,) * missing)
        for n in (4, 8)
        if bins > n
    ]


def _is_ordered(schema: Schema, name: str) -> bool:
    return schema.attributes[name].ordered


def _bins_and_missing(schema: Schema, name: str) -> tuple[int, int]:
    attribute = schema.attributes[name]
    return attribute.bins, attribute.size - attribute.bins


def _drop_duplicate_splits(splits: Iterable[Split]) -> list[Split]:
    """Return the splits without those that say the same, or nothing."""
    seen: dict[tuple[str, frozenset[BitMask]], Split] = {}
    for split in splits:
        if split.n_children > 1:
            seen.setdefault(
                (split.attribute, frozenset(child_masks((1 << len(split.branch)) - 1, split))),
                split,
            )
    return list(seen.values())


def _symmetric_polynomials(values: Sequence[int], order: int) -> list[int]:
    """Return the elementary symmetric polynomials of the values, from order 0 to this one."""
    sums = [1] + [0] * order
    for value in values:
        for i in range(order, 0, -1):
            sums[i] += value * sums[i - 1]
    return sums


def _largest_product(values: Iterable[int], order: int) -> int:
    """Return the largest product of at most so many of the values, which are 1 or more."""
    return math.prod(sorted(values)[-order:]) if order else 1
