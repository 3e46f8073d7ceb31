"""What every private learner must do. A new learner is one more entry in ``test_learners.py``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from privet import datasets
from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.errors import BudgetExceeded, ParameterError, PrivacyWarning
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.model.file import read_model, write_model


def _narrow(data: datasets.Dataset, names: list[str]) -> datasets.Dataset:
    """With fewer attributes: Gibbs trees are as deep as with all six, and take a twentieth of the
    time.
    """
    return replace(
        data,
        X=data.X[names],
        schema=replace(
            data.schema, attributes={name: data.schema.attributes[name] for name in names}
        ),
    )


CAR = _narrow(datasets.load("car"), ["buying", "persons", "lug_boot", "safety"])
SCHEMA = CAR.schema.declare(n_rows=1728)
Make = Callable[..., Any]


def check_learner(make: Make, folder: Any) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks; ``make(epsilon, schema)`` gives an untrained learner."""
    yield "charges what it states", lambda: charges_what_it_states(make)
    yield "charges for people and for replacement", lambda: charges_for_people(make)
    yield "pays for the number of rows where it is not declared", lambda: pays_for_size(make)
    yield "trains from a file as from memory", lambda: same_from_a_file(make, folder)
    yield "is deterministic under an unlocked seed only", lambda: deterministic_under_a_seed(make)
    yield "says when it is not private", lambda: says_when_not_private(make)
    yield "releases no exact count", lambda: no_exact_count(make, folder)
    yield "survives its file", lambda: survives_its_file(make, folder)
    yield "takes labels and tables of any kind", lambda: labels_of_any_kind(make)
    yield "gives probabilities and importances", lambda: probabilities(make)
    yield "stops within the budget", lambda: stays_within_budget(make)


def charges_what_it_states(make: Make) -> None:
    for epsilon in (F(1), F(1, 3), 0.1):
        ledger = MemoryLedger()
        curator = Curator(CAR.table, SCHEMA, Budget(5), ledger=ledger)
        learner = make(epsilon, SCHEMA).fit_from(curator)
        spent = ledger.spent(curator.dataset).epsilon
        unused = [
            charge.cost.epsilon
            for charge in learner.privacy_.charges
            if charge.what == "set aside and not used"
        ]
        assert learner.privacy_.private
        assert learner.privacy_.promised.epsilon == F(str(epsilon)) == spent + sum(unused, F(0))
        if (
            learner.model_.learner != "noisy-id3"
            and learner.get_params().get("schedule") != "thesis"
        ):
            assert not unused  # only these may stop early


def charges_for_people(make: Make) -> None:
    schema = SCHEMA.declare(neighbours="replace", rows_per_person=3)
    curator = Curator(CAR.table, schema, Budget(6))
    learner = make(1, schema).fit_from(curator)
    assert learner.privacy_.promised.epsilon == 6
    assert learner.privacy_.charged.epsilon == 1
    assert curator.spent.epsilon <= 6
    assert "replaced" in learner.privacy_.describe()


def pays_for_size(make: Make) -> None:
    undeclared = SCHEMA.declare(n_rows=None)
    curator = Curator(CAR.table, undeclared, Budget(1))
    learner = make(1, undeclared).fit_from(curator)
    asked = [entry.what for entry in curator.ledger.entries()]
    declared = Curator(CAR.table, SCHEMA, Budget(1))
    make(1, SCHEMA).fit_from(declared)
    assert "number of rows" not in [entry.what for entry in declared.ledger.entries()]
    # a fixed depth needs no number of rows
    needs_size = learner.model_.learner == "privet" or "auto" in learner.get_params().values()
    assert ("number of rows" in asked) == needs_size
    assert curator.spent.epsilon <= 1


def same_from_a_file(make: Make, folder: Any) -> None:
    CAR.table.to_parquet(folder / "car.parquet")
    models = []
    for table in (CAR.table, folder / "car.parquet"):
        with unlock_test_seeds():
            curator = Curator(table, SCHEMA, Budget(1), bits=SeededBits(3))
        learner = make(1, SCHEMA)
        if learner.get_params().get("divide") == "people":
            # groups of people are drawn by each engine in its own way
            learner.set_params(divide="budget")
        models.append(learner.fit_from(curator))
    np.testing.assert_array_equal(models[0].predict_proba(CAR.X), models[1].predict_proba(CAR.X))


def deterministic_under_a_seed(make: Make) -> None:
    with unlock_test_seeds():
        first, second, other = (
            make(1, SCHEMA).set_params(random_state=seed).fit(CAR.X, CAR.y) for seed in (1, 1, 2)
        )
    np.testing.assert_array_equal(first.predict_proba(CAR.X), second.predict_proba(CAR.X))
    assert (first.predict_proba(CAR.X) != other.predict_proba(CAR.X)).any()
    assert not first.privacy_.private
    assert "test seed" in first.privacy_.describe()
    with pytest.warns(PrivacyWarning, match="take the noise off again"):
        seeded = make(1, SCHEMA).set_params(random_state=1).fit(CAR.X, CAR.y)
    assert not seeded.privacy_.private
    with pytest.raises(ParameterError, match="random_state"):
        seeded.fit_from(Curator(CAR.table, SCHEMA, Budget(1)))


def says_when_not_private(make: Make) -> None:
    assert make(1, SCHEMA).fit(CAR.X, CAR.y).privacy_.private
    learner = make(math.inf, SCHEMA)
    if learner.get_params().get("divide") == "people":
        learner.set_params(divide="budget")
    exact = learner.fit(CAR.X, CAR.y)
    assert not exact.privacy_.private
    assert exact.privacy_.epsilon == math.inf
    assert exact.privacy_.describe().startswith("NOT PRIVATE")
    from_data = make(1, "from-data").fit(CAR.X.to_numpy(), CAR.y.to_numpy())
    assert "read off the data" in from_data.privacy_.describe()
    reused = make(1, from_data.model_.schema).fit(
        dict(zip(from_data.model_.schema.names, CAR.X.to_numpy().T, strict=True)), CAR.y
    )
    assert "read off the data" in reused.privacy_.describe()  # the schema carries the mark


def no_exact_count(make: Make, folder: Any) -> None:
    """Two fits of one table share next to no number: what is released is noise on top of counts,
    not counts.
    """
    numbers = []
    for i in range(2):
        path = folder / f"{i}.json"
        write_model(make(F(1, 2), SCHEMA).fit(CAR.X, CAR.y).model_, path)
        text = path.read_text()
        assert str(folder) not in text
        assert "seed" not in text
        assert "random_state" not in text
        document = json.loads(text)
        if "leaves" in document:  # the counts of the leaves, batch by batch; the trees have none
            counts = [table for batch in document["leaves"]["batches"] for table in batch["counts"]]
        else:
            counts = [tree["counts"] for tree in document["trees"]]
        listed = [np.round([x for line in table for x in line], 6).tolist() for table in counts]
        labels = [
            tree
            for tree in listed
            if json.loads(text)["combine"] == "scores" and len(set(tree)) <= 2
        ]
        # a label that was drawn, with a public strength: no number from the rows
        assert all(0 <= x < 2 for tree in labels for x in tree)
        numbers.append([x for tree in listed if tree not in labels for x in tree])
    same = [a == b for a, b in zip(*numbers, strict=False)]
    assert not same or np.mean(same) < 0.5


def survives_its_file(make: Make, folder: Any) -> None:
    learner = make(1, SCHEMA).fit(CAR.X, CAR.y)
    write_model(learner.model_, folder / "m.json")
    again = read_model(folder / "m.json")
    codes = learner._codes(CAR.X)
    np.testing.assert_array_equal(again.probabilities(codes), learner.model_.probabilities(codes))
    assert again.privacy == learner.model_.privacy
    assert again.schema == learner.model_.schema
    kinds = [tree.kind for tree in learner.model_.trees]
    assert [tree.kind for tree in again.trees] == kinds
    # "scores" says nothing about a tree: a learner knows what it has made
    assert "scores" not in kinds


def labels_of_any_kind(make: Make) -> None:
    from privet.domain import Schema

    rows = CAR.X
    for classes in (["no", "yes"], [7, 3], [True, False], ["ü", "naïve"]):
        y = np.where(CAR.y == "unacc", classes[0], classes[1])
        schema = Schema(dict(SCHEMA.attributes), "label", classes, n_rows=1728)
        learner = make(50, schema).fit(rows, y)
        assert set(learner.predict(rows).tolist()) <= set(classes)
        assert (learner.predict(rows) == y).mean() > 0.6
        # scorers take the last class as the positive one, and expect it to be the greatest
        np.testing.assert_array_equal(learner.classes_, sorted(classes))
        np.testing.assert_array_equal(learner.predict(pl.from_pandas(rows)), learner.predict(rows))
    whole = rows.assign(**{"class": CAR.y})
    assert clone(make(1, SCHEMA)).fit(whole).n_features_in_ == 4
    odd = pd.DataFrame({name: ["never seen"] * 2 for name in rows})
    assert len(learner.predict(odd)) == 2  # falls back on what is known without it


def probabilities(make: Make) -> None:
    learner = make(1, SCHEMA).fit(CAR.X, CAR.y)
    shares = learner.predict_proba(CAR.X)
    assert shares.shape == (1728, 4)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(learner.classes_[shares.argmax(axis=1)], learner.predict(CAR.X))
    importances = learner.feature_importances_
    assert importances.shape == (4,)
    assert (importances >= 0).all()
    assert importances.sum() in (0.0, 1.0) or math.isclose(importances.sum(), 1)


def stays_within_budget(make: Make) -> None:
    curator = Curator(CAR.table, SCHEMA, Budget("0.05"))
    with pytest.raises(BudgetExceeded):
        make(1, SCHEMA).fit_from(curator)
    # refused before the first question, so that nothing is paid in vain
    assert curator.spent.epsilon == 0
