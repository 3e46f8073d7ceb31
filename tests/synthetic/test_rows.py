"""Rows drawn from a model: as many as expected, in an order that tells nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.mechanisms.randomness import SystemBits
from privet.synthetic.class_tree import ClassTree
from privet.synthetic.rows import draw_rows, expand, shrink_together, spread, uniforms
from tests.synthetic.small import seeded

SIX_IN_A_MILLION_OFF = 5.0  # standard deviations


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 200), st.integers(0, 2**32))
def test_counts_are_as_expected_up_to_rounding(n_keys, n_values, n_rows, seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, n_keys, n_rows)
    weights = rng.random((n_keys, n_values)) * (rng.random((n_keys, n_values)) < 0.7)
    weights[:, 0] += weights.sum(axis=1) == 0
    values = spread(keys, weights, SystemBits())
    for key in range(n_keys):
        drawn = np.bincount(values[keys == key], minlength=n_values)
        expected = drawn.sum() * weights[key] / weights[key].sum()
        # running sums are off by less than one
        assert np.abs(np.cumsum(drawn - expected)).max() < 1 + 1e-9
        assert np.abs(drawn - expected).max() < 2 + 1e-9
        assert drawn[weights[key] == 0].sum() == 0


def test_whole_expectations_are_met_exactly():
    weights = np.array([[1.0, 0.0, 3.0], [2.0, 2.0, 0.0]])
    keys = np.array([0] * 400 + [1] * 100)
    values = spread(keys, weights, SystemBits())
    assert np.bincount(values[:400], minlength=3).tolist() == [100, 0, 300]
    assert np.bincount(values[400:], minlength=3).tolist() == [50, 50, 0]


@pytest.mark.parametrize("place", [0.0, 1 - 2.0**-53])
def test_no_rounding_carries_a_row_to_a_value_without_weight(place, monkeypatch):
    """Uniform numbers at their ends, keys so large that adding them rounds."""
    monkeypatch.setattr("privet.synthetic.rows.uniforms", lambda bits, count: np.full(count, place))
    weights = np.tile(np.array([0.0, 0.1, 0.0, 0.7, 0.2, 0.0]), (200_000, 1))
    keys = np.arange(200_000).repeat(2)
    values = spread(keys, weights, SystemBits())
    assert set(np.unique(values)) <= {1, 3, 4}


def test_each_row_is_as_likely_as_another_to_have_a_value():
    """The order within a key is random: where the rows of a key stand tells nothing of their
    values.
    """
    bits = seeded(5)
    first = np.zeros(8)
    for _ in range(2000):
        first += spread(np.zeros(8, dtype=np.int64), np.array([[3.0, 1.0]]), bits)
    deviation = np.sqrt(2000 * 0.25 * 0.75)
    assert np.abs(first - 500).max() < SIX_IN_A_MILLION_OFF * deviation


def tree() -> ClassTree:
    """Two children of one parent, two classes."""
    rng = np.random.default_rng(2)
    top = rng.random((1, 3, 2)) * 1000
    first = top[0][:, None, :] * (share := rng.dirichlet(np.ones(2), (3, 2))).transpose(0, 2, 1)
    second = top[0][:, None, :] * (1 - share).transpose(0, 2, 1)
    return ClassTree((1, -1, 1), (first, top, second))


def test_rows_follow_the_tables():
    model, n_rows = tree(), 20_000
    columns, classes = draw_rows(model, n_rows, SystemBits())
    assert [len(column) for column in columns] == [n_rows] * 3
    scale = n_rows / model.classes.sum()
    assert np.bincount(classes) == pytest.approx(model.classes * scale, abs=1)
    assert np.histogram2d(columns[1], classes, bins=(3, 2))[0] == pytest.approx(
        model.tables[1][0] * scale, abs=3
    )
    for a in (0, 2):
        found = np.histogramdd(np.column_stack([columns[1], columns[a], classes]), bins=(3, 2, 2))[
            0
        ]
        assert found == pytest.approx(model.tables[a] * scale, abs=5)


def test_attributes_are_independent_given_class_and_parent():
    """An order that two attributes shared, or the order of the running sums itself, would show as a
    correlation of nearly 1.
    """
    columns, classes = draw_rows(tree(), 30_000, seeded(8))
    for parent in range(3):
        for c in range(2):
            here = (columns[1] == parent) & (classes == c)
            r = np.corrcoef(columns[0][here], columns[2][here])[0, 1]
            assert abs(r) < SIX_IN_A_MILLION_OFF / np.sqrt(here.sum())
    position = np.arange(30_000)
    for column in (*columns, classes):
        assert abs(np.corrcoef(position, column)[0, 1]) < SIX_IN_A_MILLION_OFF / np.sqrt(30_000)


@given(st.integers(1, 12), st.integers(0, 2**32))
@settings(max_examples=40)
def test_expanded_values_are_of_their_group(n_values, seed):
    rng = np.random.default_rng(seed)
    groups = np.unique(rng.integers(0, 4, n_values), return_inverse=True)[1]
    alone = rng.normal(0, 50, (n_values, 2))
    column, classes = rng.integers(0, groups.max() + 1, 100), rng.integers(0, 2, 100)
    values = expand(column, classes, groups, alone, 0.1, SystemBits())
    assert (groups[values] == column).all()


def test_expanded_values_follow_their_counts_by_class():
    groups = np.array([0, 1, 1, 1])
    alone = np.array([[5.0, 5.0], [30.0, 0.0], [10.0, 75.0], [-8.0, 25.0]])
    column, classes = np.repeat([1, 1, 0], 4000), np.tile([0, 1], 6000)
    values = expand(column, classes, groups, alone, 0.1, SystemBits())
    of_class = [np.bincount(values[(column == 1) & (classes == c)], minlength=4) for c in (0, 1)]
    assert of_class[0] == pytest.approx(np.array([0, 3000, 1000, 0]), abs=3)
    assert of_class[1] == pytest.approx(np.array([0, 0, 3000, 1000]), abs=3)


def test_values_rise_with_the_heights_and_are_as_many_as_without():
    groups = np.array([0, 0, 0, 1, 1])
    alone = np.array([[30.0, 1.0], [10.0, 75.0], [5.0, 25.0], [9.0, 2.0], [1.0, 2.0]])
    column, classes = np.repeat([0, 1, 0], 2000), np.tile([0, 1], 3000)
    heights = np.random.default_rng(3).normal(size=6000)
    values = expand(column, classes, groups, alone, 0.1, SystemBits(), heights)
    free = expand(column, classes, groups, alone, 0.1, SystemBits())
    for group in (0, 1):
        for c in (0, 1):
            here = np.flatnonzero((column == group) & (classes == c))
            assert (np.diff(values[here[np.argsort(heights[here])]]) >= 0).all()
            counts = (np.bincount(drawn[here], minlength=5) for drawn in (values, free))
            assert np.abs(np.subtract(*counts)).max() <= 2  # of rounding


def test_counts_that_only_noise_parts_are_drawn_together():
    rng = np.random.default_rng(1)
    noisy = 50 + rng.laplace(0, 100, (400, 2))
    drawn = shrink_together(noisy, 100 * np.sqrt(2))
    assert np.abs(drawn - 50).mean() < np.abs(noisy - 50).mean() / 3
    apart = np.array([[1000.0, 0.0], [0.0, 900.0]])
    assert shrink_together(apart, 5.0) == pytest.approx(apart, abs=0.2)
    assert shrink_together(apart[:1], 5.0) == pytest.approx(apart[:1])
    with np.errstate(all="raise"):
        assert shrink_together(np.full((3, 2), 7.0), 5.0) == pytest.approx(7)


def test_a_group_that_noise_hides_has_all_its_values():
    values = expand(
        np.zeros(300, dtype=np.int64),
        np.zeros(300, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.array([[-5.0], [-1.0], [-900.0]]),
        500.0,
        SystemBits(),
    )
    assert np.bincount(values, minlength=3) == pytest.approx(100, abs=2)


def test_uniform_numbers_fill_the_unit_interval():
    drawn = uniforms(seeded(3), 100_000)
    assert 0 <= drawn.min() < 1e-3
    assert 0.999 < drawn.max() < 1
    assert np.histogram(drawn, 20, (0, 1))[0] == pytest.approx(5000, abs=6 * np.sqrt(5000))
