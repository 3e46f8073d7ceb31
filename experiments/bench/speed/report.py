"""The page, from measurements only: facts, tables, goals. The same measurements give the same
page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich.table import Table

from experiments.bench.speed import learners
from experiments.bench.speed.contestants import BINARY, label
from experiments.bench.speed.memory import PROBE
from experiments.bench.speed.results import OUT_OF_CORE, Measurement
from experiments.bench.speed.summary import NO_TREES, Goal, Summary, fixed, ratio, visits

HEAD = """# How fast Privet is

Made by `python -m experiments.bench.speed`; every number is in [speed.csv](speed.csv).

{machine}

## Goals

{verdict}

{goals}
"""

FIT = """
## Fits, ours and others, on the same rows

{rows:,} rows, {attributes} attributes (half of them with 4 values, half with 8), two classes that three attributes and a quarter of chance
decide; {trees} trees of height 4.

![seconds of a fit]({picture})

{table}

Ratios are of the best times: "x ours" is how many times as long somebody takes as our fit from a data frame with trees of the same
shape, "x limit" how many times as long as reading the codes. **The limit** is the time to read one byte for each attribute and for the
class of every row, once, at the bandwidth of this run: {bandwidth:.1f} GB/s, by `numpy.sum` over {probe} MiB as 64-bit numbers in one
thread, the best of {probes}.

Who they are:

- **Privet** is timed through its public interface at epsilon 1: a curator on the table, and a fit with charge, encoding, counts and
  noise. A data frame holds small integers; one line has texts instead. On categories a random tree is *multiway*, with a child for each
  value (some 1,500 leaves), on numbers *binary* (16 leaves), which is the shape that diffprivlib and scikit-learn have. *Counting only*
  is the exact count of such trees on rows that are encoded already: no charge, no noise. The default learner and the greedy tree (one
  tree, depth 4) are for orientation.
- **diffprivlib** 0.6.6 (with scikit-learn 1.6, in an environment of its own): `RandomForestClassifier` at epsilon 1, bounds and classes
  given, `n_jobs=2`. It shows each row to one tree only, so for its time per row and tree each row counts once; ours counts it in every
  tree.
- **scikit-learn**: forests that are not private and choose their splits from the rows, `n_jobs=2`. They and diffprivlib get a matrix of
  float32, with which they compute, so nothing is converted on the clock.
- **DuckDB alone**: exact counts of trees drawn beforehand, in SQL as one would write it by hand: a SELECT with nested CASE for each tree,
  and UNION ALL. No privacy, and no tree is made of it.
"""  # noqa: E501

GROWTH = """
## Growth

Slopes are those of log seconds over log size, by least squares over the larger half of the sizes: 1 is linear, and less where a
part of the cost is fixed. To save time, scikit-learn and diffprivlib are not run on more rows than the comparison above has, and
scikit-learn not with more than 30 trees.
"""  # noqa: E501

PREDICT = """
## Predictions

{rows:,} rows through {trees} trees of height 4: probabilities of both classes. Ours from a data frame and from an array with encoding;
*encoded rows* are codes already. scikit-learn's forest has the same shape, `n_jobs=2`, and gets float32.

![seconds of a prediction]({picture})

{table}
"""  # noqa: E501

IMPORT = """
## Starting

Wall time of whole processes, the interpreter included, after one that fills the caches. `import privet` imports little: names are
loaded when they are first used. What that costs then is in the lines below it.

{table}
"""  # noqa: E501

OUT = """
## Out of core

`privet fit` on a Parquet file that is never loaded. `python -m experiments.bench.speed.out_of_core` writes it,
block by block; half of its columns are texts, half numbers.

{table}
"""  # noqa: E501

HOW = """
## How it was measured

Everyone runs in a process of their own, which prepares the table, runs once on at most 100,000 rows to load and compile, and is timed
from then on. Fits and predictions are measured in two such processes, in turn with all others, with five runs in each. For growth one
process measures all sizes, the largest first, with three runs each. There are fewer runs where they take more than six seconds together,
and more where they take less than half a second. Files are in the cache of the operating system. Memory is the peak of the process above
what was there when the clock started, so above the table itself.
"""  # noqa: E501


def page(summary: Summary, pictures: Sequence[str]) -> str:
    """The whole page. Sections without measurements are left out."""
    goals = all_goals(summary)
    parts = [
        HEAD.format(machine=machine(summary), verdict=verdict(goals), goals=goals_table(goals))
    ]
    if fits := summary.of("fit"):
        probe = next(iter(summary.of("limit")), None)
        parts.append(
            FIT.format(
                rows=fits[0].rows,
                attributes=fits[0].attributes,
                trees=fits[0].trees,
                picture="speed-fit.svg",
                table=_markdown(FIT_COLUMNS, fit_lines(summary)),
                bandwidth=summary.bandwidth / 1e9,
                probe=PROBE >> 20,
                probes=probe.runs if probe else 0,
            )
        )
    if summary.of(learners.FITS):
        parts.append(learners.section(summary, _markdown, _seconds, _megabytes))
    sections = [section for section in ("rows", "attributes", "trees") if summary.lines(section)]
    if sections:
        parts.append(GROWTH)
        parts += [growth(summary, section, pictures) for section in sections]
    if rows := summary.of("predict"):
        table = _markdown(PREDICT_COLUMNS, predict_lines(summary))
        parts.append(
            PREDICT.format(
                rows=rows[0].rows, trees=rows[0].trees, picture="speed-predict.svg", table=table
            )
        )
    if starts := summary.of("import"):
        lines = [[m.contestant, _seconds(m.best), _seconds(m.median), str(m.runs)] for m in starts]
        parts.append(
            IMPORT.format(table=_markdown(("process", "best (s)", "median (s)", "runs"), lines))
        )
    if large := summary.of(OUT_OF_CORE):
        lines = [
            [
                m.contestant,
                f"{m.rows:,}",
                _seconds(m.best),
                _seconds(m.median),
                str(m.runs),
                _megabytes(m),
                m.note,
            ]
            for m in large
        ]
        columns = ("what", "rows", "best (s)", "median (s)", "runs", "peak memory (MB)", "")
        parts.append(OUT.format(table=_markdown(columns, lines)))
    return "".join([*parts, HOW])


def all_goals(summary: Summary) -> list[Goal]:
    """The goals of all sections."""
    return [*summary.goals(), *learners.goals(summary)]


def machine(summary: Summary) -> str:
    """What the run was made on."""
    return "\n".join(f"- {m.contestant}: {m.note}" for m in summary.of("machine"))


def verdict(goals: Sequence[Goal]) -> str:
    """How many goals are met."""
    measured = [goal for goal in goals if goal.met is not None]
    missed = sum(not goal.met for goal in measured)
    told = f"{len(measured) - missed} of {len(measured)} goals are met, {missed} missed."
    absent = len(goals) - len(measured)
    return told + (
        f" {absent} were not measured at the size that they are about." if absent else ""
    )


def goals_table(goals: Sequence[Goal]) -> str:
    return _markdown(
        ("goal", "wanted", "found", ""),
        [[goal.what, goal.wanted, goal.found, goal.verdict] for goal in goals],
    )


FIT_COLUMNS = (
    "who",
    "trees",
    "best (s)",
    "median (s)",
    "runs",
    "x ours",
    "x limit",
    "ns per row and tree",
    "memory (MB)",
)


def fit_lines(summary: Summary) -> list[list[str]]:
    """The cells of the comparison, ours first, then as they were run."""
    lines = []
    for m in summary.of("fit"):
        if m.best is None:
            lines.append([label(m.contestant), m.shape, m.note, *[""] * 6])
            continue
        each = "" if m.contestant in NO_TREES else f"{float(f'{m.best / visits(m) * 1e9:.3g}'):g}"
        times = [
            _times(ratio(m, summary.ours(m.shape))),
            _times(m.best / summary.limit(m)),
            each,
            _megabytes(m),
        ]
        lines.append(
            [
                label(m.contestant),
                m.shape,
                _seconds(m.best),
                _seconds(m.median),
                str(m.runs),
                *times,
            ]
        )
    return lines


PREDICT_COLUMNS = (
    "who",
    "trees",
    "best (s)",
    "median (s)",
    "runs",
    "million rows/s",
    "x scikit-learn",
    "memory (MB)",
)


def predict_lines(summary: Summary) -> list[list[str]]:
    """The cells of the predictions."""
    theirs = summary.find("predict", "predict-forest", BINARY)
    lines = []
    for m in summary.of("predict"):
        if m.best is None:
            lines.append([label(m.contestant), m.shape, m.note, *[""] * 5])
            continue
        rate = f"{m.rows / m.best / 1e6:.2f}"
        times = [rate, _times(ratio(m, theirs)), _megabytes(m)]
        lines.append(
            [
                label(m.contestant),
                m.shape,
                _seconds(m.best),
                _seconds(m.median),
                str(m.runs),
                *times,
            ]
        )
    return lines


def growth(summary: Summary, section: str, pictures: Sequence[str]) -> str:
    """A picture, and the best times with their slopes."""
    found = summary.of(section)
    sizes = sorted({getattr(m, section) for m in found})
    lines = []
    for contestant, shape in summary.lines(section):
        best = {
            getattr(m, section): m.best
            for m in found
            if (m.contestant, m.shape) == (contestant, shape)
        }
        steep = summary.slope(section, contestant, shape)
        cells = [_seconds(best.get(size)) for size in sizes]
        lines.append(
            [label(contestant, shape), *cells, "" if math.isnan(steep) else f"{steep:.2f}"]
        )
    picture = f"\n![seconds over {section}](speed-{section}.svg)\n" if section in pictures else ""
    table = _markdown((f"seconds over {section}", *(f"{size:,}" for size in sizes), "slope"), lines)
    return f"\n### Over {section}\n\n{fixed(found[0])}; best times.\n{picture}\n{table}\n"


def terminal(summary: Summary) -> Table:
    """The comparison, for a terminal: fits, then predictions."""
    fits = summary.of("fit")
    size = (
        f"{fits[0].rows:,} rows, {fits[0].attributes} attributes, {fits[0].trees} trees of height 4"
        if fits
        else ""
    )
    title = f"{size} (reading the codes: {summary.bandwidth / 1e9:.1f} GB/s)"
    table = Table(title=title, title_justify="left")
    table.add_column("fits")
    for column in ("best (s)", "median", "x ours", "x limit", "ns", "MB"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, shape, best, median, _runs, *rest in fit_lines(summary):
        table.add_row(f"{name}, {shape}", best, median, *rest)
    table.add_section()
    table.add_row("predictions", style="bold")
    for name, shape, best, median, _runs, _rate, _theirs, memory in predict_lines(summary):
        table.add_row(f"{name}, {shape}", best, median, "", "", "", memory)
    return table


def _markdown(columns: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; columns of numbers stand to the right."""
    lines = list(lines)
    right = [
        bool(column) and all(_is_number(line[place]) for line in lines)
        for place, column in enumerate(columns)
    ]
    rule = "|" + "|".join("---:" if number else "---" for number in right) + "|"
    return "\n".join([_line(columns), rule, *map(_line, lines)])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _is_number(cell: str) -> bool:
    return (
        not cell
        or cell.replace(",", "").replace(".", "").replace("e", "").replace("-", "").isdigit()
    )


def _seconds(seconds: float | None) -> str:
    return (
        ""
        if seconds is None
        else f"{seconds:.4f}"
        if seconds < 0.1
        else f"{seconds:.3f}"
        if seconds < 10
        else f"{seconds:.1f}"
    )


def _times(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _megabytes(m: Measurement) -> str:
    return "" if m.bytes is None else f"{m.bytes / 1e6:.0f}"
