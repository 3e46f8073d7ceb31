"""Random l-diverse groups: diverse, as many rows as possible, and nobody's place depends on who
they are.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.outsource.split import draw_groups

values = st.lists(st.integers(0, 5), max_size=40).map(
    lambda listed: np.array(listed, dtype=np.int64)
)


def most_placed(counts: list[int], least: int) -> int:
    """The most rows that l-diverse groups can hold: keep k_v of each value such that none has more
    than one l-th of all that is kept.
    """
    best = 0
    for total in range(least, sum(counts) + 1):
        kept = sum(min(n, total // least) for n in counts)
        if kept >= total:
            best = total
    return best


@given(values, st.integers(2, 4))
def test_groups_are_diverse_and_hold_as_many_rows_as_possible(values, least):
    grouping = draw_groups(values, least)
    placed = grouping.group >= 0
    for number in range(grouping.n_groups):
        here = Counter(values[grouping.group == number].tolist())
        assert len(here) >= least
        assert max(here.values()) == 1
    assert placed.sum() == most_placed(list(Counter(values.tolist()).values()), least)
    assert sorted(np.unique(grouping.group[placed])) == list(range(grouping.n_groups))


def test_nearly_all_groups_have_exactly_l_rows():
    values = np.arange(1000) % 7
    sizes = np.bincount(draw_groups(values, 3).group)
    assert sizes.sum() == 1000
    assert (sizes > 3).sum() <= 1


def test_every_row_of_a_value_is_as_likely_to_be_withheld():
    # 6 rows of value 0 and 2 of value 1: 4 of the 6 are withheld, each with probability 2/3.
    values = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    rounds = 3000
    withheld = Counter(
        row for _ in range(rounds) for row in draw_groups(values, 2).withheld.tolist()
    )
    assert set(withheld) == set(range(6))
    deviation = np.sqrt(rounds * 2 / 9)
    assert all(abs(withheld[row] - rounds * 2 / 3) < 5 * deviation for row in range(6))


def test_every_pair_of_rows_that_may_share_a_group_is_as_likely_to():
    # Two values, three rows each: a row's partner is uniform among the three of the other value, so
    # 1/3 each.
    values = np.array([0, 1, 0, 1, 0, 1])
    rounds = 3000
    met = Counter()
    for _ in range(rounds):
        group = draw_groups(values, 2).group
        met.update((i, j) for i, j in combinations(range(6), 2) if group[i] == group[j])
    assert set(met) == {(i, j) for i, j in combinations(range(6), 2) if values[i] != values[j]}
    assert all(abs(n - rounds / 3) < 5 * np.sqrt(rounds * 2 / 9) for n in met.values())


def test_the_combination_of_values_varies():
    """Groups are drawn, not laid out: with four equally frequent values all six pairs occur."""
    values = np.repeat(np.arange(4), 100)
    group = draw_groups(values, 2).group
    pairs = Counter(tuple(sorted(values[group == g].tolist())) for g in range(200))
    assert len(pairs) == 6
    assert min(pairs.values()) > 8  # about 33 each; laid out in order, four of them would be 0


@pytest.mark.parametrize("least", [1, 0, 2.0, True, "2"])
def test_l_must_be_two_or_more(least):
    with pytest.raises(ParameterError, match="l must be an integer of at least 2"):
        draw_groups(np.array([0, 1]), least)
