"""Additive terms: a private Newton step, shrunk like a posterior mean."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import NOTHING, Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.learners.resolution import resolve_evenly
from privet.learners.smooth import MOST_BINS_OF_PAIRS
from privet.learners.terms import (
    FARTHEST_STEP,
    KEPT,
    MAX_SMOOTHED,
    PRIOR,
    RANGE,
    SHARED,
    Terms,
    _Term,
    newton_step,
)
from privet.queries.answers import Numbers
from privet.tables.counting.scoring import UNIT


def answer(first, second, *, noise: str = "none", spread: F = F(0)) -> Numbers:
    """Derivatives as a curator gives them, one line per value."""
    table = np.stack([np.array(first, dtype=float), np.array(second, dtype=float)], axis=1)
    table = table[:, :, None] if table.ndim == 2 else table
    return Numbers(
        NOTHING, NOTHING, True, None, (np.round(table * UNIT).astype(np.int64),), noise, spread
    )


def kernel(bins: int) -> np.ndarray:
    return np.array(
        [
            [
                PRIOR * ((1 - SHARED) * (i == j) + SHARED * math.exp(-abs(i - j) / (RANGE * bins)))
                for j in range(bins)
            ]
            for i in range(bins)
        ]
    )


def posterior(prior: np.ndarray, first, second, variance: float) -> np.ndarray:
    """The mean of a Gaussian posterior: each value's step is measured as g/h with precision
    h^2/(s^2 + h).
    """
    first, second = np.array(first, dtype=float), np.array(second, dtype=float)
    precision = second**2 / (variance + second)
    return np.linalg.inv(np.linalg.inv(prior) + np.diag(precision)) @ (precision * first / second)


FIRST, SECOND = [1.0, -2, 3, 0.5, -1, 2, 1, -3], [4.0, 8, 5, 3, 9, 6, 2, 7]


@pytest.mark.parametrize("variance", [0.0, 0.5, 4.0, 300.0])
@pytest.mark.parametrize(
    ("attribute", "prior"),
    [
        (Categorical(list(range(8))), PRIOR * np.eye(8)),
        (Numeric(0, 1, bins=8), kernel(8)),
        (
            Numeric(0, 1, bins=7, missing="?"),
            np.block([[kernel(7), np.zeros((7, 1))], [np.zeros((1, 7)), PRIOR * np.eye(1)]]),
        ),
    ],
    ids=["categorical", "ordered", "ordered with missing"],
)
def test_a_step_is_the_mean_of_a_gaussian_posterior(attribute, prior, variance):
    noisy = answer(
        FIRST,
        SECOND,
        noise="discrete-gaussian" if variance else "none",
        spread=F(variance) * UNIT**2,
    )
    found = newton_step(attribute, noisy)
    np.testing.assert_allclose(
        found[:, 0], posterior(prior, FIRST, SECOND, variance), rtol=1e-3, atol=1e-5
    )


def test_without_noise_it_is_newtons_step_with_a_prior():
    found = newton_step(Categorical([0, 1]), answer([3.0, -1.0], [10.0, 20.0]))
    np.testing.assert_allclose(
        found[:, 0], [3 / (10 + 1 / PRIOR), -1 / (20 + 1 / PRIOR)], rtol=1e-4
    )
    many = newton_step(Categorical([0, 1]), answer([3e6, -1e6], [1e7, 2e7]))
    np.testing.assert_allclose(many[:, 0], [0.3, -0.05], rtol=1e-4)  # the prior is forgotten


def test_infinite_noise_says_nothing():
    for attribute in (Categorical(list(range(8))), Numeric(0, 1, bins=8)):
        found = newton_step(
            attribute, answer(FIRST, SECOND, noise="discrete-gaussian", spread=F(10) ** 24)
        )
        np.testing.assert_allclose(found, 0, atol=1e-6)


def test_a_curvature_below_zero_says_nothing():
    found = newton_step(
        Categorical([0, 1]),
        answer([5.0, 5.0], [-1.0, 0.0], noise="discrete-gaussian", spread=F(UNIT**2)),
    )
    np.testing.assert_array_equal(found, 0)
    assert np.isfinite(newton_step(Categorical([0, 1]), answer([5.0, 5.0], [-1.0, 0.0]))).all()


def test_neighbours_share_what_is_known():
    known = np.zeros(16)
    known[8] = 5
    ordered = newton_step(Numeric(0, 1, bins=16), answer(known, 4 * (known > 0)))[:, 0]
    assert (np.diff(ordered[:9]) > 0).all()
    assert (np.diff(ordered[8:]) < 0).all()
    assert ordered[7] > 0.5 * ordered[8] > 0
    listed = newton_step(Categorical(list(range(16))), answer(known, 4 * (known > 0)))[:, 0]
    assert np.count_nonzero(listed) == 1


def test_each_class_by_itself_and_never_too_far():
    first = np.array([[100.0, -100, 0]] * 2)
    found = newton_step(Categorical([0, 1]), answer(first, np.full((2, 3), 1.0)))
    np.testing.assert_allclose(found, [[FARTHEST_STEP, -FARTHEST_STEP, 0]] * 2)


@pytest.mark.parametrize(
    "attribute",
    [Categorical(list(range(30_000))), Numeric(0, 1, bins=30_000)],
    ids=["categorical", "ordered"],
)
def test_very_many_values_need_no_matrix_of_their_square(attribute):
    assert attribute.size > MAX_SMOOTHED
    n = attribute.size
    np.testing.assert_allclose(
        newton_step(attribute, answer(np.ones(n), np.full(n, 10.0)))[:, 0],
        1 / (10 + 1 / PRIOR),
        rtol=1e-3,
    )


SCHEMA = Schema(
    {"a": Categorical(["x", "y"]), "b": Categorical(["x", "y"]), "n": Numeric(0, 1, bins=6)},
    "c",
    ["n", "p"],
)
ROWS = pd.DataFrame(
    {
        "a": list("xxxy") * 500,
        "b": ["x"] * 2000,
        "n": np.linspace(0, 1, 2000),
        "c": list("nnnp") * 500,
    }
)


@pytest.mark.parametrize("amount", [F(1), 1, 1.0, "1"])
@pytest.mark.parametrize("unit", ["epsilon", "rho"])
def test_all_terms_together_cost_what_was_given(amount, unit):
    """However the number is written."""
    curator = Curator(ROWS, SCHEMA, Budget(**{unit: 1}))
    learnt = Terms(resolve_evenly(SCHEMA))
    charges = learnt.visit(curator, [], amount, unit)
    terms = learnt.trees
    assert curator.left == 0
    assert [charge.cost.amount(unit) for charge in charges] == [F(1, 3)] * 3
    assert [SCHEMA.names[term.cells.attribute[0]] for term in terms] == list(SCHEMA.names)


def test_terms_are_centred_scores_in_the_right_direction():
    learnt = Terms(resolve_evenly(SCHEMA))
    learnt.visit(Curator(ROWS, SCHEMA, Budget(1), public=True), [], math.inf)
    terms = learnt.trees
    for term in terms:
        np.testing.assert_array_equal(term.counts[0], 0)
        np.testing.assert_allclose(term.counts.sum(axis=1), 0, atol=1e-12)
    by_a = terms[0].counts
    assert by_a[1, 0] > 0.5 > 0 > by_a[1, 1]
    assert by_a[2, 1] > 0.5
    np.testing.assert_allclose(terms[1].counts[2], 0)  # nobody has this value: nothing is known


def test_visits_refine_what_there_is():
    """One term per attribute, and scores that approach what nothing can be added to."""
    curator = Curator(ROWS, SCHEMA, Budget(1), public=True)
    terms = Terms(resolve_evenly(SCHEMA))
    by_a = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
    missed = []
    for _ in range(6):
        terms.visit(curator, [], math.inf)
        assert len(terms.trees) == 3
        left = curator.gradients(by_a, terms.trees, math.inf).tables[0][:, 0, 0]
        missed.append(np.abs(left).max() / UNIT / len(ROWS))
    assert missed[1] < 0.9 * missed[0]
    assert missed[-1] < 0.5 * missed[0]


def test_a_second_visit_adds_to_what_the_first_has_measured():
    """The posterior mean of both, as far as the first still counts, and the prior as much."""
    attribute, variance = Numeric(0, 1, bins=8), 0.5
    schema = Schema({"a": attribute}, "c", ["n", "p"])
    visits = [(FIRST, SECOND), (SECOND, [2 * h for h in SECOND])]
    term = _Term(resolve_evenly(schema), ["a"], PRIOR)
    for first, second in visits:
        noisy = answer(first, second, noise="discrete-gaussian", spread=F(variance) * UNIT**2)
        term.learn(noisy)
    once = posterior(kernel(8), FIRST, SECOND, variance)
    before = np.array(SECOND) ** 2 / (variance + np.array(SECOND))
    mean = 1.5 * np.array(SECOND)  # of the second derivatives
    now = mean**2 / (variance + mean)
    known = KEPT * before * np.array(FIRST) / np.array(SECOND) + now * (once + SECOND / mean)
    prior = np.linalg.inv(kernel(8) / KEPT)
    expected = np.linalg.inv(prior + np.diag(KEPT * before + now)) @ known
    np.testing.assert_allclose(2 * term.tree.counts[1:, 1], expected, rtol=1e-3, atol=1e-5)


def test_a_later_term_refines_earlier_ones():
    """The same column again has less to add."""
    twice = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["x", "y"])}, "c", ["n", "p"])
    rows = ROWS.assign(b=ROWS["a"])
    terms = Terms(resolve_evenly(twice))
    terms.visit(Curator(rows, twice, Budget(1), public=True), [], math.inf)
    first, second = terms.trees
    assert np.abs(second.counts).max() < 0.9 * np.abs(first.counts).max()


def test_a_term_of_a_pair_has_its_values_as_leaves():
    attributes = {"a": Numeric(0, 1, bins=3), "b": Numeric(0, 1, bins=2, missing="?")}
    schema = Schema(attributes, "c", ["n", "p"])
    first, second = np.zeros(9), np.full(9, 25.0)
    first[0] = 40
    term = _Term(resolve_evenly(schema), ["a", "b"], PRIOR)
    term.learn(answer(first, second, noise="discrete-gaussian", spread=F(1, 2) * UNIT**2))
    values = term._values[:, 0].reshape(3, 3)
    assert values[0, 0] > 1
    assert values[0, 0] == values.max()
    tree = term.tree
    leaves = tree.cells.cell >= 0
    np.testing.assert_allclose(2 * tree.counts[leaves, 1], term._values[tree.cells.cell[leaves], 0])
    assert (tree.counts[~leaves] == 0).all()


def test_pairs_have_few_bins_each_however_many_there_are():
    attributes = {"a": Numeric(0, 1, bins=200, missing="?"), "b": Numeric(0, 1, bins=4)}
    attributes["c"] = Categorical(list(range(40)))
    terms = Terms(resolve_evenly(Schema(attributes, "y", ["n", "p"])), pairs=True)
    sizes = [len(term.cells) for term in terms._terms]
    assert sizes == [(MOST_BINS_OF_PAIRS + 1) * 4, (MOST_BINS_OF_PAIRS + 1) * 40, 4 * 40]
