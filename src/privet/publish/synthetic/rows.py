"""Rows drawn from a fitted model: as many of each kind as expected, up to the roundings, in random
order.

Within the rows that share their class and parent, values are laid out along the running sum of
their shares, one uniform number per equal step (stratified sampling): running sums of counts differ
from what is expected by less than one, instead of by a square root.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.mechanisms.randomness import Bits
from privet.publish.synthetic.class_tree import ClassTree
from privet.typed import Floats, Ints


def draw_rows(tree: ClassTree, n_rows: int, bits: Bits) -> tuple[list[Ints], Ints]:
    """The (grouped) values of each attribute and the classes of ``n_rows`` rows."""
    classes = spread(np.zeros(n_rows, dtype=np.int64), tree.classes[None], bits)
    columns: list[Ints] = [classes] * len(tree.parents)
    for a in tree.order:
        table = tree.tables[a]
        above = (
            columns[tree.parents[a]] if tree.parents[a] >= 0 else np.zeros(n_rows, dtype=np.int64)
        )
        keys = above * table.shape[2] + classes
        columns[a] = spread(keys, table.transpose(0, 2, 1).reshape(-1, table.shape[1]), bits)
    return columns, classes


def expand(
    columns: Sequence[Ints],
    classes: Ints,
    groups: Sequence[Ints],
    alone: Sequence[Floats],
    bits: Bits,
) -> list[Ints]:
    """The values within the groups, by their noisy counts (value, class)."""
    out = []
    for column, of, counts in zip(columns, groups, alone, strict=True):
        weights = np.maximum(counts, 0.0) + 1e-3  # where noise hides all of a group, any of it
        values = np.empty(len(column), dtype=np.int64)
        for group in range(int(of.max()) + 1):
            mine, members = np.flatnonzero(column == group), np.flatnonzero(of == group)
            values[mine] = members[spread(classes[mine], weights[members].T, bits)]
        out.append(values)
    return out


def spread(keys: Ints, weights: Floats, bits: Bits) -> Ints:
    """A value for each row: within the rows of one key, in proportion to the weights (keys,
    values).
    """
    n_rows = len(keys)
    shuffled = np.lexsort((bits.words(n_rows), keys))  # a random order within each key
    counts = np.bincount(keys, minlength=len(weights))
    first = np.cumsum(counts) - counts
    rank = np.arange(n_rows) - first[keys[shuffled]]
    sums = np.cumsum(weights, axis=1)
    last = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    place = (rank + uniforms(bits, n_rows)) / counts[keys[shuffled]]
    # Keys are whole numbers and places below 1, so that one sorted list holds the running sums of
    # all keys.
    edges = (np.arange(len(weights))[:, None] + np.minimum(sums / last, 1.0)).ravel()
    at = (
        np.searchsorted(edges, keys[shuffled] + place, side="right")
        - keys[shuffled] * weights.shape[1]
    )
    values = np.empty(n_rows, dtype=np.int64)
    values[shuffled] = np.minimum(at, _last_possible(weights)[keys[shuffled]])
    return values


def uniforms(bits: Bits, count: int) -> Floats:
    """Uniform numbers in [0, 1) of 53 bits."""
    return np.asarray((bits.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _last_possible(weights: Floats) -> Ints:
    """The last value that has a weight: where rounding carries a place beyond the running sums."""
    return np.asarray(weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1))
