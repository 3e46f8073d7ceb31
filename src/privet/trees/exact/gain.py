"""Information gain and gain ratio of splits, from child-by-class counts.

Counts come in arrays of shape (..., children, classes); each function answers for all of them at
once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.typed import Floats, Ints

#: Scores that differ by less are equal: sums of logarithms depend on their order in the last
#: digits.
TOLERANCE = 1e-12


def entropy(counts: Ints) -> Floats:
    """H = -sum_c p_c log2(p_c) over the last axis; 0 where there is nothing (Shannon 1948)."""
    sizes = counts.sum(axis=-1)
    return np.asarray(_total_bits(counts) / np.maximum(sizes, 1))


def information_gain(children: Ints) -> Floats:
    """H(class) - sum_v (n_v / n) H(class | v), in bits (Quinlan 1986, section 4)."""
    parent = children.sum(axis=-2)
    saved = _total_bits(parent) - _total_bits(children).sum(axis=-1)
    return np.asarray(saved / np.maximum(parent.sum(axis=-1), 1))


def split_information(children: Ints) -> Floats:
    """-sum_v (n_v / n) log2(n_v / n): the entropy of the child sizes (Quinlan 1986, section 7)."""
    return entropy(children.sum(axis=-1))


def first_best(scores: Floats, axis: int) -> npt.NDArray[np.intp]:
    """The first position along the axis with the best score, up to rounding."""
    return np.asarray(
        (scores >= scores.max(axis=axis, keepdims=True) - TOLERANCE).argmax(axis=axis)
    )


def _total_bits(counts: Ints) -> Floats:
    """n H(counts) = n log2(n) - sum_c n_c log2(n_c)."""
    return np.asarray(_n_log_n(counts.sum(axis=-1)) - _n_log_n(counts).sum(axis=-1))


def _n_log_n(counts: npt.NDArray[Any]) -> Floats:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))
