"""Every learner trains through the real service, over a real connection: what it states is what the
ledger charged.
"""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from privet import learners
from privet.accounting.cost import Budget
from privet.accounting.ledger import Receipt, verify
from privet.curator import Curator
from privet.errors import AccessError, BudgetExceeded, ParameterError, PrivacyError, SchemaError
from privet.learners.base import PrivateClassifier
from tests.client.running import running

CAR = pv.datasets.load("car")
LEARNERS = [
    one
    for name in learners.__all__
    if inspect.isclass(one := getattr(learners, name)) and issubclass(one, PrivateClassifier)
]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    CAR.table.to_csv(folder / "car.csv", index=False)
    CAR.table.assign(who=np.arange(1728) // 2).to_parquet(folder / "families.parquet")
    with running(folder) as service:
        service.add("car", folder / "car.csv", CAR.schema, Budget(10**6))
        families = CAR.schema.declare(
            person="who", rows_per_person=2, neighbours="replace", n_rows=1728
        )
        service.add("families", folder / "families.parquet", families, Budget(1000))
        service.add("rho", folder / "car.csv", CAR.schema, Budget(rho=1000))
        service.add("poor", folder / "car.csv", CAR.schema.declare(n_rows=1728), Budget(1))
        yield service


@pytest.fixture
def curator(service):
    with service.connect("car") as curator:
        service.tap.asked.clear()
        yield curator
        service.tap.cut = lambda _: False


def charged(curator, before: int) -> list[Fraction]:
    """What the ledger charged since."""
    return [entry.cost.epsilon for entry in curator.history()[before:]]


def stated(model) -> list[Fraction]:
    """What the model says was charged."""
    return [
        charge.cost.epsilon
        for charge in model.privacy_.charges
        if charge.what != "set aside and not used"
    ]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_what_is_stated_is_what_was_charged(service, curator, learner):
    before, left = len(curator.history()), curator.left
    service.tap.asked.clear()
    model = learner("7/3").fit_from(curator)
    questions = service.tap.questions()
    assert model.privacy_.private
    assert model.privacy_.promised.epsilon == Fraction(7, 3)
    assert sorted(charged(curator, before)) == sorted(stated(model))
    assert left - curator.left == sum(stated(model)) <= Fraction(7, 3)
    parts = learner is pv.ForestClassifier
    assert len(questions) == len(stated(model)) if not parts else questions.count("divide") == 1
    begun, ended = (
        sum(one.startswith(f"{method} car/snapshots") for one in service.tap.asked)
        for method in ("POST", "DELETE")
    )
    assert (begun, ended) == (1, 1)
    assert 0.55 < (model.predict(CAR.X) == CAR.y).mean() <= 1
    assert not [line for line in curator.history() if not line.answered]


def test_a_level_is_one_request(service, curator):
    pv.GreedyTreeClassifier(10, max_depth=4, min_rows=0, schedule="even").fit_from(curator)
    questions = service.tap.questions()
    assert 1 <= questions.count("choose") <= 4
    assert questions.count("count") == len(questions) - questions.count("choose") <= 5
    service.tap.asked.clear()
    pv.RandomTreesClassifier(10, n_trees=12, height=3).fit_from(curator)
    assert service.tap.questions() == ["count"]
    service.tap.asked.clear()
    pv.GibbsTreeClassifier(10, max_depth=2).fit_from(curator)
    assert service.tap.questions().count("draw-tree") == 1


def test_a_forest_of_groups_of_people_is_charged_once(service):
    with service.connect("families") as curator:
        service.tap.asked.clear()
        model = pv.ForestClassifier(2, n_trees=4, divide="people", max_depth=2).fit_from(curator)
        (entry,) = curator.history()
        assert entry.cost.epsilon == 8  # two rows of a person, replaced
        assert (model.privacy_.promised.epsilon, model.privacy_.charged.epsilon) == (8, 2)
        assert curator.spent.epsilon == 8
        assert service.tap.questions()[0] == "divide"
        assert len(curator.receipts) == 1
        assert len(model.model_.trees) == 4


@pytest.mark.parametrize(
    "learner", [pv.PrivetClassifier, pv.GibbsBoostClassifier], ids=lambda learner: learner.__name__
)
def test_a_budget_in_rho(service, learner):
    with service.connect("rho") as curator:
        spent = curator.spent.rho
        model = learner(2, delta=1e-6).fit_from(curator)
        assert curator.spent.rho - spent <= sum(
            charge.cost.rho for charge in model.privacy_.charges
        )
        assert "1e-06" in model.privacy_.describe()


def test_a_model_is_scored_and_settings_are_tuned(service, curator):
    before = len(curator.history())
    model = pv.tune(
        [pv.GreedyTreeClassifier(max_depth=2), pv.ForestClassifier(n_trees=2, max_depth=2)],
        curator,
        3,
    )
    assert sorted(charged(curator, before)) == sorted(stated(model))
    assert sum(charged(curator, before)) == model.privacy_.promised.epsilon == 3
    # all candidates see the same rows
    assert sum(one.startswith("POST car/snapshots") for one in service.tap.asked) == 1
    before = len(curator.history())
    evaluation = model.score_from(curator, 1000)
    assert charged(curator, before) == [1000]
    assert evaluation.accuracy == pytest.approx((model.predict(CAR.X) == CAR.y).mean(), abs=0.01)


def test_the_same_learner_finds_the_same_tree_in_process(curator):
    """With next to no noise there is one answer; the root is chosen without a tie."""
    model = pv.GreedyTreeClassifier(10**5, max_depth=1, splits="multiway").fit_from(curator)
    local = pv.GreedyTreeClassifier(10**5, max_depth=1, splits="multiway").fit_from(
        Curator(CAR.table, CAR.schema, Budget(10**5))
    )
    np.testing.assert_array_equal(
        model.model_.trees[0].cells.attribute, local.model_.trees[0].cells.attribute
    )
    np.testing.assert_allclose(model.predict_proba(CAR.X), local.predict_proba(CAR.X), atol=1e-6)


@pytest.mark.parametrize(
    "learner",
    [pv.GreedyTreeClassifier, pv.ForestClassifier, pv.PrivetClassifier],
    ids=lambda one: one.__name__,
)
def test_answers_that_are_cut_off_are_asked_for_again_and_not_charged_again(
    service, curator, learner
):
    before = len(curator.history())
    service.tap.cut = lambda number: number % 3 == 0
    model = learner(2).fit_from(curator)
    service.tap.cut = lambda _: False
    assert sorted(charged(curator, before)) == sorted(stated(model))
    assert sum(charged(curator, before)) <= 2


def test_a_replayed_answer_is_the_answer(service, curator):
    service.tap.cut = lambda number: number <= 4
    answer = curator.count([pv.Cell()], "1/100")
    assert service.tap.questions() == ["count"] * 5
    service.tap.cut = lambda _: False
    (entry,) = curator.history()[-1:]
    assert answer.entry is not None
    assert (answer.entry.number, answer.entry.hash) == (entry.number, entry.hash)
    assert curator.receipts == [entry.receipt]


def test_receipts_verify_against_the_ledger(service, curator):
    for _ in range(3):
        curator.size("1/10")
    receipts = [Receipt.read(text) for text in curator.receipts]
    assert len(receipts) == 3
    assert verify(service.state.ledger, service.state.witness, receipts) == []
    assert set(curator.receipts) <= {line.receipt for line in curator.history()}


def test_a_fit_that_does_not_fit_is_refused_before_anything_is_charged(service):
    with service.connect("poor") as curator:
        with pytest.raises(BudgetExceeded) as raised:
            pv.PrivetClassifier(2).fit_from(curator)
        assert (raised.value.asked, raised.value.left) == (2, 1)
        with pytest.raises(BudgetExceeded):
            curator.size(2)
        assert curator.history() == []
        assert curator.left == 1


def test_without_noise_is_refused(curator):
    with pytest.raises(PrivacyError, match="unless the owner declares the table public"):
        pv.GreedyTreeClassifier(float("inf")).fit_from(curator)


def test_strangers_and_those_without_a_grant_learn_nothing(service):
    with pytest.raises(AccessError):
        pv.connect(service.url, "not-a-token", "car", retry_for=0)
    with pytest.raises(AccessError):
        service.connect("nobody-has-it")


def test_several_data_sets_are_listed(service):
    with pytest.raises(ValueError, match="car, families, poor, rho"):
        service.connect()


def test_a_revoked_token_and_another_schema_end_the_session(tmp_path):
    CAR.table.to_csv(tmp_path / "car.csv", index=False)
    with running(tmp_path) as service:
        service.add("car", tmp_path / "car.csv", CAR.schema, Budget(10))
        with service.connect() as curator:
            curator.size(1)
            accounts = service.state.accounts
            accounts.remove_dataset("car")
            fewer = pv.Schema(
                {name: CAR.schema.attributes[name] for name in CAR.schema.names[:3]},
                "class",
                CAR.schema.classes,
            )
            accounts.add_dataset("car", str(tmp_path / "car.csv"), fewer)
            accounts.grant("ada", "car")
            with pytest.raises(SchemaError, match="connect again"):
                curator.size(1)
            accounts.revoke("ada")
            with pytest.raises(AccessError):
                curator.size(1)


class TestSeveralTables:
    """Batches that are counted behind HTTP."""

    def test_updates_are_charged_there_and_one_table_is_not_two(self, service):
        with service.connect("car") as first, service.connect("families") as other:
            model = pv.RandomTreesClassifier(1, n_trees=3, height=2, people="disjoint").fit_from(
                first
            )
            spent = first.spent.epsilon
            with pytest.raises(ParameterError, match="charged to one account"):
                model.partial_fit_from(first)
            assert first.spent.epsilon == spent
            # a person replaced there, added or removed here
            with pytest.raises(ParameterError, match="must agree"):
                model.partial_fit_from(other)
            model.set_params(people="may-overlap").partial_fit_from(first)
            assert first.spent.epsilon == spent + 1
            assert model.privacy_.promised.epsilon == 2

    def test_the_account_is_that_of_the_ledger(self, service):
        from privet.accounting.ledger import account_digest

        with service.connect("car") as curator:
            curator.size(1)
            assert curator.account == account_digest(
                Receipt.read(curator.receipts[0]).ledger, "car"
            )
        with service.connect("poor") as other:  # known before the first question
            assert len(other.account) == 32
        with service.connect("families") as other:
            assert other.account != curator.account
