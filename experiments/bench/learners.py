"""Accuracy of every learner over epsilon, stratified 5-fold, as a table and a picture; and how fast
random trees are.

python -m experiments.bench.learners [--quick] [-o docs/results]        (fetched data sets come from PRIVET_DATA or the cache)
"""  # noqa: E501

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.model_selection import StratifiedKFold

from experiments.papers.exact import grow_id3
from privet import datasets
from privet.domain.encode.rows import encode
from privet.learners import (
    ForestClassifier,
    GreedyTreeClassifier,
    NoisyID3Classifier,
    RandomTreesClassifier,
)
from privet.learners.baselines import grow_c45

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, math.inf)
SETS = ("nursery", "mushroom", "votes", "car", "tic_tac_toe", "adult")
LEARNERS = {
    "random trees": lambda e, s, name: RandomTreesClassifier(
        e, s, n_trees=5 if name == "votes" else 10
    ),
    "random trees, sum of counts": lambda e, s, name: RandomTreesClassifier(
        e, s, n_trees=5 if name == "votes" else 10, combine="counts", shrink=0
    ),
    "greedy tree, max operator": lambda e, s, _: GreedyTreeClassifier(e, s, criterion="max"),
    "greedy tree, Gini": lambda e, s, _: GreedyTreeClassifier(e, s, criterion="gini"),
    "greedy tree, information gain": lambda e, s, _: GreedyTreeClassifier(
        e, s, criterion="info_gain"
    ),
    "forest of 5, people divided": lambda e, s, _: ForestClassifier(
        e, s, n_trees=5, divide="people" if e < math.inf else "budget"
    ),
    "noisy ID3": lambda e, s, _: NoisyID3Classifier(e, s),
}


def folds(y: pd.Series, repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for repeat in range(repeats):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nursery has a class of two rows
            yield from StratifiedKFold(5, shuffle=True, random_state=repeat).split(y, y)


def cell(task: tuple[str, str, float, int]) -> list[dict[str, object]]:
    """The accuracies of one learner on one data set at one epsilon."""
    learner, name, epsilon, repeats = task
    data = datasets.load(name)
    rows = []
    for train, test in folds(data.y, repeats):
        # The size of a training fold of a public data set may be declared.
        schema = data.schema.declare(n_rows=len(train))
        start = time.perf_counter()
        model = LEARNERS[learner](epsilon, schema, name).fit(data.X.iloc[train], data.y.iloc[train])
        seconds = time.perf_counter() - start
        accuracy = float((model.predict(data.X.iloc[test]) == data.y.iloc[test].to_numpy()).mean())
        rows.append(
            {
                "data": name,
                "learner": learner,
                "epsilon": epsilon,
                "accuracy": accuracy,
                "seconds": seconds,
            }
        )
    return rows


def baselines(name: str) -> list[dict[str, object]]:
    """Exact ID3, C4.5 and the most frequent class."""
    data = datasets.load(name)
    schema = data.schema
    encoded = encode(schema, data.X, data.y)
    assert encoded.classes is not None
    rows = []
    for train, test in folds(data.y, 1):
        codes, classes = [column[train] for column in encoded.codes], encoded.classes[train]
        others = [column[test] for column in encoded.codes]
        trees = {
            "exact ID3": grow_id3(schema, codes, classes),
            "exact C4.5": grow_c45(schema, codes, classes, splits="binary"),
        }
        guesses = {
            key: tree.counts[tree.reach(others)].argmax(axis=1) for key, tree in trees.items()
        }
        guesses["most frequent class"] = np.full(len(test), np.bincount(classes).argmax())
        for key, guess in guesses.items():
            accuracy = float((guess == encoded.classes[test]).mean())
            rows.append(
                {
                    "data": name,
                    "learner": key,
                    "epsilon": math.inf,
                    "accuracy": accuracy,
                    "seconds": math.nan,
                }
            )
    return rows


def markdown(table: pd.DataFrame, sets: list[str]) -> str:
    lines = []
    for name in sets:
        here = table[table.data == name]
        means = here.groupby(["learner", "epsilon"]).accuracy.mean().unstack()
        lines += [
            f"## {name}",
            "",
            "| learner | "
            + " | ".join("inf" if e == math.inf else f"{e:g}" for e in EPSILONS)
            + " |",
        ]
        lines.append("|---|" + "---:|" * len(EPSILONS))
        for learner in [*LEARNERS, "exact ID3", "exact C4.5", "most frequent class"]:
            values = [means.loc[learner].get(e, math.nan) for e in EPSILONS]
            lines.append(
                f"| {learner} | "
                + " | ".join("" if math.isnan(v) else f"{v:.3f}".lstrip("0") for v in values)
                + " |"
            )
        lines += ["", f"![{name}: accuracy over epsilon](accuracy-{name}.svg)", ""]
    return "\n".join(lines)


def depth_by_trees(output: Path) -> None:
    """A heat map of random trees' accuracy on nursery at epsilon 1, over height and number of
    trees.
    """
    from privet.report.plots import heatmap, save_figure

    data = datasets.load("nursery")
    rows = []
    for train, test in folds(data.y, 1):
        schema = data.schema.declare(n_rows=len(train))
        for height in range(1, 7):
            for n_trees in (1, 2, 5, 10, 20, 50):
                model = RandomTreesClassifier(1, schema, n_trees=n_trees, height=height).fit(
                    data.X.iloc[train], data.y.iloc[train]
                )
                accuracy = float(
                    (model.predict(data.X.iloc[test]) == data.y.iloc[test].to_numpy()).mean()
                )
                rows.append({"height": height, "trees": n_trees, "accuracy": accuracy})
    figure = heatmap(
        pd.DataFrame(rows),
        "height",
        "trees",
        "accuracy",
        title="nursery: random trees at epsilon 1",
    )
    save_figure(figure, output / "heatmap-nursery.svg")


def speed(console: Console) -> str:
    """100 random trees of depth 7 on Adult with 7 coarse attributes and balanced classes, as in
    Hanisch's experiment.
    """
    from privet.domain import Categorical, Schema

    data = datasets.load("adult").table
    rich = data[data["class"] == ">50K"]
    balanced = pd.concat([rich, data[data["class"] != ">50K"].iloc[: len(rich)]])
    grouped = balanced.education_num.map(
        lambda years: "low" if years < 9 else "middle" if years < 13 else "high"
    )
    table = pd.DataFrame(
        {
            "age": np.where(balanced.age <= 37, "young", "old"),
            "workclass": balanced.workclass,
            "education": grouped,
            "relationship": balanced.relationship,
            "race": balanced.race,
            "sex": balanced.sex,
            "hours": np.where(
                balanced.hours_per_week <= 36,
                "short",
                np.where(balanced.hours_per_week <= 50, "usual", "long"),
            ),
            "class": balanced["class"],
        }
    ).reset_index(drop=True)
    schema = Schema(
        {name: Categorical(sorted(table[name].unique())) for name in table.columns[:-1]},
        "class",
        ["<=50K", ">50K"],
        n_rows=len(table),
    )
    learner = RandomTreesClassifier(1, schema, n_trees=100, height=7)
    learner.fit(table)  # compiles
    times = []
    for _ in range(5):
        start = time.perf_counter()
        learner.fit(table)
        times.append(time.perf_counter() - start)
    seconds = min(times)
    leaves = sum(len(tree.leaves) for tree in learner.model_.trees)
    what = f"100 random trees of height 7 ({leaves:,} leaves) on {len(table):,} rows x 7 attributes"
    said = f"{what}, noise included: {seconds:.2f} s (best of 5)"
    console.print(said)
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one repeat, and no adult")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/results"))
    options = parser.parse_args()
    console = Console()
    sets = [name for name in SETS if not (options.quick and name == "adult")]
    tasks = [
        (learner, name, e, 1 if name == "adult" or options.quick else 2)
        for name in sets
        for learner in LEARNERS
        for e in EPSILONS
    ]
    rows = [row for name in sets for row in baselines(name)]
    with ProcessPoolExecutor(2) as pool:
        for found in track(
            pool.map(cell, tasks), total=len(tasks), description="cross-validating", console=console
        ):
            rows += found
    table = pd.DataFrame(rows)
    options.output.mkdir(parents=True, exist_ok=True)
    fast = "" if options.quick else speed(console)
    head = (
        "# Learners over epsilon\n\nMean accuracy, stratified 5-fold (2 repeats, adult 1), for one "
        "row added or removed. "
    )
    head += (
        "Made by `python -m experiments.bench.learners`.\n`inf` is without noise. The number of "
        "training rows is declared public.\n\n"
    )
    picture = (
        "\n## Height and number of random trees\n\n![accuracy over height and number of "
        "trees](heatmap-nursery.svg)\n"
    )
    text = (
        head
        + markdown(table, sets)
        + picture
        + (f"\n## Speed\n\n{fast} on 2 cores; the papers' own code took hours.\n" if fast else "")
    )
    (options.output / "learners.md").write_text(text)
    console.print(text)
    from privet.report.plots import accuracy_over_epsilon, save_figure

    depth_by_trees(options.output)
    for name in sets:
        here = table[
            (table.data == name)
            & table.learner.isin(["random trees", "greedy tree, Gini", "noisy ID3"])
        ]
        majority = float(
            table[(table.data == name) & (table.learner == "most frequent class")].accuracy.mean()
        )
        figure = accuracy_over_epsilon(
            here[["learner", "epsilon", "accuracy"]],
            majority=majority,
            title=f"{name}: accuracy over epsilon",
        )
        save_figure(figure, options.output / f"accuracy-{name}.svg")


if __name__ == "__main__":
    main()
