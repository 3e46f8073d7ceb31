"""Groups of values: every value is in one, none is left out, and what is told apart is frequent
enough.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric
from privet.synthetic.groups import (
    DEVIATIONS,
    MOST_GROUPS,
    divide_groups,
    group_values,
    sum_by_group,
)

COUNTS = st.lists(
    st.one_of(st.floats(-1e4, 1e6), st.sampled_from([0.0, 100.0, 1e9])), min_size=1, max_size=120
)
NOISE = st.sampled_from([0.5, 3.0, 1e3])


def check_numbering(groups: np.ndarray, n_values: int) -> None:
    assert groups.shape == (n_values,)
    assert sorted(set(groups.tolist())) == list(range(int(groups.max()) + 1))


@given(COUNTS, NOISE)
@example([1e9] * (MOST_GROUPS + 1), 0.5)
@example([1e9] * MOST_GROUPS, 0.5)
@example([1e9] * (MOST_GROUPS + 2), 0.5)
@example([-5.0], 0.5)
def test_categories_are_grouped_to_the_most_allowed(counts, deviation):
    rows = np.array(counts)
    groups = group_values(Categorical([f"v{i}" for i in range(len(rows))]), rows, deviation)
    check_numbering(groups, len(rows))
    assert groups.max() < MOST_GROUPS
    sizes = np.bincount(groups)
    alone = sizes[groups] == 1
    assert (sizes > 1).sum() <= 1  # the rare ones are together
    frequent = rows >= DEVIATIONS * deviation
    together = rows[~alone]
    if frequent.sum() < MOST_GROUPS:  # then nothing frequent is given up
        assert not frequent[~alone].any()
        assert (~frequent & alone).sum() <= 1
    else:
        assert alone.sum() >= MOST_GROUPS - 1
        # what is given up is the least frequent
        assert len(together) == 0 or rows[alone].min() >= together.max()


@given(COUNTS, NOISE, st.booleans())
@example([1.0] * 320, 0.01, True)
@example([1.0] * 33, 0.01, False)
def test_bins_are_grouped_with_their_neighbours(counts, deviation, missing):
    bins = len(counts)
    attribute = Numeric(0, bins, bins=bins, missing="?" if missing else None)
    rows = np.array([*counts, 50.0][: attribute.size])
    groups = group_values(attribute, rows, deviation)
    check_numbering(groups, attribute.size)
    if missing:
        assert groups[-1] == groups.max()
        assert (groups == groups[-1]).sum() == 1
    spans = groups[:bins]
    assert (np.diff(spans) >= 0).all()  # numbered from below, so a group is an interval
    held, sizes = np.bincount(spans, weights=rows[:bins]), np.bincount(spans)
    # what is summed has the noise of all its bins
    assert len(held) == 1 or (held >= DEVIATIONS * deviation * np.sqrt(sizes) - 1e-6).all()


def test_frequent_bins_are_told_apart():
    assert group_values(Numeric(0, 4, bins=4), np.array([90.0, 3.0, 30.0, 80.0]), 5.0).tolist() == [
        0,
        1,
        1,
        2,
    ]
    assert group_values(Numeric(0, 4, bins=4), np.array([90.0, 70.0, 3.0, 4.0]), 5.0).tolist() == [
        0,
        1,
        1,
        1,
    ]
    assert group_values(
        Numeric(0, 4, bins=4, missing="?"), np.array([-9.0, 0.0, 3.0, 1.0, 0.0]), 5.0
    ).tolist() == [0, 0, 0, 0, 1]


def test_rare_categories_are_one():
    rows = np.array([3.0, 90.0, -4.0, 20.0, 19.0])
    assert group_values(Categorical(list("abcde")), rows, 5.0).tolist() == [2, 0, 2, 1, 2]


@given(st.integers(1, 20), st.integers(1, 4), st.integers(0, 2**32))
def test_counts_are_summed_by_group(n_values, n_classes, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(-50, 50, (n_values, n_classes)).astype(float)
    groups = np.unique(rng.integers(0, 5, n_values), return_inverse=True)[1]
    expected = [table[groups == group].sum(axis=0) for group in range(groups.max() + 1)]
    assert sum_by_group(table, groups) == pytest.approx(np.array(expected))


def test_the_noise_of_empty_bins_makes_no_groups():
    """A fine grid of a thousand bins with all rows in the first ten."""
    rng = np.random.default_rng(1)
    rows = rng.laplace(0, 50, 1000)
    rows[:10] += 1000
    groups = group_values(Numeric(0, 1000, bins=1000), rows, 71.0)
    assert groups[:10].tolist() == list(range(10))
    assert groups.max() <= 11


@given(st.lists(st.floats(0.5, 1e5), min_size=2, max_size=32), st.integers(2, 12), st.booleans())
def test_groups_are_divided_into_few_parts(counts, parts, missing):
    rows = np.array(counts)
    ordered = Numeric(0, 9, bins=9, missing="?" if missing else None)
    for attribute in (ordered, Categorical(["x", "y"])):
        part = divide_groups(attribute, rows, parts)
        assert len(part) == len(rows)
        assert sorted(set(part.tolist())) == list(range(part.max() + 1))
        assert part.max() < max(parts, 2)
        if attribute is ordered:
            assert (np.diff(part) >= 0).all()
            if missing and 2 < parts < len(rows):
                assert (part == part[-1]).sum() == 1
    even = divide_groups(Numeric(0, 9, bins=9), np.ones(32), 4)
    assert np.bincount(even).tolist() == [8] * 4
