"""Shares of noise: one share follows its exact law, h of them add up to discrete Laplace noise, and
nothing 30% off passes.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import signal, stats

from privet.errors import ParameterError
from privet.mechanisms.laplace import magnitudes
from privet.mechanisms.randomness import SeededBits, SystemBits, unlock_test_seeds
from privet.mechanisms.shares import (
    MAX_SHARES,
    add_laplace_share,
    deviation_of_shares,
    laplace_share,
    negative_binomial,
)
from tests.conformance.check_mechanism import (
    ALPHA,
    SAMPLES,
    check_noise,
    choice_fit,
    fit,
    laplace_law,
)

LAWS = [
    (F(1, 3), 2),
    (F(1), 3),
    (F(10, 7), 5),
    (F(10), 2),
    (F(10), 16),
    (F(100), 16),
    (F(12345, 7), 4),
    (F(50), 1000),
]
SUMS = [(F(1, 3), 3), (F(10, 7), 2), (F(10), 16), (F(100), 5), (F(30_000), 3)]


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(2026)


def share_law(scale: float, part: float):
    """The law of X - Y with X, Y ~ NegBin(part, exp(-1/scale)), by convolution of the mass
    functions that SciPy has.
    """
    reach = int(60 * scale) + 60
    mass = stats.nbinom.pmf(np.arange(reach + 1), part, -math.expm1(-1 / scale))
    law = np.maximum(signal.fftconvolve(mass, mass[::-1]), 0)
    return lambda k: np.where(np.abs(k) <= reach, law[np.clip(k, -reach, reach) + reach], 0.0)


@pytest.mark.parametrize(("scale", "shares"), LAWS, ids=str)
def test_one_share_follows_its_law(bits, scale, shares):
    check_noise(
        lambda count: laplace_share(bits, count, scale, shares), share_law(float(scale), 1 / shares)
    )


@pytest.mark.parametrize("factor", [F(7, 10), F(13, 10)], ids=float)
@pytest.mark.parametrize(("scale", "shares"), LAWS[:-1], ids=str)
def test_a_share_of_a_scale_30_percent_off_is_rejected(bits, scale, shares, factor):
    with pytest.raises(AssertionError, match=r"follow its law|never occur"):
        check_noise(
            lambda count: laplace_share(bits, count, scale * factor, shares),
            share_law(float(scale), 1 / shares),
        )


@pytest.mark.parametrize(("scale", "shares"), LAWS[:-1], ids=str)
def test_a_share_of_other_parts_is_rejected(bits, scale, shares):
    """The test above must tell 1/h from 1.3/h as well: too few honest parties are too little
    noise.
    """
    with pytest.raises(AssertionError, match=r"follow its law|never occur"):
        check_noise(
            lambda count: laplace_share(bits, count, scale, shares),
            share_law(float(scale), 1.3 / shares),
        )


@pytest.mark.parametrize(("scale", "shares"), SUMS, ids=str)
def test_the_sum_is_discrete_laplace(bits, scale, shares):
    def total(count: int, scale: F = scale, parties: int = shares) -> np.ndarray:
        return sum(laplace_share(bits, count, scale, shares) for _ in range(parties))

    law = laplace_law(float(scale))
    check_noise(total, law)
    for factor in (F(7, 10), F(13, 10)):
        with pytest.raises(AssertionError, match=r"follow its law|never occur"):
            check_noise(lambda count, factor=factor: total(count, scale * factor), law, 20_000)
    with pytest.raises(AssertionError, match=r"follow its law|never occur"):
        check_noise(
            lambda count: total(count, parties=shares - 1), law, 20_000 if shares < 10 else SAMPLES
        )


def test_a_single_share_is_all_of_the_noise(bits):
    check_noise(lambda count: laplace_share(bits, count, F(10), 1), laplace_law(10))
    assert (negative_binomial(bits, 5000, F(10), 1) > 0).any()


def test_cycles_cover_the_permutation(bits, monkeypatch):
    """With one share every cycle is kept, so that the draw is the number of elements itself."""
    elements = magnitudes(bits, 1000, F(40))
    monkeypatch.setattr("privet.mechanisms.shares.magnitudes", lambda bits, count, scale: elements)
    assert negative_binomial(bits, 1000, F(40), 1).tolist() == elements.tolist()
    assert (negative_binomial(bits, 1000, F(40), 7) <= elements).all()


def test_the_part_of_a_fixed_number_of_elements(bits, monkeypatch):
    """Of a fixed number of elements the kept ones are beta-binomial(1/h, 1 - 1/h), the urn of
    Pólya.
    """
    n, h = 12, 3
    monkeypatch.setattr(
        "privet.mechanisms.shares.magnitudes", lambda bits, count, scale: np.full(count, n)
    )
    drawn = np.bincount(negative_binomial(bits, 60_000, F(1), h), minlength=n + 1)
    law = stats.betabinom.pmf(np.arange(n + 1), n, 1 / h, 1 - 1 / h)
    assert choice_fit(drawn, law) > ALPHA
    assert choice_fit(drawn, stats.betabinom.pmf(np.arange(n + 1), n, 1.3 / h, 1 - 1.3 / h)) < ALPHA


def test_shares_of_extreme_scales(bits):
    assert (laplace_share(bits, 1000, F(1, 1000), 3) == 0).all()
    wide = laplace_share(bits, 4000, F(1 << 40), 2)
    assert np.median(np.abs(wide)) > 1 << 36
    assert np.abs(wide).max() < 1 << 47
    thin = laplace_share(bits, 50_000, F(100), 1000)
    zero = share_law(100, 1 / 1000)(np.array([0]))[0]
    assert stats.binomtest(int((thin == 0).sum()), 50_000, zero).pvalue > ALPHA
    assert 0.98 < zero < 0.995
    assert laplace_share(bits, 0, F(1), 2).shape == (0,)


def test_more_draws_than_a_chunk(bits, monkeypatch):
    monkeypatch.setattr("privet.mechanisms.shares._CHUNK", 1000)
    check_noise(lambda count: laplace_share(bits, count, F(5), 2), share_law(5, 1 / 2))


def test_the_system_source_follows_the_law_too():
    assert fit(laplace_share(SystemBits(), SAMPLES, F(10), 4), share_law(10, 1 / 4)) > 1e-9


def test_shares_are_added_to_counts_of_any_shape(bits):
    counts = np.arange(6, dtype=np.int64).reshape(2, 3) * 1000
    noisy, cost = add_laplace_share(bits, counts, F(1, 2), sensitivity=5, shares=3)
    assert noisy.shape == counts.shape
    assert 0 < np.abs(noisy - counts).max() < 500
    assert cost.epsilon == F(1, 2)
    many, _ = add_laplace_share(bits, np.zeros(SAMPLES, np.int64), F(1, 2), sensitivity=5, shares=3)
    assert fit(many, share_law(10, 1 / 3)) > ALPHA


@pytest.mark.parametrize("shares", [0, -1, MAX_SHARES + 1, True, 2.0, "2", None])
def test_bad_shares(bits, shares):
    with pytest.raises(ParameterError, match="shares must be an integer from 1 to 10000, got"):
        laplace_share(bits, 1, F(1), shares)


@pytest.mark.parametrize("scale", [F(0), F(-1)])
def test_bad_scales(bits, scale):
    with pytest.raises(ParameterError, match="scale must be a positive fraction, got"):
        laplace_share(bits, 1, scale, 2)


@pytest.mark.parametrize(
    ("scale", "shares", "added"), [(F(10), 3, 3), (F(10), 3, 5), (F(1, 2), 2, 1)]
)
def test_the_deviation_of_a_sum(bits, scale, shares, added):
    total = sum(laplace_share(bits, SAMPLES, scale, shares) for _ in range(added))
    assert deviation_of_shares(scale, shares, added) == pytest.approx(total.std(), rel=0.05)
    one_curator = math.sqrt(
        np.sum(np.arange(-2000, 2001) ** 2 * laplace_law(float(scale))(np.arange(-2000, 2001)))
    )
    assert deviation_of_shares(scale, shares, shares) == pytest.approx(one_curator)
