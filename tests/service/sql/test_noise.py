"""The noise of SQL: exact, from a cryptographic source, in a time that tells nothing."""

from __future__ import annotations

import math
import time
from collections import Counter
from decimal import Decimal, localcontext
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


def draw(place, epsilon, n):
    return place.sql("SELECT privet.many_laplace(%s, %s)", (str(epsilon), n))[0][0]


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3/2", "7/40", "4", "1/300"])
def test_the_law_is_discrete_laplace_and_none_that_is_30_percent_off(place, epsilon):
    # of a scale 30% off, the statistic is far above what rejects it
    draws = draw(place, epsilon, 40_000)
    scale = 1 / F(epsilon)
    assert fits(draws, scale) > ALPHA
    assert fits(draws, scale * F(13, 10)) < ALPHA
    assert fits(draws, scale * F(7, 10)) < ALPHA


def test_large_scales_have_the_right_spread(place):
    """With a small epsilon of many digits: |k| epsilon is about exponential."""
    epsilon = F("0.00000123456789012345678901234567890123456789")
    draws = np.array(draw(place, epsilon, 20_000)) * float(epsilon)
    assert stats.kstest(np.abs(draws), stats.expon.cdf).pvalue > ALPHA
    assert stats.kstest(np.abs(draws) * 1.3, stats.expon.cdf).pvalue < ALPHA
    assert abs((draws > 0).mean() - 0.5) < 0.03
    assert len(set(draws)) > 19_000


def test_a_huge_epsilon_has_hardly_any_noise(place):
    assert set(draw(place, 10**30, 500)) == {0}
    assert draw(place, 1, 0) == []


def test_all_random_bits_are_random(inside):
    words = [int(word) for word in inside("random_bits()", 4000)]
    ones = np.array([[word >> bit & 1 for bit in range(104)] for word in words]).sum(axis=0)
    assert max(words) < 2**104
    # a fixed bit of the UUID would be all or nothing
    assert (np.abs(ones - 2000) < 6 * math.sqrt(1000)).all()
    assert len(set(words)) == len(words)


def exact_power(ratio, times):
    """exp(-ratio * times) with many digits."""
    with localcontext() as context:
        context.prec = 400
        return (-Decimal(ratio.numerator) / ratio.denominator * times).exp()


@pytest.mark.parametrize(
    "ratio", [F(1, 2), F(4), F(1, 10**11), F(127), F(256), F(500), F(10**40, 10**41 + 7)]
)
@pytest.mark.parametrize("bits", [48, 152, 800])
def test_thresholds_are_those_of_the_law(place, ratio, bits):
    ((powers,),) = place.sql("SELECT privet.powers(%s, %s)", (str(ratio), bits))
    assert len(powers) == 256
    with localcontext() as context:
        context.prec = 400
        for times in (1, 2, 3, 17, 255, 256):
            assert abs(powers[times - 1] - exact_power(ratio, times) * 2**bits) < 1
        for last in (False, True):
            ((law,),) = place.sql("SELECT privet.digit_law(%s, %s, %s)", (str(ratio), last, bits))
            assert len(law) == 255 + last
            whole = 1 if last else 1 - exact_power(ratio, 256)
            for below in (1, 2, 100, 255):
                meant = (1 - exact_power(ratio, below)) / whole
                assert abs(law[below - 1] - meant * 2**bits) < 2


@pytest.fixture
def fixed_bits(postgres):
    """A place whose further bits are given, and how to give them."""
    from tests.service.sql.conftest import place_on

    place = place_on(postgres)

    def give(word):
        place.sql(
            "CREATE OR REPLACE FUNCTION privet.random_bits() RETURNS numeric LANGUAGE sql AS "
            f"'SELECT {word}::numeric'"
        )

    yield place, give
    place.ledger.close()


@pytest.mark.parametrize("last", [False, True])
def test_a_word_beside_a_threshold_is_decided_by_further_bits(fixed_bits, last):
    """The digit is how many thresholds of the exact law are at most the whole word."""
    place, give = fixed_bits
    ratio = F(3, 40)
    ((law,),) = place.sql("SELECT privet.digit_law(%s, %s, 48)", (str(ratio), last))
    seen = set()
    with localcontext() as context:
        context.prec = 200
        whole = 1 if last else 1 - exact_power(ratio, 256)
        for digit in (1, 2, 50):
            meant = (1 - exact_power(ratio, digit)) / whole * 2**48
            for further in (0, 2**103, int((meant % 1) * 2**104) - 9, 2**104 - 1):
                give(further)
                ((drawn,),) = place.sql(
                    "SELECT privet.digit_exactly(%s, 48, %s, %s)",
                    (law[digit - 1], str(ratio), last),
                )
                word = law[digit - 1] + Decimal(further) / 2**104
                assert drawn == (digit if word >= meant else digit - 1)
                seen.add(drawn - digit)
    assert seen == {0, -1}


def test_a_coin_beside_its_threshold_is_decided_by_further_bits(fixed_bits):
    place, give = fixed_bits
    ((powers,),) = place.sql("SELECT privet.powers('1/3', 48)")
    with localcontext() as context:
        context.prec = 200
        part = int((exact_power(F(1, 3), 2) * 2**48 % 1) * 2**104)
    for further, heads in ((part - 9, True), (part + 9, False)):
        give(further)
        assert place.sql("SELECT privet.coin_exactly(%s, 48, '1/3', 2)", (powers[1],)) == [(heads,)]


def test_the_last_digit_may_be_256_or_more(fixed_bits):
    """A geometric number that is beyond the last place goes on as a new one."""
    place, _ = fixed_bits
    with place.connect() as connection:
        connection.execute("CREATE SEQUENCE privet.turn")
        connection.execute(
            "CREATE OR REPLACE FUNCTION privet.random_bits() RETURNS numeric LANGUAGE sql AS "
            "'SELECT CASE WHEN nextval(''privet.turn'') < 3 THEN power(2::numeric, 104) - 1 "
            "ELSE 0 END'"
        )
        ((drawn,),) = connection.execute(
            "SELECT privet.digit_exactly(power(2::numeric, 48) - 1, 48, '1/2', true)"
        ).fetchall()
    assert drawn == 256


@pytest.mark.parametrize(
    ("gap", "ratio"),
    [(1, F(1, 2)), (300, F(1, 200)), (0, F(1)), (2**31, F(1, 2**31)), (2**52 + 255, F(1, 2**52))],
)
def test_candidates_are_chosen_as_by_permute_and_flip(place, gap, ratio):
    """Of two, the worse one is chosen with probability exp(-epsilon gap / range) / 2."""
    epsilon, n = ratio * 3, 12_000
    ((chosen,),) = place.sql(
        "SELECT privet.choose_candidates(array_agg(c), array_agg(s::bigint), %s, 3) FROM (SELECT "
        "(i - 1) / 2 AS c, CASE i %% 2 WHEN 0 THEN -70000 ELSE -70000 - %s::bigint END AS s "
        "FROM generate_series(1, %s) AS i) AS x",
        (str(epsilon), gap, 2 * n),
    )
    assert len(chosen) == n
    worse = sum(1 for index in chosen if index == 0)
    share = math.exp(-gap * ratio) / 2
    assert stats.binomtest(worse, n, share).pvalue > ALPHA
    assert gap == 0 or stats.binomtest(worse, n, min(share * 1.3, 1)).pvalue < ALPHA


@pytest.mark.parametrize("gap", [0, 10**6])
def test_how_many_candidates_are_taken_is_not_seen_on_disk(place, gap):
    """Half of them are taken in one case, all in the other; an ask that is rolled back is free."""
    with place.connect() as connection:
        connection.execute("SET work_mem = '64kB'")
        ((plan,),) = connection.execute(
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT json) SELECT privet.choose_candidates("
            "array_fill(0, ARRAY[16000]), array_fill(0::bigint, ARRAY[8000]) || "
            "array_fill(%s::bigint, ARRAY[8000]), '1', 1)",
            (-gap,),
        )
    assert plan[0]["Plan"]["Temp Written Blocks"] == 0


def test_the_time_of_a_draw_says_nothing_about_it(place):
    with place.connect() as connection:
        connection.execute("SELECT privet.noise('1/2', 1)")
        for _ in range(5):
            start = time.perf_counter()
            connection.execute("SELECT privet.noise('1/2', 1)")
            assert time.perf_counter() - start >= 0.0095
