"""The table of geometric draws: its thresholds, its ties, and that it agrees with the algorithm for
large scales.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from privet.mechanisms import coins
from privet.mechanisms.coins import _compute_thresholds, _is_below_exp, table_geometric
from privet.mechanisms.laplace import large_magnitudes
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(11)


def exact_threshold(g: int, scale: F) -> Decimal:
    with localcontext() as context:
        context.prec = 200
        return (Decimal(-g) * scale.denominator / scale.numerator).exp() * 2**64


@pytest.mark.parametrize("scale", [F(1, 3), F(1), F(10), F(22, 7), F(1000)], ids=float)
def test_thresholds_are_exact(scale):
    table = _compute_thresholds(scale)[::-1]
    for g in {1, 2, len(table) // 2, len(table) - 1, len(table)} - {0}:
        assert int(table[g - 1]) == int(exact_threshold(g, scale))
    assert (np.diff(table.astype(object)) < 0).all()


def test_a_word_that_equals_a_threshold_is_decided_by_further_bits(bits):
    """Its chance to be below is the fraction of the threshold beyond 64 bits."""
    scale = F(7, 3)
    threshold = exact_threshold(2, scale)
    chance = float(threshold % 1)
    below = sum(_is_below_exp(bits, int(threshold), 2, scale) for _ in range(4000))
    assert stats.binomtest(below, 4000, chance).pvalue > 1e-6
    assert 0.05 < chance < 0.95


def test_ties_reach_the_decision(bits, monkeypatch):
    """Words are forced to be thresholds: each draw is then g - 1 or g, as the further bits say."""
    scale = F(5)
    table = _compute_thresholds(scale)
    monkeypatch.setattr(bits, "words", lambda count: np.full(count, table[-3], dtype=np.uint64))
    asked = []
    monkeypatch.setattr(
        coins,
        "_is_below_exp",
        lambda bits, word, g, scale: asked.append((word, g)) or g % 2 == 1,
    )
    assert table_geometric(bits, 2, scale).tolist() == [3, 3]
    assert asked == [(int(table[-3]), 3)] * 2


def test_the_table_and_the_algorithm_for_large_scales_follow_one_law(bits):
    ours, theirs = table_geometric(bits, 60_000, F(40, 3)), large_magnitudes(bits, 60_000, 40, 3)
    edges = np.arange(0, 80, 4)
    tables = [
        np.histogram(np.minimum(draws, 79), bins=np.append(edges, 1000))[0]
        for draws in (ours, theirs)
    ]
    assert stats.chi2_contingency(np.array(tables)).pvalue > 1e-6


def test_draws_go_beyond_the_table(bits):
    draws = table_geometric(bits, 200_000, F(2))
    beyond = int((draws >= len(_compute_thresholds(F(2)))).sum())
    assert stats.binomtest(beyond, 200_000, float(np.exp(-8))).pvalue > 1e-6
    assert draws.max() > len(_compute_thresholds(F(2)))
