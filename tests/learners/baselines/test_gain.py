"""Entropy, gain and split information against numbers in print and by definition."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.learners.baselines.c45 import entropy, first_best, information_gain, split_information
from tests.learners.baselines.tables import weather


def child_counts(attribute: str) -> np.ndarray:
    schema, codes, classes = weather()
    a = schema.index(attribute)
    table = np.zeros((schema.sizes[a], 2), dtype=np.int64)
    np.add.at(table, (codes[a], classes), 1)
    return table


def test_entropy_of_the_weather() -> None:
    assert entropy(np.array([9, 5])) == pytest.approx(0.940, abs=5e-4)  # Quinlan 1986, section 4


@pytest.mark.parametrize(
    ("attribute", "gain", "split"),
    # Quinlan 1986, sections 4 and 7: gains .246, .029, .151, .048 and intrinsic values 1.578,
    # 1.557, 1.0, .985
    [
        ("outlook", 0.2467, 1.5774),
        ("temperature", 0.0292, 1.5567),
        ("humidity", 0.1518, 1.0),
        ("windy", 0.0481, 0.9852),
    ],
)
def test_gain_of_the_weather(attribute: str, gain: float, split: float) -> None:
    assert information_gain(child_counts(attribute)) == pytest.approx(gain, abs=5e-5)
    assert split_information(child_counts(attribute)) == pytest.approx(split, abs=5e-5)


def test_many_tables_at_once() -> None:
    tables = np.random.default_rng(0).integers(0, 9, (3, 4, 5, 2))
    gains = information_gain(tables)
    assert gains.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert gains[i, j] == pytest.approx(float(information_gain(tables[i, j])))
            n = tables[i, j].sum()
            inside = sum(child.sum() / n * float(entropy(child)) for child in tables[i, j])
            assert gains[i, j] == pytest.approx(float(entropy(tables[i, j].sum(axis=0))) - inside)


def test_nothing_has_no_entropy_and_no_gain() -> None:
    assert entropy(np.zeros(3, dtype=np.int64)) == 0
    assert information_gain(np.zeros((2, 3), dtype=np.int64)) == 0


def test_the_first_of_equal_scores_wins_up_to_rounding() -> None:
    scores = np.array([[0.1, 0.3, 0.1 + 0.2], [-math.inf, -math.inf, 0.0]])
    assert scores[0, 1] < scores[0, 2]  # by the last digit
    assert first_best(scores, axis=1).tolist() == [1, 2]
