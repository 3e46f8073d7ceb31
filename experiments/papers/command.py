"""The command ``python -m experiments.papers``: the experiments of papers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from experiments.papers.papers import MODULES
from privet.cli import run as run_app

if TYPE_CHECKING:
    from experiments.papers.experiment import Outcome

app = typer.Typer(
    help="Run the experiments of papers again, from end to end, and write a report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

_OUTPUT = typer.Option(
    Path("reproduce-out"), "--output", "-o", help="The folder for numbers, pictures and the report."
)
_QUICK = typer.Option(False, "--quick", help="Few repeats: a first look.")
_FIGURE = typer.Option(
    [],
    "--figure",
    "-f",
    help="A figure by its number, such as 6 or table1; may be repeated. By default all.",
)
_JOBS = typer.Option(
    None,
    "--jobs",
    "-j",
    help="How many processes to use; by default one for each core.",
    show_default=False,
)
_TITLES = {
    "hanisch": (
        "A noisy count procedure in a database, private trees and forests on adult (Hanisch): "
        "table 1, figures 2, 3 and 8 to 17."
    ),
    "rdt2009": (
        "Private random decision trees (Jagannathan, Pillaipakkamnatt and Wright 2009): tables 1 "
        "and 2, figures 3, 4 and 6 to 15."
    ),
    "rdt2012": (
        "Private random decision trees (Jagannathan, Pillaipakkamnatt and Wright 2012): tables 1 "
        "and 2, figures 1 to 5."
    ),
    "novakovic": (
        "Trees by the exponential mechanism (Novakovic): figures 9 to 18, and what the thesis says "
        "of information gain, folds, dimensions and linkage."
    ),
    "all": "All papers in one report.",
}


def main() -> None:
    """Run the command."""
    run_app(partial(app, prog_name="python -m experiments.papers"))


def _command(name: str) -> None:
    def run(
        output: Path = _OUTPUT,
        quick: bool = _QUICK,
        figure: list[str] = _FIGURE,
        jobs: int | None = _JOBS,
    ) -> None:  # the same options for every paper
        from experiments.papers.papers import paper_named
        from experiments.papers.whole import reproduce

        papers = [paper_named(one) for one in (MODULES if name == "all" else [name])]
        with _bar():
            outcomes = reproduce(papers, output, quick=quick, figures=figure, jobs=jobs)
        _print(outcomes, output)

    run.__doc__ = f"""{_TITLES[name]}

    A run that was ended goes on where it was when it is started again with the same folder. Data that is not present leaves its
    figures out, and the report says so.

    Example: [bold]python -m experiments.papers {name} --quick -o reproduce-out[/bold]
    """  # noqa: E501
    app.command(name)(run)


for _name in _TITLES:
    if _name in (*MODULES, "all"):
        _command(_name)


@app.command("anatomy")
def anatomy(
    output: Path = typer.Option(
        Path("anatomy-out"),
        "--output",
        "-o",
        help="The folder for numbers, pictures, a summary and a report.",
    ),
    experiment: list[int] = typer.Option(
        [], "--experiment", "-e", help="An experiment, 1 to 5; may be repeated. By default all."
    ),
    folds: int | None = typer.Option(
        None, help="How many of the ten folds to run; by default all, or 2 with --quick."
    ),
    quick: bool = typer.Option(
        False, "--quick", help="Experiments 2 and 3, and 4 on 1500 rows only: a first look."
    ),
    figure: list[str] = _FIGURE,
) -> None:
    """Decision trees on outsourced data (Mancuhan and Clifton 2014): cdbsl, cdtl and cnl over
    loopback, with real processes.

    This is anatomization, not differential privacy. A run that was ended goes on where it was when
    it is started again with the same folder.

    Example: [bold]python -m experiments.papers anatomy --experiment 2 --experiment 3 -o
    anatomy-out[/bold]
    """
    from experiments.papers.anatomy.experiments import chosen
    from experiments.papers.anatomy.folds import FOLDS
    from experiments.papers.anatomy.paper import PAPER, QUICK_FOLDS
    from experiments.papers.anatomy.run import SUMMARY, run
    from experiments.papers.experiment import Outcome
    from experiments.papers.whole import choose, write_up
    from privet._progress import tell

    # The story of Love Canal has cells of its own, and is in the report of all papers.
    experiments = chosen(experiment, quick=quick)
    figures = [(paper, one) for paper, one in choose([PAPER], figure) if not one.cells(quick)]
    count = folds if folds is not None else QUICK_FOLDS if quick else FOLDS
    with _bar():
        lines = run(
            experiments,
            count,
            output,
            lambda done, total, what: tell(what, done / total if total else None),
        )
        write_up([Outcome(PAPER, one, lines) for _, one in figures], output, quick=quick)
    typer.echo((output / SUMMARY).read_text(encoding="utf-8"))
    typer.echo(f"numbers, pictures and this summary are in {output}")


@contextmanager
def _bar() -> Iterator[None]:
    """A bar with the time left, on standard error where somebody looks."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from privet._progress import watched

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
    )
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("preparing", total=None)

        def told(what: str, share: float | None) -> None:
            bar.update(
                task, completed=share or 0.0, total=None if share is None else 1.0, description=what
            )

        try:
            with watched(told):
                yield
        except KeyboardInterrupt:
            typer.echo(
                (
                    "\nprivet: interrupted; what was finished is kept, and the same command goes "
                    "on from there"
                ),
                err=True,
            )
            raise


def _print(outcomes: Sequence[Outcome], output: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from experiments.papers.whole import REPORT

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("paper", "figure", "what", "here"):
        view.add_column(column, no_wrap=column in ("paper", "figure"))
    for one in outcomes:
        view.add_row(one.paper.name, one.experiment.heading, one.experiment.title, one.verdict)
    Console(highlight=False).print(view)
    for message in dict.fromkeys(message for one in outcomes for message in one.absent):
        typer.echo(message)
    typer.echo(f"the report is {output / REPORT}; numbers and pictures are beside it")
