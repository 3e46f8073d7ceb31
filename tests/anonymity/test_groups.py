"""``Groups`` from arrays alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.anonymity import Groups
from privet.errors import ParameterError


def same(one: Groups, other: Groups) -> bool:
    fields = ("ids", "codes", "starts", "values", "counts")
    return all(getattr(one, name).tolist() == getattr(other, name).tolist() for name in fields)


def test_entries_lie_group_by_group():
    groups = Groups.of(np.array([70, -5, 70, 70, -5]), np.array([9, 2, 4, 9, 2]))
    assert groups.ids.tolist() == [-5, 70]
    assert groups.codes.tolist() == [2, 4, 9]
    assert groups.starts.tolist() == [0, 1, 3]
    assert groups.values.tolist() == [0, 1, 2]
    assert groups.counts.tolist() == [2, 1, 2]
    assert (groups.n_groups, groups.n_rows) == (2, 5)
    assert (groups.sizes.tolist(), groups.totals.tolist(), groups.largest.tolist()) == (
        [2, 3],
        [2, 1, 2],
        [2, 2],
    )
    assert groups.most_frequent.tolist() == [2, 9]


def test_of_values_that_are_as_frequent_the_first_is_named():
    assert Groups.of(
        np.array([0, 0, 1, 1, 1]), np.array([8, 3, 5, 6, 6])
    ).most_frequent.tolist() == [3, 6]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_matter_nor_whether_they_were_counted_before(rows, chance):
    shuffled = chance.sample(rows, len(rows))
    groups = Groups.of(*np.array(rows).T)
    assert same(groups, Groups.of(*np.array(shuffled).T))
    pairs = sorted(set(rows))
    counted = Groups.of(*np.array(pairs).T, np.array([rows.count(pair) for pair in pairs]))
    assert same(groups, counted)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64])
def test_any_kind_of_whole_numbers(dtype):
    assert Groups.of(
        np.array([200, 200, 1]).astype(dtype), np.array([0, 1, 255 % 100], dtype=dtype)
    ).sizes.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([], []), "group_ids must hold at least one row, got none"),
        (([1, 2], [1]), "must have the same length, got 2, 1, 2"),
        (([1.5], [1]), "group_ids must be integers in one row, got float64"),
        (
            ([1], [[1]]),
            r"value_codes must be integers in one row, got int64 in 2 dimension\(s\)",
        ),
        (([1], ["a"]), "value_codes must be integers"),
        (([1], [1], [0]), "rows must be one or more in every entry, got 0"),
        (([2**63], [1]), "group_ids must fit 64 bits with a sign, got 9223372036854775808"),
    ],
)
def test_arrays_that_cannot_be(arrays, message):
    with pytest.raises(ParameterError, match=message):
        Groups.of(*map(np.array, arrays))
