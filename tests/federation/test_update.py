"""Rows that come later: partial_fit, and updates of released models."""

from __future__ import annotations

import json
import math
from fractions import Fraction as F

import numpy as np
import pytest

import privet as pv
from privet import federation
from privet.errors import BudgetExceeded, ParameterError, QuestionError
from privet.learners.random_trees.batches import add_batch, plan_of
from privet.model.file import read_model, write_model
from tests.federation.parties import SCHEMA, curator_of, rows


def learner(epsilon=1, **more):
    return pv.RandomTreesClassifier(epsilon, SCHEMA, n_trees=3, height=2, **more)


def test_the_first_batch_is_a_fit():
    fitted = learner().partial_fit(rows(200))
    assert fitted.privacy_.describe() == "1-differentially private with one row added or removed"
    assert len(fitted.model_.evidence.batches) == 1


@pytest.mark.parametrize(("people", "epsilon"), [("disjoint", 1), ("may-overlap", F(7, 4))])
def test_what_a_person_loses(people, epsilon):
    fitted = learner(people=people).fit(rows(200))
    for amount in (F(1, 2), F(1, 4)):
        fitted.set_params(epsilon=amount).partial_fit(rows(100, 17))
    assert fitted.privacy_.promised.epsilon == epsilon
    assert [leaf.promised.epsilon for leaf in fitted.privacy_.leaves] in (
        [a, b, c]
        for a in (1, F(1, 2), F(1, 4))
        for b in (1, F(1, 2), F(1, 4))
        for c in (1, F(1, 2), F(1, 4))
        if len({a, b, c}) == 3
    )
    assert ("provided that nobody is in two of the 3 batches" in fitted.privacy_.describe()) is (
        people == "disjoint"
    )


def test_the_structure_stays_and_released_counts_stay():
    fitted = learner(people="disjoint").fit(rows(200))
    before, plan = fitted.model_, plan_of(fitted.model_).fingerprint
    fitted.partial_fit(rows(50, 3))
    assert plan_of(fitted.model_).fingerprint == plan
    kept = dict(
        zip(
            (leaf.id for leaf in fitted.privacy_.leaves),
            fitted.model_.evidence.batches,
            strict=True,
        )
    )[before.privacy.id]
    for one, other in zip(kept.tables, before.evidence.batches[0].tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_each_batch_has_fresh_noise_of_its_own_scale():
    fitted = learner(2, people="disjoint").fit(rows(200))
    fitted.set_params(epsilon=F(1, 2)).partial_fit(rows(200))
    deviations = sorted(batch.deviation for batch in fitted.model_.evidence.batches)
    # scale: trees / epsilon
    assert deviations == pytest.approx([math.sqrt(2) * 3 / 2, math.sqrt(2) * 6], rel=0.05)
    # The same rows twice: without fresh noise the difference of the two would be nothing.
    first, second = (batch.tables for batch in fitted.model_.evidence.batches)
    assert any((one != other).any() for one, other in zip(first, second, strict=True))


def test_exact_updates_equal_a_fit_of_all_rows():
    fitted = learner(math.inf).fit(rows(100))
    fitted.partial_fit(rows(72, 100))
    counts = [tree.counts[0].sum() for tree in fitted.model_.trees]
    assert counts == pytest.approx([172] * 3)
    assert not fitted.privacy_.private


def test_updates_through_a_curator_are_charged_to_its_ledger():
    first, second = curator_of(rows(200)), curator_of(rows(100, 9))
    fitted = learner(people="disjoint").partial_fit_from(first)
    fitted.set_params(epsilon=F(1, 3)).partial_fit_from(second)
    assert (first.spent.epsilon, second.spent.epsilon) == (1, F(1, 3))
    assert second.ledger.entries()[0].what.startswith("class counts: 3 partitions")
    assert {leaf.account for leaf in fitted.privacy_.leaves} == {first.account, second.account}


def test_the_same_table_again_is_refused_before_it_is_charged_unless_people_may_overlap():
    curator = curator_of(rows(200))
    fitted = learner(people="disjoint").fit_from(curator)
    with pytest.raises(ParameterError, match="one account"):
        fitted.partial_fit_from(curator)
    assert curator.spent.epsilon == 1
    fitted.set_params(people="may-overlap").partial_fit_from(curator)
    assert fitted.privacy_.promised.epsilon == curator.spent.epsilon == 2


def test_a_budget_that_does_not_allow_it_changes_nothing():
    fitted = learner().fit(rows(100))
    before = fitted.model_
    poor = curator_of(rows(100), budget=F(1, 2))
    with pytest.raises(BudgetExceeded):
        fitted.partial_fit_from(poor)
    assert fitted.model_ is before
    assert poor.ledger.entries() == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"people": "same"}, "people must be 'disjoint'"),
        ({"people": "maybe"}, "people must be 'disjoint'"),
        ({"epsilon": -1}, "epsilon must be a finite number above zero"),
    ],
)
def test_bad_parameters_of_an_update(change, reason):
    fitted = learner().fit(rows(100))
    curator = curator_of(rows(100))
    with pytest.raises(ParameterError, match=reason):
        fitted.set_params(**change).partial_fit_from(curator)
    assert curator.ledger.entries() == []


def test_people_are_cut_in_every_batch():
    """A person of many rows counts with one, also where a batch came from elsewhere in between."""
    schema = SCHEMA.declare(person="who", rows_per_person=1)
    many = rows(60).assign(who="ada")
    fitted = pv.RandomTreesClassifier(50, schema, n_trees=3, height=2).fit(many)
    other = curator_of(rows(60).assign(pid="bob"), SCHEMA.declare(person="pid"))
    fitted.partial_fit_from(other).partial_fit(many)
    assert [batch.n_rows for batch in fitted.model_.evidence.batches] == pytest.approx(
        [1, 1, 1], abs=1
    )
    unknown = (
        pv.RandomTreesClassifier(50, n_trees=3, height=2)
        .fit_from(curator_of(many, schema))
        .partial_fit_from(other)
    )
    with pytest.raises(ParameterError, match="different columns whose row it is"):
        unknown.partial_fit(many)


@pytest.mark.parametrize("name", ["x" * 201, "two\nlines", 5, "\ud800"])
def test_a_name_that_no_file_would_hold_is_refused_before_a_charge(name):
    curator = curator_of(rows(50))
    with pytest.raises(ParameterError, match="name must be text"):
        federation.update(learner().fit(rows(50)).model_, curator, 1, "may-overlap", name)
    with pytest.raises(ParameterError, match="name must be text"):
        federation.contribute(federation.draw_plan(SCHEMA, 2, height=1), curator, 1, name)
    assert curator.ledger.entries() == []


def test_parts_of_one_table_are_not_another_table():
    curator = curator_of(rows(200))
    plan = federation.draw_plan(SCHEMA, 2, height=1)
    with curator.snapshot():
        half, _ = curator.split_people(2, 1)
        some = federation.contribute(plan, half, 1)
    whole = federation.contribute(plan, curator, 1)
    with pytest.raises(ParameterError, match="charged to one account"):
        federation.merge([some, whole], "disjoint")


def test_classes_of_scikit_learn_must_be_those_of_the_schema():
    learner().partial_fit(rows(100), classes=["yes", "no"])
    with pytest.raises(ParameterError, match="classes must be those of the schema"):
        learner().partial_fit(rows(100), classes=["yes", "no", "perhaps"])


def test_a_learner_that_keeps_no_leaf_vectors_cannot_be_updated():
    drawn = pv.GibbsTreeClassifier(1, SCHEMA).fit(rows(100))
    assert not hasattr(drawn, "partial_fit")
    with pytest.raises(ParameterError, match=r"gibbs-tree\) keeps no leaf vectors"):
        add_batch(drawn.model_, curator_of(rows(100)), 1, "disjoint")


def test_a_file_from_before_leaf_vectors_cannot_be_updated_but_predicts(tmp_path):
    model = learner().fit(rows(100)).model_
    write_model(model, tmp_path / "m.json")
    loaded = federation.update(
        read_model(tmp_path / "m.json"), curator_of(rows(50)), 1, "may-overlap", "spring"
    )
    assert "spring" in {leaf.name for leaf in loaded.privacy.leaves}
    from dataclasses import replace

    old = replace(model, evidence=None)
    write_model(old, tmp_path / "old.json")
    with pytest.raises(ParameterError, match="keeps no leaf vectors"):
        federation.update(read_model(tmp_path / "old.json"), curator_of(rows(50)), 1, "may-overlap")


def test_rows_of_another_schema_are_refused():
    other = pv.Schema(SCHEMA.attributes, "advice", ["yes", "no"])
    with pytest.raises(QuestionError, match="another schema"):
        learner().fit(rows(100)).partial_fit_from(curator_of(rows(50), other))


def test_positional_columns_can_be_updated():
    table = rows(144)
    x, y = table[["form", "age", "child"]].to_numpy(), table["advice"].to_numpy()
    fitted = pv.RandomTreesClassifier(math.inf, "from-data", n_trees=3, height=2).partial_fit(
        x[:100], y[:100]
    )
    fitted.partial_fit(x[100:], y[100:])
    assert [tree.counts[0].sum() for tree in fitted.model_.trees] == pytest.approx([144] * 3)
    with pytest.raises(ValueError, match="features"):
        fitted.partial_fit(x[:, :2], y)


def test_batches_of_a_test_seed_differ():
    with pv.testing.unlock_test_seeds():
        fitted = (
            learner(random_state=3).fit(rows(100)).partial_fit(rows(100)).partial_fit(rows(100))
        )
        again = learner(random_state=3).fit(rows(100)).partial_fit(rows(100)).partial_fit(rows(100))
    assert len({leaf.id for leaf in fitted.privacy_.leaves}) == 3
    assert [leaf.id for leaf in again.privacy_.leaves] == [
        leaf.id for leaf in fitted.privacy_.leaves
    ]
    assert not fitted.privacy_.private


def test_the_file_holds_no_exact_count(tmp_path):
    fitted = learner(people="disjoint").fit(rows(200)).partial_fit(rows(72))
    write_model(fitted.model_, tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    exact = [tree.counts[tree.leaves] for tree in learner(math.inf).fit(rows(200)).model_.trees]
    assert all(set(tree) == {"attribute", "branch"} for tree in document["trees"])
    released = [
        np.array(table) for batch in document["leaves"]["batches"] for table in batch["counts"]
    ]
    assert len(released) == 6
    assert np.mean([np.isin(table, np.concatenate(exact)).mean() for table in released]) < 0.9
    assert "random_state" not in document["settings"]


class TestLaw:
    """The noise of an updated sum: the law of one batch's noise, with a test that rejects another
    scale.
    """

    def test_the_spread_of_the_sum(self):
        schema = pv.Schema({"a": SCHEMA.attributes["child"]}, "advice", ["no", "yes"])
        table = rows(10)[["child", "advice"]].rename(columns={"child": "a"})
        exact = (
            pv.RandomTreesClassifier(math.inf, schema, n_trees=1, height=1, shrink=0)
            .fit(table)
            .model_.evidence.batches[0]
            .tables[0]
        )
        seen = []
        for _ in range(400):
            fitted = (
                pv.RandomTreesClassifier(1, schema, n_trees=1, height=1, shrink=0)
                .fit(table)
                .partial_fit(table)
            )
            seen.append(
                sum(batch.tables[0] - exact for batch in fitted.model_.evidence.batches).ravel()
            )
        ratio = np.std(seen) / math.sqrt(2 * 2 * math.exp(-1) / (1 - math.exp(-1)) ** 2)
        # 1600 draws: one that is 30% off is more than five deviations away
        assert 0.85 < ratio < 1.15
