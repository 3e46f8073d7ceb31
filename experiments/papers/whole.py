"""A whole run: which figures, which data is there, what is to be done, and what is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from experiments.papers.experiment import Experiment, Outcome, Paper, Row
from experiments.papers.files import make_folder, write_csv, write_picture, write_text
from experiments.papers.keeping import Kept
from experiments.papers.page import page
from experiments.papers.running import run_cells
from privet._progress import tell
from privet._validate import check_integer
from privet.errors import DatasetError, ParameterError
from privet.report.plots.style import need_matplotlib

REPORT = "report.html"


def reproduce(
    papers: Sequence[Paper],
    output: Path,
    *,
    quick: bool = False,
    figures: Sequence[str] = (),
    jobs: int | None = None,
) -> list[Outcome]:
    """Run the experiments of these papers, and write numbers, pictures and one report to a folder.

    What the folder has already is not done again. Data that is not present leaves its figures out,
    and the report says so.

    Args:
        papers: in the order of the report.
        output: the folder.
        quick: few repeats, for a first look.
        figures: only these; by default all.
        jobs: processes, by default as many as there are cores.
    """
    chosen = choose(papers, figures)
    if jobs is None:
        jobs = os.cpu_count() or 1
    check_integer("jobs", jobs, 1)
    need_matplotlib()
    make_folder(output)
    # An experiment may name a cell twice, where two of its series have it; its lines count once.
    cells = {one: list({cell.key: cell for cell in one.cells(quick)}.values()) for _, one in chosen}
    needed = {name for some in cells.values() for cell in some for name in cell.data}
    absent = absent_sets(needed | {name for paper, _ in chosen for name in paper.data})
    done = {
        one: [cell for cell in some if not absent.keys() & {*cell.data, *one.needs}]
        for one, some in cells.items()
    }
    found = run_cells([cell for some in done.values() for cell in some], Kept(output), jobs)
    alone = {
        paper: _alone(paper, output, quick, absent)
        for paper in dict.fromkeys(paper for paper, one in chosen if not cells[one])
    }
    outcomes = []
    for paper, experiment in chosen:
        rows = [row for cell in done[experiment] for row in found[cell.key]]
        rows = rows if cells[experiment] else alone[paper]
        names = dict.fromkeys(
            name for cell in cells[experiment] for name in cell.data
        ) or dict.fromkeys(paper.data)
        outcomes.append(
            Outcome(
                paper, experiment, rows, tuple(absent[name] for name in names if name in absent)
            )
        )
    return write_up(outcomes, output, quick=quick)


def write_up(outcomes: Sequence[Outcome], output: Path, *, quick: bool) -> list[Outcome]:
    """Compare, draw, and write numbers, pictures and the report."""
    written = []
    for number, one in enumerate(outcomes):
        tell(f"writing {one.stem}", number / len(outcomes))
        picture, compared = "", one.comparisons
        if one.rows:
            write_csv(output / f"{one.stem}.csv", one.rows)
            compared = one.experiment.compare(one.rows)
            draw = one.experiment.draw
            picture = (
                "" if draw is None else write_picture(output / f"{one.stem}.svg", draw(one.rows))
            )
        written.append(replace(one, comparisons=compared, picture=picture))
    write_text(output / REPORT, page(written, quick=quick))
    return written


def choose(papers: Sequence[Paper], figures: Sequence[str]) -> list[tuple[Paper, Experiment]]:
    """The figures of these numbers, of all papers; all where none is named."""
    everything = [(paper, one) for paper in papers for one in paper.experiments]
    wanted = [_number(figure) for figure in figures]
    there = {_number(one.number) for _, one in everything}
    if unknown := [
        figure for figure, number in zip(figures, wanted, strict=True) if number not in there
    ]:
        allowed = "; ".join(
            f"of {paper.name}: {', '.join(one.number for one in paper.experiments)}"
            for paper in papers
        )
        raise ParameterError(
            f"figure must be one of those that there are ({allowed}); got {unknown[0]!r}"
        )
    return [
        (paper, one) for paper, one in everything if not wanted or _number(one.number) in wanted
    ]


def absent_sets(names: Iterable[str]) -> dict[str, str]:
    """The data sets that are not present and could not be fetched, each with how to get it."""
    from privet.datasets import load

    absent = {}
    for name in sorted(names):
        tell(f"looking for {name}", None)
        try:
            load(name)
        except DatasetError as error:
            absent[name] = f"Data not present: {error}."
    return absent


def _number(figure: str) -> str:
    """``Figure 6``, ``fig-6`` and ``6`` are the same, and so are ``table1`` and ``Table 1``."""
    text = "".join(char for char in figure.lower() if char.isalnum())
    text = text.removeprefix("figure").removeprefix("fig")
    return f"table {text.removeprefix('table')}" if text.startswith("table") else text


def _alone(paper: Paper, output: Path, quick: bool, absent: Collection[str]) -> list[Row]:
    if paper.alone is None or (paper.data and set(paper.data) <= set(absent)):
        return []
    return paper.alone(output / paper.name, quick, absent)
