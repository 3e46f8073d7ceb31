"""What is measured on a fold, and results that survive an interruption."""

import numpy as np
import pytest

from experiments.bench.accuracy.folds import measures, splits
from experiments.bench.accuracy.results import Results
from experiments.bench.accuracy.views import peer_views
from privet.datasets import Dataset
from privet.domain import Categorical, Numeric, Schema


def test_two_classes():
    truth, guess = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    found = measures(truth, guess, np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.3, 0.7]]))
    assert found == {
        "accuracy": 0.75,
        "auroc": pytest.approx(2 / 3),
        "balanced": pytest.approx((2 / 3 + 1) / 2),
    }


def test_a_class_that_is_not_in_the_fold_is_left_out():
    truth = np.array([0, 0, 2, 2])
    chances = np.array([[0.8, 0.1, 0.1], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.75, 0.0, 0.25]])
    found = measures(truth, np.array([0, 1, 2, 2]), chances)
    assert found == {"accuracy": 0.75, "auroc": pytest.approx((0.75 + 1) / 2), "balanced": 0.75}


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


def test_peers_see_public_bounds_whatever_the_rows_hold():
    import pandas as pd

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
