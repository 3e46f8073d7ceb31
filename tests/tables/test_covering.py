"""Tables of many sets as sums of the tables of a few blocks: the same numbers, from less work."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from privet.tables.counting import covering, marginals
from privet.tables.counting.covering import MOST_PLACES, cover_sets, leave_sets
from privet.tables.counting.marginals import Marginals

#: Attributes of many sizes, of one value, and too large to share a block with another.
SIZES = (4, 8, 1, 40_000, 4, 8, 2, 3)


def all_sets(most: int, among=tuple(range(8))) -> tuple[tuple[int, ...], ...]:
    return tuple(one for n in range(most + 1) for one in combinations(among, n))


def table(n: int, n_classes: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in SIZES], dtype=np.uint16)
    return codes, rng.integers(0, n_classes, n).astype(np.uint8), rng.integers(0, 1 << 16, n)


@pytest.mark.parametrize(
    "sets",
    [
        all_sets(2),
        all_sets(3, (0, 1, 4, 5, 6, 7)),
        ((0, 3), (1, 4, 5), (7,)),
        ((),),
        ((3,), (0, 1, 4, 5, 6, 7)),
        tuple(reversed(all_sets(2, (0, 1, 6)))),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_sums_of_blocks_are_the_tables_of_the_sets(monkeypatch, sets, n_classes):
    rows, more = table(700, n_classes), table(50, n_classes, seed=1)
    found = {}
    for many in (1, 10**9):
        monkeypatch.setattr(marginals, "MANY_ROWS", many)
        found[many] = Marginals(sets, SIZES, n_classes)
        found[many].add(*rows)
        assert found[many].flat.sum() == len(sets) * rows[2].sum()
        found[many].add(*more)
    assert found[1].flat.tolist() == found[10**9].flat.tolist()
    assert found[1].base.tolist() == found[10**9].base.tolist()


def test_a_row_is_in_few_blocks():
    """A tenth of the tables that a draw of depth 3 has, and each of them stays in the cache."""
    sizes = (4, 8) * 7
    sets = tuple(one for n in range(4) for one in combinations(range(14), n))
    cover = cover_sets(sets, sizes, 2)
    assert len(cover.blocks) <= 40 < len(sets) / 10
    assert np.diff(cover.starts).max() <= MOST_PLACES
    assert all(any(set(one) <= set(block) for block in cover.blocks) for one in sets)


def test_blocks_that_would_take_too_much_memory_are_left(monkeypatch):
    sets = all_sets(2, (0, 1, 4))
    monkeypatch.setattr(covering, "MOST_TOGETHER", 100)
    cover_sets.cache_clear()
    assert cover_sets(sets, SIZES, 2).blocks == sets == leave_sets(sets, SIZES, 2).blocks
    cover_sets.cache_clear()
