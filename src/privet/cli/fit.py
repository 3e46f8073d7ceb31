"""``privet fit`` and ``predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from privet.cli.completion import complete_learner, complete_setting
from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    FORCE,
    JSON,
    LEDGER,
    NAMES,
    ROWS,
    SCHEMA,
    SPLIT_KEY,
    TABLE,
    TEST_SIZE,
    TOKEN_FILE,
)


def fit(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the fit may cost, such as 1, 0.1 or 1/3."
    ),
    learner: str = typer.Option(
        "privet",
        "--learner",
        "-l",
        help=f"One of {', '.join(NAMES)}.",
        autocompletion=complete_learner,
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the model (JSON)."),
    setting: list[str] = typer.Option(
        [],
        "--set",
        help="A setting of the learner, NAME=VALUE; may be repeated.",
        autocompletion=complete_setting,
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    test_size: str | None = TEST_SIZE,
    split_key: str = SPLIT_KEY,
    anew: bool = typer.Option(
        False,
        "--anew",
        help="Give up a fit that was interrupted, and begin again; what it has cost is spent.",
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
    check: bool = typer.Option(
        True,
        help="Look first at how the table fits its schema, and tell you alone, on standard error; "
        "not with --analyst or a curator at an address.",
    ),
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

    from privet.cli.asking import (
        Selected,
        TablePlace,
        check_writable,
        place_of,
        print_budget,
        show_check,
    )
    from privet.cli.compiling import start_compiling
    from privet.cli.options import check_apart, learner_named
    from privet.cli.printing import finite_or_none

    check_apart([output], table, ledger, schema)
    check_writable(output, force=force)
    chosen = learner_named(learner, epsilon, setting)
    chosen.check_parameters()
    kept = Selected.of("train", test_size, split_key)
    place = place_of(
        table, schema, budget, ledger, analyst, dataset, token_file, ca=ca, held_out=kept
    )
    wait_for_loops = start_compiling() if isinstance(place, TablePlace) else None
    curator = place.curator(epsilon)
    if check and analyst is None:
        show_check(place)
    if wait_for_loops is not None:
        wait_for_loops()
    _fit_to(chosen, curator, learner, output, place.split, anew=anew)
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


def _fit_to(
    chosen: Any,
    curator: Any,
    name: str,
    output: Path,
    split: str | None,
    *,
    anew: bool,
) -> None:
    """Train, and write the model. A fit of a table can go on where it was interrupted."""
    from dataclasses import replace

    import privet as pv
    from privet.cli.asking import resumable, saying_warnings

    facts = [name, *chosen.list_settings(), *([] if split is None else [split])]
    with (
        saying_warnings(),
        resumable(curator, output, f"training {name}", facts, anew=anew) as (asked, keep),
    ):
        chosen.fit_from(asked)
        if split is not None:
            settings = {**chosen.model_.settings, "kept_apart": split}
            chosen.model_ = replace(chosen.model_, settings=settings)
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
    keep: list[str] = typer.Option(
        [],
        "--keep",
        "-k",
        help="A column of the table to write too, such as an id; may be repeated.",
    ),
    costs: Path | None = typer.Option(
        None,
        "--costs",
        help='What mistakes cost (JSON), {"true class": {"predicted class": 5}}; by default those '
        "of the model, if any.",
    ),
    force: bool = FORCE,
) -> None:
    """Classify the rows of a table. Needs the model file only; charges nothing.

    Where mistakes have costs, it says the class with the smallest expected cost. Pairs that
    --costs leaves out cost 1.

    Example: [bold]privet predict m.json new-people.csv --keep id -p -o predictions.csv[/bold]
    """
    import sys

    import privet as pv
    from privet._atomic import atomic_file
    from privet.cli.asking import check_writable, saying_warnings
    from privet.cli.options import check_apart
    from privet.errors import TableError

    if output is not None:
        check_apart([output], table, costs, model)
        check_writable(output, force=force)
    loaded = pv.load(model)
    if costs is not None:
        loaded = pv.ReleasedClassifier(loaded.model_.with_costs(_read_costs(costs)))
    if output is None:
        with saying_warnings():
            _write_answers(loaded, table, probabilities, keep, sys.stdout)
        return
    try:
        with (
            saying_warnings(),
            atomic_file(output, private=True) as partial,  # about rows that may be private
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            rows = _write_answers(loaded, table, probabilities, keep, file)
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


def _write_answers(loaded: Any, table: str, probabilities: bool, keep: list[str], file: Any) -> int:
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
            answers = _predict_rows(loaded, block, probabilities, keep)
            answers.to_csv(file, index=False, header=rows == 0)
            rows += len(block)
            bar.update(task, description=f"classified {rows:,} rows")
    return rows


def _predict_rows(loaded: Any, rows: Any, probabilities: bool, keep: list[str]) -> Any:
    import pandas as pd

    from privet._validate import check_name

    for name in keep:
        check_name("--keep", name, list(map(str, rows.columns)))
    shares, model = loaded.predict_proba(rows), loaded.model_
    answer = rows[list(dict.fromkeys(keep))].reset_index(drop=True)
    target = model.schema.target
    said = f"predicted {target}" if target in keep else target
    answer[said] = pd.Series(loaded.classes_[model.decide(shares)])
    if probabilities:
        for label, column in zip(model.schema.label.labels, shares.T, strict=True):
            answer[f"probability of {label}"] = column.round(6)
    return answer
