"""Whole learners beside each other: what people would use, on the same rows, over their number.

The default learner beside DP-EBM and diffprivlib, which are private, and scikit-learn's histogram
gradient boosting, which is not. Fits and predictions are in one run, so that ratios hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from experiments.bench.speed.contestants import BINARY, CONTESTANTS, MULTIWAY, label
from experiments.bench.speed.results import Measurement, Task
from experiments.bench.speed.rows import ATTRIBUTES
from experiments.bench.speed.summary import Goal, Summary, ratio, slope

FITS, PREDICTIONS, LOAD = "learners", "learners predict", "learners load"
OURS, DP_EBM, HIST = ("gibbs", MULTIWAY), ("dp-ebm", BINARY), ("hist", BINARY)
FITTED = (OURS, DP_EBM, ("diffprivlib", BINARY), HIST)
PREDICTED = {
    ("predict-gibbs", MULTIWAY): OURS,
    ("predict-dp-ebm", BINARY): DP_EBM,
    ("predict-diffprivlib", BINARY): ("diffprivlib", BINARY),
    ("predict-hist", BINARY): HIST,
}
#: These are not run on more rows than the comparison has.
SMALL_ONLY = {"dp-ebm", "diffprivlib", "hist"}
TREES = 10  # of diffprivlib; the others have a rule or a default of their own
MILLION, TEN_MILLION = 1_000_000, 10_000_000

PAGE = """
## The default learner and its peers

What people would use, as it comes, on the same rows: {attributes} attributes, two classes,
epsilon 1 (DP-EBM: delta 1e-6). Seconds of a whole fit, best of a few; a number in brackets is how
many times as long as our default learner it takes. DP-EBM and diffprivlib are private, histogram
gradient boosting is not. Load average during this run: {load}.

{fits}

CPU seconds and memory are those of a fit of {rows:,} rows. Memory is the peak above the table
itself; CPU seconds tell more than seconds where other programs take the cores. Predictions are
class probabilities of {rows:,} rows, by a model of 100,000.

{rest}

`python -m experiments.bench.speed --only learners` measures this section alone, one after the other
on all cores{note}.
"""


def tasks(rows: int, sizes: Iterable[int], *, peers: bool) -> list[Task]:
    """What is measured: fits over rows, the largest first, and predictions of so many rows."""
    fits = [
        Task(FITS, name, shape, size, ATTRIBUTES, TREES)
        for name, shape in FITTED
        for size in sorted(sizes, reverse=True)
        if (peers or not CONTESTANTS[name].peers) and (size <= rows or name not in SMALL_ONLY)
    ]
    return fits + [
        Task(PREDICTIONS, name, shape, rows, ATTRIBUTES, TREES)
        for name, shape in PREDICTED
        if peers or not CONTESTANTS[name].peers
    ]


def find(summary: Summary, who: tuple[str, str], rows: int) -> Measurement | None:
    """A fit of so many rows."""
    return summary.find(FITS, *who, rows=rows)


def steepness(summary: Summary, who: tuple[str, str]) -> float:
    """How the time of a fit grows with rows."""
    return slope(
        [
            (m.rows, m.best)
            for m in summary.of(FITS)
            if (m.contestant, m.shape) == who and m.best is not None
        ]
    )


def goals(summary: Summary) -> Iterable[Goal]:
    """What the default learner should reach."""
    mine, large = find(summary, OURS, MILLION), find(summary, OURS, TEN_MILLION)
    for m, rows, most in ((mine, MILLION, 2.0), (large, TEN_MILLION, 15.0)):
        seconds = m.best if m and m.best else math.nan
        yield _goal(
            f"a fit of the default learner on {rows:,} rows of {ATTRIBUTES} attributes",
            f"under {most:g} s",
            f"{seconds:.2f} s",
            -seconds,
            -most,
        )
    faster = ratio(find(summary, DP_EBM, MILLION), mine)
    yield _goal(
        f"the default learner beside DP-EBM on {MILLION:,} rows",
        "5 times faster",
        f"{faster:.3g} times",
        faster,
        5,
    )
    slower = [
        ratio(m, find(summary, HIST, m.rows))
        for m in summary.of(FITS)
        if (m.contestant, m.shape) == OURS
    ]
    worst = max((one for one in slower if not math.isnan(one)), default=math.nan)
    yield _goal(
        "the default learner beside histogram gradient boosting, at any size",
        "at most 3 times as long",
        f"{worst:.3g} times",
        -worst,
        -3,
    )
    found = steepness(summary, OURS)
    yield _goal(
        "growth of the default learner over rows", "slope of at most 1", f"{found:.2f}", -found, -1
    )


def section(
    summary: Summary,
    markdown: Callable[[Sequence[str], Iterable[Sequence[str]]], str],
    seconds: Callable[[float | None], str],
    megabytes: Callable[[Measurement], str],
) -> str:
    """The section of the page; the functions are those of the page for tables and numbers."""
    fits = summary.of(FITS)
    sizes = sorted({m.rows for m in fits})
    rows = max((m.rows for m in summary.of(PREDICTIONS)), default=sizes[-1])
    lines, rest = [], []
    for who in dict.fromkeys((m.contestant, m.shape) for m in fits):
        cells = []
        for size in sizes:
            m = next((m for m in fits if (m.contestant, m.shape, m.rows) == (*who, size)), None)
            times = ratio(m, find(summary, OURS, size))
            beside = "" if who == OURS or math.isnan(times) else f" ({times:.2g})"
            cells.append(
                "" if m is None else m.note if m.best is None else seconds(m.best) + beside
            )
        steep = steepness(summary, who)
        lines.append([label(who[0]), *cells, "" if math.isnan(steep) else f"{steep:.2f}"])
        m = find(summary, who, rows)
        name = next(name for name, fitted in PREDICTED.items() if fitted == who)
        predicted = summary.find(PREDICTIONS, *name, rows=rows)
        rest.append(
            [
                label(who[0]),
                seconds(m.cpu) if m else "",
                "" if m is None else megabytes(m),
                seconds(predicted.best) if predicted else "",
            ]
        )
    told = next((m.note for m in summary.of(LOAD)), "")
    large = max(sizes)
    note = "" if large <= rows else f"; only ours is run on {large:,} rows"
    return PAGE.format(
        attributes=ATTRIBUTES,
        load=told,
        rows=rows,
        note=note,
        fits=markdown(("seconds of a fit", *(f"{size:,} rows" for size in sizes), "slope"), lines),
        rest=markdown(("who", "CPU seconds", "memory (MB)", "predictions (s)"), rest),
    )


def _goal(what: str, wanted: str, found: str, value: float, least: float) -> Goal:
    """Met from ``least`` on; not a number was not measured."""
    measured = not math.isnan(value)
    return Goal(what, wanted, found if measured else "", value >= least if measured else None)
