"""The doors to chance that the other tests here replace: every word leads where it should."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction as F
from itertools import permutations, product

import numpy as np
import pytest

from privet.mechanisms.laplace import random_signs
from privet.mechanisms.randomness import uniform_below, uniform_int, uniform_order
from tests.exact.bounds import exp_bounds
from tests.exact.enumeration import Law, law_of

REJECTED = "rejected"


class Out(Exception):
    """More words were asked for."""


class Once:
    """So many words, and no more."""

    private = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> np.ndarray:
        if len(self._words) < count:
            raise Out
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize("garbage", [0, 0xDEADBEEF << 32])
@pytest.mark.parametrize("bound", [*range(1, 18), 31, 32, 33])
def test_integers_below_a_bound_are_uniform(bound, garbage):
    """Of the words that differ in the bits that count, one leads to each integer, and the others
    are rejected and drawn again.
    """
    draws = {
        "one": lambda bits: uniform_int(bits, bound),
        "several": lambda bits: int(uniform_below(bits, np.array([bound], dtype=np.uint64))[0]),
    }
    length = (bound - 1).bit_length()
    for draw in draws.values():
        seen: Counter = Counter()
        for low in range(1 << length):
            try:
                seen[draw(Once(low | garbage))] += 1
            except Out:
                seen[REJECTED] += 1
                assert draw(Once(low | garbage, 0, 0)) == 0  # the next word decides
        assert seen == {
            **dict.fromkeys(range(bound), 1),
            **({REJECTED: (1 << length) - bound} if bound < 1 << length else {}),
        }


def test_integers_of_several_words_use_all_of_them():
    high = 1 << 100
    words = [(high - 2) & (2**64 - 1), (high - 2) >> 64]
    assert uniform_int(Once(*words), high - 1) == high - 2
    with pytest.raises(Out):
        uniform_int(Once((high - 1) & (2**64 - 1), (high - 1) >> 64), high - 1)


@pytest.mark.parametrize("count", range(5))
def test_orders_are_uniform(count):
    """Of all words of two bits, as many lead to each order; where two are equal they are drawn
    again.
    """
    seen: Counter = Counter()
    for words in product(range(4), repeat=count if count > 1 else 0):
        try:
            seen[tuple(uniform_order(Once(*words), count).tolist())] += 1
        except Out:
            seen[REJECTED] += 1
            assert len(set(words)) < count
            # the next words decide
            assert uniform_order(Once(*words, *range(count)), count).tolist() == list(range(count))
    del seen[REJECTED]
    assert seen == dict.fromkeys(
        permutations(range(count)), math.comb(4, count) if count > 1 else 1
    )


def test_every_bit_is_a_sign():
    for bit in range(64):
        assert random_signs(Once(1 << bit), 64).sum() == 1
    together = sum(random_signs(Once(1 << bit), 64).astype(int) for bit in range(64))
    assert (together == 1).all()


# -- and what replaces them ------------------------------------------------------------------------


def test_enumerated_laws_are_exact_where_nothing_is_given_up():
    die = law_of(lambda bits: 1 + sum(int(word & 1) << i for i, word in enumerate(bits.words(3))))
    assert die == Law({i: F(1, 8) for i in range(1, 9)}, F(0))


def test_comparisons_narrow_a_number():
    def sampler(bits):
        (word,) = bits.words(1)
        first = word < 3 << 62
        return first, bool(word < 1 << 63), bool(word >= 1 << 63), word == 5

    five = F(1, 1 << 64)
    quarters = {(True, False, True, False): F(1, 4), (False, False, True, False): F(1, 4)}
    assert law_of(sampler) == Law(
        {(True, True, False, True): five, (True, True, False, False): F(1, 2) - five, **quarters},
        F(0),
    )


@pytest.mark.parametrize("x", [F(-4), F(-1), F(-1, 3), F(0), F(1, 10), F(1), F(4)])
def test_exp_is_between_its_bounds(x):
    low, high = exp_bounds(x)
    assert low <= high <= low + F(1, 10**20)
    assert math.isclose(float(low), math.exp(x), rel_tol=1e-15)
