"""``privet audit``: is the claimed epsilon true?"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from privet.cli.options import JSON

if TYPE_CHECKING:
    from privet.audit import AuditResult


def audit(
    subjects: list[str] = typer.Argument(None, metavar="[SUBJECT]...", help="What to audit; by default all that --list shows."),
    epsilon: str = typer.Option("1", "--epsilon", "-e", help="The epsilon that each is given, for one row added or removed."),
    runs: int = typer.Option(4000, "--runs", "-n", help="How often each is run in each of the two worlds."),
    neighbours: str = typer.Option("add-remove", "--neighbours", help="How the worlds differ: add-remove or replace (one person)."),
    confidence: float = typer.Option(0.999, "--confidence", help="That of each lower bound."),
    jobs: int = typer.Option(1, "--jobs", "-j", help="How many processes to use."),
    listed: bool = typer.Option(False, "--list", help="Show what can be audited, and end."),
    as_json: bool = JSON,
) -> None:
    """Two-world tests of whole fitted models: a lower bound on the epsilon that each really has, beside the one that it claims.

    Each is run many times on two small made-up tables that differ in one person; no table of yours is read. An event is chosen on one
    half of the runs and counted on the other. A bound above the claim refutes it, and the exit code is then 1.

    Example: [bold]privet audit random-trees gibbs-tree --runs 4000[/bold]
    """
    import json

    from privet.audit import SUBJECTS, audit_subject, subject_named
    from privet.budget import exact_epsilon
    from privet.checks import checked_whole
    from privet.cli.bars import work_bars
    from privet.errors import ParameterError

    if listed:
        typer.echo("\n".join(SUBJECTS))
        return
    names = list(dict.fromkeys(subjects or SUBJECTS))
    asked = [subject_named(name) for name in names]
    amount = exact_epsilon("epsilon", epsilon)
    if neighbours not in ("add-remove", "replace"):
        raise ParameterError(f"neighbours must be 'add-remove' or 'replace', got {neighbours!r}")
    checked_whole("runs", runs, 64)
    checked_whole("jobs", jobs, 1)
    if not 0.5 <= confidence < 1:
        raise ParameterError(f"confidence must be at least 0.5 and below 1, got {confidence!r}")
    found: list[tuple[str, AuditResult]] = []
    with _processes(jobs) as executor, work_bars("audit") as show:
        for number, subject in enumerate(asked):
            show(number / len(asked))
            of = subject.neighbours(neighbours)  # type: ignore[arg-type]
            found.append((of, audit_subject(subject.name, amount, runs, neighbours=of, confidence=confidence, executor=executor)))
    if as_json:
        typer.echo(json.dumps([{"neighbours": of, **one.to_json()} for of, one in found]))
    else:
        _print(found, confidence)
    if not all(one.holds for _, one in found):
        raise typer.Exit(1)


@contextmanager
def _processes(jobs: int) -> Iterator[Executor | None]:
    if jobs == 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # Fresh processes: one that is forked off a process with threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield pool


def _print(found: list[tuple[str, AuditResult]], confidence: float) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    view.add_column("subject", no_wrap=True)
    view.add_column("neighbours")
    for column in ("claimed epsilon", "audited lower bound", "of the claim", "runs"):
        view.add_column(column, justify="right")
    view.add_column("verdict")
    for of, one in found:
        verdict = Text(one.verdict, style="" if one.holds else "bold red")
        claimed = f"{one.claimed:.4g}{f' (delta {one.delta:g})' if one.delta else ''}"
        view.add_row(one.subject, of, claimed, f"{one.bound:.3f}", f"{one.tightness:.0%}", f"2 x {one.runs:,}", verdict)
    console = Console(highlight=False)
    console.print(view)
    for _, one in found:
        if not one.holds:
            where = f"{one.subject}: in {one.hits[0]:,} of {one.counted:,} runs against {one.hits[1]:,}, {one.event}; worlds: {one.pair}"
            console.print(where, markup=False, soft_wrap=True)
    console.print(f"Each bound holds with a confidence of {confidence:.4g}. A bound below the claim refutes nothing, and proves nothing.")
