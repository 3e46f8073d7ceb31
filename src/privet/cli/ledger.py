"""``privet ledger``: read a ledger, and set caps."""

from __future__ import annotations

from pathlib import Path

import typer

from privet.accounting.cost import Budget
from privet.accounting.ledger import SQLiteLedger
from privet.errors import LedgerError, ParameterError

app = typer.Typer(
    help="What was asked of a table, by whom, at what cost; and the caps.", no_args_is_help=True
)


@app.command("show")
def show(
    ledger: Path = typer.Argument(help="The ledger file."),
    analyst: str | None = typer.Option(None, help="Only what this analyst asked."),
    each: bool = typer.Option(
        False, "--each", help="Show every question, and not one line for a fit or a publication."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Show the charges and what is left. What was paid from one reservation is one line.

    Example: [bold]privet ledger show people.csv.ledger.sqlite[/bold]
    """
    import json

    from privet.cli.printing import budget_table, ledger_table, reservations_table

    book = open_existing_ledger(ledger)
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
            asked = {"asked": entry.asked} if entry.asked else {}
            relation = book.relation(entry.dataset)
            whom = {} if relation is None else relation.to_json()
            typer.echo(json.dumps({**line, "what": entry.what, **cost, **asked, **whom}))
        return
    from rich.console import Console

    console = Console()
    reserved = [] if each else book.reservations(analyst=analyst)
    console.print(ledger_table(entries, reserved=reserved))
    open_ones = book.reservations(analyst=analyst, open_only=True)
    if open_ones:
        console.print(reservations_table(open_ones))
    console.print(budget_table(book, book.datasets()))


@app.command("verify")
def verify(
    ledger: Path = typer.Argument(help="The ledger file."),
    receipt: list[str] = typer.Option(
        [], "--receipt", help="A receipt that an answer carried, or a file with one per line."
    ),
    witness: Path | None = typer.Option(
        None, help="A file elsewhere that remembers the last entry, to find a truncated ledger."
    ),
    new_witness: bool = typer.Option(
        False, "--new-witness", help="Begin this witness file: it does not exist yet."
    ),
) -> None:
    """Check that no entry was edited, removed or moved, and that the totals follow from the
    entries. Exit code 1 if not. Only a witness or a receipt reveals a ledger that was truncated
    or restored from an old copy.

    Example: [bold]privet ledger verify people.csv.ledger.sqlite[/bold]
    """
    from privet.cli.curator import check_witness, report_check

    book = open_existing_ledger(ledger)
    check_witness(witness, new=new_witness)
    report_check(book, None, witness, receipt)


@app.command("cap")
def cap(
    ledger: Path = typer.Argument(help="The ledger file."),
    dataset: str = typer.Argument(help="The data set (for a file: its name)."),
    epsilon: str = typer.Argument(help="The total epsilon that may be spent, such as 1 or 1/3."),
    analyst: str | None = typer.Option(
        None, help="Cap this analyst instead of the whole data set."
    ),
    new: bool = typer.Option(False, "--new", help="Make the ledger file, which is not there yet."),
) -> None:
    """Set the cap of a data set, or of one analyst on it.

    Example: [bold]privet ledger cap people.csv.ledger.sqlite people.csv 1 --analyst ada[/bold]
    """
    from privet.text import hide_password

    budget = Budget(epsilon)
    if hide_password(dataset) != dataset:  # a ledger keeps what it is told, and shows it
        raise ParameterError(
            f"the data set must be a name, and {hide_password(dataset)} is a place with a "
            "password; name the table as 'privet ledger show' does, such as public.people"
        )
    if new and ledger.exists():
        raise ParameterError(f"{ledger} exists already; leave --new out")
    book = SQLiteLedger(ledger) if new else open_existing_ledger(ledger, "; --new makes one")
    book.set_cap(dataset, budget, analyst)
    who = (
        f"data set {dataset!r}"
        if analyst is None
        else f"analyst {analyst!r} on data set {dataset!r}"
    )
    typer.echo(f"cap of {who}: {book.cap(dataset, analyst)}")


@app.command("cancel")
def cancel(
    ledger: Path = typer.Argument(help="The ledger file."),
    key: str = typer.Argument(help="The key of the reservation, as 'privet ledger show' has it."),
    analyst: str = typer.Option("owner", help="Whose it is."),
) -> None:
    """Free what is set aside for a fit that was interrupted. What was charged stays charged, and
    the fit cannot go on.

    Example: [bold]privet ledger cancel people.csv.ledger.sqlite fit-5a3f...[/bold]
    """
    from privet.cli.printing import format_number

    book = open_existing_ledger(ledger)
    there = book.reservation(analyst, key)
    ended = book.close_reservation(analyst, key, why="cancelled")
    freed = format_number(there.left) if there is not None else "0"
    typer.echo(f"cancelled {ended.what!r}: {ended.unit} {freed} can be spent again")


def open_existing_ledger(path: Path, advice: str = "") -> SQLiteLedger:
    if not path.is_file():
        raise LedgerError(f"no ledger file {path}; check its name{advice}")
    return SQLiteLedger(path)
