"""``privet count``: noisy class counts of a private table, charged to a durable ledger."""

from __future__ import annotations

from pathlib import Path

import typer

from privet.cli.options import ANALYST, BUDGET, DATASET, JSON, LEDGER, SCHEMA, TABLE, TOKEN_FILE


def count(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What this question may cost, such as 0.1 or 1/3."
    ),
    by: str | None = typer.Option(None, "--by", help="Count per value of this attribute."),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = JSON,
) -> None:
    """Noisy class counts of a table. The charge is recorded in a ledger first, so that a second
    question adds up.

    Example: [bold]privet count people.csv --schema people.schema.json --epsilon 0.1 --budget 1 --by
    age[/bold]
    """
    import json

    import privet as pv
    from privet.cli.asking import place_of, print_budget
    from privet.cli.tables import counts_table

    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file)
    public = place.schema
    question = pv.Question((pv.Partition(pv.Cells.everything(public), by=by),))
    curator = place.curator(epsilon)
    answer = curator.count(question, epsilon)
    if as_json:
        labels = ["all rows"] if by is None else list(public.attributes[by].labels)
        lines = answer.tables[0].reshape(len(labels), public.n_classes).tolist()
        counts = {
            label: dict(zip(public.label.labels, line, strict=True))
            for label, line in zip(labels, lines, strict=True)
        }
        out = {"noisy_counts": counts, "deviation": answer.deviation, "private": answer.private}
        cost = {
            "epsilon": str(answer.cost.epsilon),
            "left": str(curator.left),
            "neighbours": public.neighbours,
        }
        typer.echo(json.dumps({**out, **cost}))
        return
    from rich.console import Console

    console = Console()
    console.print(counts_table(public, answer, by))
    print_budget(console, curator)
