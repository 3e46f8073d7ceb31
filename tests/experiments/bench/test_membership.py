"""The membership attack: it finds who was in the table where nothing is promised, and what is
counted follows from the bounds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import privet as pv
from experiments.bench.membership.attack import attack, judged
from experiments.bench.membership.contestants import EPSILONS, OPEN, PEER, PRIVATE
from experiments.bench.membership.found import Found, advantage_bound, tpr_bound
from experiments.bench.membership.game import KINDS, coins, game_of
from experiments.bench.membership.report import write
from experiments.bench.membership.results import Results, Task
from privet.cli.options import NAMES


def found(caught: int, mistaken: int, runs: int = 1000) -> Found:
    return Found(dict.fromkeys(KINDS, 0.5), (0.5,) * 9, "planted", runs, caught, runs, mistaken)


def test_a_game_has_the_rows_that_it_says():
    game = game_of("car")
    assert (len(game.base), len(game.targets), game.kinds) == (
        80,
        8,
        ("ordinary",) * 4 + ("planted",) * 4,
    )
    real = pv.datasets.load("car").table
    alike = [len(game.targets.iloc[[place]].merge(real)) for place in range(8)]
    assert alike == [1] * 4 + [0] * 4  # planted rows have a class that is not theirs
    bits = coins(1000, 8)
    assert 0.4 < bits.mean() < 0.6
    assert np.abs(np.corrcoef(bits.T) - np.eye(8)).max() < 0.15  # each row by a coin of its own
    assert game.present(bits[0]).sum() == 80 + bits[0].sum()


def test_the_bounds_meet_where_they_should():
    for epsilon in (0.1, 1, 4):
        rates = np.linspace(0, 1, 2001)
        most = np.array([tpr_bound(epsilon, rate) for rate in rates])
        assert (most <= np.minimum(1, math.exp(epsilon) * rates) + 1e-12).all()
        assert (most - rates).max() == pytest.approx(advantage_bound(epsilon), abs=1e-3)


def test_what_is_refuted_and_what_is_not():
    assert found(731, 269).within(1, 0.999)  # randomised response at epsilon 1, exactly
    assert not found(800, 200).within(1, 0.999)
    assert found(800, 200).within(1.5, 0.999)
    assert not found(60, 2).within(1, 0.999)  # few true positives, next to no false ones
    assert not found(998, 940).within(1, 0.999)  # the other way round
    assert found(998, 940).advantage(0.999)[1] == pytest.approx(0.058)
    low, middle, high = found(600, 300).advantage(0.999)
    assert middle == pytest.approx(0.3)
    assert low < middle < high


def test_an_attack_sees_what_is_there_and_nothing_where_nothing_is():
    rng = np.random.default_rng(3)
    bits = coins(700, 8)
    noise = rng.normal(size=(700, 8, 2))
    blind = judged(noise, bits, game_of("car").kinds, 200)
    assert blind.epsilon(1 - 1e-9) == 0
    assert all(0.4 < area < 0.6 for area in blind.auc.values())
    seeing = noise.copy()
    seeing[:, 6, 1] += 8 * bits[:, 6]
    told = judged(seeing, bits, game_of("car").kinds, 200)
    assert told.kind == "planted"
    assert told.epsilon(0.999) > 3
    assert told.auc["planted"] > 0.6 > told.auc["ordinary"]


@pytest.mark.slow
def test_the_attack_is_real_and_a_promise_stands_it(tmp_path):
    """Small: one data set, few models. A promise that holds is refuted here with a probability
    below 1e-6.
    """
    game = game_of("car", each=2)
    results = Results(tmp_path / "membership.csv", {})
    for name, epsilon, models in (
        (PEER, math.inf, 120),
        ("random-trees", math.inf, 100),
        ("greedy-tree", 1.0, 40),
    ):
        results.add(Task("car", name, epsilon), attack(name, epsilon, game, models, 40))
    assert Results.read(results.path).found.keys() == results.found.keys()
    peer, ours, private = results.found.values()
    for without in (peer, ours):
        assert not without.within(1, 0.999)
        assert without.advantage(0.999)[0] > advantage_bound(1)
        assert min(without.auc.values()) > 0.99
    assert private.within(1, 1 - 1e-6)
    assert max(private.auc.values()) < 0.95
    verdict = write(results.found, tmp_path)
    assert verdict.refuted == ()
    # so few models cannot show an epsilon of 4
    assert {task.learner for task in verdict.failed} == {PEER, "random-trees"}
    page = (tmp_path / "membership.md").read_text()
    assert "does NOT exceed" in page
    assert "| greedy-tree | 1 | car |" in page
    assert (tmp_path / "membership.svg").stat().st_size > 10_000


def test_every_learner_is_attacked():
    assert set(PRIVATE) == set(NAMES)
    assert PEER in OPEN
    assert len(OPEN) > 1


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("learner", PRIVATE)
def test_every_promise_stands_the_attack(learner, epsilon):
    told = attack(learner, epsilon, game_of("tic_tac_toe"), 240)
    assert told.within(epsilon, 1 - 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("learner", OPEN)
def test_what_promises_nothing_exceeds_every_bound(learner):
    told = attack(learner, math.inf, game_of("tic_tac_toe"), 1200)
    assert not told.within(max(EPSILONS), 0.999)
    assert told.advantage(0.999)[0] > advantage_bound(max(EPSILONS))
