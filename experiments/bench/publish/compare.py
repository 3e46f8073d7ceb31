"""python -m experiments.bench.publish.compare [--data adult,car] [--epsilon .5,1] [--names AIM,MST]
    [--folds 1] [--limit SECONDS] [--out docs/results]

Synthetic tables beside those of AIM and MST, on the same folds. Runs that are in
publish-peers.csv already are not done again unless asked with --anew. The peers' environment is
made in .venv-mbi on the first run. --report writes the section of publish.md only.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

from experiments.bench.publish.comparing import CONTESTANTS, MEASURES, run
from experiments.bench.publish.comparison import write_comparison

DATA, EPSILONS = ("adult", "nursery", "churn", "car"), (1.0, 0.5, 2.0)
FIELDS = ("data", "epsilon", "fold", "contestant", *MEASURES)


def main() -> None:
    options = parse()
    kept = options.out / "publish-peers.csv"
    tasks = [
        (data, epsilon, fold, name)
        for fold in range(options.folds)
        for epsilon in options.epsilon
        for data in options.data
        for name in options.names
    ]
    done: set[tuple] = set()
    for task in [] if options.report else tasks:
        if task in read(kept) and (not options.anew or task in done):
            continue
        print(*task, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run(*task, limit=options.limit)
        store(kept, {**read(kept), task: found})
        done.add(task)
    print("written:", write_comparison(read(kept), options.out))


def read(path: Path) -> dict[tuple, dict[str, float]]:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (line["data"], float(line["epsilon"]), int(line["fold"]), line["contestant"]): {
                measure: float(line[measure]) for measure in MEASURES
            }
            for line in csv.DictReader(file)
        }


def store(path: Path, rows: dict[tuple, dict[str, float]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for task in sorted(rows):
            writer.writerow([*task, *(f"{rows[task][measure]:.4f}" for measure in MEASURES)])


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.bench.publish.compare")
    listed = lambda kind: lambda text: [kind(one) for one in text.split(",")]  # noqa: E731
    parser.add_argument("--data", type=listed(str), default=list(DATA), help="tables, by name")
    parser.add_argument("--epsilon", type=listed(float), default=list(EPSILONS), help="epsilons")
    parser.add_argument("--names", type=listed(str), default=list(CONTESTANTS), help="contestants")
    parser.add_argument("--folds", type=int, default=1, help="how many of five folds to run")
    parser.add_argument("--limit", type=float, help="a peer's run ends after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="where results go")
    parser.add_argument("--anew", action="store_true", help="do these runs again")
    parser.add_argument("--report", action="store_true", help="write the section only")
    return parser.parse_args()


if __name__ == "__main__":
    main()
