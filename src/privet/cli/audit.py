"""``privet audit``: is the claimed epsilon true?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import FORCE, JSON

if TYPE_CHECKING:
    from privet.audit import AuditResult


def audit(
    subjects: list[str] = typer.Argument(
        None, metavar="[SUBJECT]...", help="What to audit; by default all that --list shows."
    ),
    epsilon: str = typer.Option(
        None,
        "--epsilon",
        "-e",
        help=(
            "What each is given per row added or removed; by default what claims 4 for a person."
        ),
    ),
    runs: int = typer.Option(
        4000, "--runs", "-n", help="How often each is run in each of the two worlds."
    ),
    neighbours: str = typer.Option(
        "both",
        "--neighbours",
        help="How the worlds differ: add-remove or replace (one person), or both.",
    ),
    confidence: float = typer.Option(
        0.999, "--confidence", help="That of each lower bound, and of all verdicts together."
    ),
    jobs: int = typer.Option(1, "--jobs", "-j", help="How many processes to use."),
    output: Path = typer.Option(
        None, "--output", "-o", help="Write the table to this file too, as a .md page or as .json."
    ),
    clock: bool = typer.Option(
        False, "--clock", help="Compare CPU times instead: does a clock tell the worlds apart?"
    ),
    listed: bool = typer.Option(False, "--list", help="Show what can be audited, and end."),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Two-world tests of whole fitted models: a lower bound on the epsilon that each really has,
    beside the one that it claims.

    Each is run many times on two small made-up tables that differ in one person; no table of yours
    is read. An event is chosen on one half of the runs and counted on the other. A bound above the
    claim refutes it, and the exit code is then 1. A claim that is not refuted is not proved: the
    table says how much of what was within reach the audit has seen.

    Example: [bold]privet audit random-trees gibbs-tree --runs 4000[/bold]
    """
    import json
    import shlex
    import sys

    from privet._validate import check_integer, check_real
    from privet.accounting.cost import parse_epsilon
    from privet.audit import SUBJECTS, audit_table, lines_of
    from privet.audit.result import render_page
    from privet.audit.two_worlds import MOST_RUNS
    from privet.cli.asking import check_writable, work_bars, write_out
    from privet.errors import ParameterError

    if clock:
        _audit_clock(subjects or [], listed=listed, as_json=as_json)
        return
    lines = lines_of(subjects or (), neighbours)  # type: ignore[arg-type]
    if listed:
        typer.echo(json.dumps(list(SUBJECTS)) if as_json else "\n".join(SUBJECTS))
        return
    amount = None if epsilon is None else parse_epsilon("epsilon", epsilon)
    check_integer("runs", runs, 64, MOST_RUNS)
    check_integer("jobs", jobs, 1)
    check_real("confidence", confidence, least=0.5, below=1)
    if output is not None:
        if output.suffix not in (".md", ".json"):
            raise ParameterError(
                f"output must be a file that ends in .md or .json, got {str(output)!r}"
            )
        check_writable(output, force=force)
    with work_bars("audit", remaining=True) as show:
        results = audit_table(
            lines, runs, epsilon=amount, confidence=confidence, jobs=jobs, done=show
        )
    text = json.dumps([result.to_json() for result in results])
    if as_json:
        typer.echo(text)
    else:
        _print_results(results)
    if output is not None:
        command = shlex.join(["privet", *sys.argv[1:]])
        write_out(
            output,
            render_page(results, command) if output.suffix == ".md" else text + "\n",
            quiet=as_json,
        )
    if any(result.refuted for result in results):
        raise typer.Exit(1)


def _audit_clock(subjects: list[str], *, listed: bool, as_json: bool) -> None:
    """Print whether a clock tells the worlds of each subject apart; exit code 1 where it does."""
    import json

    from privet.audit.clock import TOLERANCE
    from privet.audit.clock_worlds import SUBJECTS, audit_clock

    if listed:
        typer.echo(json.dumps(SUBJECTS) if as_json else "\n".join(SUBJECTS))
        return
    results = audit_clock(subjects)
    if as_json:
        typer.echo(json.dumps([result.to_json() for result in results]))
    else:
        typer.echo(f"{'subject':<38} {'without':>11} {'with':>11} {'p':>9} {'visible':>8}  verdict")
        for one in results:
            times = f"{1000 * one.without:>8.2f} ms {1000 * one.with_person:>8.2f} ms"
            found = f"{one.p:>9.1g} {one.visible:>8.2f}  {one.verdict}"
            typer.echo(f"{one.subject:<38} {times} {found}")
        typer.echo(
            f"times that differ by less than {TOLERANCE:.0%} are taken to be the same; visible: "
            "the smallest ratio of times that would have been found with a probability of 99%"
        )
    if any(one.tells for one in results):
        raise typer.Exit(1)


def _print_results(found: list[AuditResult]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from privet.audit.result import (
        COLUMNS,
        NOT_REFUTED,
        describe_event,
        format_row,
        list_notes,
        summarize_results,
    )

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in COLUMNS:
        to_the_left = column in ("subject", "neighbours", "verdict")
        view.add_column(
            column, justify="left" if to_the_left else "right", no_wrap=column == "subject"
        )
    for result in found:
        *words, verdict = format_row(result)
        view.add_row(
            *words, Text(verdict, style="" if result.verdict == NOT_REFUTED else "bold red")
        )
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 140)  # a line for each, in a file or a pipe
    console.print(view)
    for result in found:
        if result.verdict != NOT_REFUTED:
            console.print(describe_event(result), markup=False, soft_wrap=True)
    for line in [*list_notes(found), *summarize_results(found)]:
        console.print(line, markup=False, soft_wrap=True)
