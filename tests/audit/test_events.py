"""An event is a fixed rule: what is counted was not looked at when it was chosen."""

from __future__ import annotations

import numpy as np
import pytest

from privet.audit.events import Says, Threshold, choose_event, fit_likelihoods, numbers_of


def runs_of(rng: np.random.Generator, shift: int, count: int = 800) -> list[dict[str, float | str]]:
    """A number that moves by ``shift``, another that does not, and a word that follows the
    first.
    """
    return [
        {"moves": float(x + shift), "stays": float(y), "word": "far" if x + shift > 2 else "near"}
        for x, y in zip(rng.geometric(0.5, count), rng.geometric(0.5, count), strict=True)
    ]


def test_the_telling_feature_is_found_with_its_direction():
    rng = np.random.default_rng(1)

    def runs(chance: float) -> list[dict[str, float | str]]:
        return [
            {"word": "hit" if hit else "miss", "stays": float(y)}
            for hit, y in rng.random((800, 2)) < (chance, 0.5)
        ]

    event, turned = (
        choose_event(runs(0.2), runs(0.6), 1000),
        choose_event(runs(0.6), runs(0.2), 1000),
    )
    assert event.rule == Says("word", "hit")  # turned round it may be a likelihood of the same
    assert (event.likelier_in_other, turned.likelier_in_other) == (True, False)
    assert event.words == "word is 'hit' (likelier with the row)"
    one, other = [{"word": "hit"}] * 2 + [{"word": "miss"}] * 3, [{"word": "hit"}] * 4
    assert event.hits(one, other) == (4, 2)
    assert turned.hits(one, other) == (2, 4)


def test_where_nothing_differs_nothing_is_promised():
    """The best of many events looks telling by luck; what is asked of it must outweigh that."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        assert choose_event(runs_of(rng, 0), runs_of(rng, 0), 1000).promise < 0.1


def test_several_weak_features_are_put_together():
    """Ten coins that are each a little off: no one of them tells much, all together do."""
    rng = np.random.default_rng(3)

    def runs(chance: float) -> list[dict[str, float | str]]:
        return [
            {f"coin {i}": float(side) for i, side in enumerate(line)}
            for line in rng.random((1200, 10)) < chance
        ]

    alone = Threshold("coin 0", True, 1.0)
    event = choose_event(runs(0.4), runs(0.6), 1000)
    one, other = runs(0.4), runs(0.6)
    assert "likelihood" in event.words
    hits, other_hits = event.hits(one, other)
    assert hits / other_hits > 2 > alone.holds(other).sum() / alone.holds(one).sum()


def test_rules_hold_as_they_say():
    runs = [{"n": 1.0}, {"n": 2.0}, {"n": "two"}, {}, {"n": float("nan")}]
    assert Threshold("n", True, 2.0).holds(runs).tolist() == [False, True, False, False, False]
    assert Threshold("n", False, 1.0).holds(runs).tolist() == [True, False, False, False, False]
    assert Says("n", "two").holds(runs).tolist() == [False, False, True, False, False]
    assert np.isnan(numbers_of(runs, "n")).tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("value", [1.0, "word", None])
def test_a_feature_that_is_there_in_one_world_only_is_an_event(value):
    there = [{} if value is None else {"f": value, "same": 1.0} for _ in range(200)]
    absent = [{"same": 1.0} if value is not None else {"f": 1.0} for _ in range(200)]
    event = choose_event(absent, there, 1000)
    hits, other_hits = event.hits(absent, there)
    assert (hits, other_hits) == (200, 0)


def test_likelihoods_rank_the_worlds():
    rng = np.random.default_rng(4)
    one, other = runs_of(rng, 0), runs_of(rng, 1)
    for score in fit_likelihoods(one, other):
        assert score.of(other).mean() > score.of(one).mean() + 0.3
    assert fit_likelihoods([{}], [{}]) == []


def test_words_that_are_each_rare_speak_together():
    """Twelve words, of which six are likelier in one world: no word tells much, but that it is one
    of the six does.
    """
    rng = np.random.default_rng(5)

    def runs(shift: int) -> list[dict[str, float | str]]:
        return [
            {"word": f"w{i}"}
            for i in np.where(
                rng.random(1500) < 0.75, rng.integers(0, 6, 1500) + shift, rng.integers(0, 12, 1500)
            )
        ]

    event = choose_event(runs(0), runs(6), 1000)
    assert "likelihood" in event.words
    hits, other_hits = event.hits(runs(0), runs(6))
    assert hits > 1200
    assert other_hits < 300
