"""Random decision trees: structure by chance, counts by the data, and nothing where no row goes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet._types import Codes
from privet._validate import check_integer
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.learners.baselines.growing import EncodedRows, Level, SplitChoice, grow
from privet.mechanisms.randomness import Bits, uniform_below


def grow_random(
    schema: Schema,
    codes: Sequence[Codes],
    classes: Codes,
    *,
    n_trees: int,
    height: int,
    bits: Bits,
) -> list[Tree]:
    """Grow random decision trees, pruned where no row goes (Fan, Wang, Yu and Ma 2003; Jagannathan
    et al. 2009, section IV).

    Every node above the last level tests a uniformly random attribute that is not tested above it,
    with one child per value. The classes and values of rows have no part in that. Only nodes that
    rows reach are drawn at all, which gives the same trees as drawing everything first and pruning
    after it, without the 10**8 nodes of a high tree.

    The values that no row of a node has share one leaf in place of what was pruned. It belongs to
    no cell (-1), and has the class counts of the node, where a prediction for such a value ends. So
    the cells are never empty, and their counts sum to the number of rows. *Which values are absent
    is exact knowledge about the rows*: a private forest must not be pruned like this.

    Args:
        schema: the public schema.
        codes: one column of codes per attribute, each below the attribute's size.
        classes: the class of each row.
        n_trees: how many trees.
        height: how many tests on every path, at most the number of attributes.
        bits: where the randomness comes from.
    """
    data = EncodedRows.checked(schema, codes, classes)
    check_integer("n_trees", n_trees, 1)
    check_integer("height", height, 1, len(schema.sizes))

    def choose(level: Level) -> list[SplitChoice | None]:
        return _choose(level, bits)

    return [
        grow(
            data, choose, lambda counts: counts.sum(axis=1) > 0, max_depth=height, empty_cells=False
        )
        for _ in range(n_trees)
    ]


def _choose(level: Level, bits: Bits) -> list[SplitChoice | None]:
    """For each node one of the attributes that are left, with its absent values in one child after
    the others.
    """
    left = ~level.used
    drawn = uniform_below(bits, left.sum(axis=1).astype(np.uint64)).astype(np.int64)
    attribute = (np.cumsum(left, axis=1) > drawn[:, None]).argmax(axis=1)
    choices: list[SplitChoice | None] = [None] * len(level)
    for a in np.unique(attribute).tolist():
        lines = np.flatnonzero(attribute == a)
        present = level.where(attribute == a).table(a).any(axis=2)
        children = np.where(
            present, np.cumsum(present, axis=1) - 1, present.sum(axis=1, keepdims=True)
        )
        for line, branch in zip(lines.tolist(), children, strict=True):
            choices[line] = a, branch
    return choices
