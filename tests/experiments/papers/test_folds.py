"""Folds of whole groups, and that a run keeps them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from experiments.papers.anatomy.experiments import Experiment
from experiments.papers.anatomy.folds import FOLDS, deal, kept
from privet.domain import Categorical, Schema
from privet.errors import ParameterError
from privet.outsource.split import draw_groups

SCHEMA = Schema(
    {"secret": Categorical(["a", "b", "c"]), "other": Categorical(["x", "y"])},
    "class",
    ["no", "yes"],
)
EXPERIMENT = Experiment(2, "made up", "secret", "binary", 101, 0, sample=101)


def table(rows: int = 101, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {
        "secret": rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
        "other": rng.choice(["x", "y"], rows),
    }
    return pd.DataFrame(columns | {"class": rng.choice(["no", "yes"], rows, p=[0.7, 0.3])})


def codes(rows: pd.DataFrame) -> np.ndarray:
    return np.array([["a", "b", "c"].index(one) for one in rows["secret"]])


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_in_two_folds_and_every_training_part_can_be_split(tmp_path, seed):
    rows = table(seed=seed)
    made = kept(tmp_path / "folds.json", EXPERIMENT, rows, SCHEMA)
    assert made.withheld > 0
    assert ((made.group < 0) == (made.fold < 0)).all()
    for group in range(made.group.max() + 1):
        assert len(set(made.fold[made.group == group])) == 1
    seen = []
    for fold in range(FOLDS):
        train, test = made.parts(fold)
        assert not set(made.group[train]) & set(made.group[test])
        assert len(train) + len(test) == len(rows) - made.withheld
        assert not len(draw_groups(codes(rows)[train], 2).withheld)
        seen += test.tolist()
    assert sorted(seen) == np.flatnonzero(made.group >= 0).tolist()


def test_folds_are_of_one_size_and_nearly_stratified():
    rng = np.random.default_rng(1)
    group = rng.permutation(np.repeat(np.arange(200), 2))
    classes = (rng.random(400) < 0.3).astype(np.int64)
    fold = deal(group, classes)
    assert set(np.bincount(fold)) == {40}
    share = [classes[fold == one].sum() for one in range(FOLDS)]
    assert max(share) - min(share) <= 3


def test_the_same_groups_give_the_same_folds():
    rng = np.random.default_rng(2)
    group, classes = rng.permutation(np.repeat(np.arange(60), 2)), rng.integers(0, 2, 120)
    first = deal(group, classes)
    assert (first == deal(group, classes)).all()
    assert (first != deal((group + 1) % 60, classes)).any()


def test_a_second_run_has_the_folds_of_the_first(tmp_path):
    path, rows = tmp_path / "folds.json", table()
    first, second = (kept(path, EXPERIMENT, rows, SCHEMA) for _ in range(2))
    assert (first.group == second.group).all()
    assert (first.fold == second.fold).all()
    fresh = kept(tmp_path / "other.json", EXPERIMENT, rows, SCHEMA)
    # groups are drawn by chance, so it is the file that keeps them
    assert (fresh.group != first.group).any()


def test_what_is_kept_has_no_entry_of_a_row(tmp_path):
    kept(tmp_path / "folds.json", EXPERIMENT, table(), SCHEMA)
    told = json.loads((tmp_path / "folds.json").read_text())
    assert set(told) == {"privet", "version", "experiment", "sample", "rows", "group", "fold"}
    assert all(isinstance(one, int) for one in told["group"] + told["fold"])


def test_too_few_groups():
    with pytest.raises(ParameterError, match="10 folds need as many groups, but there are 3"):
        deal(np.array([0, 0, 1, 1, 2, 2, -1]), np.zeros(7, dtype=np.int64))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sample": None}, "is of another run"),
        ({"rows": 5}, "is of another run"),
        ({"experiment": 3}, "is of another run"),
        ({"fold": [1, 2]}, "must have a group and a fold for each of 101 rows"),
        ({"fold": "?"}, "remove the folder to begin anew"),
    ],
)
def test_folds_that_are_not_of_this_run(tmp_path, change, message):
    path, rows = tmp_path / "folds.json", table()
    kept(path, EXPERIMENT, rows, SCHEMA)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ParameterError, match=message):
        kept(path, EXPERIMENT, rows, SCHEMA)


def test_folds_that_cannot_be_read(tmp_path):
    (tmp_path / "folds.json").write_text("[")
    with pytest.raises(ParameterError, match="remove the folder to begin anew"):
        kept(tmp_path / "folds.json", EXPERIMENT, table(), SCHEMA)
