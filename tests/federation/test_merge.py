"""Adding up what several parties released."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet import federation
from privet.accounting.statement import PrivacyStatement
from privet.domain import Schema
from privet.domain.encode.rows import encode
from privet.errors import ModelError, NoiseWarning, ParameterError, QuestionError
from privet.model.file import read_model, write_model
from privet.model.leaf_vectors import Batch, estimate_sizes, explain_wear, weigh_batches
from tests.federation.parties import SCHEMA, curator_of, part, plan, rows


@pytest.fixture(scope="module")
def drawn():
    return plan()


@pytest.fixture(scope="module")
def parts(drawn):
    return [
        part(drawn, 100, 1, "north"),
        part(drawn, 300, F(1, 2), "south", 31),
        part(drawn, 50, 2, "west", 7),
        part(drawn, 80, 3, "east", 9),
    ]


def exact_part(drawn, table):
    return federation.contribute(drawn, curator_of(table, public=True), math.inf)


def saved(model, folder, name="m.json"):
    write_model(model, folder / name)
    return (folder / name).read_bytes()


def test_exact_counts_add_up_to_those_of_all_rows(drawn):
    tables = [rows(100), rows(60, 13), rows(5, 3)]
    parts = [exact_part(drawn, table) for table in tables]
    whole = federation.merge(parts, "disjoint")
    at_once = exact_part(drawn, pd.concat(tables))
    assert whole.evidence.weights == (1, 1, 1)
    for ours, theirs in zip(whole.trees, at_once.trees, strict=True):
        np.testing.assert_allclose(ours.counts, theirs.counts)
    assert not whole.privacy.private


def test_the_noise_of_the_sum_is_that_of_its_parts(parts):
    whole = federation.merge(parts, "disjoint", "equal")
    assert whole.noise == pytest.approx(math.sqrt(sum(one.noise**2 for one in parts)))
    by_id = {one.privacy.id: one for one in parts}
    for leaf, batch in zip(whole.privacy.leaves, whole.evidence.batches, strict=True):
        for ours, theirs in zip(
            batch.tables, by_id[leaf.id].evidence.batches[0].tables, strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)
    for number, table in enumerate(whole.evidence.tables):
        np.testing.assert_array_equal(
            table, sum(one.evidence.batches[0].tables[number] for one in parts)
        )


@settings(max_examples=20)
@given(st.permutations(range(4)), st.integers(1, 4), st.sampled_from(["disjoint", "may-overlap"]))
def test_any_order_and_any_steps_give_the_same_file(parts, tmp_path_factory, order, cut, people):
    folder = tmp_path_factory.mktemp("merge")
    at_once = saved(federation.merge(parts, people), folder)
    first = federation.merge([parts[number] for number in order[:cut]], people)
    assert (
        saved(federation.merge([first, *(parts[number] for number in order[cut:])], people), folder)
        == at_once
    )


def test_any_subset_can_be_merged(parts):
    for chosen in ([0], [0, 2], [1, 2, 3]):
        whole = federation.merge([parts[number] for number in chosen], "disjoint")
        assert len(whole.evidence.batches) == len(whole.privacy.leaves) == len(chosen)
        assert whole.privacy.promised.epsilon == max(
            parts[number].privacy.promised.epsilon for number in chosen
        )


def test_the_statement_lists_every_party(parts):
    whole = federation.merge(parts, "may-overlap")
    assert {leaf.name: leaf.promised.epsilon for leaf in whole.privacy.leaves} == {
        "north": 1,
        "south": F(1, 2),
        "west": 2,
        "east": 3,
    }
    assert whole.privacy.promised.epsilon == F(13, 2)
    assert whole.privacy.describe() == (
        "6.5-differentially private with one row added or removed, even one in each of the 4 "
        "batches"
    )


def test_a_merged_model_survives_its_file(parts, tmp_path):
    whole = federation.merge(parts, "disjoint")
    write_model(whole, tmp_path / "m.json")
    again = read_model(tmp_path / "m.json")
    codes = encode(SCHEMA, rows(50), target=False).codes
    np.testing.assert_array_equal(again.probabilities(codes), whole.probabilities(codes))
    assert again.privacy == whole.privacy
    assert again.evidence.weights == whole.evidence.weights


class TestRefused:
    def test_another_structure(self, parts):
        with pytest.raises(QuestionError, match="different structures"):
            federation.merge([parts[0], part(plan())], "disjoint")

    def test_another_schema(self, parts):
        other = Schema(SCHEMA.attributes, "advice", ["yes", "no"])
        drawn = federation.draw_plan(other, 3, height=2)
        foreign = federation.contribute(drawn, curator_of(rows(50), other), 1)
        with pytest.raises(QuestionError, match="different schemas"):
            federation.merge([parts[0], foreign], "disjoint")

    def test_a_table_of_another_schema_before_it_is_charged(self, drawn):
        other = Schema(SCHEMA.attributes, "advice", ["yes", "no"])
        curator = curator_of(rows(50), other)
        with pytest.raises(QuestionError, match="drawn for another schema"):
            federation.contribute(drawn, curator, 1)
        assert curator.ledger.entries() == []

    def test_one_given_twice(self, parts):
        with pytest.raises(ParameterError, match="'north' is given twice"):
            federation.merge([parts[0], parts[1], parts[0]], "disjoint")
        with pytest.raises(ParameterError, match="'south' is given twice"):
            federation.merge([federation.merge(parts[:2], "disjoint"), parts[1]], "disjoint")

    def test_one_table_twice_as_disjoint_people(self, drawn):
        curator = curator_of(rows(100))
        twice = [federation.contribute(drawn, curator, 1, name) for name in ("first", "second")]
        with pytest.raises(ParameterError, match="charged to one account"):
            federation.merge(twice, "disjoint")
        assert (
            federation.merge(twice, "may-overlap").privacy.promised.epsilon
            == curator.spent.epsilon
            == 2
        )

    def test_a_broken_checksum(self, parts, tmp_path):
        path = tmp_path / "part.json"
        write_model(parts[0], path)
        data = path.read_bytes()
        place = data.index(b'"counts":[[[') + 12
        path.write_bytes(
            data[:place] + (b"7" if data[place : place + 1] != b"7" else b"8") + data[place + 1 :]
        )
        with pytest.raises(ModelError, match="checksum does not fit"):
            read_model(path)

    def test_other_settings(self, parts):
        other = replace(parts[1], combine="vote")
        with pytest.raises(QuestionError, match="differ in how trees combine"):
            federation.merge([parts[0], other], "disjoint")

    def test_different_neighbours(self, drawn):
        replaced = part(drawn, schema=SCHEMA.declare(neighbours="replace"))
        with pytest.raises(ParameterError, match="must agree"):
            federation.merge([part(drawn), replaced], "disjoint")

    def test_leaf_vectors_with_votes(self, parts):
        voting = pv.GibbsTreeClassifier(1, SCHEMA).fit(rows(100))
        with pytest.raises(QuestionError, match="merge one kind only"):
            federation.merge([parts[0], voting], "disjoint")

    def test_what_is_no_model(self, parts):
        with pytest.raises(
            ParameterError, match="only released models can be put together, got str"
        ):
            federation.merge([parts[0], "part.json"], "disjoint")
        with pytest.raises(ParameterError, match="at least one model"):
            federation.merge([], "disjoint")

    def test_another_rule(self, parts):
        with pytest.raises(ParameterError, match=r"people must be 'disjoint' .* got 'same'"):
            federation.merge(parts, "same")
        with pytest.raises(
            ParameterError, match="weighting must be 'by-noise' or 'equal', got 'heavy'"
        ):
            federation.merge(parts, "disjoint", "heavy")


class TestWeights:
    @staticmethod
    def evidence(*sizes_and_deviations, weighting="by-noise"):
        """Batches without noise in them, of the same shape as each other, that claim a
        deviation.
        """
        shares = np.array([[4, 1], [2, 1], [1, 1]])
        return weigh_batches(
            tuple(
                Batch((shares * size, shares * size), deviation)
                for size, deviation in sizes_and_deviations
            ),
            0.15,
            weighting,
        )

    def test_equal_batches_weigh_the_same(self):
        assert self.evidence((10, 3.0), (10, 3.0)).weights == (1, 1)
        assert self.evidence((10, 0.0), (90, 0.0)).weights == (1, 1)

    def test_where_noise_dominates_a_batch_weighs_rows_over_variance(self):
        one, other = self.evidence((1000, 10_000.0), (1000, 20_000.0)).weights
        assert other / one == pytest.approx(1 / 4, rel=1e-3)
        assert one + other == pytest.approx(2)
        small, large = self.evidence((100, 300.0), (2000, 300.0)).weights
        # 300 deviations are much more than the rows of a leaf
        assert small / large == pytest.approx(1 / 20, rel=0.3)

    def test_sizes_that_noise_explains_are_one_size(self):
        assert estimate_sizes(self.evidence((10, 1e4), (1000, 1e4)).batches) == pytest.approx(
            (5050, 5050)
        )
        assert self.evidence((10, 1e4), (1000, 1e4)).weights == pytest.approx((1, 1))
        assert estimate_sizes(self.evidence((10, 0.01), (1000, 0.01)).batches) == pytest.approx(
            (100, 10_000)
        )
        # 100 and 1000, each with noise of deviation 520
        between = estimate_sizes(self.evidence((10, 300.0), (100, 300.0)).batches)
        assert 100 < between[0] <= between[1] < 1000

    def test_sizes_by_hand(self):
        # Variances 3 s^2 = 27 and 108 around 100 and 200; precisions 1/27 and 1/108, mean 120, Q =
        # 400/27 + 6400/108 = 74.07.
        first, second = estimate_sizes(self.evidence((10, 3.0), (20, 6.0)).batches)
        between = (74.0740740 - 1) / (
            1 / 27 + 1 / 108 - (1 / 27**2 + 1 / 108**2) / (1 / 27 + 1 / 108)
        )
        mean = (100 / (between + 27) + 200 / (between + 108)) / (
            1 / (between + 27) + 1 / (between + 108)
        )
        assert first == pytest.approx(mean + (100 - mean) * between / (between + 27), rel=1e-6)
        assert second == pytest.approx(mean + (200 - mean) * between / (between + 108), rel=1e-6)

    def test_the_formula_by_hand(self):
        # 100 and 200 rows in six leaves and classes, in the proportion 4:1:2:1:1:1 of ten.
        evidence = self.evidence((10, 1.0), (20, 2.0))
        share = (24 * 30**2 - 6 * (1 + 4)) / 300**2
        expected = [100 / (1 + 100 * share), 200 / (4 + 200 * share)]
        kept = (100 * expected[0] + 200 * expected[1]) / 300
        assert evidence.weights == pytest.approx([one / kept for one in expected], rel=1e-3)

    def test_equal_weights_when_asked(self):
        assert self.evidence((10, 1.0), (1000, 50.0), weighting="equal").weights == (1, 1)

    @pytest.mark.parametrize("noisy", [1e3, 1e8, 1e12])
    def test_noise_of_very_different_scales(self, noisy):
        """A batch of which nothing is known adds next to nothing, whatever size it seems to
        have.
        """
        shares = np.array([[4, 1], [2, 1], [1, 1]])
        for seeming in (-1, 1):
            batches = [Batch((shares * 20,), 1e-4), Batch((shares * seeming * int(noisy),), noisy)]
            evidence = weigh_batches(batches, 0.15)
            assert all(math.isfinite(weight) and 0 <= weight <= 10 for weight in evidence.weights)
            assert evidence.weights[0] > 0

    def test_nothing_but_noise(self):
        empty = Batch((np.full((3, 2), -5), np.full((3, 2), -5)), 10.0)
        assert weigh_batches((empty, empty), 0.15).weights == (1, 1)

    def test_the_weighted_sum_is_less_noisy_for_what_it_says(self):
        """Noise over signal is never above that of the plain sum, and clearly below where parties
        differ.
        """
        by_noise = self.evidence((100, 5.0), (100, 100.0))
        equal = self.evidence((100, 5.0), (100, 100.0), weighting="equal")
        ratio = [evidence.deviation / evidence.tables[0].sum() for evidence in (by_noise, equal)]
        assert ratio[0] < 0.25 * ratio[1]

    def test_a_file_keeps_the_weights_that_it_was_made_with(self, parts, tmp_path, monkeypatch):
        """Better rules must not change, or refuse, what was released before."""
        whole = federation.merge(parts, "disjoint")
        write_model(whole, tmp_path / "m.json")
        monkeypatch.setattr(
            "privet.model.leaf_vectors.estimate_sizes",
            lambda batches: [1.0] * len(batches),
        )
        monkeypatch.setattr("privet.model.leaf_vectors.MOST_BORROWING", 1.0)
        again = read_model(tmp_path / "m.json")
        assert again.evidence.weights == whole.evidence.weights
        assert again.evidence.borrowing == whole.evidence.borrowing
        codes = encode(SCHEMA, rows(50), target=False).codes
        np.testing.assert_array_equal(again.probabilities(codes), whole.probabilities(codes))

    def test_the_released_vectors_do_not_change(self, parts):
        light, heavy = (
            federation.merge(parts, "disjoint", weighting) for weighting in ("by-noise", "equal")
        )
        for one, other in zip(light.evidence.batches, heavy.evidence.batches, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one.tables, other.tables, strict=True))


class TestWorn:
    @staticmethod
    def batch(strength, deviation):
        return Batch((np.full((4, 2), strength),), deviation)

    def test_noise_that_outgrew_the_counts(self):
        # deviation 30 against counts of 18, and 20 for a rebuild
        batches = [self.batch(2, 10.0)] * 9
        assert "standard deviation 30" in explain_wear(weigh_batches(tuple(batches), 0))
        assert "about 20" in explain_wear(weigh_batches(tuple(batches), 0))

    def test_a_rebuild_would_be_noisier(self):
        # deviation 17 is above the counts, but below 20
        assert explain_wear(weigh_batches((self.batch(2, 10.0),) * 3, 0)) == ""
        # as noisy, and of a sharper law
        assert "standard deviation 20" in explain_wear(weigh_batches((self.batch(2, 10.0),) * 4, 0))

    def test_counts_that_are_larger(self):
        assert explain_wear(weigh_batches((self.batch(50, 10.0),) * 9, 0)) == ""

    def test_one_batch_is_not_worn(self):
        assert explain_wear(weigh_batches((self.batch(0, 10.0),), 0)) == ""

    def test_merging_warns_and_the_card_says_so(self, drawn, tmp_path):
        from privet.report.card import card_markdown

        noisy = [part(drawn, 10, F(1, 50), turn=number) for number in range(12)]
        with pytest.warns(NoiseWarning, match="noise of 12 batches has outgrown the counts"):
            whole = federation.merge(noisy, "disjoint", "equal")
        assert "Build it anew" in card_markdown(whole)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            federation.merge([part(drawn, 2000, 5, turn=number) for number in range(3)], "disjoint")


class TestVotes:
    """Models without leaf vectors: drawn trees."""

    def test_drawn_trees_vote(self, tmp_path):
        tables = [rows(300, 5 * number) for number in range(3)]
        models = [pv.GibbsTreeClassifier(5, SCHEMA).fit(table) for table in tables]
        whole = federation.merge(models, "disjoint")
        assert len(whole.trees) == 3
        assert whole.privacy.promised.epsilon == 5
        assert federation.merge(models, "may-overlap").privacy.promised.epsilon == 15
        codes = encode(SCHEMA, rows(72), target=False).codes
        mean = sum(np.log(model.model_.probabilities(codes)) for model in models) / 3
        shares = np.exp(mean) / np.exp(mean).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(whole.probabilities(codes), shares, atol=1e-9)
        assert saved(whole, tmp_path) == saved(federation.merge(models[::-1], "disjoint"), tmp_path)

    def test_each_release_has_one_voice_also_in_steps(self):
        models = [
            pv.GibbsTreeClassifier(5, SCHEMA).fit(rows(300, 5 * number)) for number in range(3)
        ]
        at_once = federation.merge(models, "disjoint")
        stepwise = federation.merge(
            [federation.merge(models[:2], "disjoint"), models[2]], "disjoint"
        )
        codes = encode(SCHEMA, rows(72), target=False).codes
        np.testing.assert_allclose(stepwise.probabilities(codes), at_once.probabilities(codes))
        assert stepwise.privacy == at_once.privacy

    def test_trees_of_counts_are_added(self):
        models = [
            pv.GreedyTreeClassifier(5, SCHEMA, max_depth=2).fit(rows(300, 5 * number))
            for number in range(2)
        ]
        whole = federation.merge(models, "disjoint")
        assert len(whole.trees) == 2
        assert whole.privacy.promised.epsilon == 5
        for ours, theirs in zip(
            whole.trees, sorted(models, key=lambda one: one.privacy_.id), strict=True
        ):
            np.testing.assert_array_equal(ours.counts, theirs.model_.trees[0].counts)
        third = pv.GreedyTreeClassifier(5, SCHEMA, max_depth=2).fit(rows(300, 99))
        again = federation.merge([whole, third], "disjoint")  # in steps: no tree's counts grow
        assert sorted(tree.counts[0].sum() for tree in again.trees) == pytest.approx(
            sorted(
                [
                    *(tree.counts[0].sum() for tree in whole.trees),
                    third.model_.trees[0].counts[0].sum(),
                ]
            )
        )

    def test_different_ways_to_combine_are_refused(self):
        models = [
            pv.GibbsTreeClassifier(5, SCHEMA).fit(rows(300)),
            pv.GreedyTreeClassifier(5, SCHEMA).fit(rows(300)),
        ]
        with pytest.raises(QuestionError, match="combine their trees in different ways"):
            federation.merge(models, "disjoint")


class TestBorrowing:
    """Thin leaves borrow more where noise dominates."""

    @staticmethod
    def evidence(strength, deviation, shrink=0.15):
        return weigh_batches(
            (Batch((np.full((4, 2), round(math.hypot(strength, deviation))),), deviation),), shrink
        )

    @pytest.mark.parametrize(
        ("strength", "deviation", "times"),
        [(1000, 10.0, 1), (1000, 999.0, 1), (1000, 3000.0, 3), (10, 10_000.0, 8)],
    )
    def test_in_proportion_to_noise_over_strength(self, strength, deviation, times):
        assert self.evidence(strength, deviation).borrowing == pytest.approx(0.15 * times, rel=0.01)

    def test_nothing_but_noise_borrows_the_most(self):
        assert weigh_batches((Batch((np.zeros((4, 2)),), 5.0),), 0.15).borrowing == pytest.approx(
            1.2
        )
        assert weigh_batches((Batch((np.zeros((4, 2)),), 5.0),), 0).borrowing == 0


def test_merging_asks_for_no_row(parts, monkeypatch):
    """Its work depends on leaves and batches: the same number of bytes for ten rows and for ten
    thousand.
    """
    from privet.tables.memory import MemoryTable

    monkeypatch.setattr(MemoryTable, "source", None)
    assert federation.merge(parts, "disjoint").trees


def test_a_statement_that_does_not_fit_the_batches_is_refused(parts):
    both = PrivacyStatement.together([one.privacy for one in parts[:2]], "disjoint")
    with pytest.raises(QuestionError, match="one batch for each release"):
        replace(parts[0], privacy=both)
