"""What released trees make of a row: bounded whole numbers that depend on the row alone, whatever
the trees hold.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError, QuestionError
from privet.tables.counting import scoring as scoring_module
from privet.tables.counting.passes import NO_WEIGHTS
from privet.tables.counting.scoring import (
    MAX_SCORE,
    UNIT,
    Scoring,
    clip_of,
    copy_cells,
    even_clip_of,
)
from tests.steps import count_steps, use_plain_loops


def schema_of(n_classes: int, *sizes: int) -> Schema:
    return Schema(
        {f"a{i}": Categorical(list(range(size))) for i, size in enumerate(sizes)},
        "c",
        list(range(n_classes)),
    )


def stump(schema: Schema, attribute: str, scores) -> Tree:
    """A tree with these scores for each value; the root's are never used."""
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, attribute)})
    return Tree(cells, np.vstack([np.full(schema.n_classes, 9.0), scores]))


def random_rows(schema: Schema, n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in schema.sizes], dtype=np.uint8)
    return codes, rng.integers(0, schema.n_classes, n).astype(np.uint8)


def random_trees(schema: Schema, n: int, seed: int = 0) -> list[Tree]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        cells = Cells.everything(schema)
        for _ in range(2):
            name = schema.names[rng.integers(len(schema.names))]
            cells = cells.refine({int(rng.integers(len(cells))): Split.multiway(schema, name)})
        found.append(Tree(cells, rng.normal(0, 1.5, (len(cells.attribute), schema.n_classes))))
    return found


def chances(schema: Schema, trees: list[Tree], codes) -> np.ndarray:
    total = sum(
        (tree.counts[tree.reach(list(codes))] for tree in trees),
        np.zeros((codes.shape[1], schema.n_classes)),
    )
    odds = np.exp(total - total.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def derivatives(scoring: Scoring, codes, classes, times=NO_WEIGHTS, clip="own") -> np.ndarray:
    """One line of numbers for each row."""
    n_classes = scoring._schema.n_classes
    table = np.zeros((len(classes), 2, 1 if n_classes == 2 else n_classes), dtype=np.int64)
    cell = np.arange(len(classes), dtype=np.int32)
    scoring.add_derivatives(codes, classes, times, cell, table, clip)
    return table


# -- what they are ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_weights_and_derivatives_equal_a_reference(n_classes):
    schema = schema_of(n_classes, 3, 4, 2)
    trees, (codes, classes) = random_trees(schema, 5), random_rows(schema, 500)
    scoring, p = Scoring(schema, trees), chances(schema, trees, codes)
    own = p[np.arange(500), classes]
    weights = scoring.weights(codes, classes)
    np.testing.assert_allclose(
        weights, UNIT * np.minimum(1, (1 - own) * n_classes / (n_classes - 1)), atol=1.01
    )
    assert len(np.unique(weights)) > 20
    slope = (classes[:, None] == np.arange(n_classes)) - p
    bend = p * (1 - p)
    if n_classes == 2:
        slope, bend = slope[:, 1:], bend[:, 1:]
    scale = np.minimum(
        1, clip_of(n_classes) / UNIT / (np.abs(slope).sum(axis=1) + bend.sum(axis=1))
    )[:, None]
    found = derivatives(scoring, codes, classes)
    np.testing.assert_allclose(found[:, 0], UNIT * scale * slope, atol=1.01)
    np.testing.assert_allclose(found[:, 1], UNIT * scale * bend, atol=1.01)
    assert (scale < 1).any()
    assert (scale == 1).any()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_evenly_clipped_derivatives_equal_a_reference(n_classes):
    """All classes are scaled as the least likely one needs, at the same scores."""
    schema = schema_of(n_classes, 3, 4, 2)
    trees, (codes, classes) = random_trees(schema, 5), random_rows(schema, 500)
    scoring, p = Scoring(schema, trees), chances(schema, trees, codes)
    slope, bend = np.eye(n_classes)[:, None] - p, p * (1 - p)  # slopes of each class
    if n_classes == 2:
        slope, bend = slope[:, :, 1:], bend[:, 1:]
    size = np.sqrt(((slope**2).sum(axis=2) + (bend**2).sum(axis=1)).max(axis=0))
    scale = np.minimum(1, even_clip_of(n_classes) / UNIT / size)[:, None]
    found = derivatives(scoring, codes, classes, clip="even")
    np.testing.assert_allclose(
        found[:, 0], UNIT * scale * slope[classes, np.arange(500)], atol=1.01
    )
    np.testing.assert_allclose(found[:, 1], UNIT * scale * bend, atol=1.01)
    assert (scale < 0.99).any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_only_the_even_clip_leaves_scores_that_are_right_where_they_are(n_classes):
    """Rows of value 0 have each class as often as the scores say: the sum of first derivatives is
    zero, and one that is clipped row by row is not.
    """
    schema = schema_of(n_classes, 1)
    odds = np.arange(1, 2 * n_classes, 2) ** 2
    scoring = Scoring(schema, [stump(schema, "a0", [np.log(odds)])])
    classes = np.repeat(np.arange(n_classes), odds)
    codes = np.zeros((1, len(classes)), dtype=np.uint8)
    even, own = (
        np.abs(derivatives(scoring, codes, classes, clip=clip)[:, 0].sum(axis=0)).max() / UNIT
        for clip in ("even", "own")
    )
    assert even < 1e-3 < 0.1 < own


def test_without_trees_every_row_weighs_one():
    schema = schema_of(3, 2)
    assert Scoring(schema, []).weights(*random_rows(schema, 10)).tolist() == [UNIT] * 10
    assert len(Scoring(schema, [])) == 0


def test_a_weight_by_hand():
    """Scores 0.5 for the second of two classes at value 1: p = 1/(1 + e^-.5) there."""
    schema = schema_of(2, 2)
    scoring = Scoring(schema, [stump(schema, "a0", [[0, 0], [0, 0.5]])])
    weights = scoring.weights(np.array([[0, 0, 1, 1]], dtype=np.uint8), np.array([0, 1, 0, 1]))
    p = 1 / (1 + np.exp(-0.5))
    assert weights.tolist() == [UNIT, UNIT, UNIT, int(UNIT * 2 * (1 - p))]


def test_rows_stand_for_as_many_as_they_say():
    schema = schema_of(3, 3, 2)
    scoring, (codes, classes) = Scoring(schema, random_trees(schema, 3)), random_rows(schema, 40)
    times = np.arange(40, dtype=np.int64)
    once, often = derivatives(scoring, codes, classes), derivatives(scoring, codes, classes, times)
    np.testing.assert_array_equal(often, once * times[:, None, None])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("clip", ["own", "even"])
def test_rows_outside_of_all_cells_add_nothing_to_those(monkeypatch, clip, n_classes):
    """They are added to a place of their own, in as many steps as others."""
    schema = schema_of(n_classes, 2)
    codes, classes = random_rows(schema, 10)
    use_plain_loops(monkeypatch, scoring_module)
    steps = []
    for cell in (-1, 0, 1):
        table = np.zeros((3, 2, 1 if n_classes == 2 else n_classes), dtype=np.int64)
        cells = np.full(10, cell, dtype=np.int32)
        scoring = Scoring(schema, [])
        steps.append(
            count_steps(
                lambda scoring=scoring, cells=cells, table=table: scoring.add_derivatives(
                    codes, classes, NO_WEIGHTS, cells, table, clip
                )
            )
        )
        assert table.any(axis=(1, 2)).tolist() == [place == cell % 3 for place in range(3)]
    assert steps[0] == steps[1] == steps[2]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_takes_the_same_steps_whatever_it_holds(monkeypatch, n_classes):
    """In doubt, sure, or sure and wrong."""
    schema = schema_of(n_classes, 3)
    scores = np.zeros((3, n_classes))
    scores[1, 0], scores[2, 0] = 40.0, -800.0
    scoring = Scoring(schema, [stump(schema, "a0", scores)])
    use_plain_loops(monkeypatch, scoring_module)
    steps = []
    for code in range(3):
        for label in (0, 1):
            codes, classes = np.full((1, 4), code, dtype=np.uint8), np.full(4, label)

            def work(codes=codes, classes=classes) -> None:
                scoring.weights(codes, classes)
                for clip in ("own", "even"):
                    derivatives(scoring, codes, classes, clip=clip)

            steps.append(count_steps(work, "scoring"))
    assert all(found == steps[0] for found in steps)
    assert sum(steps[0].values()) > 20


# -- what the sensitivity stands on ----------------------------------------------------------------


@st.composite
def any_scores(draw):
    n_classes = draw(st.integers(2, 6))
    number = (
        st.floats(-MAX_SCORE, MAX_SCORE)
        | st.floats(-40, 40)
        | st.sampled_from([0.0, -0.0, 1e-300, 5e-324, 36.7, -745.0])
    )
    return n_classes, draw(
        st.lists(st.lists(number, min_size=n_classes, max_size=n_classes), min_size=1, max_size=4)
    )


@given(any_scores())
@settings(max_examples=300)
def test_a_row_is_bounded_whatever_the_scores(given_scores):
    n_classes, scores = given_scores
    schema = schema_of(n_classes, 1)
    scoring = Scoring(schema, [stump(schema, "a0", [line]) for line in scores])
    codes, classes = np.zeros((1, n_classes), dtype=np.uint8), np.arange(n_classes)
    weights = scoring.weights(codes, classes)
    assert (weights >= 0).all()
    assert (weights <= UNIT).all()
    found = derivatives(scoring, codes, classes)
    assert (np.abs(found).sum(axis=(1, 2)) <= clip_of(n_classes)).all()
    assert (found[:, 1] >= 0).all()
    found = derivatives(scoring, codes, classes, clip="even")
    assert ((found**2).sum(axis=(1, 2)) <= even_clip_of(n_classes) ** 2).all()
    assert (found[:, 1] >= 0).all()


def test_loops_for_two_classes_say_what_those_for_many_say():
    """Bit by bit, wherever scores lie."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 1, (2, 5000)) * 10.0 ** rng.integers(-9, 7, 5000)
    scores[:, :500] = scores[0, :500]  # ties
    classes, none = rng.integers(0, 2, 5000).astype(np.uint8), NO_WEIGHTS
    cell = rng.integers(-1, 3, 5000).astype(np.int32)
    weights, tables = np.zeros((2, 5000), dtype=np.int64), np.zeros((2, 4, 2, 1), dtype=np.int64)
    for loop, out in zip((scoring_module.weigh, scoring_module.weigh_two), weights, strict=True):
        loop(scores, classes, 0, 5000, out)
    np.testing.assert_array_equal(*weights)
    for most, *loops in (
        (clip_of(2), scoring_module.differentiate, scoring_module.differentiate_two),
        (
            even_clip_of(2),
            scoring_module.differentiate_evenly,
            scoring_module.differentiate_two_evenly,
        ),
    ):
        for loop, out in zip(loops, tables, strict=True):
            loop(scores, classes, none, cell, 0, 5000, most, out)
        np.testing.assert_array_equal(*tables)


@pytest.mark.parametrize(("scores", "label"), [([0, 0], 1), ([30, 0], 1), ([0, 30], 0)])
def test_the_even_bound_is_reached_in_doubt_and_where_the_model_is_wrong(scores, label):
    schema = schema_of(2, 1)
    scoring = Scoring(schema, [stump(schema, "a0", [scores])])
    codes = np.zeros((1, 1), dtype=np.uint8)
    found = derivatives(scoring, codes, np.array([label]), clip="even")
    assert even_clip_of(2) - 2 <= np.sqrt((found**2).sum()) <= even_clip_of(2) < 0.5591 * UNIT


def test_the_bound_is_reached():
    schema = schema_of(2, 1)
    scoring = Scoring(schema, [stump(schema, "a0", [[30, 0]])])
    found = derivatives(scoring, np.zeros((1, 1), dtype=np.uint8), np.array([1]))
    assert clip_of(2) - 2 <= np.abs(found).sum() <= clip_of(2) == 3 * UNIT // 4


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_row_counts_the_same_alone_in_any_batch_and_in_any_order(n_classes, dtype):
    schema = schema_of(n_classes, 3, 4, 2)
    trees, (codes, classes) = random_trees(schema, 7), random_rows(schema, 301)
    codes = codes.astype(dtype)
    scoring = Scoring(schema, trees)
    weights, numbers = scoring.weights(codes, classes), derivatives(scoring, codes, classes)
    order = np.random.default_rng(1).permutation(301)
    for rows in (order, order[:17], order[:8], *([row] for row in range(0, 301, 10))):
        for batch in (np.ascontiguousarray(codes[:, rows]), codes[:, rows]):
            np.testing.assert_array_equal(scoring.weights(batch, classes[rows]), weights[rows])
            np.testing.assert_array_equal(derivatives(scoring, batch, classes[rows]), numbers[rows])


def test_threads_do_not_change_a_row():
    schema = schema_of(3, 3, 4, 2)
    scoring, (codes, classes) = (
        Scoring(schema, random_trees(schema, 9)),
        random_rows(schema, 100_000),
    )
    weights = scoring.weights(codes, classes)
    np.testing.assert_array_equal(scoring.weights(codes[:, -500:], classes[-500:]), weights[-500:])
    np.testing.assert_array_equal(
        scoring.weights(codes[:, 49_900:50_100], classes[49_900:50_100]), weights[49_900:50_100]
    )


# -- what is refused -------------------------------------------------------------------------------


class OtherTree(Tree):
    pass


class OtherCells(Cells):
    pass


def test_only_plain_trees_of_the_schema_weigh_rows():
    schema = schema_of(2, 2)
    good = stump(schema, "a0", np.zeros((2, 2)))
    cells = good.cells
    other_cells = OtherCells(
        schema, cells.attribute, cells.offset, cells.branch, cells.cell, cells.n_cells
    )
    for bad in (OtherTree(cells, good.counts), Tree(other_cells, good.counts), "tree", None, 5):
        with pytest.raises(ParameterError, match="plain"):
            Scoring(schema, [good, bad])
    for bad in (5, None, good):
        with pytest.raises(ParameterError, match="list of released trees"):
            Scoring(schema, bad)
    with pytest.raises(QuestionError, match="another schema"):
        Scoring(schema, [stump(schema_of(2, 3), "a0", np.zeros((3, 2)))])
    with pytest.raises(ParameterError, match="at most 1e"):
        Scoring(schema, [stump(schema, "a0", [[0, 2 * MAX_SCORE], [0, 0]])])
    with pytest.raises(ParameterError, match="at most 10000 trees"):
        Scoring(schema, (good for _ in iter(int, 1)))  # without an end


def test_a_schema_that_lies_about_its_domain_does_not_lead_a_walk_astray():
    """Compiled loops do not check where they read: a tree is proved under the curator's own
    schema.
    """
    schema, larger = schema_of(2, 2), schema_of(2, 2, 2)
    larger.__dict__["fingerprint"] = schema.fingerprint
    with pytest.raises(QuestionError, match="does not have"):
        Scoring(schema, [stump(larger, "a1", np.zeros((2, 2)))])
    narrow = schema_of(2, 2)
    wide = schema_of(2, 5)
    narrow.__dict__["fingerprint"] = wide.fingerprint
    with pytest.raises(QuestionError, match="no branch"):
        copy_cells(wide, stump(narrow, "a0", np.zeros((2, 2))).cells)


@pytest.mark.parametrize("array", ["counts", "branch", "attribute"])
def test_a_tree_that_is_changed_afterwards_changes_nothing(array):
    schema = schema_of(2, 2, 2)
    tree = stump(schema, "a0", [[1, 0], [0, 1]])
    scoring, (codes, classes) = Scoring(schema, [tree]), random_rows(schema, 50)
    before = scoring.weights(codes, classes)
    held = tree.counts if array == "counts" else getattr(tree.cells, array)
    held.setflags(write=True)
    held[:] = 10**6
    np.testing.assert_array_equal(scoring.weights(codes, classes), before)
    held[:] = np.nan if array == "counts" else 99
    with pytest.raises(QuestionError):
        Scoring(schema, [tree])


def test_trees_of_a_generator_are_taken_once():
    schema = schema_of(2, 2)
    codes, classes = random_rows(schema, 20)
    scoring = Scoring(schema, (stump(schema, "a0", [[1, 0], [0, 1]]) for _ in range(3)))
    assert len(scoring) == 3
    np.testing.assert_array_equal(scoring.weights(codes, classes), scoring.weights(codes, classes))
    assert (scoring.weights(codes, classes) < UNIT).any()
