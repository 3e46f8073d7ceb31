"""The noise of SQL: exact, from a cryptographic source, in a time that tells nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


#: The bits are those of the server, and not ours to choose: a right sampler fails one of these 17
#: tests in one run of six million.
ALPHA = 1e-8


@pytest.fixture(scope="module")
def inside(place):
    """A column of values from one of the inner functions."""
    with place.connect() as connection:
        yield lambda call, count: [
            row[0]
            for row in connection.execute(f"SELECT privet.{call} FROM generate_series(1, {count})")
        ]


def law(k, scale):
    """The discrete Laplace law: Pr[k] proportional to exp(-|k| / scale)."""
    ratio = math.exp(-1 / float(scale))
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def fits(draws, scale):
    """The p-value of the draws under this scale (chi-square; tails are one cell each)."""
    reach = next(k for k in range(10**6) if len(draws) * law(k, scale) < 40)
    seen = Counter(max(-reach, min(reach, int(draw))) for draw in draws)
    expected = np.array([law(k, scale) for k in range(-reach + 1, reach)])
    tail = (1 - expected.sum()) / 2
    observed = [seen[k] for k in range(-reach, reach + 1)]
    return stats.chisquare(observed, len(draws) * np.array([tail, *expected, tail])).pvalue


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3/2", "7/40", "4"])
def test_the_law_is_discrete_laplace_and_none_that_is_30_percent_off(inside, epsilon):
    # of a scale 30% off, the statistic is 7 deviations above what rejects it
    draws = inside(f"discrete_laplace('{epsilon}')", 6_000)
    scale = 1 / F(epsilon)
    assert fits(draws, scale) > ALPHA
    assert fits(draws, scale * F(13, 10)) < ALPHA
    assert fits(draws, scale * F(7, 10)) < ALPHA


def test_large_scales_have_the_right_spread(inside):
    """With a small epsilon of many digits: |k| epsilon is about exponential."""
    epsilon = F("0.00000123456789012345678901234567890123456789")
    draws = np.array(
        [
            float(draw * epsilon.numerator / epsilon.denominator)
            for draw in map(int, inside(f"discrete_laplace('{epsilon}')", 3000))
        ]
    )
    assert stats.kstest(np.abs(draws), stats.expon.cdf).pvalue > ALPHA
    assert stats.kstest(np.abs(draws) * 1.3, stats.expon.cdf).pvalue < ALPHA
    assert abs((draws > 0).mean() - 0.5) < 0.05


def test_all_random_bits_are_random(inside):
    words = [int(word) for word in inside("random_bits()", 4000)]
    ones = np.array([[word >> bit & 1 for bit in range(104)] for word in words]).sum(axis=0)
    assert max(words) < 2**104
    # a fixed bit of the UUID would be all or nothing
    assert (np.abs(ones - 2000) < 6 * math.sqrt(1000)).all()
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10])
def test_small_integers_are_uniform(inside, n):
    seen = Counter(int(drawn) for drawn in inside(f"uniform_below({n})", 4000))
    assert set(seen) == set(range(n))
    if n > 1:
        assert stats.chisquare([seen[k] for k in range(n)]).pvalue > ALPHA


@pytest.mark.parametrize("n", [2**104, 2**104 + 1, 10**60, 3 * 2**102])
def test_large_integers_are_uniform(inside, n):
    """Three quarters of 2**104 shows a missing rejection: the lower half would come twice as
    often.
    """
    drawn = np.array([int(draw) / n for draw in inside(f"uniform_below({n})", 4000)])
    assert stats.kstest(drawn, stats.uniform.cdf).pvalue > ALPHA


@pytest.mark.parametrize("ratio", ["0", "1/3", "1"])
def test_coins_have_their_probability(inside, ratio):
    heads = sum(inside(f"exp_coin({F(ratio).numerator}, {F(ratio).denominator})", 6000))
    assert stats.binomtest(heads, 6000, math.exp(-F(ratio))).pvalue > ALPHA


def test_the_algorithm_follows_its_bits_as_the_paper_says(postgres):
    """With bits of our own the draws are those of a second implementation, one by one."""
    from tests.service.sql.conftest import place_on

    place = place_on(postgres)
    rng = np.random.default_rng(5)
    words = [int.from_bytes(rng.bytes(13), "big") for _ in range(6000)]
    with place.connect() as connection:
        connection.execute(
            "CREATE TABLE privet.words (place serial, word numeric); CREATE SEQUENCE "
            "privet.next_word"
        )
        connection.cursor().executemany(
            "INSERT INTO privet.words (word) VALUES (%s)", [(word,) for word in words]
        )
        connection.execute(
            "CREATE OR REPLACE FUNCTION privet.random_bits() RETURNS numeric LANGUAGE plpgsql AS "
            "$$ DECLARE the bigint; BEGIN the := nextval('privet.next_word'); RETURN (SELECT word "
            "FROM privet.words WHERE place = the); END $$"
        )
        source = iter(words)
        for epsilon in (F(1, 2), F(3, 7), F(5), F(1, 10**40 + 7)):
            for _ in range(60):
                drawn = connection.execute(
                    "SELECT privet.discrete_laplace(%s)", (str(epsilon),)
                ).fetchone()[0]
                assert int(drawn) == paper(source, epsilon.denominator, epsilon.numerator)
    place.ledger.close()


def paper(source, t, s):
    """Canonne, Kamath and Steinke 2020, algorithm 2, for the scale t/s."""

    def below(n):
        while True:
            drawn, possible = 0, 1
            while possible < n:
                drawn, possible = (drawn << 104) + next(source), possible << 104
            if drawn < possible // n * n:
                return drawn % n

    def coin(numerator, denominator):
        k = 1
        while below(denominator * k) < numerator:
            k += 1
        return k % 2 == 1

    while True:
        u = below(t)
        if not coin(u, t):
            continue
        v = 0
        while coin(1, 1):
            v += 1
        magnitude = (u + t * v) // s
        negative = below(2) == 1
        if magnitude or not negative:
            return -magnitude if negative else magnitude


def test_the_time_of_a_draw_says_nothing_about_it(place):
    with place.connect() as connection:
        connection.execute("SELECT privet.noise('1/2')")
        for _ in range(5):
            start = time.perf_counter()
            connection.execute("SELECT privet.noise('1/2')")
            assert time.perf_counter() - start >= 0.0095
