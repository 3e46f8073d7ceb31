"""The likelihood ratios of answers are those of the laws that the answers are drawn from."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from privet.audit import SUBJECTS, pairs_of
from privet.audit.likelihoods import Heard, Listener, log_selection
from privet.audit.releases import make_curator
from privet.audit.subjects import SubjectRun
from privet.errors import ParameterError
from privet.mechanisms.selection import select

RUNS = 200


@pytest.fixture
def bits():
    with pv.testing.unlock_test_seeds():
        yield pv.testing.SeededBits(5)


@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_the_law_of_a_selection_is_what_is_drawn(mechanism, bits):
    scores, epsilon = [0, 1, 3, 3], Fraction(1)
    law = np.exp(log_selection(scores, 0.5, mechanism))
    assert law.sum() == pytest.approx(1)
    drawn = [select(bits, scores, epsilon, 2, mechanism) for _ in range(4000)]
    shares = np.bincount(drawn, minlength=4) / 4000
    assert np.abs(shares - law).max() < 0.03


def test_permute_and_flip_by_hand():
    """Of two candidates the worse is taken if it comes first and its coin falls so."""
    law = np.exp(log_selection([5, 3], 0.7, "permute-and-flip"))
    assert law[1] == pytest.approx(math.exp(-1.4) / 2)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "name",
    [
        "count",
        "count-gaussian",
        "median",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("join", "gibbs-boost", "session", "forest-people")
        ),
    ],
)
def test_a_ratio_averages_to_one_where_it_is_for_the_other_world(name, neighbours, bits):
    """The expectation of P(other)/P(one) in the one world is 1; of a ratio that is off, it is not.

    At a small epsilon, so that few runs tell.
    """
    run = SubjectRun(name, Fraction(1, 2), bits)
    pair = SUBJECTS[name].pairs(neighbours)[0]
    for world, sign in ((pair.one, 1), (pair.other, -1)):
        ratios = np.exp([sign * _log_ratio(run(world), pair) for _ in range(RUNS)])
        error = ratios.std() / math.sqrt(RUNS)
        assert abs(ratios.mean() - 1) < 5 * error + 1e-9
        assert ratios.std() > 0.02  # it says something


def _log_ratio(heard: Heard, pair) -> float:
    return float(heard.features(pair)["log-likelihood ratio of all answers"])


@pytest.mark.parametrize("name", SUBJECTS)
def test_no_ratio_exceeds_the_claim(name, bits):
    """Pure epsilon bounds the ratio of every outcome, whatever it is."""
    subject = SUBJECTS[name]
    for neighbours in subject.relations:
        run = SubjectRun(name, subject.epsilon(neighbours), bits)
        pair = subject.pairs(neighbours)[0]
        released = run.released(pair.other)
        if not released.delta:
            for _ in range(5):
                assert abs(_log_ratio(run(pair.other), pair)) <= float(released.epsilon) + 1e-6


def test_all_curators_of_a_fit_are_listened_to(bits):
    (pair,) = pairs_of(alone=True)
    curator = make_curator(pair.other, Fraction(1), bits)
    assert isinstance(curator, Listener)
    pv.ForestClassifier(1, n_trees=3, max_depth=0, divide="people").fit_from(curator)
    assert sorted(heard.part for heard in curator.heard) == [0, 1, 2]


def test_parts_of_many_people_are_refused(bits):
    pair = pairs_of(families=["outvoted by two"])[0]
    curator = make_curator(pair.other, Fraction(1), bits)
    pv.ForestClassifier(1, n_trees=2, max_depth=0, divide="people").fit_from(curator)
    with pytest.raises(ParameterError, match="worlds of one person"):
        Heard(0, curator.heard).features(pair)
