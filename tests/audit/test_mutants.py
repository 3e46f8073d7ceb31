"""The audit can fail: each of these breaks a promise in a way that somebody might, and is caught.
What is honest is not.

All runs are seeded, so the outcomes are the same every time. Faults of single lines of the source
are in ``experiments/mutants``, with the tests and audits that must catch each; what is here breaks
a promise from outside, or is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import privet as pv
from privet.audit import World, audit, audit_subject, pairs_of
from privet.audit.releases import make_curator, release_updated_model
from privet.local import randomizer
from privet.mechanisms import laplace, response
from privet.mechanisms.gibbs import slack
from privet.mechanisms.randomness import Bits
from privet.queries import release_kinds


@pytest.fixture
def bits() -> Iterator[Bits]:
    with pv.testing.unlock_test_seeds():
        yield pv.testing.SeededBits(9)


def family(name: str) -> Any:
    return next(pair for pair in pairs_of() if pair.name == name)


def audited(name: str, runs: int, bits: Bits, **options: Any) -> Any:
    return audit_subject(name, Fraction(1), runs, bits=bits, **options)


# -- mutants ---------------------------------------------------------------------------------------


def half_the_noise(bits: Bits, counts: Any, epsilon: Fraction, *, sensitivity: int = 1) -> Any:
    return laplace.add_laplace(bits, counts, 2 * epsilon, sensitivity=sensitivity)


def noise_as_if_for_one_tree(
    bits: Bits, counts: Any, epsilon: Fraction, *, sensitivity: int = 1
) -> Any:
    return laplace.add_laplace(bits, counts, epsilon, sensitivity=1)


def zeros_left_alone(bits: Bits, counts: Any, epsilon: Fraction, *, sensitivity: int = 1) -> Any:
    noisy, cost = laplace.add_laplace(bits, counts, epsilon, sensitivity=sensitivity)
    return np.where(counts == 0, 0, noisy), cost


def the_same_noise_again(
    bits: Bits, counts: Any, epsilon: Fraction, *, sensitivity: int = 1
) -> Any:
    """A generator that is seeded anew for every answer."""
    return laplace.add_laplace(pv.testing.SeededBits(1), counts, epsilon, sensitivity=sensitivity)


@pytest.mark.parametrize(
    ("subject", "mutant", "runs"),
    [
        pytest.param("count", half_the_noise, 800, marks=pytest.mark.slow),
        ("count", zeros_left_alone, 500),
        ("count", the_same_noise_again, 400),
        pytest.param("random-trees", noise_as_if_for_one_tree, 1000, marks=pytest.mark.slow),
    ],
)
def test_wrong_noise_is_caught(
    subject: str, mutant: Callable[..., Any], runs: int, bits: Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_kinds, "add_laplace", mutant)
    found = audited(subject, runs, bits)
    assert found.verdict == "violated", found
    assert found.bound > 1 == found.claimed


@pytest.mark.slow
def test_the_best_split_picked_exactly_is_caught(
    bits: Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_kinds, "select", lambda bits, scores, *_: scores.index(max(scores)))
    found = audited("greedy-tree", 400, bits)
    assert found.verdict == "violated", found
    assert found.pair == "a tie that one row breaks"
    assert "structure" in found.event


@pytest.mark.slow
def test_a_draw_with_too_much_epsilon_is_caught(
    bits: Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_unit = slack.epsilon_per_unit
    monkeypatch.setattr(
        slack, "epsilon_per_unit", lambda space, epsilon, unit: per_unit(space, 4 * epsilon, unit)
    )
    assert audited("gibbs-tree", 500, bits).verdict == "violated"


@pytest.mark.slow
def test_a_response_with_too_much_epsilon_is_caught(
    bits: Bits, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = response.randomized_response
    monkeypatch.setattr(
        randomizer,
        "randomized_response",
        lambda bits, codes, size, epsilon: honest(bits, codes, size, 3 * epsilon),
    )
    for subject in ("randomizer-sample", "randomizer-split"):
        assert audited(subject, 1200, bits).verdict == "violated"


def test_a_domain_learnt_from_the_rows_is_caught(bits: Bits) -> None:
    def run(world: World) -> Any:
        values = sorted(set(world.X["a"]))
        seen = pv.Schema(
            {**world.schema.attributes, "a": pv.Categorical(values)}, "class", world.schema.classes
        )
        curator = pv.Curator(world.table, seen, pv.Budget(1), bits=bits)
        return pv.RandomTreesClassifier(1, n_trees=1, height=1).fit_from(curator)

    found = audit(run, family("a lone row in a leaf"), 1.0, 120)
    assert found.verdict == "violated", found
    assert "domain" in found.event


@pytest.mark.slow
def test_people_in_two_batches_that_are_said_to_be_disjoint_are_caught(bits: Bits) -> None:
    """Each batch costs 1 and has the person in it; the statement says 1, and should say 2."""
    release = release_updated_model("disjoint", (0, 1))
    promised = release(family("nobody else").other, Fraction(2), bits).epsilon
    assert promised == 1
    found = audit(
        lambda world: release(world, Fraction(2), bits).what,
        family("nobody else"),
        float(promised),
        700,
    )
    assert found.verdict == "violated", found


def test_a_promise_for_a_row_is_none_for_a_person_of_several(bits: Bits) -> None:
    (pair,) = pairs_of(rows_per_person=3, alone=True)

    def run(world: World) -> Any:
        return make_curator(world, Fraction(1), bits).size(1)

    found = audit(run, pair, 1.0, 800)
    assert found.verdict == "violated"
    assert found.bound <= 3


# -- honest ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "subject", ["count", "quantile", "choose-partition", "randomizer-sample", "random-trees"]
)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_what_is_honest_is_not_refuted(subject: str, neighbours: str, bits: Bits) -> None:
    assert audited(subject, 128, bits, neighbours=neighbours).verdict == "not refuted"


@pytest.mark.slow
def test_a_count_is_known_nearly_as_well_as_it_may_be(bits: Bits) -> None:
    """Otherwise the audit would be blind, and refute nothing."""
    found = audited("count", 2000, bits)
    assert 0.6 < found.bound <= 1
    assert found.tightness == found.bound
