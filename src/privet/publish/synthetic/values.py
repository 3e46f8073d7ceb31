"""Codes as a table of the schema's own values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.mechanisms.randomness import Bits, uniform_below
from privet.publish.synthetic.rows import uniforms
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.typed import Ints

if TYPE_CHECKING:
    import pandas as pd


def frame_of(schema: Schema, columns: Sequence[Ints], classes: Ints, bits: Bits) -> pd.DataFrame:
    """Rows of these codes: listed values, numbers drawn uniformly within their bin, null for a
    missing number.

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
    """The first and last whole number of each bin, where the bounds are whole and every bin holds
    one; otherwise None.

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
