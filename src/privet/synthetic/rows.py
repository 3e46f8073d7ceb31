"""Draw synthetic rows from a fitted model, in random order, as values of the schema.

There are as many rows of each kind as expected, up to rounding. Within the rows that share their
class and parent, values are laid out along the running sum of their shares, one uniform number per
equal step (stratified sampling): running sums of counts differ from what is expected by less than
one, instead of by a square root.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.domain import Attribute, Categorical, Numeric, Schema
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
    columns: Sequence[Ints],
    classes: Ints,
    groups: Sequence[Ints],
    alone: Sequence[Floats],
    bits: Bits,
) -> list[Ints]:
    """Draw the values within the groups, by their noisy counts (value, class)."""
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
    """Assign a value to each row, in proportion to weights (keys, values) within its key."""
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
    """Draw uniform numbers in [0, 1) of 53 bits."""
    return np.asarray((bits.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _last_possible(weights: Floats) -> Ints:
    """The last value that has a weight: where rounding carries a place beyond the running sums."""
    return np.asarray(weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1))


# From codes to a table of the schema's own values.


def frame_of(schema: Schema, columns: Sequence[Ints], classes: Ints, bits: Bits) -> pd.DataFrame:
    """Turn codes into rows: listed values, numbers drawn uniformly within their bin, or null.

    Null stands for a missing number.

    Encoded by the same schema, they have these codes again.
    """
    import pandas as pd

    drawn = {
        name: _draw_column(attribute, codes, bits)
        for (name, attribute), codes in zip(schema.attributes.items(), columns, strict=True)
    }
    return pd.DataFrame({**drawn, schema.target: _value_array(schema.classes)[classes]})


def _draw_column(attribute: Attribute, codes: Ints, bits: Bits) -> npt.NDArray[Any]:
    return (
        _value_array(attribute.values)[codes]
        if isinstance(attribute, Categorical)
        else _draw_numbers(attribute, codes, bits)
    )


def _value_array(values: Sequence[object]) -> npt.NDArray[Any]:
    """An array that takes values by number. Texts, values of several kinds and very long numbers
    stay what they are.
    """
    kinds = {type(value) for value in values}
    if kinds in ({bool}, {float}) or (
        kinds == {int} and all(-(2**63) <= value < 2**63 for value in values)  # type: ignore[operator]
    ):
        return np.array(values)
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def _draw_numbers(attribute: Numeric, codes: Ints, bits: Bits) -> npt.NDArray[Any]:
    missing = codes >= attribute.bins
    bins = np.where(missing, 0, codes)
    if (whole := list_bin_integers(attribute)) is not None:
        first, last = (np.array(ends, dtype=np.int64)[bins] for ends in whole)
        numbers = first + uniform_below(bits, (last - first + 1).astype(np.uint64)).astype(np.int64)
        return np.where(missing, np.nan, numbers) if missing.any() else numbers
    low, high = np.array(attribute.cuts[:-1])[bins], np.array(attribute.cuts[1:])[bins]
    share = uniforms(bits, len(codes))
    # high - low may be too large a number
    drawn = np.clip(low * (1 - share) + high * share, low, np.nextafter(high, -np.inf))
    return np.where(missing, np.nan, drawn)


def list_bin_integers(attribute: Numeric) -> tuple[list[int], list[int]] | None:
    """Return the first and last integer of each bin, or None.

    It is None unless the bounds are integers and every bin holds one.

    A public rule: such an attribute (an age, a sum of money) most likely counts something.
    """
    if not (
        attribute.low.is_integer()
        and attribute.high.is_integer()
        and max(-attribute.low, attribute.high) < 2**53
    ):
        return None
    first = [math.ceil(low) for low in attribute.cuts[:-1]]
    last = [math.ceil(high) - 1 for high in attribute.cuts[1:-1]] + [int(attribute.high)]
    return (
        (first, last)
        if all(a <= b for a, b in zip(first, last, strict=True)) and _is_increasing(first)
        else None
    )


def _is_increasing(first: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(first))
