"""python -m experiments.bench.publish [--data car,nursery,adult] [--epsilon .1,1] [--kinds
synthetic,local]
    [--folds 3] [--out docs/results]

Trees on synthetic tables and on locally randomised records, beside the central learners, on the
same stratified folds. Writes publish.csv, publish.svg and publish.md; runs that are in the CSV file
already are not done again unless asked with --anew. --report writes the page and the picture only.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import privet as pv
from experiments.bench.publish.contestants import CONTESTANTS
from experiments.bench.publish.report import write

DATA, EPSILONS = ("car", "nursery", "adult"), (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
FIELDS = ("data", "epsilon", "fold", "contestant", "accuracy", "auc", "majority", "seconds")


def main() -> None:
    options = parse()
    kept = options.out / "publish.csv"
    rows = read(kept) if kept.exists() and not options.anew else {}
    tasks = [
        (data, epsilon, fold, name)
        for data in options.data
        for fold in range(options.folds)
        for epsilon in options.epsilon
        for name in CONTESTANTS
        if name.startswith(tuple(options.kinds))
    ]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bar = progress.add_task("", total=len(tasks))
        for task in tasks:
            progress.update(bar, description=f"{task[0]}, epsilon {task[1]:g}, {task[3]}")
            if task not in rows and not options.report:
                rows[task] = run(*task)
                store(kept, rows)
            progress.advance(bar)
    print("written:", *write(list(rows.values()), options.out))


def run(data: str, epsilon: float, fold: int, name: str) -> dict:
    """One contestant on one fold."""
    found = pv.datasets.load(data)
    splits = StratifiedKFold(5, shuffle=True, random_state=1).split(found.X, found.y)
    train, test = list(splits)[fold]
    table = found.X.assign(**{found.schema.target: found.y.to_numpy()})
    schema = found.schema.declare(n_rows=len(train))
    start = time.perf_counter()
    shares = CONTESTANTS[name](
        table.iloc[train].reset_index(drop=True), found.X.iloc[test], schema, epsilon
    )
    seconds = time.perf_counter() - start
    truth = found.y.iloc[test].to_numpy()
    said = np.array(schema.classes, dtype=object)[shares.argmax(axis=1)]
    auc = (
        roc_auc_score(truth == schema.classes[1], shares[:, 1])
        if schema.n_classes == 2
        else float("nan")
    )
    majority = found.y.iloc[test].value_counts(normalize=True).max()
    values = (
        data,
        epsilon,
        fold,
        name,
        float((said == truth).mean()),
        float(auc),
        float(majority),
        round(seconds, 2),
    )
    return dict(zip(FIELDS, values, strict=True))


def read(path: Path) -> dict:
    with path.open(newline="") as file:
        lines = [
            {**line, "epsilon": float(line["epsilon"]), "fold": int(line["fold"])}
            | {field: float(line[field]) for field in ("accuracy", "auc", "majority", "seconds")}
            for line in csv.DictReader(file)
        ]
    return {
        (line["data"], line["epsilon"], line["fold"], line["contestant"]): line for line in lines
    }


def store(path: Path, rows: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        rounded = ("accuracy", "auc", "majority")
        writer.writerows(
            {key: f"{value:.5f}" if key in rounded else value for key, value in rows[task].items()}
            for task in sorted(rows)
        )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.bench.publish", description=__doc__
    )
    listed = lambda kind: lambda text: [kind(one) for one in text.split(",")]  # noqa: E731
    parser.add_argument("--data", type=listed(str), default=list(DATA), help="data sets, by name")
    parser.add_argument("--epsilon", type=listed(float), default=list(EPSILONS), help="epsilons")
    parser.add_argument(
        "--kinds",
        type=listed(str),
        default=["central", "synthetic", "local"],
        help="which contestants",
    )
    parser.add_argument("--folds", type=int, default=3, help="how many of five folds to run")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/results"), help="where the results go"
    )
    parser.add_argument("--anew", action="store_true", help="do all runs again")
    parser.add_argument("--report", action="store_true", help="write the page and the picture only")
    return parser.parse_args()


if __name__ == "__main__":
    main()
