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

    from privet.service.serve import with_witness_elsewhere

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("setting", "in force", "from", "what it says"):
        # a place that is cut short cannot be compared with the one that was meant
        table.add_column(column, overflow="fold")
    for name, value, source, what in settings.describe():
        table.add_row(name, "" if value is None else str(value), source, what)
    for one in describe_limits(limits):
        named = one.name in settings.limits
        if named or one.value != one.default:
            where = "environment or file" if named else "home"
            table.add_row(f"limits.{one.name}", f"{one.value:g}", where, one.what)
    Console().print(table)
    typer.echo(f"metrics: {'on' if settings.metrics_token() else 'off'}")
    if settings.oidc is not None:
        typer.echo(f"sign-in by OpenID Connect at {settings.oidc.issuer}")
        settings.oidc.secret()
    damage = with_witness_elsewhere(state, settings).verify()
    if damage:
        raise ParameterError("the ledger does not verify: " + "; ".join(damage))
    typer.echo("the ledger is whole")
