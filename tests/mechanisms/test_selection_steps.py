"""The work of a private selection does not depend on the scores, and its rare paths are exact."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction as F

import numpy as np
import pytest

from privet.mechanisms.coins import draw_index, flip_each
from privet.mechanisms.selection import select
from tests.steps import count_steps

MECHANISMS = ["permute-and-flip", "exponential"]
SCORES = {
    "alike": [7] * 12,
    "one ahead": [8] + [7] * 11,
    "far apart": [1 << (3 * i) for i in range(12)],
    "one far behind": [-(1 << 60)] + [0] * 11,
}


class Words:
    """The same word again and again, and how many were drawn."""

    private = False

    def __init__(self, word: int) -> None:
        self.word, self.drawn = word, 0

    def words(self, count: int) -> np.ndarray:
        self.drawn += count
        return np.full(count, self.word, dtype=np.uint64)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("epsilon", [F(1, 10**6), F(1), F(100)])
def test_a_selection_takes_the_same_steps_whatever_the_scores(mechanism, epsilon):
    found = []
    for scores in SCORES.values():
        bits = Words(0x4D2F1A90C37B6E58)
        work = count_steps(lambda s=scores, b=bits: select(b, s, epsilon, 1, mechanism))
        found.append((frozenset(work.items()), bits.drawn))
    assert len(found[0][0]) > 12
    assert len(set(found)) == 1, [sum(n for _, n in work) for work, _ in found]


class Then:
    """One word, and after it others that are all the same."""

    private = False

    def __init__(self, first: int, others: int) -> None:
        self._first, self._others = first, others

    def words(self, count: int) -> np.ndarray:
        found = np.full(count, self._others, dtype=np.uint64)
        if self._first >= 0:
            found[0], self._first = self._first, -1
        return found


def threshold(chance: F) -> tuple[int, int]:
    """The first and the second word of a chance."""
    return divmod(int(chance * (1 << 128)), 1 << 64)


def power(gap: int) -> F:
    return F(Decimal(-gap).exp(Context(prec=80)))


@pytest.mark.parametrize("gap", [1, 3, 20, 40])
def test_a_coin_whose_word_is_at_the_threshold_is_decided_by_the_next_one(gap):
    first, second = threshold(power(gap))
    for word, heads in ((0, True), (second - 1, True), (second + 1, False), ((1 << 64) - 1, False)):
        assert flip_each(Then(first, word), [gap], F(1)) == [heads]
    # words that are close, where doubles do not tell
    assert flip_each(Then(first - 1, 0), [gap], F(1)) == [True]
    assert flip_each(Then(first + 1, 0), [gap], F(1)) == [False]


def test_a_draw_whose_word_is_at_an_edge_is_decided_by_the_next_one():
    gaps = [0, 1, 3]
    total = sum(map(power, gaps))
    for edge, share in ((0, power(0) / total), (1, (power(0) + power(1)) / total)):
        first, second = threshold(share)
        for word, index in ((second - 2, edge), (second + 2, edge + 1)):
            assert draw_index(Then(first, word), gaps, F(1)) == index
        assert draw_index(Then(first - 1, 0), gaps, F(1)) == edge
        assert draw_index(Then(first + 1, 0), gaps, F(1)) == edge + 1
