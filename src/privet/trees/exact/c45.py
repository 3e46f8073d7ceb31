"""C4.5: gain ratio, multiway or two-way splits, optional reduced-error pruning."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import get_args

import numpy as np

from privet.checks import check_integer, check_name
from privet.schema import Schema
from privet.tree import Tree
from privet.trees.exact.binary import BinarySplits
from privet.trees.exact.gain import TOLERANCE, first_best, information_gain, split_information
from privet.trees.exact.growing import SplitChoice, grow, make_mixed_rule
from privet.trees.exact.level import Level
from privet.trees.exact.pruning import prune_reduced_error
from privet.trees.exact.rows import EncodedRows
from privet.typed import Codes, Floats, Ints, Splits


def grow_c45(
    schema: Schema,
    codes: Sequence[Codes],
    classes: Codes,
    *,
    splits: Splits = "multiway",
    max_depth: int | None = None,
    min_rows: int = 2,
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

    Args:
        schema: the public schema.
        codes: one column of codes per attribute, each below the attribute's size.
        classes: the class of each row.
        splits: ``"multiway"``: one child per value, or per bin of a ``Numeric``. ``"binary"``: the
            two-way split of largest gain, a value against the rest for a ``Categorical``, a
            threshold for a ``Numeric``; missing numbers go with the larger side or are set apart
            from all others.
        max_depth: the most tests on a path; None for no limit.
        min_rows: the rows that at least two children must have.
        prune: codes and classes of other rows, for :func:`prune_reduced_error`.
    """
    data = EncodedRows.checked(schema, codes, classes)
    check_name("splits", splits, get_args(Splits))
    check_integer("min_rows", min_rows, 1)
    if max_depth is not None:
        check_integer("max_depth", max_depth, 0)
    choose = partial(_choose_binary if splits == "binary" else _choose_multiway, min_rows)
    tree = grow(data, choose, make_mixed_rule(2 * min_rows), max_depth=max_depth)
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
    found: dict[int, tuple[BinarySplits, list[int]]] = {}
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
        found[position] = options, best.tolist()
    chosen = _choose_attributes(gains, ratios)
    return [
        None if a is None else (a, found[a][0].branch(line, found[a][1][line]))
        for line, a in enumerate(chosen)
    ]


def _score_children(children: Ints, min_rows: int) -> tuple[Floats, Floats]:
    """Gain and gain ratio; minus infinity where the split does not count."""
    gain = information_gain(children)
    counts = ((children.sum(axis=-1) >= min_rows).sum(axis=-1) > 1) & (gain > TOLERANCE)
    ratio = gain / np.where(counts, split_information(children), 1.0)
    return np.where(counts, gain, -np.inf), np.where(counts, ratio, -np.inf)


def _choose_attributes(gains: Sequence[Floats], ratios: Sequence[Floats]) -> list[int | None]:
    """For each node the attribute of best ratio among those of at least average gain, if there is
    one.
    """
    gain, ratio = np.stack(gains), np.stack(ratios)
    counts = np.isfinite(gain)
    n_counting = counts.sum(axis=0)
    average = np.where(counts, gain, 0.0).sum(axis=0) / np.maximum(n_counting, 1)
    best = first_best(np.where(gain >= average - TOLERANCE, ratio, -np.inf), axis=0)
    return [a if n else None for a, n in zip(best.tolist(), n_counting.tolist(), strict=True)]
