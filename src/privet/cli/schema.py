"""``privet schema``: check a table against its schema, declare facts about it, or draft a first
schema from a public sample.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import typer

from privet.cli.options import FORCE, PLACES

app = typer.Typer(help="What is public about a table.", no_args_is_help=True)


EXCLUDE = typer.Option(
    [], "--exclude", "-x", help="Leave this column out. Can be given several times."
)
INCLUDE = typer.Option(
    [],
    "--include",
    "-i",
    help="Keep this column, although it looks like an identifier. Can be given several times.",
)
PERSON = typer.Option(None, "--person", help="The column that says whose row it is.")


@app.command("check")
def check(
    schema: Path = typer.Argument(help="The schema file (JSON)."),
    table: str | None = typer.Argument(
        None,
        help=f"The table to check: {PLACES}.",
    ),
) -> None:
    """Check a schema file, and whether a table fits it. For the owner: the answer depends on the
    rows.

    Names columns and ways out, never a value or a count. Exit code 2 if something does not fit.

    Example: [bold]privet schema check people.schema.json people.csv[/bold]
    """
    from privet.curator.table_check import check_table
    from privet.domain import Schema
    from privet.domain.encode.values import raise_if_any
    from privet.errors import SchemaMismatch
    from privet.tables.open import open_table
    from privet.text import hide_password

    public = Schema.read(schema)
    if table is not None:
        opened = open_table(table)
        problems: list[str] = []
        try:
            raise_if_any(opened.problems(public))
        except SchemaMismatch as error:
            problems += error.problems
        with suppress(SchemaMismatch):  # for example an absent column, which is listed already
            misfits = check_table(opened, public).misfits
            problems += [misfit.problem for misfit in misfits if misfit.unread]
        if problems:
            raise SchemaMismatch(problems)
    fits = "" if table is None else f"; {hide_password(table)} fits it"
    typer.echo(
        f"{schema}: {len(public.names)} attributes, {public.n_classes} classes, fingerprint "
        f"{public.fingerprint[:16]}{fits}"
    )


@app.command("declare")
def declare(
    schema: Path = typer.Argument(help="The schema file (JSON)."),
    output: Path = typer.Option(
        ..., "--output", "-o", help="Where to write it; may be the same file."
    ),
    neighbours: str | None = typer.Option(
        None, "--neighbours", help="'add-remove' or 'replace': what the promise is for."
    ),
    rows: int | None = typer.Option(
        None, "--rows", "-n", help="The number of rows, if it may be public."
    ),
    person: str | None = typer.Option(
        None, "--person", help="The column that says whose row it is."
    ),
    rows_per_person: int | None = typer.Option(
        None, "--rows-per-person", help="How many rows a person has at most."
    ),
    force: bool = FORCE,
) -> None:
    """Write a schema with facts that the owner declares about the table. They are public, and hold
    for its ledger from the first question.

    Example: [bold]privet schema declare people.schema.json --neighbours replace -o
    people.schema.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.domain import Schema
    from privet.errors import ParameterError

    check_writable(output, force=force or output.resolve() == schema.resolve())
    facts = {
        "neighbours": neighbours,
        "n_rows": rows,
        "person": person,
        "rows_per_person": rows_per_person,
    }
    declared = {name: fact for name, fact in facts.items() if fact is not None}
    if not declared:
        raise ParameterError(
            "nothing is declared; give --neighbours, --rows, --person or --rows-per-person"
        )
    Schema.read(schema).declare(**declared).write(output)
    typer.echo(f"{output}: {', '.join(f'{name} {fact}' for name, fact in declared.items())}")


@app.command("draft")
def draft(
    sample: str = typer.Argument(help=f"A PUBLIC sample: {PLACES}."),
    target: str | None = typer.Option(
        None, "--target", "-t", help="The class column; by default the last one."
    ),
    exclude: list[str] = EXCLUDE,
    include: list[str] = INCLUDE,
    person: str | None = PERSON,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to write it; by default standard output."
    ),
    force: bool = FORCE,
) -> None:
    """Write a first schema from a PUBLIC sample. Never run it on private rows: what it writes down
    is public.

    Example: [bold]privet schema draft public-sample.csv --target income -o
    people.schema.json[/bold]
    """
    import json

    from rich.console import Console
    from rich.panel import Panel

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.domain.draft import WARNING
    from privet.domain.drafting.sample import draft_sample
    from privet.tables.open import read_public

    if output is not None:
        check_apart([output], sample, None)
        check_writable(output, force=force)
    drafted = draft_sample(
        read_public(sample), target, exclude=exclude, include=include, person=person
    )
    if output is None:
        typer.echo(json.dumps(drafted.schema.to_json(), indent=2, ensure_ascii=False))
    else:
        drafted.schema.write(output)
    console = Console(stderr=True)
    for line in drafted.describe_left_out():
        console.print(f"left out: {line}", highlight=False, markup=False)
    console.print(Panel(WARNING, title="This schema is a draft from data", border_style="bold red"))
    if output is not None:
        console.print(f"written to {output}", highlight=False)
