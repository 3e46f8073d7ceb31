"""Draw synthetic rows from a fitted model, in random order, as values of the schema.

There are as many rows of each kind as expected, up to rounding. Within the rows that share their
class and parent, values are laid out along the running sum of their shares, one uniform number per
equal step (stratified sampling): running sums of counts differ from what is expected by less than
one, instead of by a square root.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats, Ints
from privet.domain import Attribute, Schema
from privet.mechanisms.randomness import Bits, uniform_below
from privet.synthetic.class_tree import ClassTree

if TYPE_CHECKING:
    import pandas as pd


def draw_rows(tree: ClassTree, n_rows: int, bits: Bits) -> tuple[list[Ints], Ints]:
    """Draw the (grouped) values of each attribute and the classes of ``n_rows`` rows."""
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
    column: Ints,
    classes: Ints,
    groups: Ints,
    alone: Floats,
    deviation: float,
    bits: Bits,
    heights: Floats | None = None,
) -> Ints:
    """Draw the values within the groups, by noisy counts (value, class) with this deviation.

    Values are grouped because noise hides what they are alone, so their counts are drawn together
    as far as they differ by no more than that. Of two rows in a group and class, the one with the
    larger of ``heights`` gets the later value; without them, either.
    """
    values = np.empty(len(column), dtype=np.int64)
    for group in range(int(groups.max()) + 1):
        mine, members = np.flatnonzero(column == group), np.flatnonzero(groups == group)
        # where noise hides all of a group, any of it
        weights = np.maximum(shrink_together(alone[members], deviation), 0.0) + 1e-3
        within = None if heights is None else heights[mine]
        values[mine] = members[spread(classes[mine], weights.T, bits, within)]
    return values


def shrink_together(counts: Floats, deviation: float) -> Floats:
    """Draw the counts of each class towards their mean, as far as noise of this deviation parts
    them (James and Stein 1961).
    """
    mean = counts.mean(axis=0)
    apart = ((counts - mean) ** 2).sum(axis=0)
    noise = (len(counts) - 1) * deviation**2
    kept = 1 - noise / np.maximum(apart, max(noise, np.finfo(float).tiny))
    return np.asarray(mean + kept * (counts - mean))


def spread_bin(
    bins: Ints, merged: Ints, attribute: Attribute, bits: Bits, heights: Floats | None = None
) -> Ints:
    """Draw the codes of a fine grid within their bins, evenly over the range of each bin.

    With ``heights``, in their order.
    """
    widths = np.ones(len(merged))
    widths[: attribute.bins] = np.maximum(np.diff(attribute.cuts), np.finfo(float).tiny)
    codes = np.empty(len(bins), dtype=np.int64)
    for place in range(int(merged.max()) + 1):
        mine, members = np.flatnonzero(bins == place), np.flatnonzero(merged == place)
        weights = widths[members] / widths[members].max()
        together = np.zeros(len(mine), dtype=np.int64)
        within = None if heights is None else heights[mine]
        codes[mine] = members[spread(together, weights[None], bits, within)]
    return codes


def spread(keys: Ints, weights: Floats, bits: Bits, heights: Floats | None = None) -> Ints:
    """Assign a value to each row, in proportion to weights (keys, values) within its key.

    The rows of a key are in a random order, or in that of ``heights``.
    """
    n_rows = len(keys)
    shuffled = np.lexsort((bits.words(n_rows) if heights is None else heights, keys))
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
    """Draw uniform numbers in [0, 1) of 53 bits."""
    return np.asarray((bits.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _last_possible(weights: Floats) -> Ints:
    """The last value that has a weight: where rounding carries a place beyond the running sums."""
    return np.asarray(weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1))


# From codes to a table of the schema's own values.


def frame_of(schema: Schema, columns: Sequence[Ints], classes: Ints, bits: Bits) -> pd.DataFrame:
    """Turn codes into rows: listed values, numbers and dates drawn uniformly within their bin, or
    null, which stands for a missing number or date.

    Encoded by the same schema, they have these codes again.
    """
    import pandas as pd

    draws = _BitDraws(bits)
    drawn = {
        name: attribute.draw(codes, draws)
        for (name, attribute), codes in zip(schema.attributes.items(), columns, strict=True)
    }
    return pd.DataFrame({**drawn, schema.target: schema.label.draw(classes, draws)})


@dataclass(frozen=True)
class _BitDraws:
    """Random numbers of one source of bits, for attributes."""

    bits: Bits

    def uniforms(self, count: int) -> Floats:
        return uniforms(self.bits, count)

    def below(self, limits: Ints) -> Ints:
        return uniform_below(self.bits, limits.astype(np.uint64)).astype(np.int64)
