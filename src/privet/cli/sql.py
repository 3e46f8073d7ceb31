"""``privet sql``: the functions that SQL clients ask, in a ledger's PostgreSQL database."""

from __future__ import annotations

import typer

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
