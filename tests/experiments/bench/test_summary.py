"""Means, the better view, and wins and losses."""

import math

import pytest

from experiments.bench.accuracy.contestants import CEILING, FLOOR
from experiments.bench.accuracy.summary import (
    Duel,
    best_peer,
    better_view,
    duels,
    lift,
    means,
    tally,
    value,
)


def row(learner, epsilon, accuracy, *, auroc=0.5, view="", data="d", fold=0):
    figures = {"accuracy": accuracy, "auroc": auroc, "balanced": accuracy, "seconds": 1.0}
    return {
        "data": data,
        "learner": learner,
        "view": view,
        "epsilon": epsilon,
        "repeat": 0,
        "fold": fold,
    } | figures


@pytest.fixture
def table():
    rows = [
        row("privet", 1.0, 0.80, auroc=0.9, fold=0),
        row("privet", 1.0, 0.90, auroc=0.9, fold=1),
        row("diffprivlib", 1.0, 0.84, auroc=0.95, view="one-hot"),
        row("diffprivlib", 1.0, 0.60, auroc=0.97, view="our bins"),
        row("dp-ebm", 1.0, 0.70, auroc=0.91, view="nominal"),
        row("dp-ebm", 1.0, 0.75, auroc=0.89, view="our bins"),
        row("privet", 5.0, 0.70, data="multiclass"),
        row("diffprivlib", 5.0, 0.90, view="raw", data="multiclass"),
        row("privet", 2.0, 0.70, data="alone"),
        row(CEILING, None, 0.95),
        row(FLOOR, None, 0.45),
    ]
    return means(rows)


def test_folds_are_averaged_and_no_privacy_is_an_infinite_epsilon(table):
    assert value(table, "d", "privet", 1.0) == pytest.approx(0.85)
    assert value(table, "d", CEILING) == 0.95
    assert math.isnan(value(table, "d", "privet", 5.0))


def test_the_better_view_of_a_peer_counts_and_is_told(table):
    best = better_view(table)
    assert best.loc[("d", "diffprivlib", 1.0), "view"] == "one-hot"
    assert best.loc[("d", "dp-ebm", 1.0), "view"] == "our bins"
    assert better_view(table, "auroc").loc[("d", "dp-ebm", 1.0), "view"] == "nominal"
    assert best_peer(table, "d", 1.0) == 0.84


def test_a_duel_is_with_the_best_peer_that_there_is(table):
    by_accuracy = duels(table, "privet", "accuracy")
    assert [(duel.data, duel.peer, duel.outcome) for duel in by_accuracy] == [
        ("d", "diffprivlib", 1),
        ("multiclass", "diffprivlib", -1),
    ]
    (by_auroc,) = duels(table, "privet", "auroc", ["dp-ebm"])
    assert (by_auroc.theirs, by_auroc.outcome) == (0.91, -1)


def test_figures_that_print_the_same_are_a_tie():
    cells = [Duel("d", 1.0, ours, 0.5, "p") for ours in (0.5004, 0.4996, 0.501, 0.499, 0.4)]
    assert [cell.outcome for cell in cells] == [0, 0, 1, -1, -1]
    assert tally(cells) == (1, 2, 2)


def test_lift_runs_from_the_majority_to_gradient_boosting(table):
    assert lift(table, "d", 0.45) == 0
    assert lift(table, "d", 0.70) == pytest.approx(0.5)
    assert lift(table, "d", 0.95) == 1
