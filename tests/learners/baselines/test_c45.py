"""C4.5: what gain ratio prefers, where it stops, where missing numbers go, and a slow oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.papers.exact import grow_id3
from privet.domain import Numeric, Schema
from privet.errors import ParameterError
from privet.learners.baselines import grow_c45, prune_reduced_error
from tests.learners.baselines import oracle
from tests.learners.baselines.tables import (
    Table,
    assert_counts_are_those_of_the_rows,
    categorical,
    code_column,
    nested,
    tables,
    weather,
)


def number(missing: str | None = None) -> Schema:
    return Schema({"x": Numeric(0, 1, bins=4, missing=missing)}, "class", ["no", "yes"])


def test_gain_ratio_does_not_fall_for_an_identity() -> None:
    # a names every row and gains most, 1 bit of 3; b, right but for one row, has the best ratio and
    # more than average gain.
    weak = code_column([0, 0, 0, 1, 1, 1, 1, 0])
    codes = [code_column(range(8)), code_column([0, 0, 0, 0, 1, 1, 1, 0]), weak, weak]
    classes = code_column([0, 0, 0, 0, 1, 1, 1, 1])
    schema = categorical(8, 2, 2, 2)
    assert nested(grow_id3(schema, codes, classes))[1] == "a"
    assert nested(grow_c45(schema, codes, classes, min_rows=1))[1] == "b"


def test_a_ratio_does_not_help_below_average_gain() -> None:
    # b splits two rows off: gain .196 and ratio .316; a has gain .231 and ratio .232. The average
    # gain is .213.
    a = code_column([0] * 2 + [1] * 5 + [0] * 5 + [1])
    b = code_column([0] * 7 + [1] * 2 + [0] * 4)
    classes = code_column([0] * 7 + [1] * 6)
    assert nested(grow_c45(categorical(2, 2), [a, b], classes))[1] == "a"
    # One that gains nothing takes no part in the average.
    assert nested(grow_c45(categorical(2, 2, 2), [a, b, np.zeros_like(a)], classes))[1] == "a"
    # With a third attribute of little gain the average falls below b's.
    c = code_column([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    assert nested(grow_c45(categorical(2, 2, 2), [a, b, c], classes))[1] == "b"


def test_c45_grows_the_weather_tree_of_the_textbook() -> None:
    assert nested(grow_c45(*weather())) == nested(grow_id3(*weather()))
    root = nested(grow_c45(*weather(), splits="binary"))
    assert root[1:2] == ("outlook",)
    assert set(root[2]) == {(0, 2), (1,)}  # overcast against the rest


def test_it_gives_up_on_an_exclusive_or() -> None:
    codes = [code_column([0, 0, 1, 1] * 4), code_column([0, 1, 0, 1] * 4)]
    classes = code_column([0, 1, 1, 0] * 4)
    for splits in ("multiway", "binary"):
        assert nested(grow_c45(categorical(2, 2), codes, classes, splits=splits)) == (8, 8)


@pytest.mark.parametrize("times", range(1, 30))
def test_rounding_is_no_gain(times: int) -> None:
    # One class is twice as frequent as the other, whatever the value.
    codes = np.repeat([0, 1, 2], [3 * times, 3 * 7, 3 * 11]).astype(np.uint8)
    classes = code_column([0, 1, 1] * (times + 7 + 11))
    for splits in ("multiway", "binary"):
        assert grow_c45(categorical(3), [codes], classes, splits=splits).n_nodes == 1


@pytest.mark.parametrize("times", range(1, 30))
def test_equal_gains_are_all_average(times: int) -> None:
    # The last attribute leaves out a distinction that tells nothing: the same gain as the others,
    # and the best ratio.
    fine = np.repeat([0, 1, 2], [3 * times, 3 * 7, 3 * 11]).astype(np.uint8)
    coarse = (fine == 2).astype(np.uint8)
    classes = code_column([0, 1, 1] * (times + 7) + [0, 0, 1] * 11)
    assert nested(grow_c45(categorical(3, 3, 2), [fine, fine, coarse], classes))[1] == "c"


def test_two_children_must_have_enough_rows() -> None:
    codes, classes = [code_column([0, 0, 0, 0, 1, 1, 2])], code_column([0, 0, 0, 0, 1, 1, 1])
    whole = ((4, 3), "a", {(0,): (4, 0), (1,): (0, 2), (2,): (0, 1)})
    assert nested(grow_c45(categorical(3), codes, classes, min_rows=2)) == whole
    assert nested(grow_c45(categorical(3), codes, classes, min_rows=3)) == (4, 3)


def test_a_threshold_follows_the_order_of_the_bins() -> None:
    codes, classes = [code_column([0, 0, 1, 1, 2, 2, 3, 3])], code_column([0, 0, 0, 0, 1, 1, 1, 1])
    assert nested(grow_c45(number(), codes, classes, splits="binary")) == (
        (4, 4),
        "x",
        {(0, 1): (4, 0), (2, 3): (0, 4)},
    )
    assert len(nested(grow_c45(number(), codes, classes))[2]) == 4


def test_a_number_can_be_tested_twice_on_a_path() -> None:
    codes, classes = [code_column([0, 0, 1, 1, 2, 2, 3, 3])], code_column([0, 0, 1, 1, 1, 1, 0, 0])
    tree = grow_c45(number(), codes, classes, splits="binary")
    assert (tree.depths.max(), tree.n_nodes) == (2, 5)
    assert nested(tree)[2][(0,)] == (2, 0)  # two cuts are as good; the lower one is first


def test_missing_numbers_go_with_the_larger_side() -> None:
    schema = number(missing="?")
    few_low = [code_column([0, 0, 3, 3, 3, 4])], code_column([0, 0, 1, 1, 1, 1])
    assert set(nested(grow_c45(schema, *few_low, splits="binary"))[2]) == {(0,), (1, 2, 3, 4)}
    few_high = [code_column([0, 0, 0, 3, 3, 4])], code_column([0, 0, 0, 1, 1, 0])
    assert set(nested(grow_c45(schema, *few_high, splits="binary"))[2]) == {(0, 4), (1, 2, 3)}
    as_many = [code_column([0, 0, 3, 3, 4])], code_column([0, 0, 1, 1, 0])
    assert set(nested(grow_c45(schema, *as_many, splits="binary"))[2]) == {(0, 4), (1, 2, 3)}


def test_missing_numbers_are_set_apart_where_that_tells_most() -> None:
    codes, classes = [code_column([0, 1, 2, 3, 4, 4])], code_column([0, 0, 0, 0, 1, 1])
    tree = grow_c45(number(missing="?"), codes, classes, splits="binary")
    assert nested(tree) == ((4, 2), "x", {(0, 1, 2, 3): (4, 0), (4,): (0, 2)})


def test_growing_with_a_pruning_set_is_growing_and_pruning() -> None:
    random = np.random.default_rng(2)
    codes = [random.integers(0, 3, 300).astype(np.uint8) for _ in range(4)]
    classes = ((codes[0] == 1) ^ (random.random(300) < 0.2)).astype(np.uint8)
    schema = categorical(3, 3, 3, 3)
    grown, kept = (
        ([column[:200] for column in codes], classes[:200]),
        ([column[200:] for column in codes], classes[200:]),
    )
    pruned = grow_c45(schema, *grown, prune=kept)
    assert nested(pruned) == nested(prune_reduced_error(grow_c45(schema, *grown), *kept))
    assert pruned.n_nodes < grow_c45(schema, *grown).n_nodes


@given(tables(), st.integers(1, 3), st.booleans())
def test_it_is_the_tree_of_the_slow_oracle(table: Table, min_rows: int, binary: bool) -> None:
    schema, codes, classes = table
    tree = grow_c45(*table, min_rows=min_rows, splits="binary" if binary else "multiway")
    rows = list(zip(*(column.tolist() for column in (*codes, classes)), strict=True))
    assert nested(tree) == oracle.grow(schema, rows, oracle.c45(min_rows, binary))


@given(tables(), st.sampled_from(["multiway", "binary"]), st.none() | st.integers(0, 3))
def test_counts_are_those_of_the_rows(table: Table, splits: str, max_depth: int | None) -> None:
    tree = grow_c45(*table, splits=splits, min_rows=1, max_depth=max_depth)
    assert_counts_are_those_of_the_rows(tree, *table[1:])
    assert max_depth is None or tree.depths.max() <= max_depth
    if splits == "binary":
        assert all(len(tree.children(node)) in (0, 2) for node in range(tree.n_nodes))


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(
        ParameterError, match="splits must be 'binary' or 'multiway', got 'ternary'"
    ):
        grow_c45(*weather(), splits="ternary")
    with pytest.raises(ParameterError, match="min_rows must be an integer of at least 1, got 0"):
        grow_c45(*weather(), min_rows=0)
    with pytest.raises(ParameterError, match="max_depth must be"):
        grow_c45(*weather(), max_depth=-1)
