"""``privet sql``: the functions that SQL clients ask, in a ledger's PostgreSQL database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.curator import DELTA, EPSILON, RHO, parse_budget

if TYPE_CHECKING:
    from privet.accounting.cost import Budget

app = typer.Typer(
    help="The SQL functions of a ledger in PostgreSQL, which analysts ask from psql and others.",
    no_args_is_help=True,
)
_URL = typer.Argument(help="The ledger: postgresql://owner@host/database.")


@app.command("install")
def install(url: str = _URL) -> None:
    """Install the functions, and a ledger where there is none yet.

    Example: [bold]privet sql install postgresql://owner@db/clinic[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.service.sql import installation

    typer.echo(installation.install(PostgresLedger(url)))


@app.command("upgrade")
def upgrade(url: str = _URL) -> None:
    """Bring functions that an older Privet installed to this version. Grants, tickets and spending
    stay.

    Example: [bold]privet sql upgrade postgresql://owner@db/clinic[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.service.sql import installation

    typer.echo(installation.upgrade(PostgresLedger(url)))


@app.command("uninstall")
def uninstall(
    url: str = _URL,
    yes: bool = typer.Option(False, "--yes", "-y", help="Ask nothing: for scripts."),
) -> None:
    """Remove the functions, and who may call them. The ledger stays, with all that was charged.

    Tickets end with it: answers can no longer be asked for from SQL.

    Example: [bold]privet sql uninstall postgresql://owner@db/clinic[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.service.sql import installation

    if not yes:
        typer.confirm("Remove the functions, with all grants and tickets of theirs?", abort=True)
    typer.echo(installation.uninstall(PostgresLedger(url)))


@app.command("add")
def add(
    url: str = _URL,
    dataset: str = typer.Argument(help="The name that analysts use."),
    table: str = typer.Argument(help="The table in the same database, such as public.people."),
    schema: Path = typer.Option(..., "--schema", "-s", help="The public schema (JSON)."),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    public_counts: bool = typer.Option(
        False,
        "--public-counts",
        help="Exact counts of some rows that every login reads in the catalog are public.",
    ),
) -> None:
    """Let a table be asked from SQL, up to a budget over all analysts. Adding a name again replaces
    its table, and keeps its grants, its spending, and the budget unless you give one.

    For a ledger on its own; with a curator's home, use 'privet curator dataset add --sql'.

    Example: [bold]privet sql add postgresql://owner@db/clinic people public.people --schema
    people.schema.json --epsilon 2[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.domain import Schema
    from privet.errors import ParameterError
    from privet.service.sql import SQLFunctions

    budget = _read_budget(epsilon, rho, delta)
    read = Schema.read(schema)
    ledger = PostgresLedger(url)
    if budget is None and ledger.cap(dataset) is None:
        raise ParameterError(f"say how much may be spent on {dataset!r} in all, such as -e 2")
    functions = SQLFunctions(ledger)
    functions.add_dataset(dataset, table, read, public_counts=public_counts)
    if budget is not None:
        ledger.set_cap(dataset, budget)
    typer.echo(f"{table} can be asked as {dataset!r}, up to {ledger.cap(dataset)} in all")
    for told in functions.list_told(dataset):
        typer.echo(f"every login reads the exact number of rows of {told}")


@app.command("grant")
def grant(
    url: str = _URL,
    analyst: str = typer.Argument(help="Who may ask."),
    dataset: str = typer.Argument(help="About which data set."),
    role: str | None = typer.Option(
        None, "--role", help="A login of the server that asks as this analyst, from now on."
    ),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    until: str | None = typer.Option(
        None,
        help="When the grant ends: a date (as it begins, in UTC), an ISO time, or a span such as "
        "30d.",
    ),
) -> None:
    """Let an analyst ask about a data set from SQL, up to a budget of their own in all. Without
    one, the budget that they have stays, or that of the data set is all that bounds them.

    For a ledger on its own; with a curator's home, use 'privet curator grant'.

    Example: [bold]privet sql grant postgresql://owner@db/clinic ada people --role ada_login
    --epsilon 1[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.errors import AccessError
    from privet.service.owner.desk import parse_expiry
    from privet.service.sql import SQLFunctions

    budget = _read_budget(epsilon, rho, delta)
    ends = None if until is None else parse_expiry(until)
    ledger = PostgresLedger(url)
    functions = SQLFunctions(ledger)
    if not functions.has_dataset(dataset):
        raise AccessError(f"no data set {dataset!r} can be asked from SQL; 'privet sql add' it")
    if role is not None:
        functions.grant_role(role, analyst)
    if budget is not None:  # before the grant, which would be bound by the data set's only
        ledger.set_cap(dataset, budget, analyst)
    functions.allow(dataset, analyst, ends)
    end = "" if ends is None else f", until {ends.isoformat(timespec='minutes')}"
    typer.echo(f"{analyst!r} may ask {dataset!r}{end}")


@app.command("revoke")
def revoke(
    url: str = _URL,
    analyst: str = typer.Argument(help="Who may no longer ask."),
    dataset: str = typer.Argument(help="About which data set."),
    role: str | None = typer.Option(
        None, "--role", help="A login that may no longer call the functions at all."
    ),
) -> None:
    """Take back that an analyst may ask about a data set from SQL. What they spent stays.

    Example: [bold]privet sql revoke postgresql://owner@db/clinic ada people[/bold]
    """
    from privet.accounting.ledger import PostgresLedger
    from privet.service.sql import SQLFunctions

    functions = SQLFunctions(PostgresLedger(url))
    functions.forbid(dataset, analyst)
    if role is not None:
        functions.revoke_role(role)
    typer.echo(f"{analyst!r} may no longer ask {dataset!r}")


def _read_budget(epsilon: str | None, rho: str | None, delta: str | None) -> Budget | None:
    given = epsilon is not None or rho is not None or delta is not None
    return parse_budget(epsilon, rho, delta) if given else None
