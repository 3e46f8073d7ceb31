"""Fits of the same rows add up, in a process and in a ledger."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import privet as pv
from privet.errors import BudgetExceeded, LedgerError, ParameterError, RepeatedFitWarning
from privet.learners.remembered import RowMemory, digest_rows

CAR = pv.datasets.load("car")
HALF = len(CAR.X) // 2


def learner(epsilon=1):
    return pv.GreedyTreeClassifier(epsilon, CAR.schema, max_depth=1)


def said(call):
    """Return what a call says about rows that were trained on before."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RepeatedFitWarning)
        call()
    return [str(warning.message) for warning in caught]


def test_a_second_fit_says_what_both_cost(tmp_path):
    model = learner()
    assert said(lambda: model.fit(CAR.X, CAR.y)) == []
    (words,) = said(lambda: model.fit(CAR.X, CAR.y))
    assert "trained on 2 times" in words
    assert "epsilon 2 in all" in words
    assert "for epsilon 2 in all" in model.privacy_.notes[-1]
    assert model.privacy_.epsilon == 1  # what this model states
    # whether rows were the same is no business of whoever gets the model
    pv.save(model, tmp_path / "m.json")
    assert "this process" not in (tmp_path / "m.json").read_text()
    assert "this process" not in pv.card(model).to_text()
    assert "this process" not in " ".join(pickle.loads(pickle.dumps(model)).privacy_.notes)


def test_rows_are_known_again_in_another_object():
    learner("1/2").fit(CAR.X, CAR.y)
    (words,) = said(lambda: learner("1/4").fit(CAR.X.copy(), CAR.y.tolist()))
    assert "epsilon 0.75 in all" in words
    array = CAR.X.to_numpy()
    assert said(lambda: learner().fit(array, CAR.y)) != []  # rows are numbered alike
    extended = CAR.X.assign(more=1)
    assert "epsilon 2.75 in all" in said(lambda: learner().fit(extended, CAR.y))[0]


def test_a_table_is_known_again_by_itself_when_it_changed():
    table = CAR.X.copy()
    learner().fit(table, CAR.y)
    table["safety"] = "low"
    assert "epsilon 2 in all" in said(lambda: learner().fit(table, CAR.y))[0]


def test_other_people_are_not_taken_for_the_same():
    learner().fit(CAR.X[:HALF], CAR.y[:HALF])
    assert said(lambda: learner().fit(CAR.X[HALF:], CAR.y[HALF:])) == []
    numbered = CAR.X[HALF:].reset_index(drop=True)  # a coincidence here and there
    assert said(lambda: learner().fit(numbered, CAR.y[HALF:].reset_index(drop=True))) == []


def test_a_row_has_paid_for_the_folds_that_it_was_in():
    words = said(lambda: cross_val_score(learner(), CAR.X, CAR.y, cv=5))
    assert "epsilon 2 in all" in words[0]
    assert "epsilon 4 in all" in words[-1]  # each row is in four of five
    assert "epsilon 5 in all" not in " ".join(words)


def test_of_many_fits_some_are_said():
    assert len(said(lambda: [learner().fit(CAR.X, CAR.y) for _ in range(20)])) == 4 + 2


def test_what_promises_nothing_is_not_counted():
    for free in (learner(np.inf), learner().set_params(random_state=1)):
        assert said(lambda free=free: [free.fit(CAR.X, CAR.y) for _ in range(2)]) == []
    assert said(lambda: learner().fit(CAR.X, CAR.y)) == []


def test_batches_of_the_same_rows_are_noticed():
    batches = pv.RandomTreesClassifier(1, CAR.schema, height=1, n_trees=1)
    batches.partial_fit(CAR.X, CAR.y)
    assert "2 times" in said(lambda: batches.partial_fit(CAR.X, CAR.y))[0]


def test_memory_forgets_before_it_grows_without_end(monkeypatch):
    monkeypatch.setattr("privet.learners.remembered.MOST_ROWS", 10)
    memory = RowMemory()
    for start in range(0, 100, 5):
        memory.add(["a"], pd.DataFrame({"a": range(start, start + 5)}), None, 1.0)
        assert len(memory.digests) <= 10


def test_entries_that_cannot_be_hashed_are_no_error():
    assert digest_rows(["a"], pd.DataFrame({"a": [[1], {}]}), None) is None
    assert digest_rows(["a"], {"a": [1]}, None) is None


# -- a ledger --


def test_a_ledger_counts_fits_and_stops_them(tmp_path):
    path = tmp_path / "car.ledger.sqlite"
    with pytest.raises(ParameterError, match=r"say budget=\.\.\. the first time"):
        learner().fit(CAR.X, CAR.y, ledger=path)
    model = learner().fit(CAR.X, CAR.y, ledger=path, budget=2)
    assert "epsilon 1" in model.privacy_.notes[-1]
    again = learner().fit(CAR.X, CAR.y, ledger=str(path))
    assert "epsilon 2" in again.privacy_.notes[-1]
    assert model.privacy_.account == again.privacy_.account
    with pytest.raises(BudgetExceeded):
        learner("1/100").fit(CAR.X, CAR.y, ledger=pv.SQLiteLedger(path))
    with pytest.raises(LedgerError, match="leave it out here"):
        learner().fit(CAR.X, CAR.y, ledger=path, budget=5)


def test_a_ledger_beside_a_file_is_the_one_of_the_command(tmp_path):
    CAR.table.to_csv(tmp_path / "car.csv", index=False)
    ledger = pv.SQLiteLedger(tmp_path / "car.csv.ledger.sqlite")
    ledger.set_cap("car.csv", pv.Budget(3))
    learner().fit(tmp_path / "car.csv", ledger=ledger.path)
    assert {entry.dataset for entry in ledger.entries()} == {"car.csv"}
    ledger.set_cap("other.csv", pv.Budget(3))
    with pytest.raises(ParameterError, match="accounts of 2 tables"):
        learner().fit(CAR.X, CAR.y, ledger=ledger)


@pytest.mark.parametrize(
    ("changed", "given", "message"),
    [
        ({"random_state": 1}, {"ledger": "x.sqlite", "budget": 1}, "random_state promises nothing"),
        ({"epsilon": np.inf}, {"ledger": "x.sqlite", "budget": 1}, "infinite epsilon promises"),
        ({}, {"budget": 1}, "budget goes with a ledger"),
        ({}, {"ledger": 5}, "ledger must be the path of a ledger file"),
    ],
    ids=str,
)
def test_what_goes_without_a_ledger(changed, given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=message):
        learner().set_params(**changed).fit(CAR.X, CAR.y, **given)
    assert list(tmp_path.iterdir()) == []
