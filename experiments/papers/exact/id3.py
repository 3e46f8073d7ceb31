"""ID3: one child per value, by information gain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet._types import Codes
from privet._validate import check_integer
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.learners.baselines.c45 import first_best, information_gain
from privet.learners.baselines.growing import EncodedRows, Level, SplitChoice, grow, make_mixed_rule


def grow_id3(
    schema: Schema,
    codes: Sequence[Codes],
    classes: Codes,
    *,
    max_depth: int | None = None,
    min_rows: int = 1,
) -> Tree:
    """Grow an ID3 tree (Quinlan 1986, *Induction of Decision Trees*, section 4).

    A node is split by the attribute of largest information gain, ties by the order of the schema,
    into one child per value. It stays a leaf if its rows are of one class, if there are fewer than
    ``min_rows``, or if no attribute tells them apart. As in the original, a gain of zero is no
    reason to stop while some attribute still separates the rows: in the exclusive or of two
    attributes each by itself gains nothing, and only both together gain everything. So a tree of
    full depth is right on every table without contradictions.

    A child that no row reaches is a leaf with the class counts of its parent.

    Args:
        schema: the public schema.
        codes: one column of codes per attribute, each below the attribute's size.
        classes: the class of each row.
        max_depth: the most tests on a path; None for no limit.
        min_rows: a node with fewer rows is not split.
    """
    data = EncodedRows.checked(schema, codes, classes)
    check_integer("min_rows", min_rows, 1)
    if max_depth is not None:
        check_integer("max_depth", max_depth, 0)
    return grow(data, _choose, make_mixed_rule(min_rows), max_depth=max_depth)


def _choose(level: Level) -> list[SplitChoice | None]:
    """The attribute of largest gain among those that separate the rows; one tested above has one
    value left, and does not.
    """
    sizes = level.data.schema.sizes
    gains = np.empty((len(sizes), len(level)))
    for attribute in range(len(sizes)):
        table = level.table(attribute)
        separates = table.any(axis=2).sum(axis=1) > 1
        gains[attribute] = np.where(separates, information_gain(table), -np.inf)
    chosen = first_best(gains, axis=0).tolist()
    possible = (gains.max(axis=0) > -np.inf).tolist()
    values = [np.arange(size) for size in sizes]
    return [(a, values[a]) if split else None for a, split in zip(chosen, possible, strict=True)]
