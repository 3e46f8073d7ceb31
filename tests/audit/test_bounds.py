"""The bounds are those of SciPy, hold as often as they say, and turn the right way round."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from privet.audit.bounds import epsilon_at_least, epsilon_either_way, share_at_least, share_at_most
from privet.errors import ParameterError

counts = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.sampled_from([1e-6, 0.00025, 0.0005, 0.01, 0.3]))
def test_they_are_clopper_and_pearsons(seen, error):
    hits, runs = seen
    low = beta.ppf(error, hits, runs - hits + 1) if hits else 0.0
    high = beta.isf(error, hits + 1, runs - hits) if hits < runs else 1.0
    assert share_at_least(hits, runs, error) == pytest.approx(low, abs=1e-9)
    assert share_at_most(hits, runs, error) == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.731])
def test_a_bound_is_wrong_no_more_often_than_it_says(chance):
    """Over all outcomes of 60 runs, by their exact probabilities."""
    for error in (0.0005, 0.05):
        wrong_low = sum(
            binom.pmf(k, 60, chance) for k in range(61) if share_at_least(k, 60, error) > chance
        )
        wrong_high = sum(
            binom.pmf(k, 60, chance) for k in range(61) if share_at_most(k, 60, error) < chance
        )
        assert wrong_low <= error
        assert wrong_high <= error


def test_the_bound_on_epsilon_is_wrong_no_more_often_than_it_says():
    """Two worlds at exactly epsilon 1, 80 runs each, over all pairs of outcomes."""
    q = 0.2
    p = math.e * q
    one, other = [[binom.pmf(k, 80, chance) for k in range(81)] for chance in (p, q)]
    for confidence in (0.999, 0.8):
        for bound in (epsilon_at_least, epsilon_either_way):
            wrong = sum(
                one[i] * other[j]
                for i in range(20, 81)
                for j in range(45)
                if one[i] * other[j] > 1e-9 and bound(i, 80, j, 80, confidence=confidence) > 1
            )
            assert wrong <= 1 - confidence


@given(counts, counts, st.sampled_from([0.0, 0.01]))
def test_either_way_is_the_best_of_four_with_less_error_each(one, other, delta):
    (i, n), (j, m) = one, other
    ways = ((i, n, j, m), (j, m, i, n), (n - i, n, m - j, m), (m - j, m, n - i, n))
    best = max(epsilon_at_least(*way, delta=delta, confidence=0.9995) for way in ways)
    assert epsilon_either_way(i, n, j, m, delta=delta) == pytest.approx(best, abs=1e-6)


def test_delta_is_taken_off_the_likelier_chance():
    bound = epsilon_at_least(900, 1000, 100, 1000, delta=0.1)
    low, high = share_at_least(900, 1000, 0.0005), share_at_most(100, 1000, 0.0005)
    assert bound == pytest.approx(math.log((low - 0.1) / high))
    assert epsilon_at_least(100, 1000, 100, 1000, delta=0.1) == 0


def test_more_runs_tell_more_and_never_too_much():
    """4 of 5 against 1 of 5: ln 4 is where it goes."""
    bounds = [epsilon_at_least(4 * n, 5 * n, n, 5 * n) for n in (5, 20, 100, 1000)]
    assert bounds == sorted(bounds)
    assert 1.2 < bounds[-1] < math.log(4)
    assert epsilon_at_least(100, 100, 0, 100) < math.inf


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((5, 4, 0.01), "hits must be at most the number of runs"),
        ((-1, 4, 0.01), "hits must be an integer"),
        ((0, 0, 0.01), "runs must be an integer of at least 1"),
        ((1, 4, 0.0), "error must be a number above 0 and below 1"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, told):
    with pytest.raises(ParameterError, match=told):
        share_at_least(*arguments)
    with pytest.raises(ParameterError, match="delta must be"):
        epsilon_at_least(1, 2, 1, 2, delta=1.0)
    with pytest.raises(ParameterError, match="confidence must be"):
        epsilon_either_way(1, 2, 1, 2, confidence=1.0)
