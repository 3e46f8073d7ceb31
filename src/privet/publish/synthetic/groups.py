"""Groups of values: what is too rare to be told apart under the noise. Post-processing of noisy
counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from privet.schema import Attribute, Categorical
from privet.typed import Ints

#: A group holds at least this many standard deviations of the noise of its rows, where there are
#: enough.
DEVIATIONS = 4.0
#: More groups than this are not told apart: tables of pairs would be mostly noise.
MOST_GROUPS = 32


def group_values(attribute: Attribute, rows: npt.NDArray[np.float64], deviation: float) -> Ints:
    """The group of each value, from the noisy number of rows of each value.

    A category is a group of its own where it is frequent enough, and the rare ones are one
    together. Bins of a numeric attribute are joined with their neighbours; missing numbers are a
    group of their own.
    """
    threshold = DEVIATIONS * deviation
    if isinstance(attribute, Categorical):
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
    """The counts of each group, from those of each value (first axis)."""
    out = np.zeros((int(groups.max()) + 1, *table.shape[1:]))
    np.add.at(out, groups, table)
    return out
