"""``privet quantile``: an order statistic of a private table, charged to a durable ledger."""

from __future__ import annotations

import math
from pathlib import Path

import typer

from privet.cli.options import ANALYST, BUDGET, DATASET, JSON, LEDGER, SCHEMA, TABLE, TOKEN_FILE


def quantile(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    attribute: str = typer.Option(..., "--attribute", "-a", help="The numeric attribute."),
    q: str = typer.Option(
        "0.5",
        "--q",
        help="The share of the values that shall lie below, from 0 to 1; by default the median.",
    ),
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What this question may cost, such as 0.1 or 1/3."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = JSON,
) -> None:
    """The bin of a numeric attribute that about holds its median, or another quantile. The charge
    is recorded in a ledger first.

    Example: [bold]privet quantile people.csv --schema people.schema.json --attribute age --q 0.9
    --epsilon 0.1[/bold]
    """
    import json

    from privet.cli.asking import place_of, print_budget
    from privet.cli.tables import format_number
    from privet.queries.bins import bound_rows_off, numeric_attribute, parse_share

    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file)
    # before a ledger learns a budget
    share, numeric = parse_share(q), numeric_attribute(place.schema, attribute)
    curator = place.curator(epsilon)
    answer = curator.quantile(attribute, share, epsilon)
    assert answer.row_cost.epsilon is not None
    off = bound_rows_off(share, answer.row_cost.epsilon, numeric.bins)
    if as_json:
        found = {
            "attribute": attribute,
            "q": str(share),
            "bin": answer.index,
            "low": answer.low,
            "high": answer.high,
        }
        more = {"middle": answer.middle, "rows_off": off, "private": answer.private}
        cost = {
            "epsilon": str(answer.cost.epsilon),
            "left": str(curator.left),
            "neighbours": place.schema.neighbours,
        }
        typer.echo(json.dumps({**found, **more, **cost}))
        return
    from rich.console import Console

    console = Console()
    what = "median" if share * 2 == 1 else f"{format_number(share)}-quantile"
    console.print(
        f"{attribute}: the {what} is in {numeric.labels[answer.index]}, or near it.",
        highlight=False,
        markup=False,
    )
    console.print(
        f"19 times in 20 it is at most {math.ceil(off)} rows off, in the order of the values.",
        highlight=False,
        markup=False,
    )
    print_budget(console, curator)
