"""Reduced-error pruning: by hand, and against every possible pruning of small trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.papers.exact import grow_id3, grow_random
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.baselines import grow_c45, prune_reduced_error
from privet.mechanisms.randomness import SystemBits
from tests.learners.baselines.tables import (
    Codes,
    Table,
    categorical,
    code_column,
    nested,
    predictions,
    rows_of,
    tables,
    weather,
)

Pruning = tuple[Table, tuple[Codes, npt.NDArray[Any]]]


@st.composite
def cases(draw: st.DrawFn, unknown: bool = False) -> Pruning:
    """A table to grow a tree from, and rows to prune it with."""
    table = draw(tables(max_rows=16))
    return table, draw(rows_of(table[0], 16, unknown))


def errors(tree: Tree, codes: Codes, classes: npt.NDArray[Any]) -> int:
    return int((predictions(tree, codes) != classes).sum())


def point(*codes: int) -> Codes:
    return [code_column([code]) for code in codes]


def test_a_subtree_goes_if_a_leaf_further_up_does_as_well() -> None:
    tree = grow_id3(*weather())
    # A sunny day of normal humidity: the test of humidity is better than a leaf for sunny days, but
    # the root is right too.
    pruned = prune_reduced_error(tree, point(0, 0, 1, 0), code_column([1]))
    assert (nested(pruned), pruned.n_nodes) == ((5, 9), 1)  # and the tree of one node has only that


def test_a_test_that_helps_stays_and_one_that_does_not_goes() -> None:
    tree = grow_id3(*weather())
    # High humidity on a sunny day: no. The root alone says yes, the leaf for sunny says no without
    # looking further.
    pruned = prune_reduced_error(tree, point(0, 0, 0, 0), code_column([0]))
    assert nested(pruned) == ((5, 9), "outlook", {(0,): (3, 2), (1,): (0, 4), (2,): (2, 3)})
    # Both kinds of sunny days need the test of humidity.
    codes = [
        np.concatenate(pair) for pair in zip(point(0, 0, 0, 0), point(0, 0, 1, 0), strict=True)
    ]
    pruned = prune_reduced_error(tree, codes, code_column([0, 1]))
    assert nested(pruned)[2][(0,)] == nested(tree)[2][(0,)]
    assert nested(pruned)[2][(2,)] == (2, 3)


def test_what_disagrees_or_is_missing_leaves_the_root() -> None:
    tree = grow_id3(*weather())
    assert nested(prune_reduced_error(tree, point(1, 0, 0, 0), code_column([1]))) == (5, 9)
    assert nested(prune_reduced_error(tree, [code_column([])] * 4, code_column([]))) == (5, 9)
    # two tests deep, wrong: not made better by any test, so none stays
    assert nested(prune_reduced_error(tree, point(0, 0, 0, 0), code_column([1]))) == (5, 9)


def test_a_row_that_gets_stuck_counts_where_it_is() -> None:
    tree = grow_id3(*weather())
    # Sunny with unknown humidity: no, as most sunny days; the root would say yes.
    pruned = prune_reduced_error(tree, point(0, 0, 2, 0), code_column([0]))
    assert nested(pruned) == ((5, 9), "outlook", {(0,): (3, 2), (1,): (0, 4), (2,): (2, 3)})


def test_the_structure_is_compact() -> None:
    pruned = prune_reduced_error(grow_id3(*weather()), point(0, 0, 0, 0), code_column([0]))
    assert (pruned.n_nodes, len(pruned.cells.branch), len(pruned.cells)) == (4, 3, 3)
    assert pruned.cells.cell.tolist() == [-1, 0, 1, 2]


def test_the_training_rows_prune_nothing_that_they_need() -> None:
    tree = grow_id3(*weather())
    assert nested(prune_reduced_error(tree, *weather()[1:])) == nested(tree)


def test_a_leaf_without_a_cell_stays_without() -> None:
    schema, codes, classes = categorical(3), [code_column([0, 0, 1])], code_column([0, 0, 1])
    (tree,) = grow_random(schema, codes, classes, n_trees=1, height=1, bits=SystemBits())
    assert (
        prune_reduced_error(tree, codes, classes).cells.cell.tolist()
        == tree.cells.cell.tolist()
        == [-1, 0, 1, -1]
    )


@given(cases(unknown=True), st.booleans())
def test_no_more_errors_and_no_more_nodes(case: Pruning, binary: bool) -> None:
    table, kept = case
    tree = grow_c45(*table, splits="binary", min_rows=1) if binary else grow_id3(*table)
    pruned = prune_reduced_error(tree, *kept)
    assert errors(pruned, *kept) <= errors(tree, *kept)
    assert pruned.n_nodes <= tree.n_nodes
    assert nested(prune_reduced_error(pruned, *kept)) == nested(pruned)


def prunings(tree: Tree, node: int = 0) -> Iterator[frozenset[int]]:
    """Every set of nodes that can be made leaves, none below another."""
    yield frozenset({node})
    options: list[frozenset[int]] = [frozenset()]
    children = tree.children(node)
    if children:
        for child, _ in children:
            options = [left | right for left in options for right in prunings(tree, child)]
        yield from options


@given(cases().filter(lambda case: grow_id3(*case[0], max_depth=2).n_nodes <= 16))
def test_it_is_the_smallest_of_the_best_prunings(case: Pruning) -> None:
    table, (codes, classes) = case
    tree = grow_id3(*table, max_depth=2)
    parent = {child: node for node in range(tree.n_nodes) for child, _ in tree.children(node)}
    above: dict[int, frozenset[int]] = {0: frozenset({0})}
    for child in range(1, tree.n_nodes):
        above[child] = above[parent[child]] | {child}
    reached = tree.reach(codes)
    results = []
    for leaves in prunings(tree):
        ends = np.array(
            [next(iter(above[node] & leaves)) for node in reached.tolist()], dtype=np.int64
        )
        wrong = int((tree.counts[ends].argmax(axis=1) != classes).sum())
        kept = {node for leaf in leaves for node in above[leaf]}
        results.append((wrong, len(kept)))
    pruned = prune_reduced_error(tree, codes, classes)
    assert (errors(pruned, codes, classes), pruned.n_nodes) == min(results)


def test_bad_rows_are_refused() -> None:
    tree = grow_id3(categorical(2), [code_column([0, 1])], code_column([0, 1]))
    with pytest.raises(ParameterError, match="codes of 'a' must be 0 to 2"):
        prune_reduced_error(tree, [code_column([3])], code_column([0]))
    with pytest.raises(ParameterError, match="classes must be 0 to 1"):
        prune_reduced_error(tree, [code_column([0])], code_column([2]))
