"""Whole numbers pass through Flower's own SecAgg+ exactly, with and without drop-outs, and one step
too far fails loudly.
"""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.errors import ParameterError
from privet.federation.flower.encoding import MAX_PARTIES, MODULUS, Encoding
from privet.mechanisms.randomness import SystemBits
from privet.mechanisms.shares import laplace_share
from tests.federation.flower.loop import secure_sum


def summed(vectors, threshold=2, drops=None):
    encoding = Encoding(len(vectors))
    mean, contributions, _ = secure_sum(
        [encoding.encode(vector) for vector in vectors], encoding, threshold, drops
    )
    return None if mean is None else encoding.decode(mean, contributions).tolist()


@st.composite
def parties_of_integers(draw):
    parties, length = draw(st.integers(2, 7)), draw(st.integers(1, 6))
    limit = Encoding(parties).limit
    numbers = st.one_of(
        st.integers(-limit, limit),
        st.sampled_from([-limit, limit, 0, 1, -1, limit - 1]),
        st.integers(-50, 50),
    )
    return [
        np.array(draw(st.lists(numbers, min_size=length, max_size=length)), dtype=np.int64)
        for _ in range(parties)
    ]


@given(parties_of_integers())
@settings(max_examples=12)
def test_the_sum_is_exact(vectors):
    assert summed(vectors) == sum(vectors).tolist()


@given(parties_of_integers(), st.data())
@settings(max_examples=12)
def test_the_sum_is_exact_when_parties_drop_out(vectors, data):
    """Whoever is silent when vectors are collected is not in the sum; whoever is silent afterwards
    is.
    """
    gone = data.draw(st.integers(0, len(vectors) - 2))
    stages = {
        i: data.draw(st.sampled_from(["collect_masked_vectors", "unmask"])) for i in range(gone)
    }
    there = [
        vector for i, vector in enumerate(vectors) if stages.get(i) != "collect_masked_vectors"
    ]
    assert summed(vectors, 2, stages) == sum(there).tolist()


@pytest.mark.parametrize("parties", [2, 3, 16])
def test_the_ends_of_the_range_do_not_wrap_around(parties):
    limit = Encoding(parties).limit
    vectors = [np.array([limit, -limit, limit if i % 2 else -limit]) for i in range(parties)]
    assert summed(vectors) == [parties * limit, -parties * limit, limit * -(parties % 2)]


def test_one_step_outside_is_refused():
    """Flower itself would clip in silence, so it is refused before; nothing says which number it
    was.
    """
    encoding = Encoding(3)
    for beyond in (encoding.limit + 1, -encoding.limit - 1):
        with pytest.raises(ParameterError, match=rf"within \+-{encoding.limit}$"):
            encoding.encode(np.array([0, beyond]))
        assert encoding.encode(encoding.clip(np.array([0, beyond]))).tolist() == [
            0,
            math.copysign(encoding.limit, beyond),
        ]
    zeros = np.zeros(1)
    mean, contributions, _ = secure_sum(
        [np.array([encoding.limit + 1.0]), zeros, zeros], encoding, 2
    )
    assert encoding.decode(mean, contributions).tolist() == [encoding.limit]


@pytest.mark.parametrize("parties", [2, 3, 4, 5, 7, 8, 9, 16, 100])
def test_the_limit_is_the_largest_that_fits(parties):
    limit = Encoding(parties).limit
    assert parties * 2 * limit < MODULUS
    assert limit == 1 << 29 or parties * 4 * limit >= MODULUS
    assert 2 * limit < 1 << 31


def test_too_wide_a_range_would_wrap_around():
    """The bound is needed: with the range of fewer parties the sum is wrong, and decoding says
    so.
    """
    encoding = Encoding(3)
    vectors = [np.array([float(encoding.limit)])] * 5
    with np.errstate(over="ignore"):
        mean, contributions, _ = secure_sum(vectors, encoding, 2)
    with pytest.raises(ParameterError):
        encoding.decode(mean, contributions)


def test_fractions_are_not_exact_and_not_taken_for_sums():
    encoding = Encoding(2)
    with pytest.raises(ParameterError, match="no sum of integers"):
        encoding.decode(np.array([0.25]), 2)
    with pytest.raises(ParameterError, match="no sum of integers"):
        encoding.decode(np.array([np.nan]), 2)
    with pytest.raises(ParameterError, match="contributions must be from 1 to 2, got 3"):
        encoding.decode(np.array([0.0]), 3)


def test_with_too_few_parties_there_is_no_sum():
    vectors = [np.array([i]) for i in range(4)]
    assert summed(vectors, 3) == [6]
    assert summed(vectors, 3, {0: "collect_masked_vectors", 1: "collect_masked_vectors"}) is None
    assert summed(vectors, 3, {0: "unmask", 1: "unmask"}) is None
    assert summed(vectors, 3, {0: "share_keys"}) is None, (
        "this version cannot go on without a party that never shared its keys"
    )


def test_noise_that_might_not_fit_is_refused():
    encoding = Encoding(16)
    edge = F(encoding.rows, math.ceil(math.log(2 * 25_000) + 40 * math.log(2)))
    encoding.check_noise(edge, 25_000)
    with pytest.raises(
        ParameterError,
        match=r"epsilon must be larger or trees fewer: noise of scale .* on 25000 numbers",
    ):
        encoding.check_noise(edge * F(11, 10), 25_000)
    assert np.abs(laplace_share(SystemBits(), 25_000, edge, 2)).max() < encoding.rows


@pytest.mark.parametrize("parties", [1, 0, True, 2.0, MAX_PARTIES + 1])
def test_bad_numbers_of_parties(parties):
    with pytest.raises(ParameterError, match="parties must be an integer from 2 to 100, got"):
        Encoding(parties)
