"""The experiments on batches, parties and tables: parts, secure sums, paired differences, results
that survive an interruption.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from experiments.bench.federation import (
    bank,
    crossed,
    gibbs,
    horizontal,
    relay,
    unequal,
    updates,
    vertical,
)
from experiments.bench.federation.forests import by_recipe, plan_for, secure_sum
from experiments.bench.federation.problem import Problem, divided
from experiments.bench.federation.report import (
    crossed_table,
    filled,
    list_goals,
    unequal_table,
    warnings_table,
    write,
)
from experiments.bench.federation.results import COLUMNS, Results
from experiments.bench.federation.summary import means, paired, told
from privet.domain import Categorical
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
        task, [{"way": "updated", "parties": 2, "accuracy": 0.5, "auroc": math.nan, "warns": 1}]
    )
    read = Results(tmp_path / "runs" / "f.csv")
    assert read.done(task)
    assert not read.done(other)
    read.add(other, [{"way": "updated", "parties": 4, "accuracy": 0.7}])
    table = Results(read.path).table([task, other])
    assert table.accuracy.tolist() == [0.5, 0.7]
    assert table.auroc.isna().all()
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
    ways = {
        "by-noise": 0.8,
        "equal": 0.7,
        unequal.AT_RANDOM: 0.75,
        unequal.BEST: 0.85,
        "pooled": 0.9,
    }
    table = (
        runs()
        .iloc[:1]
        .drop(columns=["way", "accuracy", "case", "epsilon"])
        .merge(pd.DataFrame({"way": list(ways), "accuracy": list(ways.values())}), how="cross")
    )
    table = table.assign(case="equal sizes, different epsilons", epsilon=math.nan)
    assert (
        "| equal sizes, different epsilons | d | .800 | .700 | +.100 | .900 | .750 | .850 |"
        in unequal_table(table)
    )


def test_tables_go_where_the_page_has_their_names():
    page = "text\n<!-- a -->\nold\nlines\n<!-- end -->\nmore\n<!-- b -->\n<!-- end -->\n"
    once = filled(page, {"a": "| new \\1 |", "c": "nowhere"})
    assert once == "text\n<!-- a -->\n| new \\1 |\n<!-- end -->\nmore\n<!-- b -->\n<!-- end -->\n"
    assert filled(once, {"a": "| new \\1 |"}) == once


def test_goals_that_are_missed_are_named_with_their_figures():
    ways = {relay.ALONE: (0.84, 0.86), relay.RELAY: (0.85, 0.88), relay.POOLED: (0.852, 0.9)}
    lines = [
        {"data": "adult", "case": "2 equal parties", "epsilon": 0.5, "way": way}
        | {"accuracy": accuracy, "auroc": auroc}
        for way, (accuracy, auroc) in ways.items()
    ]
    head, *goals = list_goals(pd.DataFrame(lines))
    assert head == "- **adult**"
    pooled, above, never = " ".join(map(str.strip, goals)).removeprefix("- ").split(" - ")
    assert pooled.endswith("**not met** in 1 of 1: 2 equal parties at 0.5 (AUROC -.020)")
    assert above.endswith("met in all 1")
    assert "not met" not in above + never


def test_the_goal_of_small_parties_looks_at_the_second_where_one_has_more_than_half():
    means = {relay.ALONE: 0.9, relay.SECOND: 0.87, relay.RELAY: 0.88, relay.POOLED: 0.88}
    lines = [
        {"data": "bank", "case": "unequal", "epsilon": 0.5, "way": way}
        | {"accuracy": accuracy, "auroc": math.nan}
        for way, accuracy in means.items()
    ]
    text = " ".join(map(str.strip, list_goals(pd.DataFrame(lines))[1:]))
    pooled, above, never = text.removeprefix("- ").split(" - ")
    assert "not met" not in pooled + above
    assert "**not met** in 1 of 1: unequal at 0.5 (-.020)" in never


def test_trees_by_turns_test_the_attributes_of_one_party_each(car):
    train, test = car.fold(0, 0)
    halves = [car.schema.names[:3], car.schema.names[3:]]
    model = crossed.fit_by_turns(car, train, halves, 2.0)
    assert len(model.trees) >= 3
    for number, tree in enumerate(model.trees):
        tested = {car.schema.names[place] for place in tree.cells.attribute if place >= 0}
        assert tested <= set(halves[number % 2])
    assert car.accuracy(model, test) > 0.6
    assert not model.privacy.private  # nobody may take it for a release


def test_vertical_parties_in_a_table():
    rows = [
        {"data": "votes", "repeat": 0, "fold": 0, "way": way, "epsilon": 1.0}
        | {"accuracy": 0.9, "auroc": 0.95}
        for way in (crossed.ALONE, crossed.TURNS)
    ]
    lines = crossed_table(pd.DataFrame(rows))
    assert lines[2] == "| votes | one party alone, epsilon | .900 / .950 |"


def test_the_bank_is_the_same_every_time_and_fits_its_schema():
    one, other = bank.load(), bank.load()
    pd.testing.assert_frame_equal(one.table, other.table)
    assert 0.1 < (one.y == "yes").mean() < 0.15
    for name, attribute in one.schema.attributes.items():
        if isinstance(attribute, Categorical):
            assert set(one.X[name]) <= set(attribute.values)
        else:
            assert one.X[name].between(attribute.low, attribute.high, inclusive="left").all()
