"""``privet federation``: parties that count in the leaves of one plan, and a demonstration."""

from __future__ import annotations

from pathlib import Path

import typer

from privet.cli.federation_demo import demo
from privet.cli.merge import OWN_SCHEMA
from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    FORCE,
    JSON,
    LEDGER,
    TABLE,
    TOKEN_FILE,
)

app = typer.Typer(
    help="Several parties, one classifier: each counts its own rows, in its own place.",
    no_args_is_help=True,
)
app.command("demo")(demo)


@app.command("plan")
def plan(
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema that all parties share (JSON)."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the plan (JSON)."),
    trees: int = typer.Option(
        10, "--trees", "-t", help="How many trees; each party's epsilon is shared among them."
    ),
    rows: int | None = typer.Option(
        None,
        "--rows",
        "-n",
        help="About how many rows all parties have together, if that is public.",
    ),
    height: int | None = typer.Option(
        None, "--height", help="The depth of every leaf, instead of --rows."
    ),
    combine: str = typer.Option(
        "probabilities", help="How trees add up: probabilities, counts or vote."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Draw the structures of random trees that all parties will count in. Sees no data and charges
    nothing.

    Publish the file, and have all parties compare its fingerprint.

    Example: [bold]privet federation plan --schema people.schema.json --trees 10 --rows 30000 -o
    plan.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.domain import Schema
    from privet.federation.plan import draw_plan, write_plan

    check_apart([output], None, None, schema)
    check_writable(output, force=force)
    drawn = draw_plan(Schema.read(schema), trees, rows=rows, height=height, combine=combine)
    write_plan(drawn, output)
    facts = {
        "trees": len(drawn.forest),
        "height": drawn.settings["height"],
        "leaves": sum(len(cells) for cells in drawn.forest),
    }
    if as_json:
        typer.echo(json.dumps({"plan": str(output), "fingerprint": drawn.fingerprint, **facts}))
        return
    typer.echo(
        f"{output}: {facts['trees']} trees of height {facts['height']}, {facts['leaves']} leaves "
        "in all"
    )
    typer.echo(f"fingerprint {drawn.fingerprint}")


@app.command("contribute")
def contribute(
    table: str = TABLE,
    plan: Path = typer.Option(..., "--plan", "-p", help="The plan that all parties share."),
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the contribution may cost, such as 1, 0.1 or 1/3."
    ),
    output: Path = typer.Option(
        ...,
        "--output",
        "-o",
        help="Where to write the contribution (JSON): a model of this table alone.",
    ),
    party: str = typer.Option(
        "", "--party", help="Who contributes, for the privacy statement; published."
    ),
    schema: Path | None = OWN_SCHEMA,
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Count a table's rows in the leaves of a plan and write the noisy counts to a file. The charge
    is recorded in a ledger first.

    The file is a model of this table alone; [bold]privet merge[/bold] adds it to those of other
    parties.

    Example: [bold]privet federation contribute people.csv --plan plan.json --epsilon 1 --party
    north -o part.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable, place_of, print_budget, working
    from privet.cli.options import check_apart
    from privet.cli.printing import finite_or_none
    from privet.federation.plan import read_plan
    from privet.learners.random_trees.batches import check_same_domain, contribution
    from privet.model.file import write_model

    check_apart([output], table, ledger, schema, plan)
    check_writable(output, force=force)
    agreed = read_plan(plan)
    place = place_of(
        table,
        schema,
        budget,
        ledger,
        analyst,
        dataset,
        token_file,
        agreed.schema.declare(n_rows=None),
        ca=ca,
    )
    check_same_domain(agreed, place.schema)
    if schema is None and not table.startswith(("http://", "https://")):
        typer.echo("without --schema, every row is taken for a person of its own", err=True)
    curator = place.curator(epsilon)
    with working("counting"):
        part = contribution(agreed, curator, epsilon, party)
    write_model(part, output)
    statement = part.privacy
    if as_json:
        out = {
            "contribution": str(output),
            "plan": agreed.fingerprint,
            "id": statement.id,
            "epsilon": finite_or_none(statement.epsilon),
        }
        typer.echo(json.dumps({**out, "private": statement.private, "left": str(curator.left)}))
        return
    from rich.console import Console

    console = Console()
    console.print(
        f"{output}: leaf counts of {len(part.trees)} trees; {statement.describe()}",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
    console.print(
        f"plan {agreed.fingerprint[:12]}, contribution {statement.id[:12]}", highlight=False
    )
    print_budget(console, curator)
