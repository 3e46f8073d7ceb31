"""The dynamic program against the plain recursion on rows, in spaces that are too large to list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain.cells import Split
from privet.domain.space import (
    TreeSpace,
    all_splits,
    binary_and_coarse_splits,
    coarse_splits,
    one_against_rest_splits,
    threshold_splits,
)
from tests.mechanisms.gibbs_oracle import (
    RecursionLaw,
    SamplerLaw,
    extremes,
    gibbs_of,
    random_rows,
    small_schema,
)

CLOSE = 1e-12


def differs(space: TreeSpace, rows, unit: float) -> float:
    """The largest relative difference over all trees."""
    return max(
        map(
            abs,
            extremes(
                space, SamplerLaw(gibbs_of(space, rows, unit)), RecursionLaw(space, rows, unit)
            ),
        )
    )


@pytest.mark.parametrize("classes", [2, 4])
def test_six_attributes_and_four_tests(classes):
    """Thresholds with a missing bin, one against rest, all apart; at the last level all of them."""
    schema = small_schema(3, "3?", 2, 2, 2, 2, classes=classes)
    inner = (
        [Split.multiway(schema, name) for name in "cdef"]
        + threshold_splits(schema, "b")[:1]
        + one_against_rest_splits(schema, "a")[:1]
    )
    space = TreeSpace(schema, 4 if classes == 2 else 3, inner, all_splits(schema))
    assert differs(space, random_rows(space, 40, seed=1), 0.3) < CLOSE


def test_thresholds_on_thresholds():
    schema = small_schema("5?", "3")
    space = TreeSpace(schema, 3, binary_and_coarse_splits(schema))
    assert differs(space, random_rows(space, 60, seed=2), 0.2) < CLOSE


def test_a_wide_split_below_another():
    schema = small_schema(9, 3, "9?", classes=4)
    space = TreeSpace(schema, 2, coarse_splits(schema), all_splits(schema), split=0.2, keep=0.8)
    assert differs(space, random_rows(space, 300, seed=3), 0.1) < CLOSE


def test_a_law_that_is_off_is_noticed():
    schema = small_schema(3, "4", 2)
    space, wrong = TreeSpace(schema, 2), TreeSpace(schema, 2, keep=0.5 + 1e-9)
    rows = random_rows(space, 20, seed=4)
    assert (
        max(
            map(
                abs,
                extremes(
                    space, SamplerLaw(gibbs_of(space, rows, 0.3)), RecursionLaw(wrong, rows, 0.3)
                ),
            )
        )
        > 100 * CLOSE
    )


@st.composite
def problems(draw):
    """A small space and a table for it."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4, "2", "3?", "5"]), min_size=1, max_size=3))
    schema = small_schema(*sizes, classes=draw(st.integers(2, 3)))
    listed = all_splits(schema)
    some = st.lists(st.sampled_from(listed), unique=True, max_size=5) if listed else st.just([])
    chance = st.sampled_from([0.001, 0.3, 0.5, 0.999])
    space = TreeSpace(
        schema,
        draw(st.integers(0, 3)),
        draw(some),
        draw(some),
        split=draw(chance),
        keep=draw(chance),
    )
    row = st.tuples(
        st.tuples(*(st.integers(0, size - 1) for size in schema.sizes)),
        st.integers(0, schema.n_classes - 1),
        st.integers(0, 1 << 16),
    )
    return (
        space,
        draw(st.lists(row, max_size=8)),
        draw(st.sampled_from([2.0**-26, 2.0**-16, 0.001])),
    )


@given(problems())
@settings(max_examples=60, derandomize=True)
def test_random_spaces_and_tables(problem):
    space, rows, unit = problem
    assert differs(space, rows, unit) < CLOSE
