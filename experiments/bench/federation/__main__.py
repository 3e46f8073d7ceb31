"""Relays, updates, horizontal and vertical federation, and Gibbs trees of several parties: accuracy
on rows that were held out.

python -m experiments.bench.federation [--only updates,horizontal] [--quick] [-o docs/results]

Writes every mean with its standard error (federation.csv), the pictures (PNG and SVG), and the
tables of the page federation.md. Single runs are kept in --cache: an interrupted command goes on
where it was. Fetched data sets come from PRIVET_DATA or the cache.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from experiments.bench.accuracy.folds import FOLDS
from experiments.bench.accuracy.versions import code_version
from experiments.bench.federation import (
    crossed,
    gibbs,
    grown,
    horizontal,
    relay,
    unequal,
    updates,
    vertical,
)
from experiments.bench.federation.problem import Problem
from experiments.bench.federation.results import Results, Row, Task


class Experiment(NamedTuple):
    """What is run on each fold, on which data sets, and how often the folds are drawn anew."""

    run: Callable[[Problem, int, int], list[Row]]
    sets: tuple[str, ...]
    repeats: int


#: Sets that a first look leaves out.
LARGE = ("adult", "bank")
EXPERIMENTS = {
    "relay": Experiment(relay.run, relay.SETS, 1),
    "grown": Experiment(grown.run, grown.SETS, 1),
    "updates": Experiment(updates.run, updates.SETS, 6),
    "horizontal": Experiment(horizontal.run, horizontal.SETS, 2),
    "unequal": Experiment(unequal.run, unequal.SETS, 2),
    "vertical": Experiment(vertical.run, vertical.SETS, 10),
    "crossed": Experiment(crossed.run, crossed.SETS, 2),
    "gibbs": Experiment(gibbs.run, gibbs.SETS, 1),
}


def tasks_of(names: list[str], quick: bool) -> list[Task]:
    """All folds of all data sets of these experiments; for a first look, one fold of the smaller
    sets.
    """
    chosen = [(name, EXPERIMENTS[name]) for name in names]
    return [
        (name, data, repeat, fold)
        for name, experiment in chosen
        for data in experiment.sets
        if not (quick and data in LARGE)
        for repeat in range(1 if quick else experiment.repeats)
        for fold in range(1 if quick else FOLDS)
    ]


def main() -> None:
    options = parse()
    console = Console()
    # What other sources found does not count.
    results = Results(options.cache / f"federation-{code_version()}{'-quick' * options.quick}.csv")
    tasks = tasks_of(options.only, options.quick)
    problem = cache(Problem)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=len(tasks))
        for task in tasks:
            name, data, repeat, fold = task
            progress.update(bar, description=f"{name}, {data}")
            if not results.done(task):
                results.add(task, EXPERIMENTS[name].run(problem(data), repeat, fold))
            progress.advance(bar)
    from experiments.bench.federation.report import write

    done = [task for task in tasks_of(list(EXPERIMENTS), options.quick) if results.done(task)]
    console.print(f"written: {write(results.table(done), options.output)}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", default=",".join(EXPERIMENTS), help="which experiments; default: %(default)s")
    add("--quick", action="store_true", help="one fold each, and no adult or bank")
    add(
        "-o",
        "--output",
        type=Path,
        default=Path("docs/results"),
        help="where tables and pictures go; default: %(default)s",
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
        / "privet-bench"
        / "results",
    )
    options = parser.parse_args()
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(EXPERIMENTS):
        parser.error(f"there is no experiment {min(unknown)!r}; there are {', '.join(EXPERIMENTS)}")
    return options


if __name__ == "__main__":
    main()
