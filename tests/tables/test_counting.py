"""All ways to count give the counts of a plain reference: every row routed by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric, Schema
from privet.domain.attributes import MAX_VALUES
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Partition, Question
from privet.domain.routing import BLOCK
from privet.errors import TableError
from privet.learners.random_trees.drawing import draw_tree
from privet.mechanisms.randomness import SystemBits
from privet.tables.counting import leaf_bits, passes
from privet.tables.counting.passes import NO_WEIGHTS, Counting
from tests.routes import route


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Look up even where there are few rows."""
    monkeypatch.setattr(passes, "FEWEST_ROWS", 1)
    monkeypatch.setattr(passes, "FEWEST_TREES", 1)
    monkeypatch.setattr(passes, "ROWS_PER_ENTRY", 1)


def schema_of(sizes, n_classes=3):
    attributes = {
        f"a{i}": Numeric(0, 1, bins=size) if i % 3 == 2 else Categorical(list(range(size)))
        for i, size in enumerate(sizes)
    }
    return Schema(attributes, "y", [f"c{i}" for i in range(n_classes)])


def some_rows(schema, n, seed=0):
    draw = np.random.default_rng(seed)
    kind = (
        np.uint8
        if max(schema.sizes) < 256
        else np.uint16
        if max(schema.sizes) < 1 << 16
        else np.uint32
    )
    codes = np.array([draw.integers(0, size, n) for size in schema.sizes]).astype(kind)
    return codes, draw.integers(0, schema.n_classes, n).astype(
        np.uint8 if schema.n_classes < 256 else np.uint16
    )


def counted(question, codes, classes, weights=NO_WEIGHTS):
    counting = Counting(question)
    counting.add(codes, classes, weights)
    return counting.tables()


def by_reference(question, codes, classes, weights=NO_WEIGHTS):
    """In plain NumPy, row by row of the partition's own route."""
    tables = []
    for partition in question.partitions:
        table = np.zeros(partition.shape, dtype=np.int64)
        cell = route(partition.cells, codes)
        inside = cell >= 0
        place = [cell[inside], classes[inside]]
        if partition.by is not None:
            place.insert(1, codes[question.schema.index(partition.by)][inside])
        np.add.at(table, tuple(place), weights[inside] if len(weights) else 1)
        tables.append(table)
    return tables


def check(question, codes, classes, weights=NO_WEIGHTS):
    one, other = (
        counted(question, codes, classes, weights),
        by_reference(question, codes, classes, weights),
    )
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def any_tree(schema, draw, n_splits, *, partial=False):
    """Splits of all kinds, one cell after the other; where it is partial, some cells are left
    out.
    """
    cells = Cells.everything(schema)
    for _ in range(n_splits):
        name = str(draw.choice(schema.names))
        size, code = schema.attributes[name].size, int(draw.integers(schema.attributes[name].size))
        kinds = [Split.multiway(schema, name)]
        if size > 1:
            kinds += [
                Split.value(schema, name, code=code),
                Split.threshold(schema, name, code=max(code, 1)),
            ]
        cells = cells.refine({int(draw.integers(len(cells))): kinds[draw.integers(len(kinds))]})
    if not partial:
        return cells
    kept = draw.random(len(cells)) < 0.6
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    cell = np.where(cells.cell < 0, -1, number[cells.cell])
    return Cells(schema, cells.attribute, cells.offset, cells.branch, cell, max(1, int(kept.sum())))


def ways_of(question, n_rows=10**6, weighted=False):
    """How the partitions are counted, by the name of the way."""
    found = {}
    for way in passes._plan_counting(question, n_rows, weighted):
        found |= {p: type(way).__name__.strip("_") for parts in way._parts for p in parts}
    return [found[p] for p in range(len(question.partitions))]


some_sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)
some_kinds = st.sampled_from([np.uint8, np.uint16, np.uint32])


@settings(max_examples=60, deadline=None)
@given(some_sizes, st.integers(1, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_random_forests(sizes, height, n_trees, seed):
    schema = schema_of(sizes)
    question = Question.forest([draw_tree(schema, height, SystemBits()) for _ in range(n_trees)])
    check(question, *some_rows(schema, 500, seed))


@settings(max_examples=80, deadline=None)
@given(st.data(), some_sizes, st.integers(2, 12), st.integers(0, 10**6), some_kinds)
def test_any_question_is_counted_as_by_the_reference(data, sizes, n_classes, seed, kind):
    """Trees of all kinds and sizes, covering the domain or not, with and without a further split,
    weighted or not.
    """
    schema = schema_of(sizes, n_classes)
    draw = np.random.default_rng(seed)
    trees = [
        any_tree(schema, draw, data.draw(st.integers(0, 60)), partial=data.draw(st.booleans()))
        for _ in range(data.draw(st.integers(1, 5)))
    ]
    by = st.sampled_from([None, *schema.names])
    question = Question(
        tuple(
            Partition(cells, by=data.draw(by))
            for cells in trees
            for _ in range(data.draw(st.integers(1, 4)))
        )
    )
    codes, classes = some_rows(schema, data.draw(st.integers(0, 300)), seed)
    weights = (
        draw.integers(0, 5, len(classes))
        if data.draw(st.booleans()) and len(classes)
        else NO_WEIGHTS
    )
    check(question, codes.astype(kind), classes, weights)


@settings(max_examples=25, deadline=None)
@given(some_sizes, st.integers(2, 4), st.integers(0, 10**6))
def test_lists_of_cells(sizes, n_classes, seed):
    """Cells that are compiled to several leaves each, and leave rows out."""
    schema, draw = schema_of(sizes, n_classes), np.random.default_rng(seed)
    cells, used = [], draw.permutation(sizes[0])
    for code in used[: max(1, len(used) // 2)]:
        other = int(draw.integers(len(sizes)))
        codes = tuple(np.flatnonzero(draw.random(sizes[other]) < 0.6).tolist())
        cells.append(
            Cell(
                (Condition("a0", (int(code),)), *([Condition(f"a{other}", codes)] if other else []))
            )
        )
    check(Question.forest([Cells.of(schema, cells)]), *some_rows(schema, 400, seed))


@pytest.mark.parametrize(
    "n_rows",
    [0, 1, 15, 16, 17, 255, 256, 257, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 77, 20 * BLOCK + 1],
)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_ends_of_blocks(n_rows, n_classes):
    """The last ones of several are on two threads."""
    schema = schema_of([7, 6, 5, 4, 3, 8, 9], n_classes)
    forest = [draw_tree(schema, 2, SystemBits()) for _ in range(20)]
    codes, classes = some_rows(schema, n_rows)
    check(Question.forest(forest), codes, classes)
    check(Question.level(forest[0], schema.names), codes, classes)


def test_more_pieces_than_threads(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    schema = schema_of([7, 6, 5, 4], 4)
    forest = [draw_tree(schema, 2, SystemBits()) for _ in range(30)]
    codes, classes = some_rows(schema, 70 * BLOCK + 5)
    check(Question.forest(forest), codes, classes)
    check(Question.level(forest[0], schema.names), codes, classes, np.arange(len(classes)) % 3)


@pytest.mark.parametrize("n_rows", [5, 4096, BLOCK, 5 * BLOCK])
def test_all_rows_alike(n_rows):
    """Counters of bits must carry over as far as it goes."""
    schema = schema_of([2, 3], 3)
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a1")})
    codes, classes = np.ones((2, n_rows), dtype=np.uint8), np.full(n_rows, 2, dtype=np.uint8)
    check(Question.forest([tree] * 3), codes, classes)
    check(Question.level(tree, schema.names), codes, classes)


@pytest.mark.parametrize("n_leaves", [2, 63, 64, 65, 255, 256, 257, 700])
def test_as_many_leaves_as_words_have_bits(monkeypatch, n_leaves):
    monkeypatch.setattr(leaf_bits, "MOST_LEAVES", 1000)
    schema = schema_of([n_leaves, 3])
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a0")})
    small = Cells.everything(schema).refine({0: Split.multiway(schema, "a1")})
    assert ways_of(Question.forest([small, tree])) == ["Leaves", "Leaves"]
    codes, classes = some_rows(schema, 5000)
    check(Question.forest([small, tree, small]), codes, classes)
    check(Question.level(tree, ["a1"]), codes, classes)


@pytest.mark.parametrize("n_classes", [2, 100, 256, 257, 1000])
def test_many_classes(n_classes):
    schema = schema_of([4, 5, 6, 7], n_classes)
    question = Question.forest([draw_tree(schema, 3, SystemBits()) for _ in range(4)])
    assert ways_of(question) == ["Leaves" if n_classes <= passes.MOST_CLASSES else "Rows"] * 4
    check(question, *some_rows(schema, 3 * BLOCK))


def test_each_partition_is_counted_the_way_that_suits_it():
    schema = schema_of([5, 4, 3])
    everything = Cells.everything(schema)
    tree, other = (everything.refine({0: Split.multiway(schema, name)}) for name in ("a0", "a1"))
    question = Question(
        (
            Partition(tree),
            Partition(everything),
            Partition(other),
            Partition(other, by="a2"),
            Partition(tree),
        )
    )
    assert ways_of(question) == ["Leaves", "Rows", "Rows", "Rows", "Leaves"]
    assert ways_of(question, weighted=True) == ["Rows"] * 5
    codes, classes = some_rows(schema, 3000)
    check(question, codes, classes)
    check(question, codes, classes, np.arange(3000) % 7)


def test_few_rows_or_trees_are_walked(monkeypatch):
    monkeypatch.setattr(passes, "FEWEST_ROWS", 1000)
    schema = schema_of([4, 4])
    question = Question.of(Cells.everything(schema).refine({0: Split.multiway(schema, "a0")}))
    assert ways_of(question, 1000) == ["Leaves"]
    assert ways_of(question, 999) == ["Rows"]
    monkeypatch.setattr(passes, "FEWEST_TREES", 2)
    assert ways_of(question, 1000) == ["Rows"]


def test_attributes_of_more_values_than_a_group_may_have():
    schema = schema_of([3000, 4, 2000, 3])
    wide = Split("a0", tuple(int(code >= 1234) for code in range(3000)))
    tree = Cells.everything(schema).refine({0: wide})
    tree = tree.refine(
        {0: Split.threshold(schema, "a2", code=777), 1: Split.multiway(schema, "a1")}
    )
    assert ways_of(Question.of(tree)) == ["Leaves"]
    codes, classes = some_rows(schema, 20_000)
    check(Question.of(tree), codes, classes)
    check(Question.level(tree, schema.names), codes, classes)


def test_attributes_of_as_many_values_as_there_can_be():
    schema = schema_of([MAX_VALUES, 4])
    wide = Split("a0", tuple(int(code >= 60_000) for code in range(MAX_VALUES)))
    question = Question.of(Cells.everything(schema).refine({0: wide}))
    assert ways_of(question) == ["Leaves"]
    check(question, *some_rows(schema, 5000))


def test_tables_that_would_not_fit_are_not_made(monkeypatch):
    schema = schema_of([8] * 8)
    forest = [any_tree(schema, np.random.default_rng(seed), 9) for seed in range(5)]
    monkeypatch.setattr(
        leaf_bits, "MOST_BYTES", 2 * len(forest[0].attribute) * leaf_bits.MOST_CODES
    )
    found = ways_of(Question.forest(forest))
    assert found[0] == "Leaves"
    assert "Rows" in found
    check(Question.forest(forest), *some_rows(schema, 1000))


def test_trees_of_many_leaves_and_few_steps_are_walked(monkeypatch):
    monkeypatch.setattr(leaf_bits, "MOST_LEAVES", 2)
    schema = schema_of([6, 7, 5])
    # one step: up to six leaves
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a0")})
    trees = [
        tree,
        Cells.everything(schema).refine({0: Split.multiway(schema, "a1")}),
        tree.refine({0: Split.value(schema, "a1", code=2)}),
    ]
    assert ways_of(Question.forest(trees)) == ["Leaves", "Rows", "Leaves"]
    check(Question.forest(trees), *some_rows(schema, 1000))


@pytest.mark.parametrize("most", [1, 200, 1 << 20])
def test_levels_in_joint_histograms(monkeypatch, most):
    """One attribute in each histogram, a few, or all; asked several times, and together with the
    cells themselves.
    """
    monkeypatch.setattr(passes, "MOST_ENTRIES", most)
    schema = schema_of([4, 5, 3, 2], 3)
    cells = any_tree(schema, np.random.default_rng(5), 6, partial=True)
    parts = [Partition(cells, by=name) for name in [*schema.names, None, "a2", "a2", None]]
    codes, classes = some_rows(schema, 40_000)
    check(Question(tuple(parts)), codes, classes)
    check(Question(tuple(parts)), codes, classes, np.arange(40_000) % 3)


def test_nodes_that_nothing_leads_to():
    """A leaf that belongs to a cell but is nowhere's child, and leaves behind contradictory
    tests.
    """
    schema = schema_of([3, 2])
    lonely = Cells(schema, [0, -1, -1, -1], [0, 0, 0, 0], [1, 2, 2], [-1, 0, 1, 2], 3)
    twice = Cells.everything(schema).refine({0: Split.value(schema, "a0", code=1)})
    twice = twice.refine({0: Split.value(schema, "a0", code=1), 1: Split.multiway(schema, "a0")})
    rootless = Cells(schema, [-1, -1], [0, 0], [], [1, 0], 2)
    check(Question.forest([lonely, twice, rootless]), *some_rows(schema, 300))


def test_blocks_of_different_kinds():
    schema = schema_of([4, 5, 6])
    question = Question.forest([draw_tree(schema, 3, SystemBits()) for _ in range(3)])
    codes, classes = some_rows(schema, 1000)
    weights = np.arange(1000) % 4
    counting = Counting(question)
    counting.add(codes, classes)
    counting.add(codes.astype(np.uint16), classes, weights)
    counting.add(codes[:, :0], classes[:0])
    for table, expected in zip(
        counting.tables(), by_reference(question, codes, classes, weights + 1), strict=True
    ):
        np.testing.assert_array_equal(table, expected)
    assert [table.sum() for table in Counting(question).tables()] == [0, 0, 0]


def test_unused_codes_may_be_anything():
    schema = schema_of([4, 5, 6])
    tree = Cells.everything(schema).refine({0: Split.multiway(schema, "a1")})
    codes, classes = some_rows(schema, 1000)
    expected = by_reference(Question.of(tree), codes, classes)
    codes[[0, 2]] = 255
    np.testing.assert_array_equal(counted(Question.of(tree), codes, classes)[0], expected[0])


def test_a_wrong_count_is_noticed():
    schema = schema_of([4, 5])
    counting = Counting(
        Question.of(Cells.everything(schema).refine({0: Split.multiway(schema, "a1")}))
    )
    counting.add(*some_rows(schema, 100))
    (way,) = counting._by_weights[False]
    way._counts[0, 0] += 1
    with pytest.raises(TableError, match="do not add up"):
        counting.tables()
