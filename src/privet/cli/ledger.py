"""``privet ledger``: read a ledger, and set caps."""

from __future__ import annotations

from pathlib import Path

import typer

from privet.budget import Budget
from privet.errors import LedgerError
from privet.ledger import SQLiteLedger

app = typer.Typer(
    help="What was asked of a table, by whom, at what cost; and the caps.", no_args_is_help=True
)


@app.command("show")
def show(
    ledger: Path = typer.Argument(help="The ledger file."),
    analyst: str | None = typer.Option(None, help="Only what this analyst asked."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Show the charges and what is left.

    Example: [bold]privet ledger show people.csv.ledger.sqlite[/bold]
    """
    import json

    from privet.cli.tables import budget_table, ledger_table

    book = _existing(ledger)
    entries = book.entries(analyst=analyst)
    if as_json:
        for entry in entries:
            cost = {
                "epsilon": None if entry.cost.epsilon is None else str(entry.cost.epsilon),
                "rho": str(entry.cost.rho),
            }
            line = {
                "number": entry.number,
                "time": entry.time,
                "dataset": entry.dataset,
                "analyst": entry.analyst,
            }
            typer.echo(json.dumps({**line, "what": entry.what, **cost}))
        return
    from rich.console import Console

    console = Console()
    console.print(ledger_table(entries))
    console.print(budget_table(book, book.datasets()))


@app.command("cap")
def cap(
    ledger: Path = typer.Argument(help="The ledger file; made if it does not exist."),
    dataset: str = typer.Argument(help="The data set (for a file: its name)."),
    epsilon: str = typer.Argument(help="The total epsilon that may be spent, such as 1 or 1/3."),
    analyst: str | None = typer.Option(
        None, help="Cap this analyst instead of the whole data set."
    ),
) -> None:
    """Set the cap of a data set, or of one analyst on it.

    Example: [bold]privet ledger cap people.csv.ledger.sqlite people.csv 1 --analyst ada[/bold]
    """
    budget = Budget(epsilon)
    book = SQLiteLedger(ledger)
    book.set_cap(dataset, budget, analyst)
    who = (
        f"data set {dataset!r}"
        if analyst is None
        else f"analyst {analyst!r} on data set {dataset!r}"
    )
    typer.echo(f"cap of {who}: {book.cap(dataset, analyst)}")


def _existing(path: Path) -> SQLiteLedger:
    if not path.is_file():
        raise LedgerError(f"no ledger file {path}")
    return SQLiteLedger(path)
