"""Contingency tables of sets of attributes, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from privet.tables.counting.marginals import MARGINAL_BLOCK, Marginals

SIZES, CLASSES = (3, 1, 5, 2), 3
SETS = [(), (0,), (2,), (0, 2), (1, 3), (0, 1, 2, 3), (0, 2)]


def table(n: int, dtype, seed: int = 0):
    rng = np.random.default_rng(seed)
    codes = np.array([rng.integers(0, size, n) for size in SIZES], dtype=dtype)
    return codes, rng.integers(0, CLASSES, n), rng.integers(0, 1 << 16, n)


def reference(one: tuple[int, ...], codes, classes, weights) -> np.ndarray:
    found = np.zeros((*(SIZES[a] for a in one), CLASSES), dtype=np.int64)
    np.add.at(found, (*(codes[a].astype(np.int64) for a in one), classes), weights)
    return found.reshape(-1)


def check(found: Marginals, codes, classes, weights) -> None:
    for s, one in enumerate(SETS):
        expected = reference(one, codes, classes, weights)
        assert found.flat[found.base[s] : found.base[s + 1]].tolist() == expected.tolist()
    assert found.base[-1] == len(found.flat)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_tables_equal_numpys(n, dtype):
    found = Marginals(SETS, SIZES, CLASSES)
    rows = table(n, dtype)
    found.add(*rows)
    check(found, *rows)


@pytest.mark.parametrize(
    "n", [MARGINAL_BLOCK - 1, MARGINAL_BLOCK, MARGINAL_BLOCK + 1, 2 * MARGINAL_BLOCK + 7]
)
def test_blocks_of_rows_meet_without_a_gap(n):
    found = Marginals(SETS, SIZES, CLASSES)
    rows = table(n, np.uint8)
    found.add(*rows)
    check(found, *rows)


def test_parts_add_up():
    found = Marginals(SETS, SIZES, CLASSES)
    parts = [table(n, np.uint8, seed=n) for n in (10, 0, 300)]
    for part in parts:
        found.add(*part)
    check(found, *(np.concatenate([part[i] for part in parts], axis=-1) for i in range(3)))


@pytest.mark.parametrize("cores", [1, 3, 64])
def test_any_number_of_threads(monkeypatch, cores):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    found = Marginals(SETS, SIZES, CLASSES)
    rows = table(150_000, np.uint8)  # enough for several threads
    found.add(*rows)
    check(found, *rows)


def test_codes_need_not_lie_side_by_side():
    codes, classes, weights = table(100, np.uint8)
    found = Marginals(SETS, SIZES, CLASSES)
    found.add(np.asfortranarray(codes), classes.astype(np.uint8), weights)
    check(found, codes, classes, weights)


def test_large_weights_are_whole_numbers():
    """A double would lose the units."""
    found = Marginals([()], SIZES, CLASSES)
    codes = np.zeros((4, 2), dtype=np.uint8)
    found.add(codes, np.zeros(2, dtype=np.int64), np.array([1 << 60, 1]))
    assert found.flat.tolist() == [(1 << 60) + 1, 0, 0]


def test_marginals_of_no_sets_are_empty():
    found = Marginals([], SIZES, CLASSES)
    found.add(*table(10, np.uint8))
    assert found.flat.tolist() == []
