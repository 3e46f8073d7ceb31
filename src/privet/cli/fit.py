"""``privet fit``, ``predict`` and ``evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from privet.cli.options import (
    ANALYST,
    BUDGET,
    DATASET,
    JSON,
    LEDGER,
    NAMES,
    ROWS,
    SCHEMA,
    TABLE,
    TOKEN_FILE,
)


def fit(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the fit may cost, such as 1, 0.1 or 1/3."
    ),
    learner: str = typer.Option("privet", "--learner", "-l", help=f"One of {', '.join(NAMES)}."),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the model (JSON)."),
    setting: list[str] = typer.Option(
        [], "--set", help="A setting of the learner, NAME=VALUE; may be repeated."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    anew: bool = typer.Option(
        False,
        "--anew",
        help="Give up a fit that was interrupted, and begin again; what it has cost is spent.",
    ),
    as_json: bool = JSON,
) -> None:
    """Train a private classifier on a table and write it to a file. The charge is recorded in a
    ledger first.

    A fit that was interrupted goes on when the same command is given again, and pays for nothing
    twice. Its whole cost is set aside until then; --anew frees what was not spent.

    Example: [bold]privet fit people.csv --schema people.schema.json --epsilon 1 -o m.json[/bold],
    or through a curator: [bold]privet fit https://curator.example --dataset people --epsilon 1 -o
    m.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable, place_of, print_budget
    from privet.cli.options import check_apart, learner_named
    from privet.cli.printing import finite_or_none

    check_writable(output)
    check_apart([output], table, ledger, schema)
    chosen = learner_named(learner, epsilon, setting)
    curator = place_of(table, schema, budget, ledger, analyst, dataset, token_file).curator(epsilon)
    _fit_to(chosen, curator, learner, output, anew=anew)
    statement = chosen.privacy_
    if as_json:
        out = {
            "model": str(output),
            "private": statement.private,
            "epsilon": finite_or_none(statement.epsilon),
            "left": str(curator.left),
        }
        typer.echo(json.dumps(out))
        return
    from rich.console import Console

    console = Console()
    console.print(
        f"{output}: {learner}, {len(chosen.model_.trees)} tree(s); {statement.describe()}",
        soft_wrap=True,
        highlight=False,
    )
    print_budget(console, curator)


def _fit_to(chosen: Any, curator: Any, name: str, output: Path, *, anew: bool) -> None:
    """Train, and write the model. A fit of a table can go on where it was interrupted."""
    import privet as pv
    from privet.cli.asking import resumable

    facts = [name, *chosen.list_settings()]
    with resumable(curator, output, f"training {name}", facts, anew=anew) as (asked, keep):
        chosen.fit_from(asked)
        keep()
        pv.save(chosen, output)


def predict(
    model: Path = typer.Argument(help="A model file."),
    table: str = ROWS,
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help=(
            "Where to write the predictions (CSV, for you alone to read); by default standard "
            "output."
        ),
    ),
    probabilities: bool = typer.Option(
        False, "--probabilities", "-p", help="Write the probability of each class too."
    ),
    costs: Path | None = typer.Option(
        None,
        "--costs",
        help='What mistakes cost (JSON), {"true class": {"predicted class": 5}}; by default those '
        "of the model, if any.",
    ),
) -> None:
    """Classify the rows of a table. Needs the model file only; charges nothing.

    Where mistakes have costs, it says the class with the smallest expected cost. Pairs that
    --costs leaves out cost 1.

    Example: [bold]privet predict m.json new-people.csv -o predictions.csv[/bold]
    """
    import sys

    import privet as pv
    from privet._atomic import atomic_file
    from privet.cli.asking import check_writable, saying_warnings
    from privet.cli.options import check_apart
    from privet.errors import TableError

    if output is not None:
        check_writable(output)
        check_apart([output], table, costs, model)
    loaded = pv.load(model)
    if costs is not None:
        loaded = pv.ReleasedClassifier(loaded.model_.with_costs(_read_costs(costs)))
    if output is None:
        with saying_warnings():
            _write_answers(loaded, table, probabilities, sys.stdout)
        return
    try:
        with (
            saying_warnings(),
            atomic_file(output, private=True) as partial,  # about rows that may be private
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            rows = _write_answers(loaded, table, probabilities, file)
    except OSError as error:
        raise TableError(f"cannot write {output}: {error.strerror}") from None
    typer.echo(f"wrote {rows} predictions to {output}", err=True)


def _read_costs(path: Path) -> dict[tuple[Any, Any], float]:
    """Return the costs of mistakes in a file, by (true class, predicted class)."""
    import json

    from privet.errors import ParameterError

    try:
        nested = json.loads(path.read_text(encoding="utf-8"))
        return {
            (true, predicted): cost
            for true, of_true in nested.items()
            for predicted, cost in of_true.items()
        }
    except OSError as error:
        raise ParameterError(f"--costs {path}: cannot be read: {error.strerror}") from None
    except (ValueError, AttributeError):
        raise ParameterError(
            f'--costs {path}: write it as JSON, {{"true class": {{"predicted class": 5}}}}'
        ) from None


def _write_answers(loaded: Any, table: str, probabilities: bool, file: Any) -> int:
    """Classify block by block, with a count of rows on standard error where somebody looks."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

    from privet.tables.open import read_blocks

    rows = 0
    console = Console(stderr=True)
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("classifying", total=None)
        for block in read_blocks(table):
            _predict_rows(loaded, block, probabilities).to_csv(file, index=False, header=rows == 0)
            rows += len(block)
            bar.update(task, description=f"classified {rows:,} rows")
    return rows


def _predict_rows(loaded: Any, rows: Any, probabilities: bool) -> Any:
    import pandas as pd

    shares, model = loaded.predict_proba(rows), loaded.model_
    answer = pd.DataFrame({model.schema.target: loaded.classes_[model.decide(shares)]})
    if probabilities:
        for label, column in zip(model.schema.label.labels, shares.T, strict=True):
            answer[f"probability of {label}"] = column.round(6)
    return answer


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
    as_json: bool = JSON,
) -> None:
    """How well a model does on private rows: a noisy confusion matrix with an interval, charged to
    the table's ledger.

    Example: [bold]privet evaluate m.json held-out.csv --schema people.schema.json --epsilon
    0.1[/bold]
    """
    import json

    import privet as pv
    from privet.cli.asking import place_of, print_budget, working

    loaded = pv.load(model)
    curator = place_of(table, schema, budget, ledger, analyst, dataset, token_file).curator(epsilon)
    with working("evaluating"):
        evaluation = loaded.score_from(curator, epsilon)
    low, high = evaluation.interval()
    labels = curator.schema.label.labels
    if as_json:
        matrix = [[int(count) for count in line] for line in evaluation.confusion]
        out = {
            "accuracy": evaluation.accuracy,
            "interval": [low, high],
            "classes": list(labels),
            "noisy_confusion": matrix,
        }
        typer.echo(json.dumps({**out, "left": str(curator.left)}))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    view = Table(
        title="Noisy confusion matrix: true class in lines, predicted in columns",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    view.add_column("")
    for label in labels:
        view.add_column(label, justify="right")
    for label, line in zip(labels, evaluation.confusion, strict=True):
        view.add_row(label, *(str(int(count)) for count in line))
    console = Console()
    console.print(view)
    console.print(
        (
            f"accuracy about {evaluation.accuracy:.3f} (for the noise: {low:.3f} to {high:.3f}, 19 "
            "times in 20)"
        ),
        highlight=False,
    )
    print_budget(console, curator)
