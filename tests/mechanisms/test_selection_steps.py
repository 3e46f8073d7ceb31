"""The work of a private selection does not depend on the scores, and its rare paths are exact."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest

from privet.mechanisms.coins import Powers
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
    select(Words(0), [0], epsilon, 1, mechanism)  # makes the powers of this epsilon
    found = []
    for scores in SCORES.values():
        bits = Words(0x4D2F1A90C37B6E58)
        work = count_steps(lambda s=scores, b=bits: select(b, s, epsilon, 1, mechanism), "coins")
        # lines that return say which way it went, not how long it took
        found.append((sum(n for n in work.values() if n > 12), bits.drawn))
    assert found[0][0] > 12 * 16
    assert len(set(found)) == 1, dict(zip(SCORES, found, strict=True))


@pytest.mark.parametrize("gap", [0, 1, 5, 15, 16, 255, 1 << 20, (1 << 64) - 1])
@pytest.mark.parametrize("rate", [F(1, 10**6), F(1, 3), F(1), F(1000), F(1, (1 << 21) + 2)])
def test_powers_are_good_to_more_than_sixty_bits(gap, rate):
    exact = math.exp(-float(gap * rate)) if gap * rate < 700 else 0.0
    found = Powers.of(rate).at(gap) / 2**192
    assert found == pytest.approx(exact, rel=1e-12, abs=2.0**-180)


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


def test_a_coin_whose_word_is_at_the_threshold_is_decided_by_the_next_one():
    powers = Powers.of(F(1))
    first, rest = divmod(powers.at(1) >> 64, 1 << 64)
    assert powers.flip(Then(first, 0), 1)
    assert powers.flip(Then(first, rest - 1), 1)
    assert not powers.flip(Then(first, rest + 1), 1)
    assert not powers.flip(Then(first, (1 << 64) - 1), 1)


def test_a_draw_whose_word_is_at_an_edge_is_decided_by_the_next_one():
    powers = Powers.of(F(1))
    gaps = [0, 1, 3]
    sums = np.cumsum([powers.at(gap) for gap in gaps]).tolist()
    for edge in (0, 1):
        first, rest = divmod((sums[edge] << 128) // sums[-1], 1 << 64)
        assert powers.draw(Then(first, rest - 2), gaps) == edge
        assert powers.draw(Then(first, rest + 2), gaps) == edge + 1
