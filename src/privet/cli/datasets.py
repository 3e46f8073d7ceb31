"""``privet datasets``: public data sets with their schemas."""

from __future__ import annotations

from pathlib import Path

import typer

from privet.cli.completion import complete_dataset

app = typer.Typer(help="Public data sets with hand-written schemas.", no_args_is_help=True)


@app.command("list")
def list_(as_json: bool = typer.Option(False, "--json", help="Print JSON for machines.")) -> None:
    """What there is, and whether it is here already."""
    import dataclasses
    import json

    from privet.datasets import describe

    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(description) for description in describe()]))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Data sets", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("name", no_wrap=True)
    table.add_column("rows x attributes", justify="right")
    table.add_column("classes", justify="right")
    table.add_column("here", no_wrap=True)
    table.add_column("what it is")
    for item in describe():
        here = (
            "generated" if item.origin == "generated" else "yes" if item.available else "to fetch"
        )
        table.add_row(
            item.name, f"{item.rows} x {item.attributes}", str(item.classes), here, item.summary
        )
    Console().print(table)


@app.command("get")
def get(
    name: str = typer.Argument(help="The data set's name.", autocompletion=complete_dataset),
    folder: Path = typer.Option(
        Path(), "--output", "-o", help="The folder for NAME.csv and NAME.schema.json."
    ),
    target: str | None = typer.Option(
        None, help="The class column, where a data set offers several."
    ),
    force: bool = typer.Option(False, "--force", help="Replace files that are there."),
) -> None:
    """Write a data set and its schema to a folder: NAME.csv and NAME.schema.json.

    Example: [bold]privet datasets get nursery -o data[/bold]
    """
    from privet._atomic import atomic_file
    from privet.cli.compiling import compile_ahead
    from privet.datasets import load
    from privet.errors import DatasetError

    dataset = load(name, target=target)
    files = folder / f"{name}.csv", folder / f"{name}.schema.json"
    for file in files:
        if file.exists() and not force:
            raise DatasetError(
                f"{file} exists; replace it with --force, or name another folder with --output"
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(files[0]) as partial:
            dataset.table.to_csv(partial, index=False)
    except OSError as error:
        raise DatasetError(f"cannot write to {folder}: {error.strerror}") from None
    dataset.schema.write(files[1])
    compile_ahead()
    typer.echo(f"wrote {files[0]} ({len(dataset.y)} rows) and {files[1]}")
