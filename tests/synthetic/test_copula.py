"""How numbers go together within the cells of a pair: what is estimated, and what it does."""

from __future__ import annotations

import numpy as np
import pytest

from privet.synthetic.class_tree import Measured, fit_class_tree
from privet.synthetic.copula import (
    MOST_CORRELATED,
    draw_normals,
    estimate_correlation,
    follow,
    score_groups,
    weigh_groups,
)
from privet.synthetic.groups import sum_by_group
from tests.synthetic.small import seeded


def counts_of(correlation: float, n_groups: int = 12, rows: int = 200_000) -> np.ndarray:
    """Rows of each (group, group, class) of two numbers; classes differ in where they are."""
    rng = np.random.default_rng(1)
    classes = rng.integers(0, 2, rows)
    spread = np.sqrt(1 - correlation**2)
    x = rng.normal(size=rows)
    y = correlation * x + spread * rng.normal(size=rows)
    edges = np.linspace(-2, 3, n_groups - 1)
    table = np.zeros((n_groups, n_groups, 2))
    shifted = (np.searchsorted(edges, x + classes), np.searchsorted(edges, y + classes))
    np.add.at(table, (*shifted, classes), 1.0)
    return table


def known_of(table: np.ndarray, parts: np.ndarray):
    alone = (table.sum(axis=1) + 0.5, table.sum(axis=0) + 0.5)
    scores = (score_groups(alone[0], len(alone[0])), score_groups(alone[1], len(alone[1])))
    coarse = sum_by_group(sum_by_group(table, parts).swapaxes(0, 1), parts).swapaxes(0, 1)
    return alone, scores, coarse


@pytest.mark.parametrize("correlation", [-0.8, -0.3, 0.0, 0.5, 0.9])
def test_the_correlation_within_classes_is_found_in_coarse_counts(correlation):
    parts = np.arange(12) // 3
    alone, scores, coarse = known_of(counts_of(correlation), parts)
    found = estimate_correlation(coarse, 1.0, (parts, parts), alone, scores)
    assert found == pytest.approx(correlation, abs=0.07)


def test_noise_is_no_correlation():
    parts = np.arange(12) // 3
    alone, scores, coarse = known_of(counts_of(0.0, rows=2000), parts)
    rng = np.random.default_rng(2)
    found = [
        estimate_correlation(
            coarse + rng.laplace(0, 60, coarse.shape), 85.0, (parts, parts), alone, scores
        )
        for _ in range(40)
    ]
    assert np.median(np.abs(found)) < 0.1
    assert np.max(np.abs(found)) <= MOST_CORRELATED


def test_missing_entries_have_no_score():
    alone = np.array([[4.0], [4.0], [4.0], [9.0]])
    scores = score_groups(alone, 3)
    assert scores[3, 0] == 0
    assert scores[0, 0] == pytest.approx(-scores[2, 0])
    assert scores[1, 0] == pytest.approx(0)
    assert scores[2, 0] == pytest.approx(1.0908, abs=1e-3)  # the mean of the upper third


def correlate(table: np.ndarray) -> float:
    rows = table.sum(axis=2)
    x, y = np.indices(rows.shape)
    mean = (rows * x).sum() / rows.sum(), (rows * y).sum() / rows.sum()
    dx, dy = x - mean[0], y - mean[1]
    products = ((rows * one).sum() for one in (dx * dy, dx**2, dy**2))
    both, first, second = products
    return float(both / np.sqrt(first * second))


def test_what_is_counted_in_four_cells_keeps_its_correlation():
    """Two parts by two: without the copula, what is inside a cell would be independent."""
    table, parts = counts_of(0.8), np.arange(12) // 6
    alone, scores, coarse = known_of(table, parts)
    noise = np.ones((12, 1))
    above = Measured(alone[0], noise)
    kept = {}
    for name, correlation in (("copula", 0.8), ("none", 0.0)):
        leaning = weigh_groups(correlation, scores)
        child = Measured(alone[1], noise, coarse, 1.0, (parts, parts), leaning)
        tree = fit_class_tree([-1, 0], [above, child], table.sum())
        assert child.sum_parts(tree.tables[1]) == pytest.approx(coarse, rel=0.02, abs=30)
        kept[name] = correlate(tree.tables[1])
    true = correlate(table)
    assert abs(kept["copula"] - true) < 0.04
    assert kept["none"] < true - 0.1


def test_normal_numbers_are_normal():
    drawn = draw_normals(seeded(2), 100_000)
    assert drawn.mean() == pytest.approx(0, abs=6 / np.sqrt(100_000))
    assert drawn.var() == pytest.approx(1, abs=6 * np.sqrt(2 / 100_000))
    assert (drawn > 1.6449).mean() == pytest.approx(0.05, abs=6 * np.sqrt(0.05 * 0.95 / 100_000))


@pytest.mark.parametrize("correlation", [-0.9, 0.5])
def test_what_follows_has_the_correlation_within_each_class(correlation):
    """Whatever the shape of the values: here they grow exponentially, and classes are far apart."""
    rng = np.random.default_rng(4)
    n_rows = 40_000
    classes, normal = rng.integers(0, 2, n_rows), rng.normal(size=n_rows)
    values = np.floor(np.exp(3 + normal) * 10).astype(np.int64) + 10_000 * classes
    there = rng.random(n_rows) < 0.8
    found = follow(values, there, classes, correlation, seeded(3))
    for c in (0, 1):
        here = there & (classes == c)
        assert np.corrcoef(normal[here], found[here])[0, 1] == pytest.approx(correlation, abs=0.02)
        assert found[here].std() == pytest.approx(1, abs=0.05)
    missing = ~there
    assert np.corrcoef(normal[missing], found[missing])[0, 1] == pytest.approx(0, abs=0.07)
