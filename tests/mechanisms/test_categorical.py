"""One outcome out of several, exactly: the law, and the decisions that 64 bits and doubles cannot
make.
"""

from __future__ import annotations

from collections import Counter
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.mechanisms.gibbs import draw as categorical
from privet.mechanisms.gibbs.draw import _draw_with_more_bits, exact_draw
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from tests.conformance.check_mechanism import ALPHA, choice_fit

PRECISE = Context(prec=300, Emin=MIN_EMIN, Emax=MAX_EMAX)


class Words:
    """Bits that are known beforehand."""

    private = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)
        self.used = 0

    def words(self, count: int) -> np.ndarray:
        taken = [self._words[self.used + i] for i in range(count)]
        self.used += count
        return np.array(taken, dtype=np.uint64)


def edges(whole, unit, rest) -> list[Decimal]:
    """Where each outcome ends in the unit interval, to 300 digits."""
    with localcontext(PRECISE):
        weights = [
            (Decimal(unit) * int(w) + Decimal(float(r))).exp()
            for w, r in zip(whole, rest, strict=True)
        ]
        total = sum(weights)
        return [sum(weights[: i + 1]) / total for i in range(len(weights) - 1)] + [Decimal(1)]


def draw(bits, whole, unit, rest) -> int:
    return exact_draw(bits, np.array(whole, dtype=np.int64), unit, np.array(rest, dtype=float))


def words_at(edge: Decimal, n_words: int, after: int = 0) -> list[int]:
    """The first words of the binary fraction of an edge, moved by some units of the last of
    them.
    """
    with localcontext(PRECISE):
        number = int(edge * 2 ** (64 * n_words)) + after
    return [(number >> (64 * (n_words - 1 - i))) & (2**64 - 1) for i in range(n_words)]


WHOLE, UNIT, REST = [0, 3, 3, -2, 1], 0.4, [0.1, -1.0, -2.5, 1.0, 0.0]


@pytest.fixture(scope="module")
def observed() -> list[int]:
    with unlock_test_seeds():
        bits = SeededBits(3)
        seen = Counter(draw(bits, WHOLE, UNIT, REST) for _ in range(30_000))
    return [seen[i] for i in range(len(WHOLE))]


def chances(unit: float) -> np.ndarray:
    return np.diff([0.0, *map(float, edges(WHOLE, unit, REST))])


def test_outcomes_follow_the_law(observed):
    assert choice_fit(observed, chances(UNIT)) > ALPHA


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_a_unit_that_is_off_is_rejected(observed, factor):
    assert choice_fit(observed, chances(UNIT * factor)) < ALPHA


@given(
    st.lists(st.tuples(st.integers(-20, 20), st.floats(-30, 30)), min_size=1, max_size=8),
    st.sampled_from([2.0**-16, 0.1, 1.0]),
    st.lists(st.integers(0, 2**64 - 1), min_size=3, max_size=3),
)
def test_any_words_decide_as_exact_arithmetic_does(pairs, unit, words):
    whole, rest = zip(*pairs, strict=True)
    words = [*words, 0x9E3779B97F4A7C15, 0]  # the three could be an edge themselves
    number = Decimal(sum(word << 64 * (4 - i) for i, word in enumerate(words)))
    with localcontext(PRECISE):
        expected = sum(edge <= number / 2**320 for edge in edges(whole, unit, rest)[:-1])
    assert draw(Words(*words), whole, unit, rest) == expected


@pytest.mark.parametrize("edge", range(len(WHOLE) - 1))
@pytest.mark.parametrize("n_words", [1, 2, 3])
def test_words_at_an_edge_are_decided_by_the_next_ones(edge, n_words):
    """U agrees with an edge in all words but the last; one unit there puts it on either side.
    Nothing is decided sooner.
    """
    border = edges(WHOLE, UNIT, REST)[edge]
    for after, outcome in ((-3, edge), (3, edge + 1)):
        bits = Words(*words_at(border, n_words, after), 2**63, 2**63)
        assert draw(bits, WHOLE, UNIT, REST) == outcome
        assert bits.used >= n_words


def test_an_edge_to_the_last_of_64_bits_needs_more():
    border = words_at(edges(WHOLE, UNIT, REST)[1], 1)
    low, high = Words(*border, 0, 0), Words(*border, 2**64 - 1, 2**64 - 1)
    assert (draw(low, WHOLE, UNIT, REST), draw(high, WHOLE, UNIT, REST)) == (1, 2)
    assert low.used == high.used == 2


def test_the_default_precision_of_decimals_does_not_leak_in():
    """U is 10**-35 beside an edge, beyond the 28 digits that decimals have by themselves."""
    border = edges(WHOLE, UNIT, REST)[2]
    for sign, outcome in ((-1, 2), (1, 3)):
        with localcontext(PRECISE):
            words = words_at(border + sign * Decimal(10) ** -35, 3)
        assert draw(Words(*words, 0), WHOLE, UNIT, REST) == outcome


def test_doubles_and_decimals_agree(monkeypatch):
    """The slow path alone gives the outcomes of both together, from the same bits."""
    with unlock_test_seeds():
        both = [draw(SeededBits(seed), WHOLE, UNIT, REST) for seed in range(300)]
        monkeypatch.setattr(categorical, "DOUBLE_ERROR", 1.0)  # nothing is clear any more
        slow = [draw(SeededBits(seed), WHOLE, UNIT, REST) for seed in range(300)]
    assert both == slow
    assert len(set(both)) > 3


def test_few_draws_need_decimals(monkeypatch):
    asked = []
    monkeypatch.setattr(
        categorical, "_draw_with_more_bits", lambda *given: asked.append(given) or 0
    )
    with unlock_test_seeds():
        bits = SeededBits(4)
        for _ in range(2000):
            draw(bits, WHOLE, UNIT, REST)
    assert not asked


@pytest.mark.parametrize("far", [-(10**6), -(10**12), -(2**60)])
def test_an_outcome_that_is_far_behind(far):
    """Its chance is no double, but it has one: right at the edge, everything waits for enough
    bits.
    """
    assert draw(Words(2**63, 0, 0, 1), [0, far, 0], 1.0, [0.0, 0.0, 0.0]) == 2
    assert draw(Words(2**63 - 2**30), [0, far, 0], 1.0, [0.0, 0.0, 0.0]) == 0
    assert draw(Words(2**63 + 2**30), [0, far, 0], 1.0, [0.0, 0.0, 0.0]) == 2
    assert draw(Words(2**64 - 2**30), [0, far], 1.0, [0.0, 0.0]) == 0


def test_the_product_is_not_rounded():
    """0.1 x 10**15 and 0.1 x (10**15 + 1) differ by 0.1, although both exceed what a double can
    tell apart by its rounding.
    """
    unit, base = 0.1, 10**15
    law = edges([base, base + 1], unit, [0.0, -0.1])
    one = Words(*words_at(law[0], 1, -(2**20)))
    other = Words(*words_at(law[0], 1, 2**20))
    assert (
        draw(one, [base, base + 1], unit, [0.0, -0.1]),
        draw(other, [base, base + 1], unit, [0.0, -0.1]),
    ) == (0, 1)


def test_ties_and_one_outcome():
    assert [draw(Words(word), [5, 5], 0.3, [1.0, 1.0]) for word in (2**62, 3 * 2**62)] == [0, 1]
    assert [draw(Words(word, 0), [7], 0.3, [-2.0]) for word in (0, 2**63, 2**64 - 1)] == [0, 0, 0]
    # U = 1/2 exactly is the first point of the second of two alike.
    assert draw(Words(2**63, 0, 0, 0, 1), [5, 5], 0.3, [1.0, 1.0]) == 1


def test_large_rests_leave_the_decision_to_decimals():
    """Rests of 10**9 with a difference of 1: doubles could not place U to 64 bits, and do not
    try.
    """
    rest = [1e9, 1e9 - 1.0]
    border = edges([0, 0], 1.0, rest)[0]
    assert [
        draw(Words(*words_at(border, 1, after), 0), [0, 0], 1.0, rest) for after in (-5, 5)
    ] == [0, 1]


def test_more_bits_continue_the_same_uniform():
    border = edges(WHOLE, UNIT, REST)[0]
    first, second, third = words_at(border, 3)
    arguments = np.array(WHOLE), UNIT, np.array(REST)
    assert (
        _draw_with_more_bits(Words(second, third - 9 if third > 9 else 0), *arguments, first) == 0
    )
    assert _draw_with_more_bits(Words(second, min(third + 9, 2**64 - 1)), *arguments, first) == 1
