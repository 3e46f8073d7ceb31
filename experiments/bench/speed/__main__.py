"""Ours beside peers and beside memory on the same rows, growth, predictions and starting, in one
run of some fifteen minutes.

python -m experiments.bench.speed [--quick] [--rows 1e6] [--out docs/results]        (--report writes the page anew from its CSV file)
python -m experiments.bench.speed --only learners                                    (whole learners beside each other; the rest is kept)

Every contestant has a process of its own. The peers' environment is that of
experiments.bench.accuracy, kept in --cache. --quick looks at small tables for less than a minute,
and writes nothing. Another number of rows than a million is written only where --out says.
"""  # noqa: E501

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
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

from experiments.bench.accuracy.environment import peers_python
from experiments.bench.speed import learners, results
from experiments.bench.speed.contestants import CONTESTANTS, label
from experiments.bench.speed.imports import PROGRAMS, started
from experiments.bench.speed.memory import PROBE, bandwidth_seconds
from experiments.bench.speed.pictures import draw_all
from experiments.bench.speed.plan import ROWS, Plan
from experiments.bench.speed.report import all_goals, page, terminal, verdict
from experiments.bench.speed.results import Measurement, Run, Task
from experiments.bench.speed.rows import ATTRIBUTES, Store
from experiments.bench.speed.summary import Summary

ROOT = Path(__file__).parents[3]
PACKAGES = ("numpy", "pandas", "numba", "duckdb", "scikit-learn")


def main() -> None:
    options = parse()
    console = Console()
    kept = results.read(options.out / "speed.csv") if options.out else []
    if options.report:
        found = kept
    else:
        if not options.quick and not ready(options.cache):
            console.print("making the peers' environment (once; a minute or two)")
        python = (
            Path(sys.executable)
            if options.quick and not ready(options.cache)
            else peers_python(options.cache)
        )
        plan = Plan(options.rows, options.quick, with_peers=python != Path(sys.executable))
        measure = measure_learners if options.only else measured
        found = results.replaced(kept, measure(plan, python, console))
    summary = Summary(found)
    console.print(terminal(summary))
    for goal in all_goals(summary):
        if goal.met is not None:
            console.print(
                (
                    f"{'met   ' if goal.met else 'missed'}  {goal.what}: {goal.found} (wanted: "
                    f"{goal.wanted})"
                ),
                markup=False,
            )
    console.print(verdict(all_goals(summary)))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        results.write(options.out / "speed.csv", found)
        pictures = draw_all(summary, options.out)
        (options.out / "speed.md").write_text(page(summary, pictures), encoding="utf-8")
        console.print(f"written: {options.out / 'speed.md'}")


def measured(plan: Plan, python: Path, console: Console) -> list[Measurement]:
    """All measurements of a plan; the peers are run by this interpreter."""
    rounds = 1 if plan.quick else 2
    comparison, growth = plan.comparison(), plan.growth()
    runs: list[Run] = []
    loads = [os.getloadavg()[0]]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        tempfile.TemporaryDirectory(prefix="privet-speed-") as folder,
        Progress(*columns, console=console) as progress,
    ):
        store = Store(Path(folder))
        bar = progress.add_task(
            "tables",
            total=rounds * (len(comparison) + 1)
            + len(plan.learners())
            + len(growth)
            + len(PROGRAMS),
        )
        make_tables(plan, store)

        def measure(tasks: Sequence[Task], times: int, seconds: float) -> None:
            for together in processes(tasks, plan):
                progress.update(bar, description=described(together[0]))
                for found in run(together, plan, store, python, times, seconds):
                    runs.append(found)
                    loads.append(os.getloadavg()[0])
                    progress.update(bar, advance=1, description=described(found.task))

        for _ in range(rounds):
            runs.append(
                Run(
                    Task("limit", f"numpy.sum over {PROBE >> 20} MiB"),
                    tuple(bandwidth_seconds(5 if plan.quick else 20)),
                    PROBE,
                )
            )
            progress.advance(bar)
            measure(comparison, *((3, 0.5) if plan.quick else (5, 6.0)))
        measure(plan.learners(), *((3, 0.5) if plan.quick else (3, 6.0)))
        measure(growth, *((3, 0.5) if plan.quick else (3, 6.0)))
        for name in PROGRAMS:
            progress.update(bar, description=name)
            runs.append(started(name, 1 if plan.quick else 5))
            progress.advance(bar)
    for failed in (found for found in runs if not found.seconds):
        console.print(f"{described(failed.task)}: {failed.note}", markup=False)
    load = Measurement(learners.LOAD, "Load average", note=f"{min(loads):.1f} to {max(loads):.1f}")
    return [*machine(loads), load, *results.pooled(runs)]


def measure_learners(plan: Plan, python: Path, console: Console) -> list[Measurement]:
    """Whole learners beside each other."""
    runs: list[Run] = []
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory(prefix="privet-speed-") as folder:
        store = Store(Path(folder))
        store.make(max(plan.sizes), ATTRIBUTES)
        for together in processes(plan.learners(), plan):
            for found in run(together, plan, store, python, 3, 6.0):
                console.print(
                    f"{described(found.task)}, {found.task.rows:,} rows: "
                    f"{found.note or min(found.seconds)}",
                    markup=False,
                )
                runs.append(found)
                loads.append(os.getloadavg()[0])
    load = f"{min(loads):.1f} to {max(loads):.1f}"
    return [Measurement(learners.LOAD, "Load average", note=load), *results.pooled(runs)]


def processes(tasks: Sequence[Task], plan: Plan) -> list[list[Task]]:
    """The tasks of each process: those of one contestant in a section; but to be quick, all that
    share an environment.
    """
    groups: dict[object, list[Task]] = {}
    for task in tasks:
        alone = (task.section, task.contestant, task.shape)
        groups.setdefault(CONTESTANTS[task.contestant].peers if plan.quick else alone, []).append(
            task
        )
    return list(groups.values())


def run(
    tasks: Sequence[Task], plan: Plan, store: Store, python: Path, times: int, seconds: float
) -> Iterator[Run]:
    """These tasks in a process of their own, in the environment that they need."""
    for kind, rows, attributes in {file for task in tasks for file in plan.files(task)}:
        getattr(store, kind)(rows, attributes)
    interpreter = python if CONTESTANTS[tasks[0].contestant].peers else sys.executable
    asked = json.dumps([asdict(task) for task in tasks])
    command = [
        interpreter,
        "-m",
        "experiments.bench.speed.one",
        asked,
        store.folder,
        str(times),
        str(seconds),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        for task in tasks:
            line = process.stdout.readline()
            answer = json.loads(line) if line else {"note": "failed: the process ended"}
            seconds = tuple(answer.get("seconds", ()))
            said = answer.get("bytes"), answer.get("note", ""), answer.get("cpu")
            yield Run(task, seconds, *said)


def make_tables(plan: Plan, store: Store) -> None:
    """A long table and a wide one; what is smaller is the beginning of one of them."""
    store.make(max(plan.sizes), ATTRIBUTES)
    store.make(plan.wide_rows, max(plan.widths))


def machine(loads: Sequence[float]) -> list[Measurement]:
    """Facts that times depend on, without saying whose machine it is."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    facts = {
        "Machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "Software": f"Python {platform.python_version()}, {versions}",
        "Load average": f"{min(loads):.1f} to {max(loads):.1f} during the run, this program included",  # noqa: E501
    }
    return [Measurement("machine", name, note=fact) for name, fact in facts.items()]


def described(task: Task) -> str:
    sizes = {
        "rows": f"{task.rows:,} rows",
        "attributes": f"{task.attributes} attributes",
        "trees": f"{task.trees} trees",
    }
    return f"{task.section}: {label(task.contestant, task.shape)}" + (
        f", {sizes[task.section]}" if task.section in sizes else ""
    )


def ready(cache: Path) -> bool:
    """Whether the peers' environment is there already."""
    return (cache / "peers-env" / ".ready").exists()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "--quick",
        action="store_true",
        help="small tables, and peers only if their environment is there already",
    )
    add("--only", choices=["learners"], help="measure this section, and keep the others")
    add(
        "--rows",
        type=lambda text: int(float(text)),
        help="of the comparison; default: a million (quick: 1e5)",
    )
    add(
        "--report",
        action="store_true",
        help="measure nothing, and write the page anew from the CSV file",
    )
    add(
        "--out",
        type=Path,
        help=(
            "where page, pictures and CSV go; default: docs/results for a full run of a million "
            "rows"
        ),
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench",
    )
    options = parser.parse_args()
    options.rows = options.rows or (ROWS // 10 if options.quick else ROWS)
    if options.rows < 1000:
        parser.error("--rows must be at least 1000")
    if options.quick and (options.out or options.report):
        parser.error("--quick writes nothing")
    if options.out is None and options.rows == ROWS and not options.quick:
        options.out = Path("docs/results")
    return options


if __name__ == "__main__":
    main()
