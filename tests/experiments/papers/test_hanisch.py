"""Hanisch: his table, his noise with its errors, and what he finds that is true here."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from experiments.papers.experiment import NOT_PRIVATE
from experiments.papers.hanisch import jobs, protocol
from experiments.papers.hanisch.as_published import (
    laplacian_counts_not_private,
    largest_noise,
    telling_answers,
)
from experiments.papers.hanisch.paper import PAPER
from experiments.papers.hanisch.table import prepared
from privet.testing import SeededBits, unlock_test_seeds
from tests.experiments.papers.worlds import World, compare_and_draw, lines_of


def figure(number: str):
    return next(one for one in PAPER.experiments if one.number == number)


# -- his noise ---------------------------------------------------------------------------------------------------------  # noqa: E501


def drawn(epsilon: float, count: int = 100_000):
    with unlock_test_seeds():
        return laplacian_counts_not_private(SeededBits(9), np.zeros(count, dtype=np.int64), epsilon)


def test_his_noise_is_laplacian_but_cut_off():
    noise = drawn(0.01)
    # seeded; a scale 30% off is far away
    assert np.abs(noise).mean() == pytest.approx(100, rel=0.02)
    assert abs(noise.mean()) < 2
    assert np.abs(noise).max() <= largest_noise(0.01) == round(100 * math.log(500_000))


def test_his_noise_comes_from_six_digits():
    possible = {round(-math.log(1 - 2 * u / 10**6) / 0.001) for u in range(499_000, 500_000)}
    noise = np.abs(drawn(0.001))
    far = noise[noise >= min(possible)].tolist()
    assert len(far) > 100
    assert set(far) <= possible


def test_how_many_answers_rule_out_a_neighbour():
    epsilon = 0.001
    chance: dict[int, float] = {}
    # near zero he has more digits, but there are no gaps there anyway
    for u in range(100_000, 500_000):
        noise = round(-math.log1p(-2e-6 * u) / epsilon)
        for signed in (noise, -noise):
            chance[signed] = chance.get(signed, 0.0) + 1e-6
    nearest = min(map(abs, chance))
    telling = sum(p for noise, p in chance.items() if noise - 1 not in chance and noise != nearest)
    assert telling_answers(epsilon) == pytest.approx(telling, rel=0.02)
    assert telling > 0


# -- the village -------------------------------------------------------------------------------------------------------  # noqa: E501


def test_the_billionaire():
    with unlock_test_seeds():
        found = {row["what"]: row["value"] for row in jobs.village(seed=1)}
    assert found["deviation"] == pytest.approx(28.28e6, rel=1e-3)
    assert found["deviation of draws"] == pytest.approx(28.28e6, rel=0.05)
    assert round(found["within a million"], 3) == 0.049
    assert round(found["residents for 48 million"]) == 59
    verdicts = [one.verdict for one in figure("3").compare(jobs.village())]
    assert verdicts == ["differs", "differs", "agrees"]


# -- his table ---------------------------------------------------------------------------------------------------------  # noqa: E501


def test_his_table(real_data):
    table = prepared()
    classes = np.concatenate([table.train.classes, table.test.classes])
    assert (classes == 0).mean() == pytest.approx(protocol.NAIVE, abs=1e-4)
    assert (classes == 1).sum() == 11_687  # nobody of the rare class is dropped
    assert len(table.test.classes) / len(classes) == pytest.approx(protocol.TEST_SHARE, abs=1e-4)
    assert table.schema.names == (
        "age",
        "workclass",
        "education_level",
        "relationship",
        "race",
        "sex",
        "hours_per_week",
    )
    assert table.schema.n_rows == len(table.train.classes)
    for part in (table.train, table.test):
        assert all(
            column.max() < size for column, size in zip(part.codes, table.schema.sizes, strict=True)
        )
    assert set(table.train.X["hours_per_week"]) == {"<=36", "37-50", ">=51"}


def test_nobody_is_above_the_ceiling(real_data):
    known = {row["what"]: row["value"] for row in jobs.bounds()}
    (best,) = jobs.exact_tree([7], 1)
    assert known["naive"] < best["accuracy"] < known["ceiling"] < 0.8348  # his mean is beyond it


def accuracies(how: str, epsilon: float, depth: int, trees: int, runs: int, seed: int = 1):
    with unlock_test_seeds():
        return [
            row["accuracy"]
            for row in jobs.private_forest(how, epsilon, depth, [trees], runs, seed=seed)
        ]


def test_without_much_noise_both_ways_are_the_same(real_data):
    """At full depth every tree tells all points of the domain apart, so that only counts matter,
    and ties.
    """
    table = prepared()
    points = [
        np.ravel_multi_index(
            tuple(np.asarray(c, dtype=int) for c in part.codes), table.schema.sizes
        )
        for part in (table.train, table.test)
    ]
    counts = np.zeros((math.prod(table.schema.sizes), 2))
    np.add.at(counts, (points[0], table.train.classes), 1)
    exact = float((counts.argmax(axis=1)[points[1]] == table.test.classes).mean())
    assert accuracies(NOT_PRIVATE, 1e4, 7, 1, 1) == [exact]
    assert accuracies("corrected", 1e4, 7, 1, 1) == [exact]


@pytest.mark.parametrize("how", jobs.HOWS)
def test_the_variance_of_a_tree_falls_with_depth(real_data, how):
    for epsilon in (0.001, 0.1):
        assert np.var(accuracies(how, epsilon, 7, 1, 8)) < 0.5 * np.var(
            accuracies(how, epsilon, 1, 1, 24)
        )


@pytest.mark.parametrize("how", jobs.HOWS)
def test_more_trees_help_with_a_large_epsilon_and_not_with_a_small_one(real_data, how):
    gain = {
        e: np.mean(accuracies(how, e, 3, 10, 8)) - np.mean(accuracies(how, e, 3, 1, 16))
        for e in (0.001, 10.0)
    }
    assert gain[10.0] > 0.01
    assert gain[0.001] < 0.01


def test_accuracy_grows_with_epsilon(real_data):
    means = [np.mean(accuracies("corrected", epsilon, 7, 1, 4)) for epsilon in (0.001, 0.1, 10.0)]
    assert means[0] + 0.1 < means[1] < means[2] - 0.05


def test_the_ratio_of_the_classes(real_data):
    with unlock_test_seeds():
        rows = [row for how in jobs.HOWS for row in jobs.noisy_ratio(how, 2000, seed=3)]
    compared = figure("9").compare(rows)
    assert [one.verdict for one in compared] == ["agrees", "agrees", "differs"]
    # Var(a/n) with Laplace noise of variance 2/epsilon**2 in both counts
    a, b = (np.bincount(prepared().train.classes)).tolist()
    expected = (
        math.sqrt(2 / Fraction(str(protocol.RATIO_EPSILON)) ** 2 * (a**2 + b**2)) / (a + b) ** 2
    )
    for how in jobs.HOWS:
        assert np.std([row["ratio"] for row in rows if row["how"] == how]) == pytest.approx(
            expected, rel=0.12
        )


# -- pictures and verdicts ---------------------------------------------------------------------------------------------  # noqa: E501


RISING = World(0.55, {"epsilon": 0.02, "depth": 0.01}, noise=0.04, noise_by_depth=-0.005)


@pytest.mark.parametrize("one", PAPER.experiments, ids=lambda one: one.number)
def test_every_figure_is_compared_and_drawn(one):
    compared, text = compare_and_draw(one, RISING)
    assert (
        one.number in ("table 1", "2", "3", "8", "10", "11", "12", "14")
        or any(NOT_PRIVATE in statement.what for statement in compared)
        or "NOT PRIVATE" in text
    )
    if one.number == "14":
        assert all(
            statement.verdict != "differs"
            for statement in compared
            if statement.what.startswith("deviation at depth 1")
        )


def test_a_variance_that_does_not_fall_is_told():
    one = figure("14")
    world = World(0.6, noise=0.001, noise_by_depth=0.02)
    verdicts = {claim.verdict for claim in one.compare(lines_of(one.cells(True), world))}
    assert verdicts == {"differs"}
