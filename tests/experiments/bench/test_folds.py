"""The same folds for everyone, results that survive an interruption, and public bounds."""

import os

import numpy as np
import pandas as pd
import pytest

from experiments.bench.accuracy.folds import splits
from experiments.bench.accuracy.results import Results, results_path
from experiments.bench.accuracy.views import peer_views
from privet import datasets
from privet.datasets import Dataset
from privet.domain import Categorical, Numeric, Schema


def test_folds_are_the_same_every_time_and_cover_every_row_once():
    classes = np.array([0, 1] * 20)
    first, again = (list(splits(classes, repeat=3)) for _ in range(2))
    assert sorted(row for _, test in first for row in test) == list(range(40))
    assert all((a[1] == b[1]).all() for a, b in zip(first, again, strict=True))


def test_a_cut_off_line_is_run_again(tmp_path):
    path = tmp_path / "cache" / "results.jsonl"
    key = {"data": "d", "schema": "s", "learner": "l", "view": "", "epsilon": 0.1, "repeat": 0}
    results = Results(path)
    for fold in range(2):
        results.add(key | {"fold": fold, "accuracy": 0.5})
    path.write_text(path.read_text()[:-9])
    read = Results(path)
    assert read.find(key | {"fold": 0}) == key | {"fold": 0, "accuracy": 0.5}
    assert read.find(key | {"fold": 1}) is None
    read.add(key | {"fold": 1, "accuracy": 0.7})
    assert Results(path).find(key | {"fold": 1}) == key | {"fold": 1, "accuracy": 0.7}


def test_each_version_has_a_file_and_a_report_takes_the_newest(tmp_path):
    for age, version in enumerate(["new", "old"]):
        path = tmp_path / f"privet@{version}.jsonl"
        path.touch()
        os.utime(path, (1000 - age, 1000 - age))
    (tmp_path / "privet-delta@other.jsonl").touch()
    assert results_path(tmp_path, "privet", "old", newest=True).name == "privet@old.jsonl"
    assert results_path(tmp_path, "privet", "none", newest=True).name == "privet@new.jsonl"
    assert results_path(tmp_path, "privet", "none").name == "privet@none.jsonl"
    assert results_path(tmp_path, "dp-ebm", "none", newest=True).name == "dp-ebm@none.jsonl"


def test_peers_see_public_bounds_whatever_the_rows_hold():
    schema = Schema(
        {"age": Numeric(0, 100, bins=4, missing="?"), "sex": Categorical(["f", "m"])},
        "y",
        ["no", "yes"],
    )
    data = Dataset(
        "d",
        pd.DataFrame({"age": [30.0, 170.0, np.nan], "sex": ["m", "f", "m"]}),
        pd.Series(["no", "yes", "no"], name="y"),
        schema,
    )
    views = peer_views(data, nominal=True)
    assert views["one-hot"].X.tolist() == [[30, 0, 0, 1], [100, 0, 1, 0], [50, 1, 0, 1]]
    assert views["one-hot"].high.tolist() == [100, 1, 1, 1]
    assert views["nominal"].X.tolist() == [[30, 0, 1], [100, 0, 0], [50, 1, 1]]
    assert views["nominal"].nominal.tolist() == [False, False, True]
    assert views["our bins"].X.tolist() == [[1, 1], [3, 0], [4, 1]]
    assert set(peer_views(data, nominal=False)) == {"one-hot", "our bins"}


@pytest.mark.parametrize("nominal", [False, True])
def test_no_scaled_row_is_longer_than_the_stated_norm(nominal):
    data = datasets.load("car") if not nominal else _every_kind_of_row()
    for view in peer_views(data, nominal=nominal).values():
        scaled = (view.X - view.low) / (view.high - view.low)
        assert np.linalg.norm(scaled, axis=1).max() <= view.norm


def _every_kind_of_row() -> Dataset:
    ages, sexes = [0.0, 100.0, np.nan], ["f", "m"]
    rows = pd.DataFrame([(age, sex) for age in ages for sex in sexes], columns=["age", "sex"])
    attributes = {
        "age": Numeric(0, 100, bins=4, missing="?"),
        "sex": Categorical(sexes),
    }
    labels = pd.Series(["no", "yes"] * 3, name="y")
    return Dataset("d", rows, labels, Schema(attributes, "y", ["no", "yes"]))
