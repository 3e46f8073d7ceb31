"""k, l and t: examples of the papers, and the definitions in plain Python on any groups."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.anonymity import Groups, measures
from privet.errors import ParameterError
from tests.anonymity import by_hand

ROWS = st.lists(st.tuples(st.integers(-3, 5), st.integers(-2, 6)), min_size=1, max_size=60)
HEART, VIRAL, CANCER = range(3)


def groups_of(rows: by_hand.Rows) -> Groups:
    ids, values = np.array(rows, dtype=np.int64).T
    return Groups.of(ids, values)


def classes(*members: list[int]) -> Groups:
    return groups_of([(group, value) for group, values in enumerate(members) for value in values])


# -- examples --------------------------------------------------------------------------------------


def test_four_anonymous_patients_of_whom_four_share_an_illness():
    """Machanavajjhala et al. 2006, figure 2: 4-anonymous, and everybody in the last class has
    cancer.
    """
    groups = classes([HEART, HEART, VIRAL, VIRAL], [CANCER, HEART, VIRAL, VIRAL], [CANCER] * 4)
    assert measures.k_anonymity(groups) == 4
    assert measures.distinct_l_per_group(groups).tolist() == [2, 3, 1]
    assert measures.distinct_l(groups) == 1
    assert measures.entropy_l(groups) == measures.frequency_l(groups) == 1
    assert measures.recursive_l_per_group(groups, 3).tolist() == [2, 3, 1]
    # Heart 3, viral 4, cancer 5 of 12: the last class has 7/12 too much cancer.
    assert measures.t_closeness_per_group(groups) == pytest.approx([5 / 12, 1 / 6, 7 / 12])


def test_three_diverse_patients():
    """Machanavajjhala et al. 2006, figure 3: two of one illness and one each of two others in every
    class.
    """
    groups = classes(
        [HEART, VIRAL, CANCER, CANCER],
        [CANCER, HEART, VIRAL, VIRAL],
        [HEART, VIRAL, CANCER, CANCER],
    )
    assert (
        measures.k_anonymity(groups),
        measures.distinct_l(groups),
        measures.frequency_l(groups),
    ) == (4, 3, 2)
    assert measures.entropy_l(groups) == pytest.approx(2 * math.sqrt(2))
    assert [measures.recursive_l(groups, c) for c in ("1/2", 1, 2, "2.001", 3)] == [0, 1, 2, 3, 3]


def test_t_closeness_of_the_salaries_of_the_paper():
    """Li, Li and Venkatasubramanian 2007: salaries of 3k to 11k, once each. The lowest three are
    far from all.
    """
    groups = classes([3, 4, 5], [6, 11, 8], [7, 9, 10])
    assert measures.t_closeness_per_group(groups, ordered=True)[:2] == pytest.approx([0.375, 1 / 6])
    assert measures.t_closeness(groups, ordered=True) == pytest.approx(0.375)
    # where the order does not matter, all are as far
    assert measures.t_closeness(groups) == pytest.approx(2 / 3)


def test_recursive_diversity_is_strict_and_exact():
    counts = classes([0] * 3 + [1] * 27 + [2] * 3)  # r_1 = 27, r_2 + r_3 = 6, r_3 = 3
    assert measures.recursive_l(counts, 9) == 2
    assert measures.recursive_l(counts, "9.000000000001") == 3
    assert measures.recursive_l(counts, Fraction(27, 6)) == 1
    assert 1.1 * 50 > 55  # in floats, which would let this pass for l = 2
    assert measures.recursive_l(classes([0] * 55 + [1] * 50), 1.1) == 1
    assert measures.recursive_l(classes([0] * 55 + [1] * 51), 1.1) == 2
    assert measures.recursive_l(counts, 1e-50) == 0


@pytest.mark.parametrize("c", [0, -1, math.nan, math.inf, "abc"])
def test_a_c_that_cannot_be(c):
    with pytest.raises(ParameterError, match=r"c must be a finite number above zero, got"):
        measures.recursive_l(classes([0, 1]), c)


def test_uniform_groups_have_exactly_as_many():
    """Rounding would make an entropy of ln 3 a little less than that, and the table fall short of l
    = 3.
    """
    groups = classes(
        *([value for value in range(3) for _ in range(times)] for times in range(1, 200))
    )
    assert set(measures.entropy_l_per_group(groups).tolist()) == {3.0}


# -- any groups ------------------------------------------------------------------------------------


@given(ROWS, st.fractions("1/10", 6, max_denominator=12))
def test_every_measure_is_its_definition(rows, c):
    groups, split, everything = groups_of(rows), by_hand.grouped(rows), [value for _, value in rows]
    assert groups.ids.tolist() == list(split)
    assert groups.sizes.tolist() == [len(values) for values in split.values()]
    assert measures.distinct_l_per_group(groups).tolist() == [
        len(set(values)) for values in split.values()
    ]
    assert measures.frequency_l_per_group(groups).tolist() == [
        float(by_hand.frequency_l(values)) for values in split.values()
    ]
    assert measures.entropy_l_per_group(groups) == pytest.approx(
        [by_hand.entropy_l(values) for values in split.values()]
    )
    assert measures.recursive_l_per_group(groups, c).tolist() == [
        by_hand.recursive_l(values, c) for values in split.values()
    ]
    equal = [float(by_hand.equal_distance(values, everything)) for values in split.values()]
    assert measures.t_closeness_per_group(groups) == pytest.approx(equal, abs=1e-12)
    ordered = [float(by_hand.ordered_distance(values, everything)) for values in split.values()]
    assert measures.t_closeness_per_group(groups, ordered=True) == pytest.approx(ordered, abs=1e-12)


@given(ROWS)
def test_the_table_is_as_good_as_its_worst_group(rows):
    groups = groups_of(rows)
    for whole, each in (
        (measures.distinct_l(groups), measures.distinct_l_per_group(groups)),
        (measures.entropy_l(groups), measures.entropy_l_per_group(groups)),
        (measures.frequency_l(groups), measures.frequency_l_per_group(groups)),
        (measures.recursive_l(groups, 2), measures.recursive_l_per_group(groups, 2)),
        (-measures.t_closeness(groups), -measures.t_closeness_per_group(groups)),
        (
            -measures.t_closeness(groups, ordered=True),
            -measures.t_closeness_per_group(groups, ordered=True),
        ),
    ):
        assert whole == min(each.tolist())


@given(ROWS)
def test_the_kinds_of_l_are_in_order_and_t_is_a_share(rows):
    groups = groups_of(rows)
    frequency, entropy, distinct = (
        measures.frequency_l_per_group(groups),
        measures.entropy_l_per_group(groups),
        measures.distinct_l_per_group(groups),
    )
    assert (frequency >= 1).all()
    assert (frequency <= entropy).all()
    assert (entropy <= distinct).all()
    assert (distinct <= groups.sizes).all()
    assert (measures.recursive_l_per_group(groups, 3) <= distinct).all()
    for ordered in (False, True):
        t = measures.t_closeness_per_group(groups, ordered=ordered)
        assert ((t >= 0) & (t <= 1)).all()


@given(ROWS.filter(lambda rows: len({group for group, _ in rows}) > 1))
def test_merging_two_groups_makes_nothing_worse(rows):
    """Generalising keeps k-anonymity, entropy l-diversity and t-closeness (the monotonicity of the
    papers).
    """
    first, second, *_ = sorted({group for group, _ in rows})
    before, after = (
        groups_of(rows),
        groups_of([(second if group == first else group, value) for group, value in rows]),
    )
    assert after.n_groups == before.n_groups - 1
    assert measures.k_anonymity(after) >= measures.k_anonymity(before)
    assert measures.distinct_l(after) >= measures.distinct_l(before)
    assert measures.frequency_l(after) >= measures.frequency_l(before) - 1e-12
    assert measures.entropy_l(after) >= measures.entropy_l(before) - 1e-12
    assert measures.recursive_l(after, 2) >= measures.recursive_l(before, 2)
    for ordered in (False, True):
        assert (
            measures.t_closeness(after, ordered=ordered)
            <= measures.t_closeness(before, ordered=ordered) + 1e-12
        )


@given(ROWS)
def test_one_group_of_all_rows_tells_nothing(rows):
    groups = groups_of([(0, value) for _, value in rows])
    assert measures.t_closeness(groups) == 0
    assert measures.t_closeness(groups, ordered=True) == pytest.approx(0, abs=1e-12)
