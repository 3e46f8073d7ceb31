"""Looking leaves up gives the counts that walking gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.cells import Cell, Cells, Condition, Split
from privet.counts import masks
from privet.counts.counting import Counting
from privet.counts.masks import Masks
from privet.mechanisms.randomness import SystemBits
from privet.question import Partition, Question
from privet.schema import Categorical, Numeric, Schema
from privet.trees.random import draw_tree


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Look up even where there are few rows."""
    monkeypatch.setattr(masks, "FEWEST_ROWS", 1)


def schema_of(sizes, n_classes=3):
    attributes = {f"a{i}": Numeric(0, 1, bins=size) if i % 3 == 2 else Categorical(list(range(size))) for i, size in enumerate(sizes)}
    return Schema(attributes, "y", [f"c{i}" for i in range(n_classes)])


def some_rows(schema, n, seed=0):
    draw = np.random.default_rng(seed)
    kind = np.uint8 if max(schema.sizes) < 256 else np.uint16
    codes = np.array([draw.integers(0, size, n) for size in schema.sizes]).astype(kind)
    return codes, draw.integers(0, schema.n_classes, n).astype(np.uint8)


def counted(question, codes, classes, *weights):
    counting = Counting(question)
    counting.add(codes, classes, *weights)
    return counting.tables()


def by_reference(question, codes, classes, weights=None):
    """In plain NumPy, row by row of the partition's own route."""
    tables = []
    for partition in question.partitions:
        table = np.zeros(partition.shape, dtype=np.int64)
        cell = partition.cells.route(codes)
        inside = cell >= 0
        place = [cell[inside], classes[inside]]
        if partition.by is not None:
            place.insert(1, codes[question.schema.index(partition.by)][inside])
        np.add.at(table, tuple(place), 1 if weights is None else weights[inside])
        tables.append(table)
    return tables


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def looked_up(trees):
    """Which trees have tables."""
    starts = Masks(trees, 10**6).arrays[3]
    return (np.diff(starts) > 0).tolist()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_random_forests(sizes, height, n_trees, seed):
    schema = schema_of(sizes)
    forest = [draw_tree(schema, height, SystemBits()) for _ in range(n_trees)]
    question = Question.forest(forest)
    codes, classes = some_rows(schema, 500, seed)
    same(counted(question, codes, classes), by_reference(question, codes, classes))


@pytest.mark.parametrize("n_leaves", [2, 63, 64, 65])
def test_as_many_leaves_as_a_word_has_bits(n_leaves):
    schema = schema_of([n_leaves, 3])
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a0")})
    assert looked_up([tree]) == [n_leaves <= 64]
    codes, classes = some_rows(schema, 5000)
    question = Question.of(tree)
    same(counted(question, codes, classes), by_reference(question, codes, classes))


def test_forests_of_both_kinds_and_trees_of_one_leaf():
    schema = schema_of([70, 5, 4, 9, 2])
    everything = Cells.everything(schema)
    trees = [everything.refine({0: Split.multiway(schema, name)}) for name in schema.names] + [everything]
    assert looked_up(trees) == [False, True, True, True, True, False]
    codes, classes = some_rows(schema, 3000)
    question = Question.forest(trees)
    same(counted(question, codes, classes), by_reference(question, codes, classes))


def test_weights_levels_and_cells_that_leave_rows_out():
    schema = schema_of([4, 5, 6])
    part = Cells.of(schema, [Cell((Condition("a0", (0, 2)), Condition("a1", (1,)))), Cell((Condition("a0", (1,)),))])
    question = Question((Partition(part), Partition(part, by="a2"), Partition(Cells.everything(schema), by="a1")))
    assert looked_up([part]) == [True]
    codes, classes = some_rows(schema, 2000)
    weights = np.random.default_rng(3).integers(0, 5, 2000)
    same(counted(question, codes, classes), by_reference(question, codes, classes))
    same(counted(question, codes, classes, weights), by_reference(question, codes, classes, weights))


def test_attributes_of_more_values_than_a_group_may_have():
    schema = schema_of([3000, 4, 2000, 3])
    wide = Split("a0", tuple(int(code >= 1234) for code in range(3000)))
    tree = Cells.everything(schema).refine({0: wide})
    tree = tree.refine({0: Split.threshold(schema, "a2", 777), 1: Split.multiway(schema, "a1")})
    assert looked_up([tree]) == [True]
    codes, classes = some_rows(schema, 20_000)
    question = Question.of(tree)
    same(counted(question, codes, classes), by_reference(question, codes, classes))


def test_tables_that_would_not_fit_are_not_made(monkeypatch):
    schema = schema_of([8] * 8)
    forest = [draw_tree(schema, 2, SystemBits()) for _ in range(5)]
    monkeypatch.setattr(masks, "MOST_BYTES", 8 * 3000)  # enough for the first tree or two
    found = looked_up(forest)
    assert found[0]
    assert not all(found)
    codes, classes = some_rows(schema, 1000)
    same(counted(Question.forest(forest), codes, classes), by_reference(Question.forest(forest), codes, classes))


def test_few_rows_are_walked(monkeypatch):
    monkeypatch.setattr(masks, "FEWEST_ROWS", 1000)
    schema = schema_of([4, 4])
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a0")})
    assert np.diff(Masks([tree], 999).arrays[3]).tolist() == [0]
    assert np.diff(Masks([tree], 1000).arrays[3]).tolist() == [1]


def test_many_rows_on_several_threads():
    schema = schema_of([7, 6, 5, 4, 3, 8, 9])
    question = Question.forest([draw_tree(schema, 2, SystemBits()) for _ in range(20)])
    codes, classes = some_rows(schema, 60_000)
    same(counted(question, codes, classes), by_reference(question, codes, classes))
