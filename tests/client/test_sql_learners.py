"""Learners train through the SQL functions, with a login that can do nothing else."""

from __future__ import annotations

import os
import pickle
from fractions import Fraction as F

import pytest

import privet as pv
from privet.accounting.cost import Budget
from privet.accounting.ledger import verify
from privet.client.sql.curator import LEARNERS
from privet.errors import AccessError, BudgetExceeded, ParameterError, PrivacyError, QuestionError
from tests.commands import run
from tests.postgres import put_table
from tests.service.sql.conftest import as_role, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

CAR = pv.datasets.load("car")
SCHEMA = CAR.schema.declare(n_rows=1728)
MAKE = {
    "random-trees": lambda: pv.RandomTreesClassifier(epsilon="3/2", n_trees=4),
    "noisy-id3": lambda: pv.NoisyID3Classifier(epsilon="3/2", max_depth=2),
    "greedy-tree": lambda: pv.GreedyTreeClassifier(epsilon="3/2"),
    "additive": lambda: pv.AdditiveClassifier(epsilon="3/2"),
}


@pytest.fixture(scope="module")
def place(postgres):
    place = place_on(postgres)
    put_table(place.url, CAR.table, "car")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"GRANT SELECT ON car TO {owner}")
    yield place
    place.ledger.close()


@pytest.fixture
def login(place):
    """A URL of an analyst, and the one data set that they are granted."""
    dataset = new_dataset(place, Budget(2), "car", SCHEMA)
    place.functions.allow(dataset, f"ada of {dataset}")
    return as_role(place.url, place.role(f"ada of {dataset}")), dataset


def test_every_learner_that_is_named_has_a_test():
    assert set(MAKE) == set(LEARNERS)


@pytest.mark.parametrize("name", MAKE)
def test_a_learner_trains_for_its_epsilon(place, login, name):
    url, dataset = login
    with pv.connect(url) as curator:
        model = MAKE[name]().fit_from(curator)
        assert model.privacy_.epsilon == 1.5
        assert place.ledger.spent(dataset).epsilon <= F(3, 2)
        assert curator.left == 2 - place.ledger.spent(dataset).epsilon  # what was not spent is free
        assert len(curator.receipts) == len(curator.history()) >= 1
    assert (model.predict(CAR.X) == CAR.y).mean() > 0.6
    (reservation,) = place.ledger.reservations(dataset)
    assert reservation.state == "done"
    assert verify(place.ledger) == []
    assert place.ledger.entries(dataset)[0].analyst == f"ada of {dataset}"


@pytest.mark.parametrize(
    "learner",
    [
        lambda: pv.PrivetClassifier(epsilon=1),
        lambda: pv.GibbsTreeClassifier(epsilon=1),
        lambda: pv.ForestClassifier(epsilon=1),
        lambda: pv.GreedyTreeClassifier(epsilon=1, criterion="info_gain"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_it_is_charged(place, login, learner):
    url, dataset = login
    with pv.connect(url) as curator:
        with pytest.raises(QuestionError, match="train one of random-trees, noisy-id3"):
            learner().fit_from(curator)
        assert curator.left == 2
    assert place.ledger.entries(dataset) == []


def test_a_fit_beyond_the_budget_is_refused_whole(place, login):
    url, dataset = login
    with pv.connect(url) as curator, pytest.raises(BudgetExceeded) as refused:
        pv.RandomTreesClassifier(epsilon=3).fit_from(curator)
    assert (refused.value.asked, refused.value.left) == (3, 2)
    assert place.ledger.entries(dataset) == []


def test_a_lost_connection_costs_nothing_twice(place, login):
    url, dataset = login
    with pv.connect(url) as curator:
        assert curator.size(epsilon=1).row_cost.epsilon == 1
        place.sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s",
            (psycopg.conninfo.conninfo_to_dict(url)["user"],),
        )
        curator.size(epsilon="1/2")
        assert curator.left == F(1, 2)
    assert len(place.ledger.entries(dataset)) == 2


def test_who_may_not_ask_is_told_what_to_do(place, login):
    url, dataset = login
    with pytest.raises(AccessError, match="grants you no data set 'another'"):
        pv.connect(url, dataset="another")
    with pytest.raises(ParameterError, match="a database knows you by your login"):
        pv.connect(url, "privet_token", dataset)
    stranger = as_role(place.url, place.role())
    with pytest.raises(AccessError, match="privet curator analyst role"):
        pv.connect(stranger)
    second = new_dataset(place, Budget(2), "car", SCHEMA)
    place.functions.allow(second, f"ada of {dataset}")
    with pytest.raises(ParameterError, match="dataset must be one of those"):
        pv.connect(url)
    with pv.connect(url, dataset=second) as curator:
        assert curator.dataset == second
        with pytest.raises(PrivacyError, match="holds a login"):
            pickle.dumps(curator)
        with pytest.raises(QuestionError, match="cannot be divided over SQL"):
            curator.split_people(2, 1)
    with pytest.raises(ParameterError, match="this connection is closed"):
        curator.size(epsilon=1)


def test_the_command_trains_and_counts_with_the_login(place, login, tmp_path):
    url, dataset = login
    words = ["--learner", "random-trees", "--epsilon", "1", "-o", "model.json"]
    ran = run(["fit", url, "--dataset", dataset, *words], tmp_path, os.environ)
    assert ran.returncode == 0, ran
    assert "1-differentially private" in ran.stdout
    assert "epsilon 1" in ran.stdout.rpartition("left of your budget")[2]
    assert pv.load(tmp_path / "model.json").model_.trees
    ran = run(
        ["count", url, "--dataset", dataset, "--by", "safety", "-e", "0.5"], tmp_path, os.environ
    )
    assert ran.returncode == 0, ran
    assert place.ledger.spent(dataset).epsilon == F(3, 2)
    ran = run(
        ["fit", url, "--dataset", dataset, "-e", "0.1", "-o", "other.json"], tmp_path, os.environ
    )
    assert ran.returncode != 0
    assert "train one of random-trees" in ran.stderr
    assert place.ledger.spent(dataset).epsilon == F(3, 2)
    wrong = ["fit", url, "--dataset", dataset, "--token-file", "t", "-e", "1", "-o", "o.json"]
    assert "your login" in run(wrong, tmp_path, os.environ).stderr


def test_no_password_is_shown(place, login):
    url, _ = login
    with pv.connect(url.replace(":@", ":secret-word@")) as curator:
        assert "secret-word" not in repr(curator)
