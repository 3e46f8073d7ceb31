"""The graphical model: its marginals are those of the joint, and the fit is the best there is."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.synthetic.class_tree import (
    ClassTree,
    Measured,
    _expected_tables,
    _loss,
    fit_class_tree,
    order_parents_first,
)


@st.composite
def forests(draw):
    """Parents in any order: an attribute may come before its parent."""
    n = draw(st.integers(1, 5))
    names = draw(st.permutations(range(n)))
    parents = [-1] * n
    for i in range(1, n):
        above = draw(st.integers(-1, i - 1))
        parents[names[i]] = -1 if above < 0 else names[above]
    return parents


def potentials_of(parents, rng, n_classes=2, spread=1.5):
    sizes = rng.integers(1, 4, len(parents))
    return [
        rng.normal(0, spread, (1 if parent < 0 else sizes[parent], sizes[a], n_classes))
        for a, parent in enumerate(parents)
    ]


def brute(potentials, parents, total):
    """The same by listing the whole domain."""
    sizes, n_classes = [p.shape[1] for p in potentials], potentials[0].shape[2]
    tables = [np.zeros_like(p) for p in potentials]
    for point in itertools.product(*map(range, sizes), range(n_classes)):
        *values, c = point
        places = [
            (0 if parent < 0 else values[parent], values[a], c) for a, parent in enumerate(parents)
        ]
        weight = np.exp(sum(p[place] for p, place in zip(potentials, places, strict=True)))
        for table, place in zip(tables, places, strict=True):
            table[place] += weight
    return [table * total / tables[0].sum() for table in tables]


@settings(max_examples=60)
@given(forests(), st.integers(2, 3), st.integers(0, 2**32))
def test_marginals_are_those_of_the_joint(parents, n_classes, seed):
    potentials = potentials_of(parents, np.random.default_rng(seed), n_classes)
    found = _expected_tables(potentials, parents, order_parents_first(parents), 70.0)
    for one, other in zip(found, brute(potentials, parents, 70.0), strict=True):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)


@given(forests())
def test_parents_come_first(parents):
    order = order_parents_first(parents)
    assert sorted(order) == list(range(len(parents)))
    assert all(
        order.index(parent) < order.index(a) for a, parent in enumerate(parents) if parent >= 0
    )
    assert ClassTree(tuple(parents), ()).order == order


def measure(tables, parents, rng, deviation, pair_deviation):
    out = []
    for table, parent in zip(tables, parents, strict=True):
        alone = table.sum(axis=0)
        noise = np.full((len(alone), 1), deviation)
        pair = None if parent < 0 else table + rng.laplace(0, pair_deviation, table.shape)
        out.append(
            Measured(alone + rng.laplace(0, deviation, alone.shape), noise, pair, pair_deviation)
        )
    return out


@settings(max_examples=25)
@given(forests(), st.integers(0, 2**32))
def test_what_fits_exactly_is_found(parents, seed):
    rng = np.random.default_rng(seed)
    true = _expected_tables(
        potentials_of(parents, rng), parents, order_parents_first(parents), 5000.0
    )
    exact = [
        Measured(
            table.sum(axis=0), np.full((table.shape[1], 1), 3.0), None if parent < 0 else table, 3.0
        )
        for table, parent in zip(true, parents, strict=True)
    ]
    fitted = fit_class_tree(parents, exact, 5000.0)
    for one, other in zip(fitted.tables, true, strict=True):
        assert np.abs(one - other).max() < 3.0  # within a deviation of counts of hundreds
    assert fitted.classes.sum() == pytest.approx(5000.0)


def test_tables_agree_with_each_other():
    rng = np.random.default_rng(3)
    parents = [-1, 0, 1, 1, -1]
    true = _expected_tables(
        potentials_of(parents, rng), parents, order_parents_first(parents), 900.0
    )
    fitted = fit_class_tree(parents, measure(true, parents, rng, 20.0, 20.0), 900.0)
    for a, parent in enumerate(parents):
        if parent >= 0:
            assert fitted.tables[a].sum(axis=1) == pytest.approx(fitted.tables[parent].sum(axis=0))
        assert fitted.tables[a].sum(axis=(0, 1)) == pytest.approx(fitted.classes)
        assert (fitted.tables[a] >= 0).all()


@pytest.mark.parametrize(
    ("deviation", "pair_deviation"), [(10.0, 10.0), (10.0, 40.0), (40.0, 10.0)]
)
def test_measurements_that_contradict_are_weighed_by_their_noise(deviation, pair_deviation):
    """One attribute is measured alone and, otherwise, with its parent. Nothing else pulls, and no
    count is near zero.
    """
    n = 8000.0
    first = np.full((2, 2), n / 4)
    said_alone = np.array([[n / 4 + 100, n / 4 + 100], [n / 4 - 100, n / 4 - 100]])
    said_pair = np.full((2, 2, 2), n / 8)
    measured = [
        Measured(first, np.full((2, 1), 0.5)),
        Measured(said_alone, np.full((2, 1), deviation), said_pair, pair_deviation),
    ]
    fitted = fit_class_tree([-1, 0], measured, n)
    # Each of two lines of the pair moves by d, and their sum by 2d: d minimises (2d - 100)**2/s**2
    # + 2 d**2/t**2.
    d = 100 / (2 + (deviation / pair_deviation) ** 2)
    assert fitted.tables[1][:, 0, :] == pytest.approx(n / 8 + d, abs=1.0)


def slopes_by_potential(tables, parents, measured, total):
    """How fast the loss falls where one potential moves, by differences."""
    shares = [
        np.log(np.maximum(table / table.sum(axis=1, keepdims=True), 1e-300)) for table in tables
    ]
    order = order_parents_first(parents)
    top = order[0]
    shares[top] = shares[top] + np.log(tables[top].sum(axis=1, keepdims=True))
    base = _loss(_expected_tables(shares, parents, order, total), measured)[0]
    worst = 0.0
    for a, table in enumerate(shares):
        for place in np.ndindex(table.shape):
            for step in (1e-4, -1e-4):
                moved = [one.copy() for one in shares]
                moved[a][place] += step
                worst = max(
                    worst,
                    (base - _loss(_expected_tables(moved, parents, order, total), measured)[0])
                    / 1e-4,
                )
    return base, worst


@pytest.mark.parametrize("deviation", [0.5, 10.0, 100.0, 1000.0])
def test_the_fit_cannot_be_improved(deviation):
    """Whatever the scale of the noise: counts and noise that both grow by a factor are the same
    problem.
    """
    parents = [-1, 0, 0, 2]
    rng = np.random.default_rng(11)
    total = 300 * deviation
    true = _expected_tables(
        potentials_of(parents, rng, spread=0.7), parents, order_parents_first(parents), total
    )
    measured = measure(true, parents, rng, deviation, deviation)
    fitted = fit_class_tree(parents, measured, total)
    loss, slope = slopes_by_potential(fitted.tables, parents, measured, total)
    rough = fit_class_tree(parents, measured, total, steps=5)
    assert loss < _loss(rough.tables, measured)[0]
    # A potential that moves by 1 moves a share e-fold: what that could gain is little beside the
    # loss itself.
    assert slope < 0.03 * (1 + loss)


ODD = {
    "one attribute": ([-1], [np.array([[3.0, 1.0], [2.0, 9.0]])]),
    "one value": ([-1, 0], [np.array([[30.0, 11.0]]), np.array([[28.0, 12.0]])]),
    "a class without rows": (
        [-1, 0],
        [np.array([[30.0, 0.0], [10.0, 0.0]]), np.array([[20.0, 0.0], [20.0, 0.0]])],
    ),
    "all negative": ([-1, 0], [np.full((3, 2), -80.0), np.full((2, 2), -1e6)]),
    "all zero": ([-1, 0], [np.zeros((3, 2)), np.zeros((2, 2))]),
    "huge": ([-1, 0], [np.full((3, 2), 1e10), np.full((2, 2), -1e10)]),
}


@pytest.mark.parametrize("total", [1.0, 50.0, 1e12])
@pytest.mark.parametrize("case", ODD)
def test_odd_counts_give_finite_tables(case, total):
    parents, alone = ODD[case]
    measured = []
    for a, (parent, counts) in enumerate(zip(parents, alone, strict=True)):
        pair = (
            None
            if parent < 0
            else np.full((len(alone[parent]), *counts.shape), counts.mean() / len(alone[parent]))
        )
        measured.append(Measured(counts, np.full((len(counts), 1), 0.5 + a), pair, 2.0))
    fitted = fit_class_tree(parents, measured, total)
    for table in fitted.tables:
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        assert table.sum() == pytest.approx(total)
