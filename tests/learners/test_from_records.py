"""Learning from randomised records: the same interface, and a statement of what the people have
paid.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from sklearn.base import clone

from privet import datasets
from privet.accounting.cost import Budget
from privet.accounting.statement import PrivacyStatement
from privet.curator import Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.errors import ParameterError, PrivetError
from privet.federation import draw_plan, merge
from privet.learners import (
    AdditiveClassifier,
    ForestClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    RandomTreesClassifier,
    tune,
)
from privet.learners.random_trees.batches import contribution
from privet.local.collecting import collect_leaves, local_curator
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.mechanisms.randomness import unlock_test_seeds
from privet.model.file import read_model, write_model
from privet.queries import ChosenSplits
from privet.report.card import card_markdown
from tests.local.small import seeded

CAR = datasets.load("car")
LEARNERS = [
    AdditiveClassifier(),
    GreedyTreeClassifier(),
    GreedyTreeClassifier(max_depth=1, splits="multiway", criterion="max", schedule="thesis"),
    ForestClassifier(n_trees=2, max_depth=1),
    ForestClassifier(n_trees=2, max_depth=1, divide="budget"),
    RandomTreesClassifier(n_trees=2, height=1),
    NoisyID3Classifier(max_depth=1),
]


@pytest.mark.parametrize("spread", ["split", "sample"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_of_counts_states_what_the_records_paid(learner, spread, tmp_path):
    randomizer = Randomizer(CAR.schema.declare(rows_per_person=3), "1/2", spread)
    curator = local_curator(randomizer.many(CAR.table), randomizer)
    model = learner.fit_from(curator).model_
    statement = model.privacy
    assert statement.private
    assert statement.local
    assert statement.neighbours == "replace"
    # whatever the learner's own epsilon is, and however often it asked
    assert statement.charged.epsilon == F(1, 2)
    # three rows of a person; to replace one costs no more than what it paid
    assert statement.promised.epsilon == F(3, 2)
    promise = (
        "locally 1.5-differentially private with up to 3 records of one person replaced by as many "
        "others"
    )
    assert statement.describe() == f"{promise}, provided that nobody sent more than 3 records"
    write_model(model, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").privacy == statement
    card = card_markdown(model)
    assert "randomised by itself before it was collected" in card
    assert "has to be trusted" in card
    assert "people paid when they randomised" in card.lower()


def test_more_epsilon_learns_better_and_enough_learns_as_from_the_rows():
    accuracy = {}
    for epsilon in (1, 8, 100):
        randomizer = Randomizer(
            CAR.schema, epsilon, "sample" if epsilon < 100 else "split", bits=seeded(1)
        )
        learner = AdditiveClassifier().fit_from(
            local_curator(randomizer.many(CAR.table), randomizer)
        )
        accuracy[epsilon] = (learner.predict(CAR.X) == CAR.y).mean()
    with unlock_test_seeds():
        exact = AdditiveClassifier(50, CAR.schema, random_state=1).fit(CAR.X, CAR.y)
    assert accuracy[1] <= accuracy[8] <= accuracy[100]
    assert accuracy[8] > 0.73  # the majority is 0.70
    assert abs(accuracy[100] - (exact.predict(CAR.X) == CAR.y).mean()) < 0.02


def test_a_greedy_tree_grows_as_far_as_the_records_tell():
    trees = {}
    for epsilon in (F(1, 10), 60):
        randomizer = Randomizer(CAR.schema, epsilon, "split", bits=seeded(2))
        trees[epsilon] = GreedyTreeClassifier().fit_from(
            local_curator(randomizer.many(CAR.table), randomizer)
        )
    assert trees[F(1, 10)].model_.trees[0].n_nodes <= 7
    assert trees[60].model_.trees[0].n_nodes > 7
    assert (trees[60].predict(CAR.X) == CAR.y).mean() > 0.8


@pytest.mark.parametrize("learner", [GreedyTreeClassifier(), ForestClassifier(n_trees=2)], ids=str)
def test_depth_is_not_rationed_where_queries_cost_nothing(learner):
    randomizer = Randomizer(CAR.schema, F(1, 10), "split")
    records = local_curator(randomizer.many(CAR.table), randomizer)
    assert learner.fit_from(records).model_.settings["max_depth"] == 6
    charged = Curator(CAR.table, CAR.schema.declare(n_rows=len(CAR.table)), Budget(1))
    rationed = clone(learner).set_params(epsilon=F(1, 10)).fit_from(charged)
    assert rationed.model_.settings["max_depth"] == 2


def test_a_greedy_tree_leaves_declined_cells_whole():
    class Declining(Curator):
        def ask(self, query, epsilon=None, *, rho=None):
            answer = super().ask(query, epsilon, rho=rho)
            return (
                replace(answer, declined=declined) if isinstance(answer, ChosenSplits) else answer
            )

    sizes = {}
    for declined in (frozenset(), frozenset({0})):
        curator = Declining(CAR.table, CAR.schema, Budget(100))
        learner = GreedyTreeClassifier(50, max_depth=1).fit_from(curator)
        sizes[declined] = learner.model_.trees[0].n_nodes
    assert sizes == {frozenset(): 3, frozenset({0}): 1}


def test_a_fit_that_can_be_resumed_states_what_the_records_paid(tmp_path):
    randomizer = Randomizer(CAR.schema, "1/2")
    records = local_curator(randomizer.many(CAR.table), randomizer)
    curator = ResumableCurator(records, Unfinished.begin(tmp_path / "fit", records, "additive"))
    statement = AdditiveClassifier(3).fit_from(curator).privacy_
    assert statement.local
    assert statement.promised.epsilon == F(1, 2)


def test_tuning_is_free_and_says_what_was_paid_once():
    randomizer = Randomizer(CAR.schema, 4, "split")
    curator = local_curator(randomizer.many(CAR.table), randomizer)
    best = tune([GreedyTreeClassifier(max_depth=depth) for depth in (0, 1)], curator, 1)
    assert best.privacy_.local
    assert best.privacy_.promised.epsilon == 4
    assert [charge.cost.epsilon for charge in best.privacy_.charges] == [4]


def test_leaves_of_a_plan_are_a_contribution_like_any_other(tmp_path):
    plan = draw_plan(CAR.schema, 3, height=1)
    randomizer = LeafRandomizer(plan, 2)
    model = collect_leaves(randomizer.many(CAR.table.iloc[:900]), randomizer, "north")
    assert model.privacy.promised.epsilon == 2
    assert (
        model.privacy.describe()
        == "locally 2-differentially private with one row replaced by another"
    )
    assert model.schema.n_rows == 900
    assert sum(table.sum() for table in model.evidence.batches[0].tables) == pytest.approx(
        900, abs=20
    )
    other = collect_leaves(randomizer.many(CAR.table.iloc[900:]), randomizer, "south")
    merged = merge([model, other], "disjoint")
    assert merged.privacy.local
    assert merged.privacy.promised.epsilon == 2
    write_model(merged, tmp_path / "m.json")
    assert read_model(tmp_path / "m.json").privacy == merged.privacy
    reports = randomizer.many(CAR.table)
    twice = [collect_leaves(reports, randomizer) for _ in range(2)]
    with pytest.raises(ParameterError, match="one account"):
        merge(twice, "disjoint")
    central = contribution(
        plan, local_curator((records := Randomizer(CAR.schema, 1)).many(CAR.table), records), 1
    )
    # a plan counted from records has their statement, not that of a question that cost nothing
    assert central.privacy.local
    assert central.privacy.promised.epsilon == 1


def test_a_promise_for_several_records_says_what_it_rests_on():
    schema = CAR.schema.declare(rows_per_person=3)
    one, other = (
        PrivacyStatement.randomised(schema, Randomizer(schema, 1).cost, private=True, id=name)
        for name in "ab"
    )
    promise = (
        "locally 3-differentially private with up to 3 records of one person replaced by as many "
        "others, provided that "
    )
    assert one.describe() == promise + "nobody sent more than 3 records"
    assert PrivacyStatement.from_json(one.to_json()) == one
    both = PrivacyStatement.together([one, other], "disjoint")
    assert (
        both.describe()
        == promise + "nobody is in two of the 2 batches, and that nobody sent more than 3 records"
    )


def test_a_statement_of_records_must_be_about_a_row_replaced():
    statement = PrivacyStatement.randomised(
        CAR.schema, Randomizer(CAR.schema, 1).cost, private=True, id="a"
    )
    told = statement.to_json()
    assert PrivacyStatement.from_json(told) == statement
    for change in ({"neighbours": "add-remove"}, {"person": True}, {"local": "yes"}, {"local": 1}):
        with pytest.raises(PrivetError, match="damaged"):
            PrivacyStatement.from_json({**told, **change})
    central = PrivacyStatement.of(CAR.schema, statement.charges, private=True, id="b")
    assert "local" not in central.to_json()
    with pytest.raises(ParameterError, match="must agree"):
        PrivacyStatement.together([statement, central], "disjoint")


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"tree": 9}, "tree"),
        ({"leaf": 99}, "leaf"),
        ({"leaf": 1.5}, "leaf"),
        ({"class": "?"}, "class"),
        ({"tree": "x"}, "tree"),
    ],
)
def test_a_bad_leaf_report_is_shown(bad, message):
    randomizer = LeafRandomizer(draw_plan(CAR.schema, 3, height=1), 2)
    reports = randomizer.many(CAR.table.iloc[:5]).astype(object)
    for name, value in bad.items():
        reports.loc[2, name] = value
    with pytest.raises(PrivetError, match=f"report 3 has a {message}"):
        collect_leaves(reports, randomizer)
    assert np.isfinite(collect_leaves(randomizer.many(CAR.table.iloc[:0]), randomizer).noise)
