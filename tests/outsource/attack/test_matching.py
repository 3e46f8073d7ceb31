"""Probabilities inside a group, against all ways written out."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.outsource.attack.groups import Block, make_groups
from privet.outsource.attack.matching import balance_matchings, count_matchings, match, match_all


def written_out(counts: tuple[int, ...], weights: np.ndarray) -> tuple[np.ndarray, float]:
    """One group, every way to give rows entries of their own."""
    entries = [value for value, count in enumerate(counts) for _ in range(count)]
    found, total = np.zeros(weights.shape), 0.0
    for way in permutations(entries, len(weights)):
        weight = np.exp(sum(weights[row, value] for row, value in enumerate(way)))
        total += weight
        for row, value in enumerate(way):
            found[row, value] += weight
    return found / total, float(np.log(total))


@st.composite
def small_groups(draw, spare: bool = True):
    counts = tuple(
        sorted(
            draw(st.lists(st.integers(1, 3), min_size=1, max_size=4).filter(lambda c: sum(c) <= 6)),
            reverse=True,
        )
    )
    n_rows = draw(st.integers(1, sum(counts))) if spare else sum(counts)
    number = st.floats(-6, 3)
    weights = draw(st.lists(number, min_size=n_rows * len(counts), max_size=n_rows * len(counts)))
    return counts, np.array(weights).reshape(1, n_rows, len(counts))


@given(small_groups())
@settings(max_examples=150, deadline=None)
def test_equal_to_all_ways_written_out(group):
    counts, weights = group
    found, together = match(Block(1, weights.shape[1], counts, 0), weights)
    expected, log_weight = written_out(counts, weights[0])
    np.testing.assert_allclose(found[0], expected, atol=1e-9)
    if len(counts) > 1:  # with one value there is nothing to sum over
        assert together == pytest.approx(log_weight, abs=1e-8)


@given(small_groups(spare=False))
@settings(max_examples=60, deadline=None)
def test_rows_and_entries_have_their_sums(group):
    counts, weights = group
    for function in (count_matchings, balance_matchings):
        found, _ = function(counts, weights)
        np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-9)
        np.testing.assert_allclose(
            found.sum(axis=1), [counts], atol=1e-9 if function is count_matchings else 0.05
        )


@given(small_groups())
@settings(max_examples=60, deadline=None)
def test_no_entry_is_given_away_twice(group):
    counts, weights = group
    found, _ = count_matchings(counts, weights)
    assert (found.sum(axis=1) <= np.array(counts) + 1e-9).all()
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-9)


def test_pairs_in_closed_form_are_the_general_case():
    weights = np.random.default_rng(0).normal(0, 4, (200, 2, 2))
    pairs, total = match(Block(200, 2, (1, 1), 0), weights)
    general, logs = count_matchings((1, 1), weights)
    np.testing.assert_allclose(pairs, general, atol=1e-12)
    assert total == pytest.approx(logs.sum())


@pytest.mark.parametrize("counts", [(1, 1), (1, 1, 1), (2, 1, 1), (3, 3)])
def test_nothing_overflows(counts):
    weights = np.random.default_rng(0).normal(-2000, 900, (50, sum(counts), len(counts)))
    found, total = match(Block(50, sum(counts), counts, 0), weights)
    assert np.isfinite(found).all()
    assert np.isfinite(total)
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-9)


def test_large_groups_are_balanced_and_close_to_exact_where_little_is_known():
    weights = np.random.default_rng(0).normal(0, 0.3, (40, 10, 10))
    block = Block(40, 10, (1,) * 10, 0)
    exact, _ = match(block, weights, max_states=1 << 10)
    rough, _ = match(block, weights)
    assert np.abs(exact - rough).max() > 1e-6  # it was not counted
    assert np.abs(exact - rough).mean() < 0.01
    assert (exact.argmax(axis=2) == rough.argmax(axis=2)).mean() > 0.9


def test_balancing_with_entries_to_spare_keeps_the_sums():
    weights = np.random.default_rng(0).normal(0, 1, (5, 8, 12))
    found, _ = balance_matchings((1,) * 12, weights)
    np.testing.assert_allclose(found.sum(axis=2), 1, atol=1e-9)
    assert (found.sum(axis=1) <= 1 + 1e-3).all()


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_candidates_are_the_rows_with_the_values_of_their_group(seed):
    rng = np.random.default_rng(seed)
    gid = rng.integers(5, size=12) * 7
    st_gid, values = np.append(gid, rng.integers(8, size=6) * 7), rng.integers(3, size=18)
    groups = make_groups(gid, values, st_gid, 3)
    expected = {
        (row, int(v)): np.mean(values[st_gid == gid[row]] == v)
        for row in range(12)
        for v in values[st_gid == gid[row]]
    }
    assert dict(
        zip(
            zip(groups.row.tolist(), groups.value.tolist(), strict=True),
            groups.frequency,
            strict=True,
        )
    ) == pytest.approx(expected)
    sizes = {g: (np.sum(st_gid == g), np.bincount(values[st_gid == g]).max()) for g in gid.tolist()}
    assert groups.l == min(int(m // c) for m, c in sizes.values())
    uniform, _ = match_all(groups, np.zeros(len(groups.row)))
    # without a model, the frequencies
    np.testing.assert_allclose(uniform, groups.frequency, atol=1e-9)


def test_values_that_stand_equally_often_in_every_group_are_alike():
    assert make_groups([1, 1, 2, 2], [0, 1, 1, 0], [1, 1, 2, 2], 4).alike == ((0, 1),)
    assert make_groups([1, 1, 2, 2], [0, 1, 1, 2], [1, 1, 2, 2], 4).alike == ()
    assert make_groups([1, 1, 2, 2], [0, 1, 3, 2], [1, 1, 2, 2], 4).alike == ((0, 1), (2, 3))
    assert make_groups([1, 1, 2], [0, 0, 1, 0, 1], [1, 1, 1, 2, 2], 2).alike == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [], [], 2), "at least one row"),
        (([1, 1], [0], [1], 2), "at least as many sensitive entries as rows"),
        (([1, 2], [0, 1], [1, 1], 2), "at least as many sensitive entries as rows"),
        (([1], [2], [1], 2), "codes from 0 to below 2"),
        (([1], [0, 1], [1], 2), "equally long"),
        (([0.5], [0], [1], 2), "integers"),
    ],
)
def test_splits_that_cannot_be(arguments, message):
    with pytest.raises(ParameterError, match=message):
        make_groups(*arguments)
