"""Ours and the peers on the same stratified 5-fold splits, with the same public bounds.

python -m experiments.bench.accuracy [--data adult,crx] [--epsilon .1,1] [--learners privet,dp-ebm]
[--frozen] [--out docs/results]

Fits that were done before are not done again, unless our sources have changed since. The peers'
environment, the tables of KEEL and the results are kept in --cache. Fetched data sets come from
PRIVET_DATA or Privet's own cache.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
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
from experiments.bench.accuracy.results import Results, Row, code_version

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
DEFAULT = ("privet", *PEERS, CEILING, FLOOR)


def main() -> None:
    options = parse()
    console = Console()
    where = {
        name: Results(options.cache / "results" / f"{name}.jsonl")
        for name in ("peers", "ours-development", "ours-held-out")
    }

    def results_of(learner: str, data: str) -> Results:
        return where[
            "peers"
            if learner not in OURS
            else "ours-development"
            if data in DEVELOPMENT
            else "ours-held-out"
        ]

    @cache
    def problem(name: str) -> Problem:
        return Problem(load(name, lambda: keel_folder(options.cache)))

    version = code_version()
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
            results = results_of(learner, name)
            progress.update(bar, description=f"{name}, {learner}")
            row = results.find(task)
            if not options.report and (row is None or (learner in OURS and row["code"] != version)):
                train, test = list(splits(problem(name).classes, task["repeat"]))[task["fold"]]
                found = run(
                    problem(name), learner, task["view"], task["epsilon"], train, test, peers
                )
                row = task | found | {"code": version if learner in OURS else ""}
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
                            "schema": problem.data.schema.fingerprint[:12],
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
    add("--data", default=",".join(sets), help="names, or development, held-out, all; default: all")
    add("--epsilon", default=",".join(f"{e:g}" for e in EPSILONS), help="default: %(default)s")
    add(
        "--learners",
        default=",".join(DEFAULT),
        help=f"out of {', '.join(NAMES)}; default: %(default)s",
    )
    add("--repeats", type=int, default=1, help="of the five folds; default: 1")
    add("--frozen", action="store_true", help="run our learners on the held-out sets too")
    add("--report", action="store_true", help="write what is in the cache and run nothing")
    add(
        "--out",
        type=Path,
        default=Path("docs/results"),
        help="where the page and the pictures go; default: %(default)s",
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench",
    )
    options = parser.parse_args()
    groups = {"all": sets, "development": DEVELOPMENT, "held-out": HELD_OUT}
    options.data = [name for part in options.data.split(",") for name in groups.get(part, (part,))]
    options.learners = options.learners.split(",")
    options.epsilon = [float(part) for part in options.epsilon.split(",")]
    for what, chosen, known in (
        ("data set", options.data, sets),
        ("learner", options.learners, NAMES),
    ):
        if unknown := set(chosen) - set(known):
            parser.error(f"there is no {what} {min(unknown)!r}; there are {', '.join(known)}")
    if absent := [
        learner
        for learner in options.learners
        if learner in OURS and not hasattr(privet, OURS[learner])
    ]:
        parser.error(f"this Privet has no {absent[0]!r}")
    return options


if __name__ == "__main__":
    main()
