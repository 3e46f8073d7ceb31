"""The billionaire in the village (docs/how-to/median-not-mean.md): at one epsilon the mean is
hopeless and the median is close.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.queries.quantile import bound_rows_off
from tests.conformance.check_mechanism import ALPHA, fit, laplace_law

EPSILON, DRAWS = "1/2", 300
INCOME = pv.Numeric(0, 1_000_000_000, bins=100, spacing="log")
SCHEMA = pv.Schema({"income": INCOME}, "home", ["owned", "rented"])
INCOMES = np.array(
    [20_715 * math.exp(NormalDist().inv_cdf((i + 0.5) / 100) / 2) for i in range(100)]
)
DOLLARS = np.rint((np.array(INCOME.cuts[:-1]) + INCOME.cuts[1:]) / 2).astype(np.int64)


@pytest.fixture(params=["without the billionaire", "with the billionaire"])
def incomes(request):
    return INCOMES if request.param.startswith("without") else np.append(INCOMES, 1e9)


@pytest.fixture
def curator(incomes):
    with unlock_test_seeds():
        bits = SeededBits(7)
    return pv.Curator(
        pd.DataFrame({"income": incomes, "home": "owned"}), SCHEMA, pv.Budget(10**6), bits=bits
    )


def test_the_village_is_that_of_the_story():
    assert INCOMES.mean() == pytest.approx(23_426, abs=2)
    assert np.median(INCOMES) == pytest.approx(20_715, abs=2)


def test_the_mean_is_hopeless(curator, incomes):
    score = pv.RowScore(SCHEMA, np.column_stack([DOLLARS, DOLLARS]), by="income")
    answers = [curator.sums(pv.Cells.everything(SCHEMA), score, EPSILON) for _ in range(DRAWS)]
    assert answers[0].spread == 2 * score.bound  # what one person can add, over epsilon
    assert score.bound == DOLLARS[-1] > 900_000_000
    sums = np.array([answer.tables[0][0] for answer in answers])
    exact = DOLLARS[INCOME.codes_of(incomes)].sum()
    # a discrete Laplace law in coarser steps
    millions = np.rint((sums - exact) / 1e6).astype(np.int64)
    assert fit(millions, laplace_law(2 * score.bound / 1e6)) > ALPHA
    # 0.054 of the law: 300 draws do not reach this by chance
    assert (np.abs(sums / 100 - exact / 100) < 1_000_000).mean() < 0.15


def test_the_median_is_close(curator, incomes):
    answers = [curator.median("income", EPSILON) for _ in range(DRAWS)]
    assert answers[0].row_cost.epsilon == pv.Budget(EPSILON).amount
    off = bound_rows_off(answers[0].q, answers[0].row_cost.epsilon, INCOME.bins)
    assert off == pytest.approx(15.2, abs=0.1)
    half = len(incomes) / 2
    missed = [
        max((incomes < one.low).sum() - half, half - (incomes < one.high).sum(), 0)
        for one in answers
    ]
    assert np.mean(np.array(missed) > off) < 0.05
    assert np.mean([abs(one.middle - 20_800) < 5_000 for one in answers]) > 0.95
