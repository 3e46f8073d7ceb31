"""``privet update``, ``merge`` and ``join``: models of several tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

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

if TYPE_CHECKING:
    from privet.model import Model

OUTPUT = typer.Option(..., "--output", "-o", help="Where to write the model (JSON).")
PEOPLE = typer.Option(
    "may-overlap",
    "--people",
    help=(
        "'disjoint': you assert that nobody is in two of the tables, and epsilon is their largest; "
        "'may-overlap': it is their sum."
    ),
)
OWN_SCHEMA = typer.Option(
    None,
    "--schema",
    "-s",
    help="The public schema of this table, if its people or rows are declared differently.",
)


def update(
    model: Path = typer.Argument(help="A model file of privet or random-trees."),
    table: str = TABLE,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the new rows may cost, such as 1, 0.1 or 1/3."
    ),
    output: Path = OUTPUT,
    people: str = PEOPLE,
    name: str = typer.Option(
        "", "--name", help="What the batch is called in the privacy statement; published."
    ),
    rows_before: float | None = typer.Option(
        None,
        "--rows-before",
        help="About how many rows a model of privet was made of, if its file does not say so.",
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
    """Add new rows to a model: they draw further trees, or are counted in the leaves of random
    trees.

    What was released before is neither paid for again nor asked again.

    The table holds the new rows only. Rows that the model has seen would be counted, and paid for,
    again.

    Example: [bold]privet update m.json new-people.csv --epsilon 1 --people disjoint -o
    m2.json[/bold]
    """
    from privet.cli.asking import check_writable, place_of, saying_warnings, working
    from privet.cli.options import check_apart
    from privet.errors import ParameterError
    from privet.learners.random_trees.batches import PEOPLE
    from privet.learners.updates import check_kind, check_schema
    from privet.learners.updates import update as with_update
    from privet.model.file import read_model, write_model

    # the model itself may be written over: all of it is in the new one
    check_apart([output], table, ledger, schema)
    check_writable(output, force=force or output.resolve() == model.resolve())
    PEOPLE.check("people", people)
    old = read_model(model)
    check_kind(old)
    known = old.schema.declare(n_rows=None)
    if schema is None and old.privacy.person and known.person is None:
        raise ParameterError(
            "--schema is needed: the tables of this model say in different columns whose row it is"
        )
    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file, known, ca=ca)
    check_schema(old, place.schema)
    curator = place.curator(epsilon)
    with saying_warnings(), working("updating"):
        new = with_update(old, curator, epsilon, people, name, rows_before=rows_before)  # type: ignore[arg-type]
    write_model(new, output)
    _print_model_summary(new, output, as_json)


def merge(
    models: list[Path] = typer.Argument(
        help="Model files: contributions to one plan, or models of one schema."
    ),
    output: Path = OUTPUT,
    people: str = PEOPLE,
    weights: str = typer.Option(
        "by-noise",
        "--weights",
        help=(
            "'by-noise': contributions that are mostly noise weigh less; 'equal': all counts are "
            "added alike."
        ),
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """One model from several parties with the same attributes and different rows. Any subset, in
    any order; charges nothing.

    Contributions to one plan are added up, leaf by leaf. Models of other learners vote.

    Example: [bold]privet merge part-a.json part-b.json --people disjoint -o m.json[/bold]
    """
    from privet._validate import check_name
    from privet.cli.asking import check_writable, saying_warnings
    from privet.cli.options import check_apart
    from privet.federation.merge import merge as merged
    from privet.model.file import read_model, write_model
    from privet.model.leaf_vectors import Weighting

    check_name("--weights", weights, get_args(Weighting))
    check_apart([output], None, None, *models)
    check_writable(output, force=force)
    with saying_warnings():
        new = merged([read_model(path) for path in models], people, weights)  # type: ignore[arg-type]
    write_model(new, output)
    _print_model_summary(new, output, as_json)


def join(
    models: list[Path] = typer.Argument(
        help="Model files of tables with different attributes of the same people."
    ),
    output: Path = OUTPUT,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """One model from several parties with different attributes of the same people. Charges nothing;
    its epsilon is the sum.

    All must predict the same classes. Attributes that are absent when it predicts are taken as
    unknown.

    Example: [bold]privet join hospital.json insurer.json -o m.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.federation.merge import join as joined
    from privet.model.file import read_model, write_model

    check_apart([output], None, None, *models)
    check_writable(output, force=force)
    new = joined([read_model(path) for path in models])
    write_model(new, output)
    _print_model_summary(new, output, as_json)


def _print_model_summary(model: Model, output: Path, as_json: bool) -> None:
    """What the model is made of, and what it promises."""
    import json

    from privet.cli.printing import finite_or_none

    statement, leaves, evidence = model.privacy, model.privacy.leaves, model.evidence
    weights = [1.0] * len(leaves) if evidence is None else evidence.weights
    if as_json:
        batches = [
            {
                "name": leaf.name,
                "id": leaf.id,
                "epsilon": finite_or_none(leaf.epsilon),
                "weight": weight,
            }
            for leaf, weight in zip(leaves, weights, strict=True)
        ]
        out = {
            "model": str(output),
            "private": statement.private,
            "epsilon": finite_or_none(statement.epsilon),
            "people": statement.people,
        }
        typer.echo(json.dumps({**out, "batches": batches}))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from privet.accounting.statement import format_rounded_up
    from privet.text import escape_invisible

    parts = "trees and terms" if model.combine == "scores" else "trees"
    view = Table(
        title=f"{output}: {model.learner}, {len(model.trees)} {parts}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    view.add_column("made of")
    for column in ("epsilon", "noise", "weight") if evidence is not None else ("epsilon",):
        view.add_column(column, justify="right")
    for place, (leaf, weight) in enumerate(zip(leaves, weights, strict=True)):
        cells = [
            escape_invisible(leaf.name) or leaf.id[:12],
            format_rounded_up(leaf.epsilon) if leaf.private else "none",
        ]
        if evidence is not None:
            cells += [f"{evidence.batches[place].deviation:.4g}", f"{weight:.3f}"]
        view.add_row(*cells)
    console = Console(highlight=False, soft_wrap=True, markup=False)  # names are a stranger's
    console.print(view)
    console.print(escape_invisible(statement.describe()))
