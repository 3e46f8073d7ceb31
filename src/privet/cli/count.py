"""``privet count``: noisy class counts of a private table, charged to a durable ledger."""

from __future__ import annotations

from pathlib import Path

import typer


def count(
    table: str = typer.Argument(help="A .csv or .parquet file, or duckdb:///FILE?table=NAME."),
    schema: Path = typer.Option(..., "--schema", "-s", help="The public schema of the table (JSON)."),
    epsilon: str = typer.Option(..., "--epsilon", "-e", help="What this question may cost, such as 0.1 or 1/3."),
    by: str | None = typer.Option(None, "--by", help="Count per value of this attribute."),
    budget: str | None = typer.Option(None, "--budget", help="The table's total epsilon, set the first time (by default 10)."),
    ledger: Path | None = typer.Option(None, "--ledger", help="The ledger file; by default beside the table."),
    analyst: str = typer.Option("owner", help="Who asks."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Noisy class counts of a table. The charge is recorded in a ledger first, so that a second question adds up.

    Example: [bold]privet count people.csv --schema people.schema.json --epsilon 0.1 --budget 1 --by age[/bold]
    """
    import json

    import privet as pv
    from privet.cli.asking import curator_for
    from privet.cli.tables import budget_table, counts_table

    public = pv.Schema.read(schema)
    question = pv.Question((pv.Partition(pv.Cells.everything(public), by=by),))
    curator = curator_for(table, public, epsilon, budget, ledger, analyst)
    answer = curator.count(question, epsilon)
    if as_json:
        labels = ["all rows"] if by is None else list(public.attributes[by].labels)
        lines = answer.tables[0].reshape(len(labels), public.n_classes).tolist()
        counts = {label: dict(zip(public.label.labels, line, strict=True)) for label, line in zip(labels, lines, strict=True)}
        out = {"noisy_counts": counts, "deviation": answer.deviation, "private": answer.private}
        cost = {"epsilon": str(answer.cost.epsilon), "left": str(curator.left), "neighbours": public.neighbours}
        typer.echo(json.dumps({**out, **cost}))
        return
    from rich.console import Console

    console = Console()
    console.print(counts_table(public, answer, by))
    console.print(budget_table(curator.ledger, [curator.dataset]))
