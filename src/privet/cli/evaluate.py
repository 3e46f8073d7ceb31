"""``privet evaluate``: how well a model does on private rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    JSON,
    LEDGER,
    SCHEMA,
    SPLIT_KEY,
    TABLE,
    TEST_SIZE,
    TOKEN_FILE,
)

if TYPE_CHECKING:
    from rich.console import Console

    from privet.cli.asking import Selected
    from privet.learners.evaluation import Evaluation
    from privet.model import Model


def evaluate(
    model: Path = typer.Argument(help="A model file."),
    table: str = TABLE,
    epsilon: str = typer.Option(..., "--epsilon", "-e", help="What the evaluation may cost."),
    schema: Path | None = SCHEMA,
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    test_size: str | None = TEST_SIZE,
    split_key: str = SPLIT_KEY,
    as_json: bool = JSON,
) -> None:
    """How well a model does on private rows: accuracy, AUROC, recall and precision, calibration and
    log loss, each with a 95% interval, all from one noisy histogram that is charged to the table's
    ledger.

    Evaluate on rows that the model has not seen: a table of its own, or the part that 'privet fit
    --test-size' has kept apart.

    Example: [bold]privet evaluate m.json people.csv --schema people.schema.json --test-size 0.2
    --epsilon 0.2[/bold]
    """
    import json
    from dataclasses import replace

    import privet as pv
    from privet.cli.asking import Selected, place_of, print_budget, working
    from privet.errors import SchemaError
    from privet.learners.evaluation import advise_epsilon

    loaded = pv.load(model)
    tested = Selected.of("test", test_size, split_key)
    place = place_of(
        table, schema, budget, ledger, analyst, dataset, token_file, ca=ca, held_out=tested
    )
    curator, split = place.curator(epsilon), place.split
    if loaded.model_.schema.fingerprint != curator.schema.fingerprint:
        raise SchemaError(
            f"{model} was trained under another schema than "
            f"{'that of the curator' if schema is None else schema}: evaluate it under its own, on "
            "the kind of rows that it predicts"
        )
    n_rows = curator.schema.n_rows or _recall_rows(loaded.model_, tested)
    advice = advise_epsilon(n_rows, curator.schema.n_classes, epsilon)
    if advice:
        typer.echo(f"privet: {advice}", err=True)
        if sys.stdin.isatty() and sys.stderr.isatty():
            typer.confirm("Evaluate all the same?", abort=True, err=True)
    kept_apart = loaded.model_.settings.get("kept_apart")
    if kept_apart is not None and tested is None:
        typer.echo(
            f"privet: {model} was trained with --test-size. If this is the table of that fit, most "
            "of its rows are training rows: give the same --test-size here",
            err=True,
        )
    with working("evaluating"):
        evaluation = loaded.score_from(curator, epsilon)
    if tested is not None and kept_apart == split:
        evaluation = replace(evaluation, training=False)
    if as_json:
        typer.echo(json.dumps({**evaluation.to_json(), "left": str(curator.left)}))
        return
    from rich.console import Console

    console = Console()
    _print_evaluation(console, evaluation)
    print_budget(console, curator)


def _recall_rows(model: Model, tested: Selected | None) -> float | None:
    """Return about how many rows there are to test on, from what the model has released: as many as
    it was trained on, or the part of them that was kept apart.
    """
    rows = model.settings.get("rows")
    if not isinstance(rows, dict) or not rows:
        return None
    trained = float(sum(rows.values()))
    return trained if tested is None else trained * tested.odds


def _print_evaluation(console: Console, evaluation: Evaluation) -> None:
    """Print the measures, those of each class, the calibration and the confusion matrix."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    def make_table(title: str, *columns: str) -> Table:
        view = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for number, column in enumerate(columns):
            view.add_column(escape(column), justify="right" if number else "left")
        return view

    if evaluation.warning:
        console.print(f"Beware: {evaluation.warning}.", style="yellow", soft_wrap=True)
    whole = make_table("How well it does", "measure", "value", "95% interval")
    for name, measure in evaluation.measures().items():
        value, _, interval = str(measure).partition(" ")
        whole.add_row(name, value, interval.strip("()"))
    console.print(whole)
    by_class = make_table("By class", "class", "recall", "precision")
    for label, found in evaluation.by_class().items():
        by_class.add_row(escape(label), *map(str, found))
    console.print(by_class)
    if evaluation.calibration():
        bins = make_table("Is it as sure as it should be?", "says", "with", "right in", "rows")
        for one in evaluation.calibration():
            bins.add_row(
                escape(one.predicted), f"{one.stated:.3f}", str(one.right), f"{one.rows:.0f}"
            )
        console.print(bins)
    labels = list(evaluation.by_class())
    said = [f"says {label}" for label in labels]
    matrix = make_table("Noisy confusion matrix", "true class", *said)
    for label, line in zip(labels, evaluation.confusion, strict=True):
        matrix.add_row(escape(label), *(str(int(count)) for count in line))
    console.print(matrix)
    console.print(
        "Intervals hold sampling error and privacy noise; - is what the noise hides. AUROC and log "
        "loss are those of the stated probabilities, rounded to the groups above.",
        highlight=False,
    )
