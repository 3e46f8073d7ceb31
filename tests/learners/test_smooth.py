"""Tables that are learnt by terms: of pairs of attributes, or with a few draws besides."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

import privet as pv
from privet.accounting.conversion import rho_for
from privet.curator.spending import Spending
from privet.learners.default_recipe import prefers_pure, recipe_for
from privet.learners.resolution import resolve
from privet.learners.smooth import (
    LEAST_EVIDENCE,
    MOST_EVIDENCE,
    SMOOTH_CYCLES,
    SMOOTH_ROUNDS,
    is_narrow,
    is_smooth,
    needs_less_noise,
)
from privet.learners.updates import update_boosted
from privet.report import card_markdown
from privet.report.export import FORMATS, Options

DELTA = F(1, 10**5)
N = 3000


def numbers(k: int, classes: int = 2) -> pv.Schema:
    attributes = {f"x{i}": pv.Numeric(0, 1, bins=16) for i in range(k)}
    return pv.Schema(attributes, "y", list(range(classes)))


def corners(n: int = N) -> pd.DataFrame:
    """Two numbers of which neither tells anything by itself."""
    x = np.random.default_rng(0).uniform(size=(n, 2))
    return pd.DataFrame(x, columns=["x0", "x1"]).assign(y=((x > 0.5).sum(axis=1) == 1).astype(int))


ROWS = corners()
SCHEMA = numbers(2).declare(n_rows=N)


def test_which_tables_are_narrow():
    assert [is_narrow(numbers(k)) for k in (1, 2, 3, 4)] == [False, True, True, False]
    assert not is_narrow(numbers(2, classes=3))
    listed = pv.Categorical(["a", "b"])
    assert not is_narrow(pv.Schema({"a": listed, "b": listed}, "y", [0, 1]))
    assert is_narrow(pv.Schema({"a": listed, "b": pv.Numeric(0, 1, bins=4)}, "y", [0, 1]))


@pytest.mark.parametrize(("unit", "budget"), [("epsilon", {}), ("rho", {"delta": DELTA})])
def test_pairs_rank_what_no_attribute_tells_alone(unit, budget):
    amount = F(1) if unit == "epsilon" else rho_for(F(1), DELTA)
    curator = pv.Curator(ROWS, SCHEMA, pv.Budget(1, **budget))
    model = pv.PrivetClassifier(1, **budget).fit_from(curator)
    charges = [charge for charge in model.privacy_.charges if "additive" in charge.what]
    assert [charge.what for charge in charges] == ["additive term of x0 and x1"] * 2
    spent = sum(getattr(charge.cost, unit) for charge in model.privacy_.charges)
    assert amount * F(999_999, 1_000_000) < spent <= amount
    test = corners(1000).sample(frac=1, random_state=1)
    assert roc_auc_score(test["y"], model.predict_proba(test)[:, 1]) > 0.97


def test_a_model_of_pairs_is_a_model_like_others(tmp_path):
    model = pv.PrivetClassifier(1, SCHEMA).fit(ROWS)
    assert [tree.kind for tree in model.model_.trees] == ["constant", "scores"]
    path = tmp_path / "model.json"
    pv.save(model, path)
    again = pv.load(path)
    chances = model.predict_proba(ROWS.head(50))
    np.testing.assert_allclose(again.predict_proba(ROWS.head(50)), chances)
    assert "so all of epsilon for 1 term of pairs" in card_markdown(model.model_)
    assert "x1" in FORMATS["text"].write(model.model_, Options(whole=True))
    assert "x1" in FORMATS["dot"].write(model.model_, Options(whole=True))


def test_onnx_says_what_a_model_of_pairs_says():
    pytest.importorskip("onnx")
    ort = pytest.importorskip("onnxruntime")
    model = pv.PrivetClassifier(1, SCHEMA).fit(ROWS).model_
    session = ort.InferenceSession(
        FORMATS["onnx"].write(model, Options(inputs="codes")), providers=["CPUExecutionProvider"]
    )
    codes = [axis.reshape(-1) for axis in np.indices(SCHEMA.sizes)]
    given = {"codes": np.stack(codes, axis=1).astype(np.float32)}
    (said,) = session.run(["probabilities"], given)
    np.testing.assert_allclose(said, model.probabilities(codes), atol=1e-5)


def test_more_people_can_be_added_to_a_model_of_pairs():
    first = pv.PrivetClassifier(1, SCHEMA).fit(ROWS).model_
    curator = pv.Curator(ROWS, SCHEMA, pv.Budget(1))
    second = update_boosted(first, curator, 1, "disjoint")
    assert len(second.trees) > len(first.trees)
    assert second.privacy.epsilon == pytest.approx(1)


def test_a_delta_is_used_for_pairs_where_it_means_less_noise():
    """Laplace noise for P pairs has variance 2 (3/4 P/epsilon)^2, Gaussian noise 5 P/(32 rho)."""
    rho = rho_for(F(1), DELTA)
    for pairs in (1, 3, 4, 5, 6, 20):
        laplace, gauss = 2 * (0.75 * pairs) ** 2, 5 * pairs / 32 / float(rho)
        assert needs_less_noise(SCHEMA, pairs, F(1), rho) is (laplace <= gauss)
    assert prefers_pure(SCHEMA, 1, DELTA, alone=True)
    assert needs_less_noise(SCHEMA, 4, F(1), rho)
    assert not needs_less_noise(SCHEMA, 6, F(1), rho)


@pytest.mark.parametrize("epsilon", [0.1, 1, 30])
def test_the_rule_for_smooth_tables(epsilon):
    schema, rho = numbers(6).declare(n_rows=1500), rho_for(F(epsilon), DELTA)
    evidence = 1500 * math.sqrt(8 * rho) / 6
    smooth = is_smooth(schema, 1500, float(rho), "rho")
    assert smooth is (LEAST_EVIDENCE <= evidence < MOST_EVIDENCE)
    recipe = recipe_for(schema, 1500, rho, "rho", alone=True)
    assert ((recipe.rounds, recipe.cycles) == (SMOOTH_ROUNDS, SMOOTH_CYCLES)) is smooth
    assert not (smooth and prefers_pure(schema, epsilon, DELTA, alone=True))
    assert recipe_for(schema, 1500, rho, "rho").settings != recipe.settings or not smooth


def test_tables_of_names_are_not_smooth():
    listed = {f"a{i}": pv.Categorical(["a", "b", "c"]) for i in range(4)}
    names = pv.Schema(listed | {"x": pv.Numeric(0, 1, bins=16)}, "y", [0, 1])
    assert not is_smooth(names, 2500, 0.03, "rho")
    assert not is_smooth(numbers(6, classes=3), 2500, 0.03, "rho")
    assert not is_smooth(numbers(6), 5000, 1.0, "epsilon")
    assert is_smooth(numbers(6), 2500, 0.03, "rho")
    assert not is_smooth(numbers(6), 3500, 0.01, "rho")
    assert is_smooth(numbers(20), 2500, 0.03, "rho")
    assert not is_smooth(numbers(21), 2500, 0.03, "rho")


def test_bins_of_pairs_are_almost_even_where_no_edges_are_paid_for():
    schema = pv.Schema({x: pv.Numeric(-1, 1, bins="auto") for x in "ab"}, "y", [0, 1])
    wide = pv.Schema({x: pv.Numeric(-1, 1, bins="auto") for x in "abcd"}, "y", [0, 1])
    widths = {}
    for one in (schema, wide):
        curator = pv.Curator(
            pd.DataFrame({x: [0.0] for x in one.names}).assign(y=0), one, pv.Budget(1)
        )
        with Spending.reserve(curator, F(1, 100), "test") as spending:
            starts = resolve(curator, spending, 100).merged["a"]
        cuts = np.array(one.attributes["a"].cuts)[np.flatnonzero(np.diff(starts)) + 1]
        widths[one] = np.diff(cuts)
    assert widths[schema].max() < 3 * widths[schema].min()
    assert widths[wide].max() > 10 * widths[wide].min()
