"""``privet count`` and ``privet quantile``: ask a private table, charged to a durable ledger."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    JSON,
    KEY,
    LEDGER,
    SCHEMA,
    TABLE,
    TOKEN_FILE,
)


def count(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What this question may cost, such as 0.1 or 1/3."
    ),
    by: list[str] = typer.Option(
        [], "--by", help="Count per value of this attribute; may be repeated."
    ),
    where: list[str] = typer.Option(
        [],
        "--where",
        help="Count these rows only, NAME=LABEL; may be repeated, also for one attribute.",
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    key: str | None = KEY,
    as_json: bool = JSON,
) -> None:
    """Noisy class counts of a table. The charge is recorded in a ledger first, so that a second
    question adds up.

    All counts together cost epsilon once, because a row is in one of them at most.

    Example: [bold]privet count people.csv --schema people.schema.json --epsilon 0.1 --budget 1 --by
    sex --by age --where form=complete[/bold]
    """
    import json

    from privet.cli.asking import ask_under_key, place_of, print_budget
    from privet.cli.printing import counts_table
    from privet.queries import CountBy, check_query

    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file, ca=ca)
    query = CountBy(by, _parse_conditions(where))
    check_query(query, place.schema)  # before a ledger learns a budget
    curator = place.curator(epsilon)
    answer = ask_under_key(place, curator, query, epsilon, key)
    if as_json:
        counts = _nest_by_label(answer.tables[0].tolist(), answer.labels)
        out = {
            "noisy_counts": counts if by else {"all rows": counts},
            "deviation": answer.deviation,
            "private": answer.private,
            "epsilon": str(answer.cost.epsilon),
            "left": str(curator.left),
            "neighbours": place.schema.neighbours,
        }
        typer.echo(json.dumps(out))
        return
    from rich.console import Console

    console = Console()
    console.print(counts_table(answer))
    print_budget(console, curator)


def _parse_conditions(where: list[str]) -> dict[str, list[str]]:
    """The values that each attribute may have."""
    from privet.errors import ParameterError

    conditions: dict[str, list[str]] = {}
    for condition in where:
        name, equals, label = condition.partition("=")
        if not equals or not name:
            raise ParameterError(
                f"--where {condition}: write NAME=LABEL, such as --where form=complete"
            )
        conditions.setdefault(name, []).append(label)
    return conditions


def _nest_by_label(numbers: Any, labels: Sequence[Sequence[str]]) -> Any:
    """Numbers by their labels, one object within the other."""
    if not labels:
        return numbers
    return {
        label: _nest_by_label(inner, labels[1:])
        for label, inner in zip(labels[0], numbers, strict=True)
    }


# ``privet quantile``: an order statistic of a private table.


def quantile(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    attribute: str = typer.Option(
        ..., "--attribute", "-a", help="The attribute: a number or a date."
    ),
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
    ca: Path | None = CA,
    key: str | None = KEY,
    as_json: bool = JSON,
) -> None:
    """The bin of a number or a date that about holds its median, or another quantile. The charge
    is recorded in a ledger first.

    Example: [bold]privet quantile people.csv --schema people.schema.json --attribute age --q 0.9
    --epsilon 0.1[/bold]
    """
    import json

    from privet.cli.asking import ask_under_key, place_of, print_budget
    from privet.cli.printing import format_number
    from privet.queries import FindQuantile
    from privet.queries.quantile import bound_rows_off, find_ordered, parse_share

    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file, ca=ca)
    # before a ledger learns a budget
    share, ordered = parse_share(q), find_ordered(place.schema, attribute)
    curator = place.curator(epsilon)
    wanted = FindQuantile(attribute, share)
    answer = ask_under_key(place, curator, wanted, epsilon, key)
    assert answer.row_cost.epsilon is not None
    off = bound_rows_off(share, answer.row_cost.epsilon, ordered.bins)
    if as_json:
        found = {
            "attribute": attribute,
            "q": str(share),
            "bin": answer.index,
            "low": answer.low,
            "high": answer.high,
            "label": answer.label,
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
        f"{attribute}: the {what} is in {answer.label}, or near it.",
        highlight=False,
        markup=False,
    )
    console.print(
        f"19 times in 20 it is at most {math.ceil(off)} rows off, in the order of the values.",
        highlight=False,
        markup=False,
    )
    print_budget(console, curator)
