"""Each preset against the text of its paper."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.domain import Categorical, Numeric, Schema
from privet.learners.greedy import grow_greedy, split_epsilon
from privet.learners.random_trees.classifier import answer_by_root
from privet.learners.random_trees.drawing import height_for
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds

CAR = pv.datasets.load("car")


def curator(epsilon=1, **options) -> pv.Curator:
    return pv.Curator(CAR.table, CAR.schema, pv.Budget(epsilon), **options)


# -- Hanisch -----------------------------------------------------------------------------------


def test_hanisch_divides_epsilon_by_the_trees_and_lets_them_vote():
    paying = curator(2)
    model = pv.presets.hanisch(epsilon=2, n_trees=4, depth=3).fit_from(paying).model_
    assert model.combine == "vote"
    assert [int(tree.depths.max()) for tree in model.trees] == [3] * 4
    assert sum(entry.cost.epsilon for entry in paying.ledger.entries()) == 2  # no size is asked
    # Laplace noise of scale 4/2 in every leaf count
    p = math.exp(-2 / 4)
    assert model.noise == pytest.approx(math.sqrt(2 * p) / (1 - p))


def test_his_unknown_values_are_answered_by_the_prior_of_the_tree(tmp_path):
    exact = curator(public=True)
    prior = pv.presets.hanisch(epsilon=math.inf, n_trees=3, depth=2).fit_from(exact)
    unknown = pd.DataFrame({name: ["?"] * 2 for name in CAR.schema.names})
    assert prior.predict(unknown).tolist() == ["unacc"] * 2  # 70% of all rows
    for tree in prior.model_.trees:
        inner = tree.cells.attribute >= 0
        assert (tree.counts[inner] == np.bincount(class_codes(), minlength=4)).all()
    pv.save(prior, tmp_path / "model.json")
    read = pv.load(tmp_path / "model.json")
    assert (read.predict(unknown) == prior.predict(unknown)).all()
    assert (read.predict(CAR.X) == prior.predict(CAR.X)).all()
    assert (prior.feature_importances_ > 0).sum() >= 2


def class_codes():
    return pd.Categorical(CAR.y, categories=CAR.schema.classes).codes


def test_the_prior_changes_unknown_values_only():
    """A tree of which one branch says another class than the whole tree."""
    schema = Schema({"a": Categorical(list("xy")), "b": Categorical(list("xy"))}, "c", ["0", "1"])
    table = pd.DataFrame({"a": list("xyyy"), "b": list("xxyy"), "c": list("0111")})
    exact = pv.Curator(table, schema, pv.Budget(1), public=True)
    plain = pv.RandomTreesClassifier(math.inf, n_trees=1, height=2, shrink=0).fit_from(exact)
    (tree,) = plain.model_.trees
    first = schema.names[tree.cells.attribute[0]]
    half = pd.DataFrame({"a": ["?"], "b": ["?"]}).assign(**{first: ["x"]})
    codes = pv.domain.encode.rows.encode(schema, half, target=False).codes
    whole = answer_by_root(tree)
    assert tree.counts[tree.reach(codes)[0]].sum() < 4
    assert whole.counts[whole.reach(codes)[0]].tolist() == [1, 3]
    leaves = tree.cells.attribute < 0
    assert (tree.counts[leaves] == whole.counts[leaves]).all()


def test_no_rows_can_be_added_to_a_forest_without_leaf_vectors():
    model = pv.presets.hanisch(1, CAR.schema, depth=2)
    model.partial_fit(CAR.X, CAR.y)
    with pytest.raises(pv.errors.ParameterError, match="keeps no leaf vectors"):
        model.partial_fit(CAR.X, CAR.y)


# -- Jagannathan, Pillaipakkamnatt and Wright ------------------------------------------------------


@pytest.mark.parametrize("preset", [pv.presets.rdt2009, pv.presets.rdt2012])
def test_rdt_adds_up_noisy_counts_of_leaves_that_are_all_at_one_height(preset):
    schema = CAR.schema.declare(n_rows=len(CAR.X))
    paying = pv.Curator(CAR.table, schema, pv.Budget(1))
    model = preset(epsilon=1).fit_from(paying).model_
    assert (len(model.trees), model.combine) == (10, "counts")
    # min(floor(6/2), floor(log_3.5 1728) - 1)
    assert {int(tree.depths.max()) for tree in model.trees} == {min(3, 5 - 1)}
    assert height_for(schema, 1728) == 3
    for tree in model.trees:
        leaves = tree.cells.attribute < 0
        assert (tree.depths[leaves] == 3).all()  # no pruning
        assert all(tree.counts[leaves].ravel() % 1 == 0)  # counts as they are: no shrinking
    p = math.exp(-1 / 10)
    assert model.noise == pytest.approx(math.sqrt(2 * p) / (1 - p))  # Lap(N/epsilon)
    assert [entry.cost.epsilon for entry in paying.ledger.entries()] == [1]


def test_a_path_of_an_rdt_asks_no_attribute_twice():
    model = pv.presets.rdt2012(epsilon=1, schema=CAR.schema.declare(n_rows=1728)).fit(CAR.table)
    cells = model.model_.trees[0].cells
    for leaf in np.flatnonzero(cells.attribute < 0).tolist():
        path, node = [], leaf
        while node:
            node = int(cells.parents[node])
            path.append(int(cells.attribute[node]))
        assert len(path) == len(set(path)) == 3


def test_rdt_classifies_by_the_sum_of_the_counts():
    exact = pv.Curator(CAR.table, CAR.schema.declare(n_rows=1728), pv.Budget(1), public=True)
    model = pv.presets.rdt2009(epsilon=math.inf, n_trees=5, height=2).fit_from(exact)
    codes = pv.domain.encode.rows.encode(CAR.schema, CAR.X, target=False).codes
    sums = sum(tree.counts[tree.reach(codes)] for tree in model.model_.trees)
    expected = sums / sums.sum(axis=1, keepdims=True)
    order = [list(model.classes_).index(label) for label in CAR.schema.classes]
    np.testing.assert_allclose(model.predict_proba(CAR.X)[:, order], expected)


# -- Novakovic -------------------------------------------------------------------------------------


def test_novakovic_divides_epsilon_into_2_d_plus_1_minus_1_parts():
    paying = curator()
    pv.presets.novakovic(epsilon=1, max_depth=2, min_rows=0).fit_from(paying)
    spent = [entry.cost.epsilon for entry in paying.ledger.entries()]
    assert spent
    assert set(spent) == {F(1, 5)}
    assert len(spent) <= 5
    shares = split_epsilon("thesis", F(1), 5)
    assert set(shares.splits) | set(shares.counts) == {F(1, 11)}
    assert (len(shares.splits), len(shares.counts)) == (5, 6)


def test_novakovic_draws_by_the_exponential_mechanism(monkeypatch):
    asked = []
    paying = curator()
    choose = paying.choose
    monkeypatch.setattr(
        paying,
        "choose",
        lambda *given, **named: (
            asked.append((given[2], named["mechanism"])) or choose(*given, **named)
        ),
    )
    grow_greedy(paying, "max", split_epsilon("thesis", F(1), 2), mechanism="exponential")
    assert asked == [("max", "exponential")] * 2
    learner = pv.presets.novakovic(1, CAR.schema, criterion="gini")
    assert learner.get_params() | {"schema": None} == {
        "epsilon": 1,
        "schema": None,
        "criterion": "gini",
        "max_depth": 5,
        "splits": "binary",
        "schedule": "thesis",
        "min_rows": 5,
        "shrink": 0,
        "mechanism": "exponential",
        "attribute_once": True,
        "random_state": None,
    }


def test_two_splits_are_drawn_with_the_weights_of_the_thesis():
    """exp(epsilon u / (2 Delta)) for one row replaced is exp(epsilon u / Delta) for one added."""
    schema = Schema({"a": Categorical(list("xy")), "b": Categorical(list("xy"))}, "c", ["0", "1"])
    # the max operator scores a with 8 and b with 6
    table = pd.DataFrame({"a": list("xxxxyyyy"), "b": list("xxxyxyyy"), "c": list("00001111")})
    with unlock_test_seeds():
        paying = pv.Curator(table, schema, pv.Budget(10**4), bits=SeededBits(1))
    splits = [pv.Split.multiway(schema, name) for name in "ab"]
    share = {
        how: np.mean(
            [
                paying.choose([{}], splits, "max", 1, mechanism=how).splits[0].attribute == "a"
                for _ in range(800)
            ]
        )
        for how in ("exponential", "permute-and-flip")
    }
    # seeded; a scale 30% off gives .82 and .89
    assert share["exponential"] == pytest.approx(1 / (1 + math.exp(-2)), abs=0.03)
    assert share["permute-and-flip"] == pytest.approx(1 - math.exp(-2) / 2, abs=0.03)


def paths_of(cells):
    for leaf in np.flatnonzero(cells.attribute < 0).tolist():
        path, node = [], leaf
        while node:
            node = int(cells.parents[node])
            path.append(cells.schema.names[cells.attribute[node]])
        yield path


def test_a_category_is_asked_once_and_a_number_again():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"kind": rng.choice(list("abcdef"), 600), "age": rng.integers(0, 80, 600)})
    table["c"] = np.where(
        table["kind"].isin(["a", "c"]) ^ ((table["age"] > 20) & (table["age"] < 60)), "1", "0"
    )
    schema = Schema(
        {"kind": Categorical(list("abcdef")), "age": Numeric(0, 80, bins=8)}, "c", ["0", "1"]
    )
    exact = pv.Curator(table, schema, pv.Budget(1), public=True)
    shares = split_epsilon("even", None, 5)
    repeated = {
        once: {
            name
            for path in paths_of(grow_greedy(exact, "gini", shares, attribute_once=once).cells)
            for name in path
            if path.count(name) > 1
        }
        for once in (False, True)
    }
    assert repeated == {False: {"kind", "age"}, True: {"age"}}


def test_attributes_that_are_used_up_end_a_path():
    exact = pv.Curator(CAR.table, CAR.schema, pv.Budget(1), public=True)
    grown = grow_greedy(exact, "gini", split_epsilon("even", None, 8), attribute_once=True)
    lengths = [len(path) for path in paths_of(grown.cells)]
    assert max(lengths) == len(CAR.schema.names)
    assert all(len(set(path)) == len(path) for path in paths_of(grown.cells))


def test_numbers_grow_as_epsilon_does():
    """More epsilon, less noise, in the order of the shares: a preset passes epsilon on."""
    noise = [
        preset(epsilon=epsilon).fit_from(curator(epsilon)).model_.noise
        for preset in (pv.presets.rdt2009, pv.presets.novakovic)
        for epsilon in (1, 2)
    ]
    assert noise[0] > noise[1]
    assert noise[2] > noise[3]
    assert all(a > 0 for a, _ in pairwise(noise))


# -- stopping rules that nothing pays for --------------------------------------------------------


@pytest.mark.parametrize("learner", [pv.GreedyTreeClassifier, pv.ForestClassifier])
@pytest.mark.parametrize("schedule", ["even", "deep"])
def test_min_rows_is_refused_where_no_count_is_paid_for(learner, schedule):
    with pytest.raises(
        pv.errors.ParameterError,
        match=rf"{learner.__name__}: min_rows=20 needs class counts on the way.*schedule='thesis'",
    ):
        learner(schema=CAR.schema, schedule=schedule, min_rows=20).fit(CAR.table)
    for allowed in ({"schedule": "thesis", "min_rows": 20}, {"schedule": schedule, "min_rows": 0}):
        assert learner(schema=CAR.schema, **allowed).fit(CAR.table).model_
