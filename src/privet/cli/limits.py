"""Show and set the limits of a server, for ``privet curator`` and ``privet outsource``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import typer

from privet.service.limits import HttpLimits, describe_limits, read_limits, write_limits


def show_limits(
    kind: type[HttpLimits], home: Path, changes: Sequence[str], *, as_json: bool
) -> None:
    """Print the limits that a server of this home has, after these changes."""
    limits = write_limits(kind, home, changes) if changes else read_limits(kind, home)
    described = describe_limits(limits)
    if as_json:
        typer.echo(json.dumps({one.name: one.value for one in described}, indent=2))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("limit", "in force", "default", "bounds", "when it is reached"):
        numeric = column in ("in force", "default")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
    for one in described:
        table.add_row(one.name, f"{one.value:g}", f"{one.default:g}", one.what, one.reached)
    Console().print(table)
    if changes:
        typer.echo("a server that runs already keeps its limits until it is started anew", err=True)
