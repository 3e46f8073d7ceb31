"""Where the output law can be written down, its likelihood ratios are bounded by e**epsilon for all
neighbours.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest

from privet.mechanisms.criteria import Gini, InformationGain, MaxOperator
from tests.conformance.check_mechanism import exponential_law, flip_law

CRITERIA = [MaxOperator(), Gini(), InformationGain(20)]


def small_tables(most: int = 3):
    """All child-by-class tables of 2 x 2 with up to ``most`` rows in an entry."""
    for entries in itertools.product(range(most + 1), repeat=4):
        yield np.array(entries, dtype=np.int64).reshape(2, 2)


def changes(criterion, table):
    """How the score changes when one row is added to each entry."""
    before = int(criterion.scores(table))
    for entry in range(table.size):
        more = table.copy()
        more.flat[entry] += 1
        yield entry, int(criterion.scores(more)) - before


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: type(c).__name__)
def test_the_range_bounds_every_pair_of_candidates(criterion):
    """A row of one class may land in any child of any candidate table: the changes must lie within
    one range.
    """
    by_class: dict[int, list[int]] = {0: [], 1: []}
    for table in small_tables():
        for entry, change in changes(criterion, table):
            by_class[entry % 2].append(change)
    for seen in by_class.values():
        assert max(seen) - min(seen) <= criterion.score_range


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: type(c).__name__)
def test_the_range_is_not_wasteful(criterion):
    """Some pair of candidates comes within a third of the range, so a smaller one would be
    wrong.
    """
    big = [np.array([[n, 0], [0, 0]], dtype=np.int64) for n in (1, 5, 19)] + list(small_tables())
    seen = [
        change for table in big for entry, change in changes(criterion, table) if entry % 2 == 1
    ]
    assert max(seen) - min(seen) > criterion.score_range * 2 / 3


@pytest.mark.parametrize("most", [1, 7, 1000, 10**6])
def test_information_gain_holds_its_range_beyond_the_declared_rows(most):
    criterion = InformationGain(most)
    rng = np.random.default_rng(0)
    sizes = [0, 1, 2, most // 2, most - 1, most, most + 1, 3 * most, 50 * most]
    for _ in range(300):
        table = rng.choice(sizes, size=(2, 2)).astype(np.int64)
        for _, change in changes(criterion, table):
            assert -criterion.score_range + 4 <= change <= 4


def test_gini_is_not_monotone_so_its_range_is_two():
    """The sum-of-squares form moves by at most 1, but in both directions at once."""
    gini, one = Gini(), 1 << 20
    pure = np.array([[1000, 0], [0, 0]], dtype=np.int64)
    rises = pure + np.array([[0, 0], [0, 1]])  # the new row has a child of its own
    falls = pure + np.array([[0, 1], [0, 0]])  # the new row spoils the pure child
    up, down = (int(gini.scores(after)) - int(gini.scores(pure)) for after in (rises, falls))
    assert up == one
    assert down < -0.99 * one
    assert one < up - down <= gini.score_range


def test_gini_does_not_overflow_on_large_counts():
    huge = np.array([[500_000_000, 200_000_000], [1, 0]], dtype=np.int64)
    exact = F(500_000_000**2 + 200_000_000**2, 700_000_000) + 1
    assert int(Gini().scores(huge)) == pytest.approx(float(exact) * (1 << 20), rel=1e-12)


@pytest.mark.parametrize(
    "criterion", [Gini(), InformationGain(1 << 30)], ids=lambda c: type(c).__name__
)
def test_the_range_holds_for_any_number_of_rows(criterion):
    """Counts near the limits of fixed point, of 64 bits, and beyond the declared number of rows."""
    sizes = [
        0,
        1,
        10**6,
        (1 << 29) - 1,
        1 << 29,
        (1 << 29) + 1,
        1 << 30,
        3_100_000_000,
        10**10,
        1 << 36,
        1 << 45,
    ]
    rng = np.random.default_rng(1)
    seen: dict[int, list[int]] = {0: [], 1: []}
    for _ in range(2000):
        for entry, change in changes(criterion, rng.choice(sizes, size=(2, 2)).astype(np.int64)):
            seen[entry % 2].append(change)
    assert all(max(found) - min(found) <= criterion.score_range for found in seen.values())


def test_the_range_covers_how_large_logarithms_are_rounded():
    """At the largest counts a value is off by several units; with one unit for each, this pair of
    candidates was apart by more.
    """
    criterion, n_classes, away = InformationGain(314_548_484), 8, np.arange(3000)
    most = (1 << 30) // n_classes

    def grown(table, entry):
        more = table.copy()
        more[:, 0, entry] += 1
        return criterion.scores(more) - criterion.scores(table)

    worst = np.full((len(away), 1, n_classes), most, dtype=np.int64)
    worst[:, 0, 0], worst[:, 0, 1] = 0, most - away
    best = np.zeros_like(worst)
    best[:, 0, 1] = most - 1 - away
    apart = max(
        int(grown(np.where(np.arange(n_classes) == 2, few, best), 1).max()) for few in range(4)
    ) - int(grown(worst, 0).min())
    assert criterion.score_range - 256 + 8 < apart <= criterion.score_range


@pytest.mark.parametrize("law", [flip_law, exponential_law])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_selection_ratios_never_exceed_epsilon(law, epsilon):
    """All score vectors of three candidates, all changes within a range of 1 (up, down, and mixed
    after a shift).
    """
    worst = 0.0
    for scores in itertools.product(range(4), repeat=3):
        for change in itertools.product((0, 1), repeat=3):
            for shift in (-1, 0):
                after = [score + delta + shift for score, delta in zip(scores, change, strict=True)]
                for p, q in zip(law(scores, epsilon, 1), law(after, epsilon, 1), strict=True):
                    worst = max(worst, abs(math.log(p / q)))
    assert worst <= epsilon + 1e-9
    assert worst > 0.6 * epsilon  # and the budget is used
