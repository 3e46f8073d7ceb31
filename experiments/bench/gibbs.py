"""How fast Gibbs trees are: fits beside their goals, and seconds and memory over rows, up to ten
million.

python -m experiments.bench.gibbs [--quick] [--out docs/results]        (fetched data sets come from PRIVET_DATA or the cache)
"""  # noqa: E501

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console

from privet import datasets
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.space import TreeSpace, coarse_splits
from privet.learners import GibbsTreeClassifier, PrivetClassifier
from privet.mechanisms.gibbs.plan import plan_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0)
#: The domain of adult: positive numbers are bins, negative ones categories.
ADULT = (16, -9, 16, -16, 16, -7, -15, -6, -5, -2, 16, 16, 20, -42)
#: 45 attributes: bins only, and a mixture.
BINS, MIXED = (16,) * 45, (16, -2, -5, 8, -12, -3, 16, -7, 4) * 5
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
#: From here on fixed costs should not show.
LINEAR_FROM = 100_000
CURVES = {
    ("depth 2", "memory"): "one draw, depth 2",
    ("depth 3", "memory"): "one draw, depth 3",
    ("default", "memory"): "the default learner",
    ("depth 2", "parquet"): "one draw, depth 2, from a Parquet file",
}
Goal = tuple[str, float, list[float]]


# -- tables ------------------------------------------------------------------------------------------------------------  # noqa: E501


def schema_of(sizes: tuple[int, ...], n_classes: int, rows: int) -> Schema:
    attributes = {
        f"a{i}": Numeric(0, s, bins=s) if s > 0 else Categorical([str(v) for v in range(-s)])
        for i, s in enumerate(sizes)
    }
    return Schema(attributes, "y", [str(c) for c in range(n_classes)], n_rows=rows)


def synthetic(sizes: tuple[int, ...], n_classes: int, rows: int, seed: int = 0) -> pd.DataFrame:
    """Skewed codes as small integers, and a class that three attributes and a quarter of chance
    decide.
    """
    rng = np.random.default_rng(seed)
    codes = np.empty((len(sizes) + 1, rows), dtype=np.uint8)
    for low in range(0, rows, 1 << 18):
        part = codes[:, low : low + (1 << 18)]
        for line, size in zip(part, sizes, strict=False):
            line[:] = rng.random(len(line), dtype=np.float32) ** 2 * abs(size)
        decided = (part[0] // 3 + part[3] + (part[5] > 1)) % n_classes
        part[-1] = np.where(
            rng.random(len(decided), dtype=np.float32) < 0.25,
            rng.integers(0, n_classes, len(decided)),
            decided,
        )
    return pd.DataFrame(
        {**{f"a{i}": codes[i] for i in range(len(sizes))}, "y": codes[-1]}, copy=False
    )


# -- fits beside their goals -------------------------------------------------------------------------------------------  # noqa: E501


def timed(run: Callable[[], object], times: int = 3) -> list[float]:
    """Seconds of a few runs, after one that compiles."""
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def fits(*, quick: bool) -> Iterator[Goal]:
    adult = datasets.load("adult")
    declared = adult.schema.declare(n_rows=len(adult.X))
    yield (
        "default, adult, epsilon 1",
        2.0,
        timed(lambda: PrivetClassifier(1, declared).fit(adult.X, adult.y)),
    )
    deep = GibbsTreeClassifier(1, declared, max_depth=3)
    yield "one tree of depth 3, adult, epsilon 1", 3.0, timed(lambda: deep.fit(adult.X, adult.y))
    for name in ("nursery", "car", "tic_tac_toe", "mushroom", "votes"):
        data = datasets.load(name)
        schema = data.schema.declare(n_rows=len(data.X))
        for epsilon in EPSILONS:
            learner = PrivetClassifier(epsilon, schema)
            yield (
                f"default, {name}, epsilon {epsilon:g}",
                1.0,
                timed(lambda m=learner, d=data: m.fit(d.X, d.y)),
            )
    rows = 7_000 if quick else 70_000
    for what, sizes in (("16 bins each", BINS), ("2 to 16 values", MIXED)):
        for n_classes in (2, 7):
            schema, table = schema_of(sizes, n_classes, rows), synthetic(sizes, n_classes, rows)
            learner = PrivetClassifier(1, schema)
            name = (
                f"default, synthetic {rows:,} rows x 45 attributes ({what}), {n_classes} classes, "
                "epsilon 1"
            )
            yield name, 10.0, timed(lambda m=learner, t=table: m.fit(t))


# -- seconds and memory over rows --------------------------------------------------------------------------------------  # noqa: E501


def space_of(what: str, schema: Schema) -> TreeSpace:
    return (
        TreeSpace(schema, 2) if what == "depth 2" else TreeSpace(schema, 3, coarse_splits(schema))
    )


def measure(what: str, source: str, rows: int, times: int) -> dict[str, float]:
    """In a process of its own: the shortest time, and how far memory rises above what is there
    before (table or codes).
    """
    work(what, source, 20_000, Path(tempfile.gettempdir()))[0]()  # compiles
    with tempfile.TemporaryDirectory() as folder:
        run, prepare = work(what, source, rows, Path(folder))
        prepare()
        gc.collect()
        before = forget_peak()
        seconds = []
        for _ in range(times):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
        return {"seconds": min(seconds), "bytes": max(resident("VmHWM") - before, 0)}


def work(
    what: str, source: str, rows: int, folder: Path
) -> tuple[Callable[[], object], Callable[[], object]]:
    """What is timed, and what comes before it."""
    schema, table = schema_of(ADULT, 2, rows), synthetic(ADULT, 2, rows)
    if what == "default":
        return lambda: PrivetClassifier(1, schema).fit(table), lambda: None
    path = folder / f"gibbs-{rows}.parquet"
    if source == "parquet":
        table.to_parquet(path)
        del table
    curator = Curator(path if source == "parquet" else table, schema, Budget(100))
    space = space_of(what, schema)
    prepare = (lambda: None) if source == "parquet" else lambda: curator.size(1)  # encodes the rows
    return lambda: curator.draw_tree(space, 1), prepare


def forget_peak() -> int:
    """The bytes that are resident now; on Linux what is free is given back, and the peak starts
    anew from here.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        return resident("VmRSS")
    except (OSError, AttributeError):
        return resident("VmHWM")


def resident(field: str) -> int:
    """Bytes now (VmRSS) or at the peak (VmHWM). Where there is no /proc, the peak, which the parent
    process may have set.
    """
    try:
        return (
            int(Path("/proc/self/status").read_text().partition(f"{field}:")[2].split()[0]) * 1024
        )
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if platform.system() == "Darwin" else 1024
        )


def curve(console: Console, sizes: tuple[int, ...]) -> pd.DataFrame:
    found = []
    for what, source in CURVES:
        for rows in sizes:
            times = 1 if rows > 3_000_000 or (what == "default" and rows > 300_000) else 3
            task = json.dumps([what, source, rows, times])
            command = [sys.executable, "-m", "experiments.bench.gibbs", "--one", task]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                console.print(
                    f"{what} {source} {rows:,}: failed, {done.stderr.strip().splitlines()[-1:]}"
                )
                continue
            answer = json.loads(done.stdout)
            found.append({"what": what, "source": source, "rows": rows, **answer})
            console.print(
                f"{what} {source} {rows:,}: {answer['seconds']:.3f} s, "
                f"{answer['bytes'] / 2**20:.0f} MiB"
            )
    return pd.DataFrame(found)


def slope(table: pd.DataFrame) -> float:
    """Of the straight line through log seconds over log rows."""
    here = table[table.rows >= LINEAR_FROM]
    return (
        float(np.polyfit(np.log(here.rows), np.log(here.seconds), 1)[0])
        if len(here) > 1
        else float("nan")
    )


def line(table: pd.DataFrame) -> tuple[float, float]:
    """Seconds whatever the rows, and for each row: the line with the least relative errors."""
    x = np.stack([np.ones(len(table)), table.rows], axis=1)
    fixed, each = np.linalg.lstsq(
        x / table.seconds.to_numpy()[:, None], np.ones(len(table)), rcond=None
    )[0]
    return float(fixed), float(each)


# -- beside a limit ----------------------------------------------------------------------------------------------------  # noqa: E501


def limits(rows: int) -> list[tuple[str, float, float]]:
    """Draws beside NumPy counting as many tables as they need, one by one, and beside gradient
    boosting on the same codes.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    schema, table = schema_of(ADULT, 2, rows), synthetic(ADULT, 2, rows)
    codes, classes = table.iloc[:, :-1].to_numpy(), table.y.to_numpy()
    first, second, width = table.a0.to_numpy(), table.a3.to_numpy(), abs(ADULT[3])
    one = min(
        timed(
            lambda: np.bincount(
                (first.astype(np.int64) * width + second) * 2 + classes, minlength=16 * width * 2
            )
        )
    )
    boosting = min(
        timed(lambda: HistGradientBoostingClassifier(early_stopping=False).fit(codes, classes), 2)
    )
    found = []
    curator = Curator(table, schema, Budget(100))
    for what in ("depth 2", "depth 3"):
        space = space_of(what, schema)
        n_tables = len(plan_of(space).sets)
        seconds = min(timed(lambda s=space: curator.draw_tree(s, 1)))
        found.append(
            (
                f"one draw, {what} ({n_tables} tables), beside NumPy counting {n_tables} pairs",
                seconds,
                one * n_tables,
            )
        )
    seconds = min(timed(lambda: PrivetClassifier(1, schema).fit(table), 2))
    return [
        *found,
        (
            "the default learner, beside scikit-learn's histogram gradient boosting (100 rounds)",
            seconds,
            boosting,
        ),
    ]


# -- the page ----------------------------------------------------------------------------------------------------------  # noqa: E501


def picture(table: pd.DataFrame) -> Figure:
    from matplotlib.figure import Figure

    from privet.report.plots.style import FILLS, INK

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = ("-", "--", ":", "-.")
    for number, ((what, source), name) in enumerate(CURVES.items()):
        here = table[(table.what == what) & (table.source == source)]
        look: dict[str, Any] = {
            "linestyle": styles[number],
            "marker": "osD^"[number],
            "markersize": 4.5,
            "markeredgecolor": INK,
        }
        look |= {"color": INK, "markerfacecolor": FILLS[number][0], "linewidth": 1.2}
        left.plot(here.rows, here.seconds, label=name, **look)
        right.plot(here.rows, here.bytes / 2**20, **look)
    ends = np.array([LINEAR_FROM, table.rows.max()])
    left.plot(
        ends, ends * 1e-8, color="#9a9a9a", linewidth=0.9, label="ten nanoseconds for each row"
    )
    for axes, name in ((left, "seconds"), (right, "MiB above what is there before")):
        axes.set_xscale("log")
        axes.set_xlabel("rows")
        axes.set_title(name, loc="left", fontweight="bold")
        axes.grid(color="#dcdcdc", linewidth=0.6)
        axes.set_axisbelow(True)
    left.set_yscale("log")
    right.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, handlelength=3.2)
    return figure


PAGE = """# How fast Gibbs trees are

Made by `python -m experiments.bench.gibbs` on {cores} cores ({machine}), after one fit that compiles.
The load average was {least:.1f} to {most:.1f}
during the run, this program included (some of it runs on both cores).

## Fits

{verdict}

{fits}

## Over rows

{attributes} attributes with the sizes of adult, synthetic and skewed, two classes, epsilon 1. A draw is timed on rows that are encoded
already; from a Parquet file with reading and encoding; the default learner starts from a data frame. Each number comes from a process
of its own, and memory is its peak above what is there before.

![seconds and memory over rows](gibbs-speed.svg)

{seconds}

{memory}

The slope is that of log seconds over log rows: 1 is linear, and less where a part of the cost does not depend on the rows (the states
of the space). The last columns are the line, fixed + rows x seconds per row, with the least relative errors. Numbers are the best of three
runs, but one run for the default learner from a million rows on and for ten million rows.

**The bound on memory.** Rows are looked at 2^18 at a time. With k attributes and T classes, a row of the block takes at most 2k bytes
for codes, 16T for scores and 16 for its weight: 2^18 (2k + 16T + 16) bytes in all, 19 MiB for adult, whatever the number of rows. Within
a fit, 8T bytes of scores are kept for each row, at most 256 MiB. Beside it stand the tables of the blocks of attributes that rows are
counted in, at most 64 MiB, and the tables and states of the space, which `TreeSpace.size` bounds
(1 GiB, or it is refused). What grows with the rows is the encoded table itself, k + 1 bytes for each row if no attribute has more than
256 values, and more while it is encoded; from a file, what the database needs to group equal rows (it spills to disk).

## Beside a limit

{rows:,} rows, the same run. Below 1 is faster than the other. NumPy counts rows of weight 1 on one core; a draw weighs rows on all cores,
solves and draws.

{beside}
"""  # noqa: E501


def page(
    goals: list[Goal],
    table: pd.DataFrame,
    beside: list[tuple[str, float, float]],
    beside_rows: int,
    loads: list[float],
) -> str:
    missed = [name for name, goal, seconds in goals if min(seconds) > goal]
    fitted = ["| fit | goal (s) | best of 3 (s) | median (s) | |", "|---|---:|---:|---:|---|"]
    for name, goal, seconds in goals:
        mark = (
            "**missed**"
            if min(seconds) > goal
            else "median misses"
            if statistics.median(seconds) > goal
            else ""
        )
        fitted.append(
            f"| {name} | {goal:g} | {min(seconds):.2f} | {statistics.median(seconds):.2f} | {mark} "
            "|"
        )
    shown = sorted(set(table.rows))
    counts, rule = " | ".join(f"{n:,}" for n in shown), "|---|" + "---:|" * len(shown)
    times = [
        f"| seconds | {counts} | slope from {LINEAR_FROM:,} | fixed (s) | ns per row |",
        rule + "---:|" * 3,
    ]
    memory = [f"| MiB | {counts} |", rule]
    for (what, source), name in CURVES.items():
        here = table[(table.what == what) & (table.source == source)].set_index("rows")
        fixed, each = line(here.reset_index())
        fitted_line = f"{slope(here.reset_index()):.2f} | {fixed:.2g} | {each * 1e9:.3g}"
        times.append(
            f"| {name} | "
            + " | ".join(cell(here.seconds, n, ".3g") for n in shown)
            + f" | {fitted_line} |"
        )
        memory.append(
            f"| {name} | " + " | ".join(cell(here.bytes / 2**20, n, ".0f") for n in shown) + " |"
        )
    compared = ["| | seconds | the other (s) | ratio |", "|---|---:|---:|---:|"]
    compared += [
        f"| {name} | {ours:.3f} | {other:.3f} | {ours / other:.2f} |"
        for name, ours, other in beside
    ]
    return PAGE.format(
        cores=os.cpu_count(),
        machine=platform.machine(),
        least=min(loads),
        most=max(loads),
        verdict=f"{len(missed)} of {len(goals)} miss their goal."
        if missed
        else f"All {len(goals)} goals are met.",
        fits="\n".join(fitted),
        attributes=len(ADULT),
        seconds="\n".join(times),
        memory="\n".join(memory),
        rows=beside_rows,
        beside="\n".join(compared),
    )


def cell(numbers: pd.Series, rows: int, form: str) -> str:
    return format(numbers[rows], form) if rows in numbers.index else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller synthetic tables")
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*json.loads(options.one))))
        return
    console = Console()
    loads = [os.getloadavg()[0]]
    goals = []
    for name, goal, seconds in fits(quick=options.quick):
        goals.append((name, goal, seconds))
        console.print(f"{name}: {min(seconds):.2f} s (goal {goal:g})")
        loads.append(os.getloadavg()[0])
    beside_rows = 100_000 if options.quick else 1_000_000
    beside = limits(beside_rows)
    loads.append(os.getloadavg()[0])
    table = curve(console, tuple(n for n in ROWS if n <= 300_000) if options.quick else ROWS)
    loads.append(os.getloadavg()[0])
    options.out.mkdir(parents=True, exist_ok=True)
    text = page(goals, table, beside, beside_rows, loads)
    (options.out / "gibbs-speed.md").write_text(text)
    console.print(text)
    from privet.report.plots import save_figure

    save_figure(picture(table), options.out / "gibbs-speed.svg")


if __name__ == "__main__":
    main()
