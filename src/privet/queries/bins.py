"""Order statistics on public bins: how far a bin is from holding the q-quantile, and how much one
row can change that.

Let q = a/b in lowest terms, let n be the number of rows that have a value, and for a bin let L be
how many of them lie below it and U how many lie below it or in it. The bin holds a q-quantile where
L <= q n <= U. Its score is minus the distance of q n from [L, U], times b::

    score = -max(0, b L - a n, a n - b U)

a whole number, zero for the bins that hold a quantile: for an empty table, for all of them.

**Range.** Add a row to bin k. It changes n by one, and L and U of each bin by zero or one; so

- above k (L and U rise): b L - a n rises by b - a and a n - b U falls by b - a: the score moves by
  at most b - a;
- below k (neither rises): b L - a n falls by a and a n - b U rises by a: the score moves by at most
  a;
- in k (U rises alone): both fall, by a and by b - a: the score rises, by at most max(a, b - a).

Two bins above k, one on each side of the quantile, can move by b - a in opposite directions, and
two below k by a; a bin below k and one above it part by at most a + (b - a) = b <= 2 max(a, b - a).
So the range is 2 max(a, b - a), which is attained. For q = 0 the score is -L, which falls by one
above k and stays elsewhere; for q = 1 it is U - n, which falls by one below k: there the range is
1. A row without a value changes nothing, and a row removed is a row added, backwards.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from privet.budget import Number, parse_exact
from privet.cells import domain_size
from privet.errors import ParameterError
from privet.schema import Numeric, Schema


def numeric_attribute(schema: Schema, name: str) -> Numeric:
    """The attribute of this name, whose bins have an order."""
    if type(name) is not str:
        raise ParameterError(
            f"attribute must be the name of a numeric attribute, got {type(name).__name__}"
        )
    domain_size(schema, name)
    attribute = schema.attributes[name]
    if not isinstance(attribute, Numeric):
        ordered = [other for other, one in schema.attributes.items() if isinstance(one, Numeric)]
        there_are = f"there are {', '.join(ordered)}" if ordered else "there is none"
        raise ParameterError(
            f"attribute must be a numeric one ({there_are}), got {name!r}, which is categorical"
        )
    return attribute


def parse_share(q: Number) -> Fraction:
    """The share of the rows that shall lie below."""
    refused = ParameterError(f"q must be a number from 0 to 1, got {q!r}")
    try:
        share = parse_exact("q", q, zero=True)
    except ParameterError:
        raise refused from None
    if share > 1:
        raise refused
    return share


def bin_scores(table: npt.NDArray[np.int64], bins: int, q: Fraction) -> list[int]:
    """The score of each bin, from value-by-class counts of all rows. Missing values come after the
    bins and are left out.
    """
    # Python's integers do not overflow
    counts = table.reshape(-1, table.shape[-1])[:bins].sum(axis=1).tolist()
    up_to = list(accumulate(counts))
    a, b = q.numerator, q.denominator
    target = a * up_to[-1]
    return [
        -max(0, b * (upper - count) - target, target - b * upper)
        for upper, count in zip(up_to, counts, strict=True)
    ]


def bin_range(q: Fraction) -> int:
    """How far apart one row can move the scores of two bins."""
    a, b = q.numerator, q.denominator
    return 2 * max(a, b - a) if 0 < a < b else 1


def bound_rows_off(q: Fraction, epsilon: Fraction, bins: int, chance: float = 0.05) -> float:
    """By how many rows a chosen bin may miss the quantile, except with this chance, whatever the
    table.

    Both mechanisms take a bin whose score is g below the best with probability exp(-epsilon g /
    range) at most, and the best score is zero.
    """
    return bin_range(q) / (q.denominator * float(epsilon)) * math.log(bins / chance)
