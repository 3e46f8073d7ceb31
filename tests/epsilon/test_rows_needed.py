"""How many more rows the same accuracy needs, against quadratics solved by hand."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.epsilon.noise_on_counts import (
    Trial,
    epsilon_for_ratio,
    rows_for_share,
    rows_for_trial,
    variance,
)
from privet.errors import ParameterError

EPSILONS = st.floats(0.01, 10)
LN2 = math.log(2)


def test_the_trial_by_hand():
    """z = 1.959964 + 0.841621 = 2.801585; n0 = z^2 0.25 / 0.05^2 = 7.848880 * 100 = 784.888."""
    assert Trial().rows == pytest.approx((1.959964 + 0.841621) ** 2 * 0.25 / 0.0025, rel=1e-6)
    assert Trial().rows == pytest.approx(784.888, abs=1e-3)
    # share 0.1, difference 0.02, level 0.1, power 0.9: (1.644854 + 1.281552)^2 0.09 / 0.0004 =
    # 8.563852 * 225
    assert Trial("1/10", 0.02, 0.1, 0.9).rows == pytest.approx(8.563852 * 225, rel=1e-5)


def test_a_quadratic_by_hand():
    """Noise of variance 4 on a share of one half: n^2 - 12 n - 12 * 16 = 0 has the root 6 + sqrt(36
    + 192) = 21.0997.
    """
    found = rows_for_share(LN2, 12)
    assert (found.without, found.noisy) == (12, 22)
    assert found.ratio == pytest.approx((6 + math.sqrt(228)) / 12)


def test_the_trial_with_noise_by_hand():
    """n0 = 784.888, v = 4: n0/2 + sqrt(n0^2/4 + 16 n0) = 392.444 + sqrt(154012.2 + 12558.2) =
    800.574.
    """
    found = rows_for_trial(LN2)
    assert (found.without, found.noisy) == (785, 801)
    assert found.ratio == pytest.approx(800.574 / 784.888, abs=1e-5)


def test_continuous_noise_of_the_paper_is_nearly_the_same():
    """With 2/eps^2 in place of our variance: n0/2 (1 + sqrt(1 + 8 / (n0 p q eps^2)))."""
    n0, epsilon = Trial().rows, 0.1
    paper = n0 / 2 * (1 + math.sqrt(1 + 8 / (n0 * 0.25 * epsilon**2)))
    assert rows_for_trial(epsilon).noisy == pytest.approx(paper, abs=1)


@given(EPSILONS, st.integers(10, 10**6), st.floats(0.05, 0.95))
def test_the_variance_is_what_it_was_without_noise(epsilon, rows, share):
    n = rows * rows_for_share(epsilon, rows, share).ratio
    assert share * (1 - share) / n + variance(epsilon) / n**2 == pytest.approx(
        share * (1 - share) / rows
    )


def test_the_power_is_kept():
    """100,000 trials of 0.55 against 0.5 at epsilon 0.1 with the rows that are said: power 0.8, up
    to the normal approximation.
    """
    n = rows_for_trial(0.1).noisy
    generator = np.random.default_rng(7)
    p = math.exp(-0.1)
    # the difference of two is discrete Laplace
    noise = generator.geometric(1 - p, 100_000) - generator.geometric(1 - p, 100_000)
    seen = (generator.binomial(n, 0.55, 100_000) + noise) / n
    deviation = math.sqrt(0.25 / n + variance(0.1) / n**2)
    found = (np.abs(seen - 0.5) / deviation > NormalDist().inv_cdf(0.975)).mean()
    assert found == pytest.approx(0.8, abs=0.015)
    alone = (np.abs(seen - 0.5) / math.sqrt(0.25 / n) > NormalDist().inv_cdf(0.975)).mean()
    assert alone != pytest.approx(0.8, abs=0.015), "whoever forgets the noise has another power"


@given(EPSILONS, st.integers(1, 10**6), st.floats(1.05, 5))
def test_more_epsilon_needs_fewer_rows(epsilon, rows, times):
    few, many = rows_for_share(epsilon * times, rows), rows_for_share(epsilon, rows)
    assert rows <= few.noisy <= many.noisy
    assert 1 <= few.ratio <= many.ratio


@given(st.floats(0.02, 5), st.floats(10, 10**5), st.floats(0.1, 0.9))
def test_there_and_back(epsilon, rows, share):
    ratio = rows_for_share(epsilon, int(rows), share).ratio
    if ratio > 1.000001:
        assert epsilon_for_ratio(ratio, int(rows), share) == pytest.approx(epsilon, rel=1e-3)


def test_back_by_hand():
    """Twice 8 rows at one half is n0 v / (p q) = 2 n0^2, so v = 2 * 8 * 1/4 = 4, the noise of
    epsilon ln 2.
    """
    assert epsilon_for_ratio(2, 8) == pytest.approx(LN2)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: Trial(share=1), "share must be above 0 and below 1, got 1"),
        (lambda: Trial(difference=0), "difference must be above 0 and below 1, got 0"),
        (
            lambda: Trial(0.5, 0.6),
            r"difference must lead from the share 0\.5 to another share, got 0\.6",
        ),
        (lambda: Trial(level="x"), "level must be above 0 and below 1, got 'x'"),
        (lambda: Trial(level=0.1, power=0.1), r"power must be above the level, 0\.1, got 0\.1"),
        (lambda: rows_for_share(1, 0), "rows must be an integer of at least 1, got 0"),
        (lambda: rows_for_share(1, 10, 0), "share must be above 0 and below 1, got 0"),
        (lambda: epsilon_for_ratio(1, 10), "ratio must be above 1"),
        (lambda: rows_for_trial(-1), "epsilon must be a finite number above zero, got -1"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()
