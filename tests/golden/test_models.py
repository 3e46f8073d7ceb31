"""Model files of 0.1 load, predict the same and promise the same."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import privet as pv
from tests.golden.facts import facts_of, same_facts
from tests.golden.files import GOLDEN, expected, states
from tests.golden.reach import privet

MODELS = GOLDEN / "models"
EXPECTED = expected("models")


def facts(path, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that a joined model does not find
        return facts_of(path, pd.read_csv(rows))


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_file_predicts_and_promises_what_it_did(name, tmp_path):
    kept = EXPECTED[name]
    same_facts(facts(MODELS / f"{name}.json", MODELS / kept["rows"]), kept)
    pv.save(pv.load(MODELS / f"{name}.json"), tmp_path / "again.json")
    same_facts(facts(tmp_path / "again.json", MODELS / kept["rows"]), kept)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_command_shows_the_statement_of_a_model_file(name, tmp_path):
    for command in ("show", "card"):
        ran = privet(command, MODELS / f"{name}.json", folder=tmp_path)
        assert ran.code == 0, ran
        assert states(ran.out, EXPECTED[name]), ran.out


@pytest.mark.parametrize("name", ["privet-car", "random-trees-rich", "joined-random-trees"])
def test_the_command_predicts_with_a_model_file(name, tmp_path):
    kept = EXPECTED[name]
    words = ("predict", MODELS / f"{name}.json", MODELS / kept["rows"], "-p", "-o", "p.csv")
    assert privet(*words, folder=tmp_path).code == 0
    said = pd.read_csv(tmp_path / "p.csv")
    assert said.iloc[:, 0].astype(str).tolist() == kept["predicted"]
    np.testing.assert_allclose(said.iloc[:, 1:], kept["probabilities"], rtol=0, atol=1e-6)


def test_a_changed_model_file_is_refused(tmp_path):
    """Damage was noticed in 0.1, and still is."""
    data = bytearray((MODELS / "greedy-tree.json").read_bytes())
    place = data.index(b'"trees"') + 60
    data[place] = ord("1") if data[place] != ord("1") else ord("2")
    (tmp_path / "m.json").write_bytes(data)
    with pytest.raises(pv.PrivetError, match=r"m\.json"):
        pv.load(tmp_path / "m.json")


def test_every_learner_is_there():
    learners = {facts["learner"] for facts in EXPECTED.values()}
    known = {"privet", "gibbs-tree", "gibbs-boost", "random-trees", "greedy-tree", "forest"}
    assert learners >= known | {"additive", "noisy-id3"}
