"""python -m experiments.bench.membership [--data car,nursery,tic_tac_toe] [--models 240]
[--open-models 1200] [--out docs/results]

Trains shadow models and attacked models of small tables with and without target rows, for every
learner and epsilon, and for learners that promise nothing. Writes membership.csv, membership.svg
and membership.md. Attacks that are in the CSV file already are not done again unless asked with
--anew; --report writes the page and the picture only. The exit code is 1 if a promise is refuted,
or if an attack on a learner that promises nothing fails.
"""

from __future__ import annotations

import argparse
import math
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from experiments.bench.membership.attack import attack
from experiments.bench.membership.contestants import EPSILONS, OPEN, PRIVATE
from experiments.bench.membership.found import Found
from experiments.bench.membership.game import game_of
from experiments.bench.membership.report import Verdict, write
from experiments.bench.membership.results import Results, Task

DATA = ("car", "nursery", "tic_tac_toe")


def main() -> None:
    options = parse()
    results = Results.read(options.out / "membership.csv")
    if options.anew:
        results.found.clear()
    learners = [(name, epsilon) for epsilon in EPSILONS for name in PRIVATE] + [
        (name, math.inf) for name in OPEN
    ]
    tasks = [Task(data, name, epsilon) for name, epsilon in learners for data in options.data]
    missing = [] if options.report else [task for task in tasks if task not in results.found]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        ProcessPoolExecutor(options.jobs) as pool,
    ):
        bar = progress.add_task("attacking", total=len(missing))
        running = {
            pool.submit(run, task, options.models if task.private else options.open_models): task
            for task in missing
        }
        for done in as_completed(running):
            results.add(running[done], done.result())
            progress.advance(bar)
    verdict = write(
        {task: results.found[task] for task in tasks if task in results.found}, options.out
    )
    print(verdict.describe())
    sys.exit(0 if verdict == Verdict((), ()) else 1)


def run(task: Task, models: int) -> Found:
    return attack(task.learner, task.epsilon, game_of(task.data), models)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.bench.membership", description=__doc__
    )
    parser.add_argument(
        "--data", type=lambda text: text.split(","), default=list(DATA), help="data sets, by name"
    )
    parser.add_argument(
        "--models",
        type=int,
        default=240,
        help="attacked models per private learner, epsilon and data set",
    )
    parser.add_argument(
        "--open-models", type=int, default=1200, help="the same for learners that promise nothing"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--out", type=Path, default=Path("docs/results"), help="where the results go"
    )
    parser.add_argument("--anew", action="store_true", help="do all attacks again")
    parser.add_argument("--report", action="store_true", help="write the page and the picture only")
    return parser.parse_args()


if __name__ == "__main__":
    main()
