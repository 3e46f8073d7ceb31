"""Rows that come later, for the default learner: what they pay, what they add, what is refused."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

import privet as pv
from privet.domain import Categorical, Schema
from privet.errors import (
    BudgetExceeded,
    DriftWarning,
    FewRowsWarning,
    ParameterError,
    PrivetError,
    QuestionError,
)
from privet.learners import updates
from privet.learners.drift import share_for_trust, weigh_scores
from privet.learners.relay import Party
from privet.learners.updates import NOT_MEASURED, add_terms, list_batches, plan_step, update_boosted
from privet.model.file import read_model, write_model
from privet.model.structure import LARGEST_SCORE
from tests.federation.parties import SCHEMA, curator_of, rows

KNOWN = SCHEMA.declare(n_rows=600)


def fitted(epsilon=1, schema=KNOWN, **more):
    return pv.PrivetClassifier(epsilon, **more).fit_from(curator_of(rows(600), schema))


def right(model, table=None):
    table = rows(600) if table is None else table
    return (model.predict(table) == table["advice"]).mean()


class TestMoney:
    @pytest.mark.parametrize(("people", "epsilon"), [("disjoint", 1), ("may-overlap", F(7, 4))])
    def test_each_batch_is_charged_its_own_epsilon(self, people, epsilon):
        model = fitted(people=people)
        for amount in (F(1, 2), F(1, 4)):
            curator = curator_of(rows(600, 31), KNOWN)
            model.set_params(epsilon=amount).partial_fit_from(curator)
            assert curator.spent.epsilon == amount
        assert model.privacy_.promised.epsilon == epsilon
        assert sorted(leaf.charged.epsilon for leaf in model.privacy_.leaves) == [
            F(1, 4),
            F(1, 2),
            1,
        ]

    def test_the_number_of_rows_is_paid_for_where_it_is_not_declared(self):
        curator = curator_of(rows(600), SCHEMA)
        model = update_boosted(fitted().model_, curator, 1, "disjoint", "spring")
        (new,) = (leaf for leaf in model.privacy.leaves if leaf.name == "spring")
        assert new.charges[0].what == "number of rows"
        assert curator.spent.epsilon == new.charged.epsilon == 1

    def test_rho_adds_up(self):
        def curator():
            return pv.Curator(rows(600), KNOWN, pv.Budget(rho=1))

        model = pv.PrivetClassifier(1, delta="1e-6", people="disjoint").fit_from(curator())
        second = curator()
        model.partial_fit_from(second)
        for leaf in model.privacy_.leaves:
            assert leaf.charged.epsilon is None
            assert leaf.charged.rho >= 1 - second.left > 0

    def test_nothing_is_asked_before_the_whole_is_reserved(self):
        poor = curator_of(rows(600), KNOWN, F(1, 2))
        model = fitted()
        before = model.model_
        with pytest.raises(BudgetExceeded):
            model.partial_fit_from(poor)
        assert poor.ledger.entries() == []
        assert model.model_ is before


class TestRefusals:
    def refused(self, model, curator, match, error=ParameterError, epsilon=1, **more):
        left = curator.left
        with pytest.raises(error, match=match):
            update_boosted(model, curator, epsilon, **({"people": "disjoint"} | more))
        assert curator.left == left
        assert curator.ledger.entries() == []

    def test_the_same_account(self):
        curator = curator_of(rows(600), KNOWN)
        model = pv.PrivetClassifier(1, people="disjoint").fit_from(curator)
        with pytest.raises(ParameterError, match="one account"):
            model.partial_fit_from(curator)
        assert curator.spent.epsilon == 1
        model.set_params(people="may-overlap").partial_fit_from(curator)
        assert model.privacy_.promised.epsilon == curator.spent.epsilon == 2

    def test_another_schema(self):
        other = Schema(SCHEMA.attributes, "advice", ["yes", "no"])
        self.refused(fitted().model_, curator_of(rows(9), other), "another schema", QuestionError)

    def test_other_neighbours(self):
        other = curator_of(rows(600), KNOWN.declare(neighbours="replace"))
        self.refused(fitted().model_, other, "they must agree")

    def test_another_unit(self):
        other = pv.Curator(rows(600), KNOWN, pv.Budget(rho=1))
        self.refused(fitted().model_, other, "same unit", delta="1e-6")
        drawn = pv.PrivetClassifier(1, delta="1e-6").fit_from(
            pv.Curator(rows(600), KNOWN, pv.Budget(rho=1))
        )
        self.refused(drawn.model_, curator_of(rows(600), KNOWN), "same unit", delta="1e-6")

    def test_no_noise(self):
        self.refused(fitted().model_, curator_of(rows(9), KNOWN), "finite", epsilon=float("inf"))
        exact = pv.PrivetClassifier(float("inf"), KNOWN).fit(rows(600)).model_
        self.refused(exact, curator_of(rows(600), KNOWN), "without noise")

    @pytest.mark.parametrize("kind", [pv.GibbsTreeClassifier, pv.RandomTreesClassifier])
    def test_another_learner(self, kind):
        model = kind(1, SCHEMA).fit(rows(100)).model_
        self.refused(model, curator_of(rows(600), KNOWN), "none of the default learner")

    def test_too_many_trees(self):
        model = fitted().model_
        many = replace(model, trees=model.trees[:1] * updates.MAX_TREES)
        self.refused(many, curator_of(rows(600), KNOWN), "build it anew")

    @pytest.mark.parametrize("said", [{"x": 0}, {"x": float("nan")}, {"x": "many"}, [600], 600])
    def test_numbers_of_rows_that_are_none(self, said):
        model = fitted().model_
        wrong = replace(model, settings={**model.settings, "rows": said})
        self.refused(wrong, curator_of(rows(600), KNOWN), "rows in this model")

    @pytest.mark.parametrize(
        ("more", "match"),
        [({"people": "same"}, "people must be"), ({"name": "x" * 201}, "name must be")],
    )
    def test_bad_parameters(self, more, match):
        self.refused(fitted().model_, curator_of(rows(600), KNOWN), match, **more)


class TestPlan:
    def test_evidence_decides_how_many_trees(self):
        wide = Schema(
            {f"a{n}": Categorical(list("abcdefgh")) for n in range(12)}, "y", ["no", "yes"]
        )
        small, large = Party("", 5000, F(1)), Party("", 20_000, F(1))
        trees = [
            plan_step(wide, [old], new, (), "epsilon").trees
            for old, new in ((large, small), (small, small), (small, large))
        ]
        assert trees == sorted(trees)
        assert trees[0] < trees[-1]
        assert plan_step(wide, [large] * 50, small, (), "epsilon").trees == 1

    def test_rows_are_those_of_the_file(self, tmp_path):
        model = fitted(people="disjoint")
        model.partial_fit_from(curator_of(rows(300), SCHEMA.declare(n_rows=300)))
        write_model(model.model_, tmp_path / "m.json")
        known = list_batches(read_model(tmp_path / "m.json"), "epsilon", 50)
        assert sorted(batch.rows for batch in known) == [300, 600]

    def test_a_file_without_rows_is_assumed_to_have_as_many(self):
        model = fitted().model_
        settings = {name: value for name, value in model.settings.items() if name != "rows"}
        old = replace(model, settings=settings)
        assert [batch.rows for batch in list_batches(old, "epsilon", 50)] == [600]
        silent = update_boosted(old, curator_of(rows(600), KNOWN), 1, "disjoint")
        silent = replace(silent, settings=settings)
        assert [batch.rows for batch in list_batches(silent, "epsilon", 50)] == [50, 50]
        assert [batch.rows for batch in list_batches(silent, "epsilon", 50, 900)] == [450, 450]

    def test_terms_of_one_attribute_are_added_up(self):
        additive = pv.AdditiveClassifier(1, SCHEMA).fit(rows(600)).model_
        terms = [tree for tree in additive.trees if tree.kind == "term"]
        added = add_terms(terms, terms[:1])
        assert len(added) == len(terms)
        np.testing.assert_allclose(added[0].counts, 2 * terms[0].counts)

    def test_a_model_that_was_updated_can_be_saved_whatever_the_old_one_held(self):
        additive = pv.AdditiveClassifier(1, SCHEMA).fit(rows(600)).model_
        term = next(tree for tree in additive.trees if tree.kind == "term")
        largest = replace(term, counts=np.full_like(term.counts, LARGEST_SCORE))
        (added,) = add_terms([largest], [term])
        assert np.abs(added.counts).max() <= LARGEST_SCORE

    def test_trees_that_were_released_stay(self):
        first = fitted().model_
        second = update_boosted(first, curator_of(rows(600), KNOWN), 1, "disjoint")
        kept = second.trees[: len(first.trees)]
        for one, other in zip(first.trees, kept, strict=True):
            np.testing.assert_allclose(one.counts * second.settings["trust"], other.counts)


class TestLearning:
    def test_five_batches_learn_what_one_cannot(self):
        with pv.testing.unlock_test_seeds():
            found = []
            for seed in range(3):
                model = pv.PrivetClassifier("1/2", SCHEMA, people="disjoint", random_state=seed)
                curve = [right(model.partial_fit(rows(120, 13 * batch))) for batch in range(5)]
                found.append((curve[0], curve[-1]))
        first, last = np.mean(found, axis=0)
        assert last > first + 0.03

    def test_flipped_labels_take_the_old_trees_out(self):
        model = fitted(4, people="disjoint")
        flipped = rows(600)
        flipped["advice"] = flipped["advice"].map({"yes": "no", "no": "yes"})
        with pytest.warns(DriftWarning, match="scores are left out"):
            model.partial_fit_from(curator_of(flipped, KNOWN))
        assert model.model_.settings["trust"] == 0
        notes = [note for leaf in model.privacy_.leaves for note in leaf.notes]
        assert any("contradict the old model" in note for note in notes)
        assert right(model, flipped) > 0.8

    def test_rows_that_agree_leave_the_old_trees_as_they_are(self):
        model = fitted(4, people="disjoint").partial_fit_from(curator_of(rows(600, 31), KNOWN))
        assert model.model_.settings["trust_share"] > 0
        assert model.model_.settings["trust"] > 0.9

    def test_in_memory_and_costs(self):
        model = pv.PrivetClassifier(1, KNOWN, costs={("yes", "no"): 5}, people="disjoint")
        model.partial_fit(rows(600)).partial_fit(rows(600, 31))
        assert model.model_.costs is not None
        assert len(model.privacy_.leaves) == 2

    def test_a_model_of_a_relay_can_be_updated(self):
        parties = [curator_of(rows(600, turn), KNOWN) for turn in (0, 31)]
        model = pv.PrivetClassifier(1, people="disjoint").fit_from(parties)
        model.partial_fit_from(curator_of(rows(300, 7), SCHEMA.declare(n_rows=300)))
        assert sorted(model.model_.settings["rows"].values()) == [300, 600, 600]
        assert model.privacy_.promised.epsilon == 1


class TestTrust:
    @pytest.mark.parametrize("claimed", [0.6, 0.9, 0.99])
    def test_a_model_that_keeps_its_word_counts_fully(self, claimed):
        assert weigh_scores(claimed, claimed, 0.01, 5000, 2) == 1

    def test_it_falls_with_the_rows_that_are_right(self):
        factors = [weigh_scores(right, 0.9, 0.01, 5000, 2) for right in (0.9, 0.8, 0.7, 0.6, 0.1)]
        assert factors == sorted(factors, reverse=True)
        assert factors[0] == 1
        assert factors[-1] == 0
        assert all(0 <= factor <= 1 for factor in factors)

    def test_too_few_rows_to_tell_are_said_to_be_too_few(self):
        before = fitted()
        new = curator_of(rows(300, 3), SCHEMA.declare(n_rows=300))
        with pytest.warns(FewRowsWarning, match="300 new rows at epsilon 0.1 are too few to tell"):
            after = update_boosted(before.model_, new, "1/10", "disjoint")
        assert NOT_MEASURED in after.privacy.leaves[-1].notes + after.privacy.leaves[0].notes

    def test_enough_rows_are_not_warned_about(self):
        before = fitted()
        new = curator_of(rows(6000), SCHEMA.declare(n_rows=6000))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            after = update_boosted(before.model_, new, 1, "disjoint")
        assert all(NOT_MEASURED not in leaf.notes for leaf in after.privacy.leaves)

    def test_nothing_is_paid_where_noise_would_hide_it(self):
        assert share_for_trust(SCHEMA, 600, F(1, 10), "epsilon") == 0
        assert 0 < share_for_trust(SCHEMA, 6000, F(1), "epsilon") <= F(1, 10)
        assert 0 < share_for_trust(SCHEMA, 6000, F(1, 8), "rho") <= F(1, 10)


def test_the_file_holds_no_exact_number_of_rows_that_was_not_declared(tmp_path):
    found = []
    for _ in range(5):
        model = fitted(schema=SCHEMA, people="disjoint")
        model.partial_fit_from(curator_of(rows(600), SCHEMA))
        write_model(model.model_, tmp_path / "m.json")
        found += json.loads((tmp_path / "m.json").read_text())["settings"]["rows"].values()
    assert len(set(found)) > 1


def test_any_refusal_is_a_privet_error():
    with pytest.raises(PrivetError):
        update_boosted(fitted().model_, "a table", 1, "disjoint")
