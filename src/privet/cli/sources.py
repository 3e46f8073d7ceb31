"""``privet sources``: what tables can be opened, and what to install for more."""

from __future__ import annotations

import typer

from privet.cli.options import JSON


def sources(as_json: bool = JSON) -> None:
    """List the sources of rows: how a table is written, and what is installed.

    Other packages may add sources.

    Example: [bold]privet sources[/bold]
    """
    import json

    from privet.tables.sources.registry import load_registry

    registry = load_registry()
    problems = [f"the source {name!r} {why}" for name, why in registry.unloaded.items()]
    problems += registry.refused.values()
    if as_json:
        listed = [
            {
                "name": source.name,
                "example": source.example,
                "help": source.help,
                "schemes": source.schemes,
                "endings": source.endings,
                "installed": source.is_installed,
                "install": source.install_hint,
            }
            for source in registry.sources
        ]
        typer.echo(json.dumps({"sources": listed, "problems": problems}))
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title="Sources of rows", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("name", no_wrap=True)
    for column in ("a table is written as", "what it is", "installed"):
        table.add_column(column, overflow="fold")
    for source in registry.sources:
        installed = "yes" if source.is_installed else f"no: {source.install_hint}"
        table.add_row(*map(escape, (source.name, source.example, source.help, installed)))
    Console().print(table)
    for problem in problems:
        typer.echo(f"privet: {problem}", err=True)
