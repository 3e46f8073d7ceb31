"""``privet demo``: the trust boundary on embedded data."""

from __future__ import annotations

import typer


def demo(
    budget: float = typer.Option(2.0, help="The total epsilon that may be spent."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Show noisy class counts of the nursery data at three epsilons, beside the ledger that was charged.

    The data is generated on the spot (12 960 rows); nothing is downloaded.
    """
    import json

    import privet as pv
    from privet.cli.tables import budget_table, ledger_table, number

    nursery = pv.datasets.load("nursery")
    curator = pv.Curator(nursery.table, nursery.schema, pv.Budget(budget), dataset="nursery", analyst="demo")
    everyone = pv.Cells.everything(nursery.schema)
    answers = {epsilon: curator.count(everyone, epsilon) for epsilon in ("0.01", "0.1", "1")}
    if as_json:
        rows = {
            epsilon: dict(zip(nursery.schema.label.labels, answer.tables[0][0].tolist(), strict=True))
            for epsilon, answer in answers.items()
        }
        typer.echo(json.dumps({"noisy_counts": rows, "spent": str(curator.spent.epsilon), "left": str(curator.left)}))
        return

    from rich import box
    from rich.console import Console
    from rich.table import Table

    title = "Nursery applications per recommendation, as an analyst may see them"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("recommendation")
    for epsilon, answer in answers.items():
        table.add_column(f"epsilon {epsilon}\n(noise +-{answer.deviation:.1f})", justify="right")
    for i, label in enumerate(nursery.schema.label.labels):
        table.add_row(label, *(str(answer.tables[0][0][i]) for answer in answers.values()))
    console = Console()
    console.print(table)
    console.print(ledger_table(curator.ledger.entries()))
    console.print(budget_table(curator.ledger, ["nursery"]))
    console.print(
        f"Nobody outside has seen a row or an exact count. {number(curator.left)} of epsilon is left; "
        "a question that does not fit is refused before the data is touched.",
        soft_wrap=True,
    )
