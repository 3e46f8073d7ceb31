"""The clock of the audit: it tells worlds apart that differ, and not those that do not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.audit.clock import ERROR, REPEATS, TOLERANCE, judge, p_larger
from privet.audit.clock_worlds import (
    LEARNERS,
    QUERIES,
    SCHEMA,
    SUBJECTS,
    TESTS,
    make_chain,
    make_worlds,
    prepare,
)
from privet.errors import ParameterError
from privet.queries import queries


def times(seed: int, spread: float = 0.1, n: int = REPEATS) -> np.ndarray:
    """Made-up times, skewed as real ones are."""
    return 1 + np.random.default_rng(seed).exponential(spread, n)


@pytest.mark.parametrize("seed", range(20))
def test_equal_worlds_are_not_told_apart(seed):
    result = judge("x", times(2 * seed), times(2 * seed + 1), 22)
    assert not result.tells
    assert result.verdict == "not told apart"


@pytest.mark.parametrize("faster", [0, 1])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_said_to_be_visible_is_seen(seed, faster):
    worlds = [times(2 * seed), times(2 * seed + 1)]
    visible = judge("x", *worlds, 22).visible
    assert 1 + TOLERANCE < visible < 1.5
    worlds[faster] = worlds[faster] * visible
    assert judge("x", *worlds, 22).tells


def test_the_code_of_0_1_is_told_apart_and_small_differences_are_not():
    """A draw took 2.2 times as long where one person was in states that were empty."""
    one, other = times(1), times(2)
    assert judge("x", one, 2.2 * other, 22).p < ERROR / 22
    assert not judge("x", one, (1 + TOLERANCE / 2) * other, 22).tells


def test_the_error_is_shared_by_all_subjects():
    assert judge("x", times(1), times(2), 10).allowed == ERROR / 10


def test_mann_and_whitney_by_hand():
    # 9 of 9 pairs are won; the deviation is sqrt(3 x 3 x 7 / 12)
    z = (9 - 4.5 - 0.5) / math.sqrt(63 / 12)
    assert p_larger([4, 5, 6], [1, 2, 3]) == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)
    assert p_larger([1, 2, 3], [1, 2, 3]) == pytest.approx(0.587, abs=0.001)


def test_every_query_and_every_learner_is_timed():
    asked = {name.split(",")[0] for name in QUERIES}
    assert asked == {name for name, query in queries().items() if query.for_analysts}
    assert len(LEARNERS) == 8
    assert len(set(SUBJECTS)) == len(SUBJECTS)


def test_the_worlds_differ_in_one_person_who_goes_to_the_end_of_the_chain():
    without, with_person = make_worlds()
    rows = [list(zip(*world.values(), strict=True)) for world in (without, with_person)]
    assert rows[0][:-1] == rows[1][:-1]
    assert rows[0][-1] != rows[1][-1]
    chain = make_chain()
    assert int(chain.depths.max()) == TESTS
    assert SCHEMA.n_rows == len(rows[0])


@pytest.mark.parametrize("subject", QUERIES)
def test_every_query_can_be_asked_in_both_worlds(subject):
    for work in prepare(subject):
        assert work() is not None


def test_what_is_no_subject():
    with pytest.raises(ParameterError, match="no subject 'x'; there are: size"):
        prepare("x")
