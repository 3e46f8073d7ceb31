"""Bins that a fit makes of fine grids: by a public rule, and by edges that it pays for."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.curator.spending import Spending
from privet.domain import Categorical, Date, Numeric, Schema
from privet.domain.cells import Split
from privet.domain.space import TreeSpace, all_splits
from privet.errors import SchemaError
from privet.learners.default_recipe import recipe_for
from privet.learners.resolution import (
    FEW_BINS,
    MOST_BINS,
    choose_bins,
    divide_at,
    plan_cuts,
    resolve,
    resolve_evenly,
)
from privet.mechanisms.gibbs.slack import slack
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.model.file import read_model, write_model

SCHEMA = Schema(
    {
        "n": Numeric(0, 1000, bins="auto", missing="?"),
        "day": Date("2020-01-01", "2020-12-31", bins="auto"),
        "plain": Numeric(0, 1, bins=5),
        "colour": Categorical(["red", "green"]),
    },
    "class",
    ["no", "yes"],
)


def rows(n: int, *, width: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """The class is whether n is in the upper half of what occurs, from 0 to the width."""
    draws = np.random.default_rng(seed)
    number = draws.uniform(0, width, n)
    right = draws.random(n) < 0.95
    return pd.DataFrame(
        {
            "n": number,
            "day": "2020-06-01",
            "plain": 0.5,
            "colour": "red",
            "class": np.where((number > width / 2) == right, "yes", "no"),
        }
    )


def seeded() -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(1)


# -- the bins --------------------------------------------------------------------------------------


def test_a_schema_without_grids_is_left_as_it_is():
    schema = Schema({"plain": Numeric(0, 1, bins=5)}, "class", ["no", "yes"])
    resolution = resolve_evenly(schema)
    assert resolution.coarse is schema
    space = TreeSpace(schema, 1)
    assert resolution.lift_space(space) is space
    assert resolution.settings == {}


def test_even_bins_cover_the_range_and_missing_entries_have_one_of_their_own():
    resolution = resolve_evenly(SCHEMA, 8)
    assert resolution.coarse.sizes == (9, 8, 5, 2)
    assert np.bincount(resolution.merged["n"])[-1] == 1
    days = np.bincount(resolution.merged["day"])
    assert days.max() - days.min() <= 1
    assert set(resolution.merged) == {"n", "day"}


def test_bins_of_a_range_are_between_equal_widths_and_equal_ratios():
    """Narrow near zero, but not down to the last octave of the grid."""
    attribute = SCHEMA.attributes["n"]
    edges = np.array(attribute.cuts)[attribute.divide_grid(16)]
    widths = np.diff([*edges, 1000])
    assert (np.diff(widths) > 0).mean() > 0.8
    assert 2 < widths[0] < 10
    assert 150 < widths[-1] < 300
    even = Numeric(0, 1000, bins="auto", spacing="linear")
    assert np.allclose(np.diff(even.divide_grid(16)), 64)


def test_a_space_over_bins_is_one_over_the_grid():
    resolution = resolve_evenly(SCHEMA, 8)
    coarse = TreeSpace(resolution.coarse, 2, all_splits(resolution.coarse))
    lifted = resolution.lift_space(coarse)
    assert lifted.schema is SCHEMA
    assert lifted.merged.schema.sizes == resolution.coarse.sizes
    assert [s.branch for s in lifted.merged.last] == [s.branch for s in coarse.last]
    assert lifted.size == coarse.size


def test_bins_follow_the_rows_where_bounds_are_far_too_wide():
    """Cuts within 40 of 1000 codes: most bins are there, and the rest of the range has some."""
    starts = divide_at([480, 490, 500, 505, 510, 515, 520], 1000, 32)
    assert starts == sorted(set(starts))
    assert starts[0] == 0
    assert 24 <= len(starts) <= 40
    assert sum(470 <= start <= 530 for start in starts) >= 20
    below = np.diff([start for start in starts if start <= 480])
    assert (np.diff(below) <= 0).all()  # bins grow with the distance from the rows


@pytest.mark.parametrize("cuts", [[], [1], [999], [500], [1, 2, 3], [3, 900, 999]])
@pytest.mark.parametrize("bins", [16, 128])
def test_all_cuts_make_bins_that_begin_in_the_grid(cuts, bins):
    starts = divide_at(cuts, 1000, bins)
    assert starts[0] == 0
    assert set(cuts) <= set(starts)
    assert all(0 <= start < 1000 for start in starts)


# -- the rule --------------------------------------------------------------------------------------


def test_more_evidence_is_worth_more_bins():
    bins = [choose_bins(n, 1.0, "epsilon") for n in (100, 10_000, 40_000, 100_000, 10**6)]
    assert bins == [16, 16, 32, 128, MOST_BINS]
    assert choose_bins(10_000, None, "epsilon") == MOST_BINS  # without noise


def test_cuts_are_paid_for_where_there_is_evidence_enough():
    assert plan_cuts(1000, 0.1, "epsilon", 5) == (0, 0)
    share, levels = plan_cuts(36_000, 0.1, "epsilon", 5)
    assert levels == 2
    assert 0.03 <= share <= 0.06
    assert plan_cuts(36_000, 5.0, "epsilon", 5) == (F(3, 100), 5)
    for n_rows in (100, 3000, 10**5, 10**7):
        for unit in ("epsilon", "rho"):
            share, _ = plan_cuts(n_rows, 0.5, unit, 8)
            assert 0 <= share <= F(1, 10)


@pytest.mark.parametrize("budget", [Budget(1), Budget(1, delta="1e-6")], ids=["epsilon", "rho"])
def test_edges_cost_their_share_and_no_more(budget):
    curator = Curator(rows(20_000), SCHEMA.declare(n_rows=20_000), budget)
    delta = 0 if curator.unit == "epsilon" else "1e-6"
    with Spending.reserve(curator, 1, "test", delta=delta) as spending:
        before = spending.left
        resolution = resolve(spending.curator, spending, 20_000)
        paid = sum(charge.cost.amount(spending.unit) for charge in spending.charges)
        share, _ = plan_cuts(20_000, float(before), spending.unit, 2)
        assert spending.left == before * (1 - share)
        assert 0.999 * before * share <= paid <= before * share
    assert [charge.what for charge in spending.charges] == ["edges of n", "edges of day"]
    assert set(resolution.edges) == {"n", "day"}


def test_edges_are_where_rows_are():
    """All numbers are below 1, in bounds of 1000."""
    curator = Curator(rows(20_000), SCHEMA.declare(n_rows=20_000), Budget(20), bits=seeded())
    with Spending.reserve(curator, 10, "test") as spending:
        edges = resolve(spending.curator, spending, 20_000).edges["n"]
    inside = [edge for edge in edges if edge <= 1]
    assert len(inside) >= 0.8 * len(edges)
    assert np.allclose(inside, np.linspace(0, 1, len(inside) + 2)[1:-1], atol=0.15)


# -- models ----------------------------------------------------------------------------------------


def test_a_model_keeps_its_edges_and_works_from_its_file(tmp_path):
    table = rows(20_000, width=1.0)
    schema = SCHEMA.declare(n_rows=20_000)
    model = pv.PrivetClassifier(2, schema).fit(table)
    assert model.model_.settings["bins"]["n"] >= FEW_BINS
    assert len(model.model_.settings["edges"]["n"]) >= 3
    new = rows(2000, seed=1)
    accuracy = (model.predict(new) == new["class"]).mean()
    assert accuracy > 0.85  # even bins of [0, 1000] would not tell numbers below 1 apart
    path = tmp_path / "model.json"
    write_model(model.model_, path)
    again = read_model(path)
    assert again.settings == model.model_.settings
    codes = pv.load(path).predict_proba(new)
    assert np.array_equal(codes, model.predict_proba(new))


@pytest.mark.parametrize(
    "learner",
    [
        pv.GibbsTreeClassifier,
        pv.GibbsBoostClassifier,
        pv.GreedyTreeClassifier,
        pv.ForestClassifier,
        pv.RandomTreesClassifier,
    ],
)
def test_other_learners_work_on_grids(learner):
    table = rows(3000, width=1000.0)
    model = learner(epsilon=4, schema=SCHEMA.declare(n_rows=3000)).fit(table)
    assert (model.predict(table) == table["class"]).mean() > 0.6


@pytest.mark.parametrize("learner", [pv.AdditiveClassifier, pv.NoisyID3Classifier])
def test_learners_that_take_bins_by_themselves_refuse_grids_before_anything_is_charged(learner):
    curator = Curator(rows(100), SCHEMA.declare(n_rows=100), Budget(1))
    with pytest.raises(SchemaError, match=r"'n' has bins='auto'.*bins=16"):
        learner(epsilon=1).fit_from(curator)
    assert curator.left == 1


def test_bins_in_plenty_are_drawn_from():
    """Trees of three tests on 256 bins each would have too many nodes for floating point."""
    coarse = resolve_evenly(SCHEMA, 256).coarse
    space = recipe_for(coarse, 40_000, None).space
    assert space.depth == 3
    assert slack(space) < F(1, 1 << 16)


def test_terms_have_a_leaf_for_each_value_and_one_score_for_each_bin():
    table = rows(40_000, width=1000.0)
    model = pv.PrivetClassifier(math.inf, SCHEMA.declare(n_rows=40_000)).fit_from(
        Curator(table, SCHEMA.declare(n_rows=40_000), Budget(1), public=True)
    )
    term = next(tree for tree in model.model_.trees if tree.kind == "term")
    assert len(term.counts) == 1 + SCHEMA.attributes["n"].size
    different = len(np.unique(term.counts[1:].round(12), axis=0))
    assert 8 <= different <= model.model_.settings["bins"]["n"] + 1


def test_a_split_at_a_threshold_of_the_grid_may_be_asked_for_by_its_edge():
    split = Split.threshold(SCHEMA, "n", at=500)
    assert 0 < split.branch.index(1) < SCHEMA.attributes["n"].bins
