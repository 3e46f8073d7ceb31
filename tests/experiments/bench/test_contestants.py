"""Contestants of our own, their noise, and which results of a contestant still hold."""

import numpy as np
import pandas as pd
import pytest

from experiments.bench.accuracy import s_bdt_like, tr_ebm_like, versions
from experiments.bench.accuracy.contestants import (
    DELTA_PEERS,
    NAMES,
    OURS,
    PURE_PEERS,
    Problem,
    delta_of,
    run,
)
from experiments.bench.accuracy.environment import Peers
from experiments.bench.accuracy.folds import splits
from experiments.bench.accuracy.gaussian import delta_of as delta_of_mu
from experiments.bench.accuracy.gaussian import mu_for
from privet.datasets import Dataset
from privet.domain import Categorical, Numeric, Schema


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_mu_is_the_largest_for_an_epsilon_and_a_delta(epsilon):
    mu = mu_for(epsilon, 1e-5)
    assert delta_of_mu(mu, epsilon) == pytest.approx(1e-5)
    assert delta_of_mu(1.01 * mu, epsilon) > 1e-5


def test_delta_is_that_of_two_shifted_normal_distributions():
    # the positive part of N(1, 1) - e^epsilon N(0, 1), integrated
    points = np.linspace(-12, 14, 400_001)
    densities = [np.exp(-((points - mean) ** 2) / 2) / np.sqrt(2 * np.pi) for mean in (1, 0)]
    excess = np.maximum(densities[0] - np.exp(0.5) * densities[1], 0).sum() * (26 / 400_000)
    assert delta_of_mu(1.0, 0.5) == pytest.approx(excess, rel=1e-4)


@pytest.fixture(scope="module")
def problem():
    """The class is whether x is above 30 or the word is b, for 90% of rows."""
    random = np.random.default_rng(0)
    numbers, words = random.uniform(0, 100, 4000), random.choice(["a", "b", "c"], 4000)
    truth = ((numbers > 30) | (words == "b")) ^ (random.random(4000) < 0.1)
    schema = Schema(
        {"x": Numeric(0, 100, bins=8), "word": Categorical(["a", "b", "c"])}, "y", ["no", "yes"]
    )
    labels = pd.Series(np.where(truth, "yes", "no"), name="y")
    return Problem(Dataset("made", pd.DataFrame({"x": numbers, "word": words}), labels, schema))


@pytest.fixture(scope="module")
def fold(problem):
    return next(splits(problem.classes, 0))


@pytest.mark.parametrize("learner", ["tr-ebm-like", "s-bdt-like", "privet-delta"])
def test_they_learn_what_is_there(problem, fold, learner, tmp_path):
    train, test = fold
    view = problem.view_names(learner)[0]
    with Peers(tmp_path) as peers:
        found = run(problem, learner, view, 2.0, train, test, peers)
    assert found["accuracy"] > 0.83
    assert found["log_loss"] < 0.45


@pytest.mark.parametrize("module", [tr_ebm_like, s_bdt_like])
def test_test_rows_teach_nothing(problem, fold, module, monkeypatch):
    train, test = fold
    flipped = problem.classes.copy()
    flipped[test] = 1 - flipped[test]
    seeded, (view, *_) = np.random.default_rng, problem.views["tr-ebm-like"].values()
    monkeypatch.setattr(np.random, "default_rng", lambda: seeded(1))
    first, again = (
        module.predict(view, classes, train, test, 1.0, 1e-5)
        for classes in (problem.classes, flipped)
    )
    assert (first == again).all()


@pytest.fixture
def summed(monkeypatch):
    """How many rows each sum took."""
    taken, real = [], np.bincount
    monkeypatch.setattr(
        np, "bincount", lambda rows, *rest: taken.append(len(rows)) or real(rows, *rest)
    )
    return taken


def test_there_are_as_many_sums_as_the_noise_is_for(problem, fold, summed, monkeypatch):
    train, test = fold
    monkeypatch.setattr(tr_ebm_like, "cycles_for", lambda *_: 7)
    tr_ebm_like.predict(
        problem.views["tr-ebm-like"]["nominal"], problem.classes, train, test, 1, 1e-5
    )
    assert summed == [len(train)] * (7 * 2 * 2)  # cycles, attributes, two derivatives


def test_no_row_pays_more_than_its_budget(problem, fold, summed, monkeypatch):
    """Rows that never leave the wrong side have the largest gradients, and are dropped."""
    train, test = fold
    monkeypatch.setattr(s_bdt_like, "MORE_ROUNDS", 4.0)
    monkeypatch.setattr(s_bdt_like, "LEARNING_RATE", 0.0)
    view = problem.views["s-bdt-like"]["nominal"]
    s_bdt_like.predict(view, problem.classes, train, test, 1.0, 1e-5)
    rounds = s_bdt_like.rounds_for(len(train), 2, mu_for(1.0, 1e-5))
    # two sums in a round, and everyone can pay for these rounds
    assert set(summed[: 2 * rounds]) == {len(train)}
    assert 0 < min(summed) < len(train)  # later only those with small gradients


def test_random_cuts_are_intervals_and_every_word_has_a_cell(problem):
    view = problem.views["tr-ebm-like"]["nominal"]
    random = np.random.default_rng(0)
    cells, n_cells = tr_ebm_like.cut_at_random(view, 0, random)
    assert n_cells == 2**tr_ebm_like.DEPTH
    assert 2 < len(np.unique(cells)) <= n_cells
    order = np.argsort(view.X[:, 0])
    assert (np.diff(cells[order]) >= 0).all()
    words, n_words = tr_ebm_like.cut_at_random(view, 1, random)
    assert n_words == len(np.unique(words)) == 3


def test_pure_and_delta_are_told_apart():
    assert [delta_of(name) for name in PURE_PEERS] == [0, 0]
    assert {delta_of(name) for name in DELTA_PEERS} == {1e-5}
    assert (delta_of("privet"), delta_of("privet-delta")) == (0, 1e-5)
    assert OURS["privet"].estimator == OURS["privet-delta"].estimator


def test_every_contestant_has_a_version_of_its_own():
    found = {name: versions.version_of(name) for name in NAMES}
    # gradient boosting and majority depend on the same
    assert len(set(found.values())) == len(NAMES) - 1
    assert found == {name: versions.version_of(name) for name in NAMES}


def test_a_pinned_version_concerns_its_peer_only(monkeypatch):
    before = {name: versions.version_of(name) for name in NAMES}
    pins = [
        text.replace("interpret-core==", "interpret-core==9.") for text in versions.REQUIREMENTS
    ]
    monkeypatch.setattr(versions, "REQUIREMENTS", pins)
    after = {name: versions.version_of(name) for name in NAMES}
    assert [name for name in NAMES if before[name] != after[name]] == ["dp-ebm"]
