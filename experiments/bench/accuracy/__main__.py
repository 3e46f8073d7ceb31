"""Ours and the peers on the same stratified 5-fold splits, with the same public bounds.

python -m experiments.bench.accuracy [--data adult,crx] [--epsilon .1,1] [--learners privet,dp-ebm]
[--repeats 2] [--frozen] [--quick] [--out docs/results]

A fit that was done before is done again only if what the contestant depends on has changed since.
The peers' environment, the tables of KEEL and the results are kept in --cache. Each contestant has
a file of its own there, so that two runs with different --learners can share the cores; --report
then writes the page. Fetched data sets come from PRIVET_DATA or Privet's own cache.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

import privet
from experiments.bench.accuracy.contestants import (
    CEILING,
    FLOOR,
    NAMES,
    NOT_PRIVATE,
    OURS,
    PEERS,
    Problem,
    run,
)
from experiments.bench.accuracy.data import DEVELOPMENT, HELD_OUT, load
from experiments.bench.accuracy.environment import Peers, keel_folder
from experiments.bench.accuracy.folds import FOLDS, splits
from experiments.bench.accuracy.report import write
from experiments.bench.accuracy.results import Results, Row, results_path
from experiments.bench.accuracy.versions import version_of

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
DEFAULT = ("privet", "privet-delta", *PEERS, CEILING, FLOOR)
#: Small tables of both groups, for a look at a change within a minute or two.
QUICK_DATA, QUICK_EPSILONS = ("votes", "crx", "saheart"), (0.1, 1.0)


def main() -> None:
    options = parse()
    console = Console()

    @cache
    def results_of(learner: str, group: str) -> Results:
        folder = options.cache / "results" / group
        return Results(results_path(folder, learner, version_of(learner), newest=options.report))

    @cache
    def problem(name: str) -> Problem:
        return Problem(load(name, lambda: keel_folder(options.cache)))

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    rows: list[Row] = []
    with (
        Peers(options.cache) as peers,
        Progress(*columns, console=console) as progress,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        tasks = [task for name in options.data for task in tasks_of(problem(name), options)]
        bar = progress.add_task("", total=len(tasks))
        for task in tasks:
            name, learner = task["data"], task["learner"]
            results = results_of(learner, "held-out" if name in HELD_OUT else "development")
            progress.update(bar, description=f"{name}, {learner}")
            row = results.find(task)
            if row is None and not options.report:
                train, test = list(splits(problem(name).classes, task["repeat"]))[task["fold"]]
                row = task | run(
                    problem(name), learner, task["view"], task["epsilon"], train, test, peers
                )
                results.add(row)
            rows += [] if row is None else [row]
            progress.advance(bar)
    problems = [problem(name) for name in options.data]
    console.print(f"written: {write(rows, problems, options.epsilon, options.out)}")


def tasks_of(problem: Problem, options: argparse.Namespace) -> Iterator[Row]:
    """The fits of one data set. Ours is not run on a set that is held out before the rule is
    frozen.
    """
    name = problem.data.name
    for learner in options.learners:
        if learner in OURS and name in HELD_OUT and not options.frozen:
            continue
        for view in problem.view_names(learner):
            for repeat in range(options.repeats):
                for fold in range(FOLDS):
                    for epsilon in [None] if learner in NOT_PRIVATE else options.epsilon:
                        yield {
                            "data": name,
                            "schema": problem.schema_for(learner).fingerprint[:12],
                            "learner": learner,
                            "view": view,
                            "epsilon": epsilon,
                            "repeat": repeat,
                            "fold": fold,
                        }


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    sets = (*DEVELOPMENT, *HELD_OUT)
    add = parser.add_argument
    add("--data", help="names, or development, held-out, all; default: all")
    add("--epsilon", help=f"default: {_listed(EPSILONS)}")
    add(
        "--learners",
        default=",".join(DEFAULT),
        help=f"out of {', '.join(NAMES)}; default: %(default)s",
    )
    add("--repeats", type=int, default=1, help="of the five folds; default: 1")
    add("--frozen", action="store_true", help="run our learners on the held-out sets too")
    add(
        "--quick",
        action="store_true",
        help=f"only {', '.join(QUICK_DATA)} at {_listed(QUICK_EPSILONS)}, page in the cache",
    )
    add("--report", action="store_true", help="write what is in the cache and run nothing")
    add(
        "--out",
        type=Path,
        help="where the page and the pictures go; default: docs/results",
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench",
    )
    options = parser.parse_args()
    groups = {"all": sets, "development": DEVELOPMENT, "held-out": HELD_OUT}
    data = options.data or (",".join(QUICK_DATA) if options.quick else "all")
    options.data = [name for part in data.split(",") for name in groups.get(part, (part,))]
    options.learners = options.learners.split(",")
    epsilon = options.epsilon or _listed(QUICK_EPSILONS if options.quick else EPSILONS)
    options.epsilon = [float(part) for part in epsilon.split(",")]
    options.out = options.out or (
        options.cache / "quick" if options.quick else Path("docs/results")
    )
    for what, chosen, known in (
        ("data set", options.data, sets),
        ("learner", options.learners, NAMES),
    ):
        if unknown := set(chosen) - set(known):
            parser.error(f"there is no {what} {min(unknown)!r}; there are {', '.join(known)}")
    if absent := [
        learner
        for learner in options.learners
        if learner in OURS and not hasattr(privet, OURS[learner].estimator)
    ]:
        parser.error(f"this Privet has no {absent[0]!r}")
    return options


def _listed(epsilons: Sequence[float]) -> str:
    return ",".join(f"{epsilon:g}" for epsilon in epsilons)


if __name__ == "__main__":
    main()
