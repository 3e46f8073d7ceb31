"""Where randomness comes from."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from privet.errors import ParameterError, PrivacyError
from privet.mechanisms.coins import MAX_DENOMINATOR, exp_coin, exp_coins, geometric
from privet.mechanisms.laplace import discrete_laplace
from privet.mechanisms.randomness import (
    SeededBits,
    SystemBits,
    uniform_below,
    uniform_int,
    unlock_test_seeds,
)


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(1)


def test_a_seed_is_refused_unless_unlocked():
    with pytest.raises(PrivacyError, match="unlock_test_seeds"):
        SeededBits(1)
    with unlock_test_seeds():
        assert SeededBits(1).private is False
    with pytest.raises(PrivacyError):
        SeededBits(1)
    assert SystemBits().private is True


@pytest.mark.parametrize("seed", [1.5, "1", None, True])
def test_a_seed_is_a_whole_number(seed):
    with unlock_test_seeds(), pytest.raises(ParameterError, match="seed"):
        SeededBits(seed)


def test_a_seed_repeats_itself_and_others_differ():
    with unlock_test_seeds():
        one, same, other = (discrete_laplace(SeededBits(seed), 100, F(5)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_the_system_source_does_not_repeat_itself():
    assert (SystemBits().words(8) != SystemBits().words(8)).all()


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 64, 1000, 2**40 + 1, 2**63])
def test_uniform_below(bits, bound):
    drawn = uniform_below(bits, np.full(20_000, bound, dtype=np.uint64))
    assert drawn.max() < bound
    bins = min(bound, 50)
    observed = np.bincount((drawn.astype(object) * bins // bound).astype(int), minlength=bins)
    expected = (
        [((i + 1) * bound - 1) // bins - (i * bound - 1) // bins for i in range(bins)]
        if bound > 50
        else [1] * bins
    )
    if bins > 1:
        assert (
            stats.chisquare(
                observed, np.array(expected, dtype=float) / sum(expected) * 20_000
            ).pvalue
            > 1e-6
        )


@given(st.integers(1, 2**200))
def test_uniform_int_stays_below_any_bound(bound):
    assert 0 <= uniform_int(SystemBits(), bound) < bound


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 1), (1, 1), (1, 3), (2**55, MAX_DENOMINATOR), (9, 10)]
)
def test_exp_coins(bits, numerator, denominator):
    heads = exp_coins(bits, np.full(40_000, numerator, dtype=np.uint64), denominator).sum()
    assert stats.binomtest(int(heads), 40_000, np.exp(-numerator / denominator)).pvalue > 1e-6


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(0, 5), (1, 2), (5, 2), (10**30, 3 * 10**30)]
)
def test_exp_coin(bits, numerator, denominator):
    heads = sum(exp_coin(bits, numerator, denominator) for _ in range(10_000))
    assert stats.binomtest(heads, 10_000, float(np.exp(-numerator / denominator))).pvalue > 1e-6


def test_geometric(bits):
    drawn = geometric(bits, 40_000)
    for w in range(4):
        assert stats.binomtest(int((drawn >= w).sum()), 40_000, float(np.exp(-w))).pvalue > 1e-6
