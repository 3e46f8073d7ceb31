"""Show how a service would be run, for ``privet curator serve --check``."""

from __future__ import annotations

import typer

from privet.errors import ParameterError
from privet.service.limits import Limits, describe_limits
from privet.service.settings import Settings
from privet.service.state import ServiceState


def show_settings(state: ServiceState, settings: Settings, limits: Limits) -> None:
    """Print the settings and where each comes from; raise for what would keep it from serving."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from privet.accounting.ledger import verify

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("setting", "in force", "from", "what it says"):
        table.add_column(column)
    for name, value, source, what in settings.describe():
        table.add_row(name, "" if value is None else str(value), source, what)
    for one in describe_limits(limits):
        if one.value != one.default:
            where = "environment or file" if one.name in settings.limits else "home"
            table.add_row(f"limits.{one.name}", f"{one.value:g}", where, one.what)
    Console().print(table)
    typer.echo(f"metrics: {'on' if settings.metrics_token() else 'off'}")
    if settings.oidc is not None:
        typer.echo(f"sign-in by OpenID Connect at {settings.oidc.issuer}")
        settings.oidc.secret()
    damage = verify(state.ledger, state.witness)
    if damage:
        raise ParameterError("the ledger does not verify: " + "; ".join(damage))
    typer.echo("the ledger is whole")
