"""Lay a space of trees out in flat arrays for the dynamic program. Public: no data in here.

A *state* is what tests can leave possible: a proper subset of values for some attributes,
everything for the others. The states of one set of attributes lie side by side, numbered in mixed
radix by the subsets of its attributes in order. A draw looks at contingency tables of these sets of
attributes, alone and with one attribute more.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from privet._types import Ints
from privet.domain.cells import Split
from privet.domain.space import SpaceContent, TreeSpace, child_masks, separates


class Arrays(NamedTuple):
    """What the kernels read. ``x_start`` says where the items of each list begin in ``x``."""

    sizes: Ints
    first: Ints  #: the first subset of each attribute: everything
    below: Ints  #: per subset: a smaller one of the same attribute (-1: none) ...
    more_start: Ints
    more: Ints  #: ... and the values that it has more
    member_start: Ints
    member: Ints  #: per subset: its values
    tests: Ints  #: per subset: how many tests lead to it, as bits
    inner_start: Ints
    inner: Ints  #: per subset: the splits above the last level that are allowed ...
    child_start: Ints
    child: Ints  #: ... and per such split the subsets of its children
    last_start: Ints
    last: Ints  #: per subset: the splits of the last level that are allowed
    block_start: Ints  #: per split of the last level: its children
    run_start: Ints  #: per child: the runs of neighbouring values that lead to it
    run_low: Ints
    run_high: Ints
    state_base: Ints  #: per set of attributes: its first state
    with_more: Ints  #: the set with one attribute more (-1: none)
    set_start: Ints
    set_attributes: Ints  #: per set: its attributes


class SpaceArrays:
    """The arrays of a space; those in :attr:`arrays` are handed to the kernels."""

    def __init__(self, space: TreeSpace) -> None:
        self.space = space
        self.depth = space.depth
        sizes = space.schema.sizes
        self.sizes = np.array(sizes, dtype=np.int64)
        inner, last = space.splits_of(space.inner), space.splits_of(space.last)
        masks = [_sort_by_size(reached) for reached in space.subsets]
        self.subset_of = [{mask: i for i, mask in enumerate(listed)} for listed in masks]
        self.masks = masks
        self.first = _starts([len(listed) for listed in masks])
        everything = [(a, mask) for a, listed in enumerate(masks) for mask in listed]
        # How a subset's counts follow from those of another, smaller one, and some values more.
        parts = [list({part for one in listed for part in one.masks}) for listed in inner]
        below = [_find_largest_child(self.subset_of[a], mask, parts[a]) for a, mask in everything]
        more = [
            codes_of(mask & ~(masks[a][b] if b >= 0 else 0))
            for (a, mask), b in zip(everything, below, strict=True)
        ]
        tests = [space.subsets[a][mask] for a, mask in everything]
        # The splits that are allowed at each subset: above the last level with the subsets of their
        # children, at the last one as they are.
        self.inner_splits: list[Split] = []
        inner_children: list[list[int]] = []
        inner_of: list[list[int]] = []
        for a, mask in everything:
            allowed = [one for one in inner[a] if separates(mask, one)] if space.depth > 1 else []
            inner_of.append(
                list(range(len(self.inner_splits), len(self.inner_splits) + len(allowed)))
            )
            self.inner_splits += allowed
            # A child that the remaining tests cannot reach is not looked up.
            inner_children += [
                [self.subset_of[a].get(child, 0) for child in child_masks(mask, one)]
                for one in allowed
            ]
        self.last_splits = [one for splits in last for one in splits]
        number = {one: i for i, one in enumerate(self.last_splits)}
        last_of = [
            [number[one] for one in last[a] if separates(mask, one)] if space.depth > 0 else []
            for a, mask in everything
        ]
        blocks = [_list_runs(one) for one in self.last_splits]
        # Sets of attributes: those that states are about first, then these with one attribute more.
        can_narrow = [a for a, listed in enumerate(masks) if len(listed) > 1]
        can_end = [a for a in range(len(sizes)) if last[a]] if space.depth else []
        self.sets: list[tuple[int, ...]] = [
            one for n in range(max(space.depth, 1)) for one in combinations(can_narrow, n)
        ]
        n_state_sets = len(self.sets)
        number_of = {one: i for i, one in enumerate(self.sets)}
        for one in self.sets[:n_state_sets]:
            for a in can_end:
                wider = tuple(sorted((*one, a)))
                if a not in one and wider not in number_of:
                    number_of[wider] = len(self.sets)
                    self.sets.append(wider)
        self.number_of = number_of
        self.n_state_sets = n_state_sets
        with_one_more = np.full((n_state_sets, len(sizes)), -1, dtype=np.int64)
        for i, one in enumerate(self.sets[:n_state_sets]):
            for a in range(len(sizes)):
                if a not in one:
                    with_one_more[i, a] = number_of.get(tuple(sorted((*one, a))), -1)
        counts = [
            int(np.prod([len(masks[a]) - 1 for a in one], dtype=np.int64))
            for one in self.sets[:n_state_sets]
        ]
        self.state_base = _starts(counts)
        self.n_states = int(self.state_base[-1])
        # How many splits a state can have at most: those where everything is possible.
        wholes = self.first[:-1].tolist()
        self.most_inner = sum(len(inner_of[i]) for i in wholes)
        self.most_last = sum(len(last_of[i]) for i in wholes)
        flat_runs = [run for split_blocks in blocks for block in split_blocks for run in block]
        self.arrays = Arrays(
            self.sizes,
            self.first,
            np.array(below, dtype=np.int64),
            *_flatten_lists(more),
            *_flatten_lists([codes_of(mask) for _, mask in everything]),
            np.array(tests, dtype=np.int64),
            *_flatten_lists(inner_of),
            *_flatten_lists(inner_children),
            *_flatten_lists(last_of),
            _starts([len(split_blocks) for split_blocks in blocks]),
            _starts([len(block) for split_blocks in blocks for block in split_blocks]),
            np.array([low for low, _ in flat_runs], dtype=np.int64),
            np.array([high for _, high in flat_runs], dtype=np.int64),
            self.state_base,
            with_one_more,
            _starts([len(one) for one in self.sets]),
            np.array([a for one in self.sets for a in one], dtype=np.int64),
        )


def plan_of(space: TreeSpace) -> SpaceArrays:
    """Return the arrays of a space, kept for the next draw from one of the same content."""
    return _lay_out(SpaceContent.of(space))


@lru_cache(maxsize=4)
def _lay_out(content: SpaceContent) -> SpaceArrays:
    return SpaceArrays(content.space)


def _sort_by_size(reached: dict[int, int]) -> list[int]:
    """Return the whole domain first, the others from small to large."""
    whole, *others = reached
    return [whole, *sorted(others, key=lambda mask: (mask.bit_count(), mask))]


def _find_largest_child(subset_of: dict[int, int], mask: int, parts: list[int]) -> int:
    """Return the largest proper subset that a split leaves of this one; -1 where there is none, and
    for the whole domain.
    """
    if subset_of[mask] == 0:
        return -1
    children = [child for part in parts if (child := mask & part) != mask and child in subset_of]
    return subset_of[max(children, key=int.bit_count)] if children else -1


def codes_of(mask: int) -> list[int]:
    """Return the codes in a set of them."""
    return [code for code in range(mask.bit_length()) if mask >> code & 1]


def _list_runs(split: Split) -> list[list[tuple[int, int]]]:
    """Return for each child the runs of neighbouring codes that lead to it."""
    runs_of_child: list[list[tuple[int, int]]] = [[] for _ in range(split.n_children)]
    for code, child in enumerate(split.branch):
        runs = runs_of_child[child]
        if runs and runs[-1][1] == code:
            runs[-1] = (runs[-1][0], code + 1)
        else:
            runs.append((code, code + 1))
    return runs_of_child


def _starts(lengths: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _flatten_lists(lists: list[list[int]]) -> tuple[Ints, Ints]:
    return _starts([len(items) for items in lists]), np.array(
        [item for items in lists for item in items], dtype=np.int64
    )
