"""The experiments on batches, parties and tables: parts, secure sums, paired differences, results
that survive an interruption.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from experiments.bench.federation import gibbs, horizontal, unequal, updates, vertical
from experiments.bench.federation.forests import by_recipe, plan_for, secure_sum
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.report import filled, unequal_table, warnings_table, write
from experiments.bench.federation.results import COLUMNS, Results
from experiments.bench.federation.summary import means, paired, told
from privet.learners import GibbsBoostClassifier
from privet.learners.random_trees.batches import contribution


@pytest.fixture(scope="module")
def car() -> Problem:
    return Problem("car")


def test_parts_are_as_large_as_asked_and_hold_every_row_once():
    rows = np.arange(100, 250)
    parts = divided(rows, [1, 2, 4, 8], seed=0)
    assert [len(part) for part in parts] == [10, 20, 40, 80]
    assert sorted(np.concatenate(parts)) == rows.tolist()
    assert all(
        (a == b).all() for a, b in zip(parts, divided(rows, [1, 2, 4, 8], seed=0), strict=True)
    )
    assert len(set(parts[3]) & set(range(170, 250))) < 60  # not by position


def test_curators_see_only_their_rows_and_attributes(car):
    curator = car.curator(np.arange(100), 1, ["safety", "doors"])
    assert curator.schema.names == ("safety", "doors")
    assert curator.schema.n_rows == 100
    assert curator.private


def test_shares_add_up_to_the_counts_with_the_noise_of_one_curator(car):
    train, _ = car.fold(0, 0)
    parts, plan = divided(train, [1] * 4, seed=1), plan_for(car.schema, len(train))
    exact = contribution(plan, car.curator(train, math.inf), math.inf).evidence.batches[0]
    for honest, more in ((4, 1), (2, 2)):
        batch = secure_sum(
            plan, [car.owner(part, 1) for part in parts], 1, honest
        ).evidence.batches[0]
        off = np.concatenate(
            [(noisy - true).ravel() for noisy, true in zip(batch.tables, exact.tables, strict=True)]
        )
        assert batch.deviation == pytest.approx(math.sqrt(2 * 10**2 * more), rel=0.01)
        assert off.std() == pytest.approx(batch.deviation, rel=0.2)


def test_both_recipes_read_the_same_counts(car):
    train, test = car.fold(0, 0)
    plan = plan_for(car.schema, len(train))
    models = [
        contribution(plan, car.curator(part, 1), 1) for part in divided(train, [1, 1], seed=0)
    ]
    ours, papers = (model for _, model in by_recipe(models))
    assert [
        (a.tables[0] == b.tables[0]).all()
        for a, b in zip(ours.evidence.batches, papers.evidence.batches, strict=True)
    ] == [True, True]
    assert (ours.combine, papers.combine) == ("probabilities", "counts")
    assert 0 < car.accuracy(ours, test) < 1


def test_accuracy_is_that_of_the_rows_asked_about(car):
    train, test = car.fold(0, 0)
    exact = contribution(plan_for(car.schema, len(train)), car.curator(train, math.inf), math.inf)
    shares = exact.probabilities([column[test] for column in car._encoded.codes])
    labels = np.array(car.schema.classes)[shares.argmax(axis=1)]
    assert car.accuracy(exact, test) == (labels == car.data.y.iloc[test].to_numpy()).mean()


@pytest.mark.parametrize("experiment", [updates, horizontal, unequal, vertical, gibbs])
def test_every_experiment_measures_every_way_once(car, experiment, monkeypatch):
    for name, few in {"PARTS": (2, 4), "PARTIES": (2,), "EPSILONS": (1.0, 0.5, 0.25, 0.1)}.items():
        if hasattr(experiment, name):
            monkeypatch.setattr(experiment, name, few)
    # Deep ones take long.
    monkeypatch.setattr(
        gibbs,
        "PrivetClassifier",
        lambda epsilon: GibbsBoostClassifier(epsilon, rounds=3, max_depth=2),
    )
    found = pd.DataFrame(experiment.run(car, 0, 0)).reindex(columns=COLUMNS)
    keys = ["case", "recipe", "way", "parties", "epsilon"]
    assert not found.duplicated(keys).any()
    ways = found.groupby([key for key in keys if key != "way"], dropna=False).way.nunique()
    assert ways.nunique() == 1
    assert ways.iloc[0] >= 4
    assert found.accuracy.between(0, 1).all()
    assert found.accuracy.max() > 0.5


def test_an_interrupted_run_goes_on(tmp_path):
    task, other = ("updates", "car", 0, 1), ("updates", "car", 0, 2)
    Results(tmp_path / "runs" / "f.csv").add(
        task, [{"way": "updated", "parties": 2, "accuracy": 0.5, "warns": 1}]
    )
    read = Results(tmp_path / "runs" / "f.csv")
    assert read.done(task)
    assert not read.done(other)
    read.add(other, [{"way": "updated", "parties": 4, "accuracy": 0.7}])
    table = Results(read.path).table([task, other])
    assert table.accuracy.tolist() == [0.5, 0.7]
    assert table.parties.tolist() == [2, 4]
    assert Results(read.path).table([other]).fold.tolist() == [2]


def runs() -> pd.DataFrame:
    found = {
        "updated": (0.5, 0.6),
        "rebuilt at epsilon/2": (0.6, 0.65),
        "updated, trees for all rows": (0.7, 0.6),
    }
    lines = [
        (
            "updates",
            "d",
            0,
            fold,
            "",
            "ours",
            way,
            2,
            0.5,
            values[fold],
            values[fold] + 0.1,
            int(way == "updated" and fold == 0),
        )
        for way, values in found.items()
        for fold in (0, 1)
    ]
    columns = [
        "experiment",
        "data",
        "repeat",
        "fold",
        "case",
        "recipe",
        "way",
        "parties",
        "epsilon",
        "accuracy",
        "auroc",
        "warns",
    ]
    return pd.DataFrame(lines, columns=columns)


def test_differences_are_paired_by_fold():
    found = paired(
        runs().sample(frac=1, random_state=0), "rebuilt at epsilon/2", "updated"
    ).sort_values("fold")
    assert found.lead.tolist() == pytest.approx([0.1, 0.05])
    assert told(found.lead) == "+.075 ± .025"
    assert told(-found.lead) == "-.075 ± .025"


def test_means_have_their_standard_error_and_the_number_of_folds():
    line = means(runs()).set_index("way").loc["updated"]
    names = ["mean", "standard_error", "auroc", "folds", "warned"]
    assert [line[name] for name in names] == pytest.approx([0.55, 0.05, 0.65, 2, 0.5])


def test_means_of_experiments_that_were_not_run_are_kept(tmp_path):
    other = means(runs()).assign(experiment="gibbs")
    other.to_csv(tmp_path / "federation.csv", index=False)
    write(runs(), tmp_path)
    found = pd.read_csv(tmp_path / "federation.csv")
    assert set(found.experiment) == {"updates", "gibbs"}
    assert len(found) == 2 * len(other)


def test_the_table_of_warnings_says_when_the_rebuild_is_better():
    lines = warnings_table(runs())
    assert lines[2] == "| d | trees for the first part | 2 | +.075 ± .025 | 100% | 50% |"
    assert lines[3] == "| d | trees for all rows | 2 | -.025 ± .075 | 50% | 0% |"


def test_a_case_without_an_epsilon_is_paired_too():
    ways = {"by-noise": 0.8, "equal": 0.7, "best party": 0.75, "pooled": 0.9}
    table = (
        runs()
        .iloc[:1]
        .drop(columns=["way", "accuracy", "case", "epsilon"])
        .merge(pd.DataFrame({"way": list(ways), "accuracy": list(ways.values())}), how="cross")
    )
    table = table.assign(case="equal sizes, different epsilons", epsilon=math.nan)
    assert (
        "| equal sizes, different epsilons | d | .800 | .700 | +.100 | .750 | .900 |"
        in unequal_table(table)
    )


def test_tables_go_where_the_page_has_their_names():
    page = "text\n<!-- a -->\nold\nlines\n<!-- end -->\nmore\n<!-- b -->\n<!-- end -->\n"
    once = filled(page, {"a": "| new \\1 |", "c": "nowhere"})
    assert once == "text\n<!-- a -->\n| new \\1 |\n<!-- end -->\nmore\n<!-- b -->\n<!-- end -->\n"
    assert filled(once, {"a": "| new \\1 |"}) == once
