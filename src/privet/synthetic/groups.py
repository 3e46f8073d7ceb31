"""Group values that noise does not tell apart, and join groups into the parts of a pair.

Both look at noisy counts only: post-processing, which costs nothing.
"""

from __future__ import annotations

import numpy as np

from privet._types import Floats, Ints
from privet.domain import Attribute

#: A group holds at least this many standard deviations of the noise of its rows, where there are
#: enough: a rare category must not be made up, but numbers in one group no longer follow others.
DEVIATIONS, DEVIATIONS_OF_BINS = 4.0, 2.5
#: More groups than this are not told apart: tables of pairs would be mostly noise.
MOST_GROUPS = 32


def group_values(
    attribute: Attribute, rows: Floats, deviation: float, *, as_begun: bool = False
) -> Ints:
    """Assign each value to a group, from the noisy number of rows of each value.

    A category is a group of its own where it is frequent enough, and the rare ones are one
    together. Bins of an ordered attribute are joined with their neighbours; missing entries are a
    group of their own. ``as_begun`` is for work that 0.1 began, which took noise for rows.
    """
    if not attribute.ordered:
        return _group_rare(rows, DEVIATIONS * deviation)
    numbers = rows[: attribute.bins]
    if as_begun:
        numbers = np.maximum(numbers, 0.0)
    bins = (
        _group_neighbours(numbers, DEVIATIONS * deviation, 0.0)
        if as_begun
        else _group_neighbours(numbers, DEVIATIONS_OF_BINS * deviation, 0.5)
    )
    missing = np.full(attribute.size - attribute.bins, bins[-1] + 1, dtype=np.int64)
    return np.concatenate([bins, missing])


def _group_rare(rows: Floats, threshold: float) -> Ints:
    order = np.argsort(-rows, kind="stable")
    kept = [int(value) for value in order if rows[value] >= threshold][:MOST_GROUPS]
    if len(kept) < len(rows) and len(kept) == MOST_GROUPS:
        kept.pop()  # the rare ones are a group, too
    groups = np.full(len(rows), len(kept), dtype=np.int64)
    groups[sorted(kept)] = np.arange(len(kept))
    return groups


def _group_neighbours(rows: Floats, threshold: float, power: float) -> Ints:
    """The noise of a group grows like the root of its bins: many empty ones are no evidence."""
    least = max(float(rows.sum()), 0.0) / MOST_GROUPS
    groups = np.zeros(len(rows), dtype=np.int64)
    group, held, bins = 0, 0.0, 0
    for value, count in enumerate(rows):
        if bins and held >= max(threshold * bins**power, least):
            group, held, bins = group + 1, 0.0, 0
        groups[value] = group
        held, bins = held + float(count), bins + 1
    if group and held < max(threshold * bins**power, least):
        groups[groups == group] = group - 1  # the last one is too small
    return groups


def divide_groups(attribute: Attribute, rows: Floats, parts: int) -> Ints:
    """Assign each group to one of at most so many parts, from the rows of each group.

    Groups of an ordered attribute are joined with their neighbours into parts of about equal size;
    of the others, the most frequent are parts of their own.
    """
    if parts >= len(rows):
        return np.arange(len(rows))
    if not attribute.ordered:
        part = np.full(len(rows), parts - 1)
        part[np.sort(np.argsort(-rows, kind="stable")[: parts - 1])] = np.arange(parts - 1)
        return part
    apart = attribute.size > attribute.bins and parts > 2  # missing entries have the last group
    numbers = rows[:-1] if apart else rows
    middles = (np.cumsum(numbers) - numbers / 2) / numbers.sum()
    _, part = np.unique((middles * (parts - apart)).astype(np.int64), return_inverse=True)
    return np.append(part, part.max() + 1) if apart else part


def sum_by_group(table: Floats, groups: Ints) -> Floats:
    """Sum the counts of values (first axis) by group."""
    out = np.zeros((int(groups.max()) + 1, *table.shape[1:]))
    np.add.at(out, groups, table)
    return out
