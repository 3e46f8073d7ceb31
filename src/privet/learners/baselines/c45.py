"""Grow exact C4.5 trees: gain ratio, multiway or two-way splits, optional reduced-error pruning.

Functions of counts take arrays of shape (..., children, classes), and answer for all of them at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from privet._types import Codes, Floats, Ints, Splits
from privet._validate import check_integer, check_name
from privet.domain import Attribute, Schema
from privet.domain.tree import Tree
from privet.learners.baselines.growing import (
    EncodedRows,
    Level,
    SplitChoice,
    grow,
    make_mixed_rule,
    prune_reduced_error,
)


def grow_c45(
    schema: Schema,
    codes: Sequence[Codes],
    classes: Codes,
    *,
    splits: Splits = "multiway",
    max_depth: int | None = None,
    min_rows: int = 2,
    max_nodes: int | None = None,
    prune: tuple[Sequence[Codes], Codes] | None = None,
) -> Tree:
    """Grow a C4.5 tree (Quinlan 1993, *C4.5: Programs for Machine Learning*, chapter 2).

    Of the attributes whose gain is positive and at least average, the one of largest gain ratio
    splits a node, ties by the order of the schema: gain(S, A) / (-sum_v (n_v / n) log2(n_v / n)). A
    split counts only if two or more of its children have ``min_rows`` rows. Where no split counts,
    the node is a leaf; so C4.5 gives up on an exclusive or, which ID3 does not. A child that no row
    reaches is a leaf with the class counts of its parent.

    Numbers come in bins, so there is no search for cut points and none of the penalties of later
    releases for one.

    Parameters
    ----------
    schema
        The public schema.
    codes
        One column of codes per attribute, each below the attribute's size.
    classes
        The class of each row.
    splits
        ``"multiway"``: one child per value, or per bin of an ordered attribute. ``"binary"``: the
        two-way split of largest gain, a threshold for an ordered attribute, a value against the
        rest for any other; missing entries go with the larger side or are set apart from all
        others.
    max_depth
        The most tests on a path; None for no limit.
    min_rows
        The rows that at least two children must have.
    max_nodes
        The most nodes while the tree grows; None for no limit. A multiway split makes a node per
        value, most of them without rows where an attribute has many.
    prune
        Codes and classes of other rows, for :func:`prune_reduced_error`.
    """
    data = EncodedRows.checked(schema, codes, classes)
    check_name("splits", splits, get_args(Splits))
    check_integer("min_rows", min_rows, 1)
    if max_depth is not None:
        check_integer("max_depth", max_depth, 0)
    if max_nodes is not None:
        check_integer("max_nodes", max_nodes, 1)
    choose = partial(_choose_binary if splits == "binary" else _choose_multiway, min_rows)
    tree = grow(
        data, choose, make_mixed_rule(2 * min_rows), max_depth=max_depth, max_nodes=max_nodes
    )
    return tree if prune is None else prune_reduced_error(tree, *prune)


def _choose_multiway(min_rows: int, level: Level) -> list[SplitChoice | None]:
    scores = [
        _score_children(level.table(attribute), min_rows)
        for attribute in range(len(level.data.schema.sizes))
    ]
    values = [np.arange(size) for size in level.data.schema.sizes]
    chosen = _choose_attributes([gain for gain, _ in scores], [ratio for _, ratio in scores])
    return [None if a is None else (a, values[a]) for a in chosen]


def _choose_binary(min_rows: int, level: Level) -> list[SplitChoice | None]:
    lines = np.arange(len(level))
    choices: dict[int, tuple[BinarySplits, list[int]]] = {}
    gains, ratios = [], []
    for position, attribute in enumerate(level.data.schema.attributes.values()):
        if attribute.size < 2:
            gains.append(np.full(len(level), -np.inf))
            ratios.append(gains[-1])
            continue
        options = BinarySplits.of(attribute, level.table(position))
        gain, ratio = _score_children(options.children(level.counts), min_rows)
        best = first_best(gain, axis=1)
        gains.append(gain[lines, best])
        ratios.append(ratio[lines, best])
        choices[position] = options, best.tolist()
    chosen = _choose_attributes(gains, ratios)
    return [
        None if a is None else (a, choices[a][0].branch(line, choices[a][1][line]))
        for line, a in enumerate(chosen)
    ]


def _score_children(children: Ints, min_rows: int) -> tuple[Floats, Floats]:
    """Return gain and gain ratio; minus infinity where the split does not count."""
    gain = information_gain(children)
    counts = ((children.sum(axis=-1) >= min_rows).sum(axis=-1) > 1) & (gain > TOLERANCE)
    ratio = gain / np.where(counts, split_information(children), 1.0)
    return np.where(counts, gain, -np.inf), np.where(counts, ratio, -np.inf)


def _choose_attributes(gains: Sequence[Floats], ratios: Sequence[Floats]) -> list[int | None]:
    """Choose for each node the attribute of best ratio among those of at least average gain.

    None where there is none.
    """
    gain, ratio = np.stack(gains), np.stack(ratios)
    counts = np.isfinite(gain)
    n_counting = counts.sum(axis=0)
    average = np.where(counts, gain, 0.0).sum(axis=0) / np.maximum(n_counting, 1)
    best = first_best(np.where(gain >= average - TOLERANCE, ratio, -np.inf), axis=0)
    return [a if n else None for a, n in zip(best.tolist(), n_counting.tolist(), strict=True)]


# -- two-way splits of one attribute: a value against the rest, or a threshold on the order of bins
# --


@dataclass(frozen=True, eq=False)
class BinarySplits:
    """Every two-way split of an attribute at every node of a level.

    Split ``s`` is value ``s``, or codes above ``s``.

    In a threshold split of an attribute with a bin for missing entries, that bin (the last code)
    goes with the child that has more of the other rows, child 0 if both have as many. The last
    split sets it apart from all others.

    Parameters
    ----------
    attribute
        The attribute.
    ones
        Class counts of child 1: shape (nodes, splits, classes).
    missing_above
        Whether missing entries go to child 1: shape (nodes, splits). None without
        such a bin.
    """

    attribute: Attribute
    ones: Ints
    missing_above: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, attribute: Attribute, table: Ints) -> BinarySplits:
        """Return the splits, from class counts by node and value."""
        if not attribute.ordered:
            return cls(attribute, table)
        above = table.sum(axis=1, keepdims=True) - np.cumsum(table, axis=1)[:, :-1]
        if attribute.size == attribute.bins:
            return cls(attribute, above)
        missing = table[:, -1:]
        n_above = (above - missing).sum(axis=2)
        n_present = (table.sum(axis=1, keepdims=True) - missing).sum(axis=2)
        missing_above = n_above > n_present - n_above
        missing_above[:, -1] = True
        return cls(
            attribute, np.where(missing_above[:, :, None], above, above - missing), missing_above
        )

    def children(self, totals: Ints) -> Ints:
        """Return child-by-class counts, of shape (nodes, splits, 2, classes).

        They come from the class counts of the nodes.
        """
        return np.stack([totals[:, None, :] - self.ones, self.ones], axis=2)

    def branch(self, node: int, split: int) -> Ints:
        """Return the child that each code goes to."""
        codes = np.arange(self.attribute.size)
        if not self.attribute.ordered:
            return np.asarray(codes == split, dtype=np.int64)
        branch = np.asarray(codes > split, dtype=np.int64)
        if self.missing_above is not None:
            branch[-1] = self.missing_above[node, split]
        return branch


# -- information gain and gain ratio, from child-by-class counts --

#: Scores that differ by less are equal: sums of logarithms depend on their order in the last
#: digits.
TOLERANCE = 1e-12


def entropy(counts: Ints) -> Floats:
    """Return H = -sum_c p_c log2(p_c) over the last axis (Shannon 1948); 0 for no counts."""
    sizes = counts.sum(axis=-1)
    return np.asarray(_total_bits(counts) / np.maximum(sizes, 1))


def information_gain(children: Ints) -> Floats:
    """Return H(class) - sum_v (n_v / n) H(class | v), in bits (Quinlan 1986, section 4)."""
    parent = children.sum(axis=-2)
    saved = _total_bits(parent) - _total_bits(children).sum(axis=-1)
    return np.asarray(saved / np.maximum(parent.sum(axis=-1), 1))


def split_information(children: Ints) -> Floats:
    """Return -sum_v (n_v / n) log2(n_v / n), the entropy of the child sizes.

    Quinlan 1986, section 7.
    """
    return entropy(children.sum(axis=-1))


def first_best(scores: Floats, axis: int) -> npt.NDArray[np.intp]:
    """Return the first position along the axis with the best score, up to rounding."""
    return np.asarray(
        (scores >= scores.max(axis=axis, keepdims=True) - TOLERANCE).argmax(axis=axis)
    )


def _total_bits(counts: Ints) -> Floats:
    """Return n H(counts) = n log2(n) - sum_c n_c log2(n_c)."""
    return np.asarray(_n_log_n(counts.sum(axis=-1)) - _n_log_n(counts).sum(axis=-1))


def _n_log_n(counts: npt.NDArray[Any]) -> Floats:
    return np.asarray(counts * np.log2(np.maximum(counts, 1)))
