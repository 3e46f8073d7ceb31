"""``privet reproduce``: the experiments of papers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from privet.reproduce.anatomy.run import Progress

app = typer.Typer(help="Run the experiments of a paper again, from end to end.", no_args_is_help=True)


@app.command("anatomy")
def anatomy(
    output: Path = typer.Option(Path("anatomy-out"), "--output", "-o", help="The folder for numbers, pictures and a summary."),
    experiment: list[int] = typer.Option([], "--experiment", "-e", help="An experiment, 1 to 5; may be repeated. By default all."),
    folds: int | None = typer.Option(None, help="How many of the ten folds to run; by default all, or 2 with --quick."),
    quick: bool = typer.Option(False, "--quick", help="Experiments 2 and 3, and 4 on 1500 rows only: a first look."),
) -> None:
    """Decision trees on outsourced data (Mancuhan and Clifton 2014): cdbsl, cdtl and cnl over loopback, with real processes.

    This is anatomization, not differential privacy. A run that was ended goes on where it was when it is started again with the
    same folder.

    Example: [bold]privet reproduce anatomy --experiment 2 --experiment 3 -o anatomy-out[/bold]
    """
    from privet.reproduce.anatomy.experiments import chosen
    from privet.reproduce.anatomy.folds import FOLDS
    from privet.reproduce.anatomy.run import SUMMARY, run

    experiments = chosen(experiment, quick=quick)
    count = folds if folds is not None else 2 if quick else FOLDS
    with _bar() as progress:
        run(experiments, count, output, progress)
    typer.echo((output / SUMMARY).read_text(encoding="utf-8"))
    typer.echo(f"numbers, pictures and this summary are in {output}")


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar with the time left, on standard error where somebody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("left:"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing", total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
