"""Random trees: the law of their structure, their counts, and that nothing is kept where no row
goes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.papers.exact import grow_random
from privet.errors import ParameterError
from privet.mechanisms.randomness import SeededBits, SystemBits, unlock_test_seeds
from tests.learners.baselines.tables import (
    Table,
    assert_counts_are_those_of_the_rows,
    categorical,
    code_column,
    members,
    nested,
    predictions,
    tables,
    weather,
)


@pytest.fixture
def seeds() -> Iterator[None]:
    with unlock_test_seeds():
        yield


@given(tables(), st.data())
def test_cells_are_not_empty_and_sum_to_the_rows(table: Table, data: st.DataObject) -> None:
    schema, codes, classes = table
    height = data.draw(st.integers(1, len(codes)))
    for tree in grow_random(*table, n_trees=2, height=height, bits=SystemBits()):
        assert_counts_are_those_of_the_rows(tree, codes, classes)
        cells = np.flatnonzero(tree.cells.cell >= 0)
        assert tree.cells.cell[cells].tolist() == list(range(len(cells)))
        assert (
            tree.counts[cells].sum(axis=0) == np.bincount(classes, minlength=schema.n_classes)
        ).all()
        if len(classes):
            assert (tree.counts[tree.leaves].sum(axis=1) > 0).all()
            assert (tree.depths[cells] == height).all()
            inside = members(tree, codes)
            assert all(inside[node].any() for node in cells.tolist())
            # what was pruned is one leaf per node at most
            for node in range(tree.n_nodes):
                children = tree.children(node)
                assert sum(not inside[child].any() for child, _ in children) <= 1
                assert all(len(values) == 1 for child, values in children if inside[child].any())


@given(tables())
def test_no_attribute_twice_on_a_path(table: Table) -> None:
    (tree,) = grow_random(*table, n_trees=1, height=len(table[1]), bits=SystemBits())
    for cell in tree.cells:
        names = [condition.attribute for condition in cell.path]
        assert len(names) == len(set(names))


def test_an_absent_value_is_answered_by_the_last_node_with_rows() -> None:
    schema, codes = categorical(4, 2), [code_column([0, 0, 1]), code_column([0, 1, 1])]
    (tree,) = grow_random(
        schema, codes, code_column([0, 1, 1]), n_trees=1, height=2, bits=SystemBits()
    )
    stub = tree.reach([code_column([2, 3]), code_column([0, 0])])
    assert (tree.cells.cell[stub] == -1).all()
    above = int(
        np.flatnonzero(
            [stub[0] in [child for child, _ in tree.children(node)] for node in range(tree.n_nodes)]
        )[0]
    )
    assert (tree.counts[stub] == tree.counts[above]).all()


@pytest.mark.slow
def test_every_attribute_is_as_likely_at_every_depth(seeds: None) -> None:
    random = np.random.default_rng(3)
    codes = [random.integers(0, 2, 40).astype(np.uint8) for _ in range(4)]
    trees = grow_random(
        categorical(2, 2, 2, 2),
        codes,
        random.integers(0, 2, 40),
        n_trees=3000,
        height=2,
        bits=SeededBits(4),
    )
    roots = np.bincount([tree.cells.attribute[0] for tree in trees], minlength=4)
    # Standard deviation 24: an attribute that is never drawn, or twice as often as another, is far
    # outside.
    assert np.abs(roots - 750).max() < 120
    pairs = np.zeros((4, 4))
    for tree in trees:
        pairs[tree.cells.attribute[0], tree.cells.attribute[1]] += 1
    assert (np.diag(pairs) == 0).all()
    assert np.abs(pairs[~np.eye(4, dtype=bool)] - 250).max() < 80


def test_the_structure_does_not_look_at_the_classes(seeds: None) -> None:
    schema, codes, classes = weather()
    one = grow_random(schema, codes, classes, n_trees=5, height=2, bits=SeededBits(5))
    other = grow_random(schema, codes, 1 - classes, n_trees=5, height=2, bits=SeededBits(5))
    for a, b in zip(one, other, strict=True):
        assert a.cells.attribute.tolist() == b.cells.attribute.tolist()
        assert a.counts.tolist() == b.counts[:, ::-1].tolist()


def test_nodes_of_one_level_are_drawn_by_themselves(seeds: None) -> None:
    codes = [column.reshape(-1) for column in np.indices((2, 2, 2, 2))]
    trees = grow_random(
        categorical(2, 2, 2, 2), codes, codes[0], n_trees=200, height=2, bits=SeededBits(6)
    )
    same = np.mean([tree.cells.attribute[1] == tree.cells.attribute[2] for tree in trees])
    assert 0.2 < same < 0.47  # 1/3 with a standard deviation of 0.033


def test_a_full_tree_knows_a_consistent_table() -> None:
    schema, codes, classes = weather()
    for tree in grow_random(schema, codes, classes, n_trees=10, height=4, bits=SystemBits()):
        assert (predictions(tree, codes) == classes).all()


def test_high_trees_of_large_domains_are_small() -> None:
    random = np.random.default_rng(7)
    # 50**8 leaves before pruning
    codes = [random.integers(0, 50, 100).astype(np.uint8) for _ in range(8)]
    (tree,) = grow_random(
        categorical(*[50] * 8),
        codes,
        random.integers(0, 2, 100),
        n_trees=1,
        height=8,
        bits=SystemBits(),
    )
    assert len(tree.cells) == 100
    assert tree.n_nodes < 2 * 8 * 100 + 1


def test_no_rows_give_a_root() -> None:
    (tree,) = grow_random(
        categorical(2), [code_column([])], code_column([]), n_trees=1, height=1, bits=SystemBits()
    )
    assert nested(tree) == (0, 0)


@pytest.mark.parametrize(
    ("n_trees", "height", "what"), [(0, 1, "n_trees"), (1, 0, "height"), (1, 5, "height")]
)
def test_bad_parameters_are_refused(n_trees: int, height: int, what: str) -> None:
    with pytest.raises(ParameterError, match=f"{what} must be an integer"):
        grow_random(*weather(), n_trees=n_trees, height=height, bits=SystemBits())
