"""What an evaluation says, and how often its intervals hold the truth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import privet as pv
from privet.accounting.cost import Cost
from privet.learners.evaluation import Evaluation, advise_epsilon, evaluate
from privet.learners.score_groups import ScoreGroups, spread_points
from privet.queries import Numbers
from privet.queries.scores import place_in_bins
from privet.testing import unlock_test_seeds
from tests.report.scored import scored_model

CAR = pv.datasets.load("car")


@pytest.fixture(scope="module")
def model() -> pv.Model:
    with unlock_test_seeds():
        return pv.GreedyTreeClassifier(5, CAR.schema, random_state=4).fit(CAR.table).model_


def with_noise(deviation: float) -> Numbers:
    """The terms of an answer whose noise has this deviation."""
    from fractions import Fraction

    cost = Cost.pure(1)
    return Numbers(
        cost, cost, True, None, tables=(), noise="discrete-gaussian", spread=Fraction(deviation**2)
    )


def test_it_agrees_with_scikit_learn_where_the_noise_is_small(model):
    curator = pv.Curator(CAR.table, CAR.schema, pv.Budget(10**6))
    found = evaluate(model, curator, 10**5)
    shares = pv.ReleasedClassifier(model).predict_proba(CAR.X)
    true = np.array([CAR.schema.classes.index(label) for label in CAR.y])
    said = shares.argmax(axis=1)
    measures = {name: one.value for name, one in found.measures().items()}
    assert found.confusion.sum() == len(CAR.table)
    assert measures["accuracy"] == pytest.approx((said == true).mean(), abs=1e-3)
    assert measures["balanced accuracy"] == pytest.approx(
        balanced_accuracy_score(true, said), abs=2e-3
    )
    # a tree has few leaves: groups are almost as fine as what it says
    assert measures["AUROC"] == pytest.approx(
        roc_auc_score(true, shares, multi_class="ovr"), abs=0.01
    )
    # rounding to groups can only lose
    assert measures["log loss"] == pytest.approx(
        -np.log(shares[np.arange(len(true)), true].clip(1e-3)).mean(), abs=0.06
    )
    recall, precision = found.by_class()["unacc"]
    assert recall.value == pytest.approx((said[true == 0] == 0).mean(), abs=2e-3)
    assert precision.value == pytest.approx((true[said == 0] == 0).mean(), abs=2e-3)


def made_up() -> tuple[np.ndarray, ScoreGroups]:
    """The distribution of (class, what is said, bin), and what the groups state."""
    stated = np.array([[[0.6, 0.4], [0.9, 0.1]], [[0.45, 0.55], [0.2, 0.8]]])
    groups = ScoreGroups(((0.75,), (0.7,)), stated)
    weights = np.array([[[0.2, 0.4], [0.06, 0.04]], [[0.05, 0.04], [0.08, 0.13]]])
    return weights / weights.sum(), groups


def evaluation_of(table: np.ndarray, groups: ScoreGroups, deviation: float) -> Evaluation:
    counts = np.rint(table).astype(np.int64)
    return Evaluation(counts.sum(axis=2), with_noise(deviation), ("no", "yes"), counts, groups)


@pytest.mark.parametrize(("rows", "deviation"), [(600, 0), (2000, 14), (2000, 2)])
def test_intervals_hold_sampling_error_and_noise(rows, deviation):
    """Of 1000 tables, 95% of the intervals hold the truth; with noise alone they would not."""
    law, groups = made_up()
    truth = evaluation_of(law * 10**9, groups, 0)
    wanted = {name: one.value for name, one in truth.measures().items()}
    recall, precision = (one.value for one in truth.by_class()["yes"])
    random, runs = np.random.default_rng(5), 1000
    held = dict.fromkeys([*wanted, "recall", "precision", "narrow"], 0)
    for _ in range(runs):
        table = random.multinomial(rows, law.reshape(-1)).reshape(law.shape).astype(float)
        table += random.normal(0, deviation, law.shape)
        found = evaluation_of(table, groups, max(deviation, 1e-9))
        for name, one in found.measures().items():
            held[name] += one.low <= wanted[name] <= one.high
        r, p = found.by_class()["yes"]
        held["recall"] += r.low <= recall <= r.high
        held["precision"] += p.low <= precision <= p.high
        # an interval that is 30% narrower would be noticed
        one = found.measures()["AUROC"]
        held["narrow"] += abs(one.value - wanted["AUROC"]) <= 0.7 * (one.high - one.value)
    narrow = held.pop("narrow")
    assert all(0.925 < n / runs < 0.985 for n in held.values()), held
    assert narrow / runs < 0.9


def test_what_the_noise_hides_is_not_told():
    law, groups = made_up()
    found = evaluation_of(law * 100, groups, 40)
    assert {name for name, one in found.measures().items() if math.isnan(one.value)} >= {
        "balanced accuracy",
        "AUROC",
    }
    assert found.to_json()["measures"]["AUROC"] is None
    assert found.interval() == (0.0, 1.0)


def test_groups_follow_from_the_model_alone(model):
    groups = ScoreGroups.of(model, 4)
    again = ScoreGroups.of(replace(model), 4)
    assert groups.edges == again.edges
    np.testing.assert_array_equal(groups.shares, again.shares)
    np.testing.assert_allclose(groups.shares.sum(axis=2), 1)
    shares = model.probabilities(spread_points(model))
    _, bins = place_in_bins(model, shares, [np.array(listed) for listed in groups.edges])
    assert bins.max() < groups.shares.shape[1]
    assert max(map(len, ScoreGroups.of(scored_model(), 8).edges)) <= 7


def test_points_are_spread_like_the_population(model):
    from privet.model.population import Population

    shares = {
        name: np.linspace(1, 3, attribute.size) / np.linspace(1, 3, attribute.size).sum()
        for name, attribute in CAR.schema.attributes.items()
    }
    points = spread_points(replace(model, population=Population(shares)))
    for (name, wanted), codes in zip(shares.items(), points, strict=True):
        found = np.bincount(codes, minlength=len(wanted)) / len(codes)
        np.testing.assert_allclose(found, wanted, atol=0.01, err_msg=name)


def test_it_says_when_these_are_the_training_rows(model):
    curator = pv.Curator(CAR.table, CAR.schema, pv.Budget(10))
    fitted = pv.GreedyTreeClassifier(1).fit_from(curator)
    assert fitted.score_from(curator, 1).training
    assert "ON TRAINING ROWS" in repr(fitted.score_from(curator, 1))
    assert not fitted.score_from(pv.Curator(CAR.table, CAR.schema, pv.Budget(1)), 1).training


def test_advice_comes_from_public_sizes():
    assert advise_epsilon(None, 2, 1) == ""
    assert advise_epsilon(50_000, 2, "0.1") == ""
    said = advise_epsilon(400, 2, "0.1")
    assert "about 400 rows" in said
    wanted = float(said.partition("; epsilon ")[2].split()[0])
    assert advise_epsilon(400, 2, wanted) == ""
    assert advise_epsilon(400, 2, wanted * 0.9) != ""
